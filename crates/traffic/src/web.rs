//! Web traffic: a source that thinks, sends a file over its own connection, and thinks again.
//!
//! Each file uses a new connection with its own handshake, slow start and round-trip time estimate.
//! It ends with the connection, when the sender knows that the receiver knows of the end (TCP: the
//! FIN is acknowledged; DCCP: the Close is answered). Then the next think time begins.

use std::sync::Arc;

use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::{Bytes, Duration, Instant, Random};

use crate::check::{check_above_zero, check_datagram};
use crate::ftp::fill;
use crate::{Carrier, CheckedSource, Journal, SendingEnd, Setup, Source, SourceKind, Transfer};

/// The tolerance for the sum of probabilities: rounding in print.
const ROUNDING: f64 = 1e-6;

/// Web traffic: files separated by think times, each file over its own connection.
///
/// The distributions are those of Ott, Lakshman and Wong ("SRED: Stabilized RED", INFOCOM 1999).
/// The defaults are the parameters of Chen, Yang and Hong 2010, section 4, taken as seconds and
/// bytes because the paper does not state units.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Web")]
#[serde(deny_unknown_fields, default)]
pub struct WebSpec {
    /// Think times: a mixture, `P{T > t} = sum of p / (1 + (t / pi)^eta)`.
    pub think: Vec<ThinkSpec>,
    /// File lengths.
    pub size: FileSizeSpec,
    /// The size of each datagram. Not used by TCP.
    pub datagram: Bytes,
}

/// One component of the mixture of think times: log-logistic.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Think")]
#[serde(deny_unknown_fields)]
pub struct ThinkSpec {
    /// p: the fraction of think times from this component. The fractions of all components add up
    /// to 1.
    #[schemars(extend("x-unit" = "1"))]
    pub probability: f64,
    /// pi: the median of this component.
    pub median: Duration,
    /// eta: how quickly the tail decays. The mean is infinite for values up to 1.
    #[schemars(extend("x-unit" = "1"))]
    pub shape: f64,
}

/// File lengths: log-logistic, `P{F > f} = 1 / (1 + (f / pi)^eta)`, rounded up to whole bytes.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "FileSize")]
#[serde(deny_unknown_fields, default)]
pub struct FileSizeSpec {
    /// pi: the median.
    pub median: Bytes,
    /// eta: how quickly the tail decays. The mean is infinite for values up to 1.
    #[schemars(extend("x-unit" = "1"))]
    pub shape: f64,
}

impl Default for WebSpec {
    fn default() -> Self {
        let part = |probability, median, shape| ThinkSpec {
            probability,
            median,
            shape,
        };
        Self {
            think: vec![
                // p_h, pi_h, eta_h.
                part(0.495_391_6, Duration::from_secs(1), 1.243_437),
                // p_l, pi_l, eta_l; printed with the index f.
                part(0.504_608_4, Duration::from_nanos(24_503_200), 3.252_665),
            ],
            size: FileSizeSpec::default(),
            datagram: Bytes::new(1000),
        }
    }
}

impl Default for FileSizeSpec {
    fn default() -> Self {
        Self {
            median: Bytes::new(2190),
            // eta; printed as phi.
            shape: 1.15066,
        }
    }
}

impl WebSpec {
    pub(crate) fn kind(self) -> CheckedSource {
        ParameterError::unless(!self.think.is_empty(), "think", || {
            "give at least one part of the mixture".to_owned()
        })?;
        for (index, part) in self.think.iter().enumerate() {
            part.check()
                .map_err(|error| error.within(&format!("think[{index}]")))?;
        }
        let sum: f64 = self.think.iter().map(|part| part.probability).sum();
        ParameterError::unless((sum - 1.0).abs() <= ROUNDING, "think", || {
            format!("the probabilities add up to {sum}, not to 1")
        })?;
        ParameterError::unless(self.size.median.get() > 0, "size.median", || {
            "0 B: give a size above zero".to_owned()
        })?;
        check_shape(self.size.shape, "size.shape")?;
        check_datagram(self.datagram.get(), "datagram")?;
        Ok(Arc::new(self))
    }
}

impl ThinkSpec {
    fn check(&self) -> Result<(), ParameterError> {
        let is_probability = (0.0..=1.0).contains(&self.probability);
        ParameterError::unless(is_probability, "probability", || {
            format!("{}: between 0 and 1", self.probability)
        })?;
        check_above_zero(self.median, "median")?;
        check_shape(self.shape, "shape")
    }
}

fn check_shape(shape: f64, field: &str) -> Result<(), ParameterError> {
    ParameterError::unless(shape.is_finite() && shape > 0.0, field, || {
        format!("{shape}: give a number above zero")
    })
}

impl SourceKind for WebSpec {
    fn datagram(&self) -> u64 {
        self.datagram.get()
    }

    fn check_carrier(&self, carrier: Carrier) -> Result<(), &'static str> {
        match carrier {
            Carrier::Stream | Carrier::Datagrams => Ok(()),
            Carrier::BareDatagrams => Err("web traffic needs connections: use tcp or dccp"),
        }
    }

    fn opens_connections(&self) -> bool {
        true
    }

    fn build(&self, setup: &Setup<'_>) -> Box<dyn Source> {
        let mut random = setup.random("web");
        let begins = setup.start + draw_think(&self.think, &mut random);
        Box::new(Browser {
            spec: self.clone(),
            random,
            begins,
            remaining: 0,
            transfers: Vec::new(),
        })
    }
}

/// The longest think time drawn and the largest file. Both distributions have unbounded tails;
/// beyond these limits (ten years, one pebibyte) clocks and sequence numbers would overflow.
const LONGEST_THINK: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
const LARGEST_FILE: f64 = (1_u64 << 50) as f64;

#[derive(Debug)]
struct Browser {
    spec: WebSpec,
    random: Random,
    begins: Instant,
    /// Bytes of the current file not handed over yet.
    remaining: u64,
    transfers: Vec<Transfer>,
}

impl Browser {
    /// Returns whether a file is being sent.
    fn is_sending(&self) -> bool {
        self.transfers.last().is_some_and(|file| file.end.is_none())
    }
}

impl Source for Browser {
    fn begins(&self) -> Instant {
        self.begins
    }

    fn opens(&mut self, now: Instant) -> bool {
        if self.is_sending() {
            return false;
        }
        let size = &self.spec.size;
        let drawn = log_logistic(size.median.get() as f64, size.shape, &mut self.random);
        let bytes = drawn.ceil().clamp(1.0, LARGEST_FILE) as u64;
        self.remaining = bytes;
        self.transfers.push(Transfer {
            start: now,
            bytes,
            end: None,
        });
        true
    }

    fn act(&mut self, now: Instant, transport: &mut dyn SendingEnd) -> Option<Instant> {
        if transport.write(Some(self.remaining)) {
            self.remaining = 0;
            transport.close(now);
        } else {
            self.refill(now, transport);
        }
        None
    }

    fn refill(&mut self, now: Instant, transport: &mut dyn SendingEnd) -> usize {
        if !self.is_sending() {
            return 0;
        }
        let datagram = self.spec.datagram.get() as u32;
        let accepted = fill(transport, datagram, &mut self.remaining);
        if self.remaining == 0 && transport.waiting() == 0 {
            transport.close(now);
        }
        accepted
    }

    fn ended(&mut self, now: Instant, delivered: u64) -> Option<Instant> {
        self.remaining = 0;
        if let Some(file) = self.transfers.last_mut() {
            file.end = Some((now, delivered));
        }
        Some(now + draw_think(&self.spec.think, &mut self.random))
    }

    fn journal(&self) -> Journal {
        Journal {
            transfers: self.transfers.clone(),
            ..Journal::default()
        }
    }
}

/// Draws from the mixture: a component by its probability, then a time from it.
fn draw_think(parts: &[ThinkSpec], random: &mut Random) -> Duration {
    let mut left: f64 = random.random();
    let (last, others) = parts.split_last().expect("a checked mixture has parts");
    let part = others
        .iter()
        .find(|part| {
            left -= part.probability;
            left < 0.0
        })
        .unwrap_or(last);
    let seconds = log_logistic(part.median.as_secs_f64(), part.shape, random);
    Duration::from_secs_f64(seconds.min(LONGEST_THINK.as_secs_f64()))
}

/// Draws from `P{X > x} = 1 / (1 + (x / median)^shape)` by inversion.
fn log_logistic(median: f64, shape: f64, random: &mut Random) -> f64 {
    // In (0, 1]; one yields the smallest value, zero.
    let exceeded = 1.0 - random.random::<f64>();
    median * ((1.0 - exceeded) / exceeded).powf(shape.recip())
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// Returns the greatest distance between the empirical distribution of `values` and `exceeded`.
    fn kolmogorov_smirnov(mut values: Vec<f64>, exceeded: impl Fn(f64) -> f64) -> f64 {
        values.sort_by(f64::total_cmp);
        let count = values.len() as f64;
        values
            .iter()
            .zip(0_u32..)
            .fold(0.0, |most, (&value, rank)| {
                let law = 1.0 - exceeded(value);
                let (below, upto) = (f64::from(rank) / count, f64::from(rank + 1) / count);
                most.max(law - below).max(upto - law)
            })
    }

    /// The critical distance, which draws from the distribution itself exceed with a probability of
    /// 1 % (asymptotically).
    fn critical(count: usize) -> f64 {
        1.628 / (count as f64).sqrt()
    }

    const DRAWS: usize = 50_000;

    #[test]
    fn think_times_and_sizes_are_drawn_from_their_laws() {
        let spec = WebSpec::default();
        let mut rng = Random::seed_from_u64(5);
        let tail = |x: f64, median: f64, shape: f64| (1.0 + (x / median).powf(shape)).recip();
        let thinks: Vec<f64> = (0..DRAWS)
            .map(|_| draw_think(&spec.think, &mut rng).as_secs_f64())
            .collect();
        let think = |t| {
            0.495_391_6 * tail(t, 1.0, 1.243_437) + 0.504_608_4 * tail(t, 0.024_503_2, 3.252_665)
        };
        let distance = kolmogorov_smirnov(thinks.clone(), think);
        assert!(distance < critical(DRAWS), "{distance}");
        // The test can fail: other fractions of the two components are another distribution.
        let other = |t| 0.47 * tail(t, 1.0, 1.243_437) + 0.53 * tail(t, 0.024_503_2, 3.252_665);
        assert!(kolmogorov_smirnov(thinks, other) > critical(DRAWS));

        let sizes = (0..DRAWS)
            .map(|_| log_logistic(2190.0, 1.15066, &mut rng))
            .collect();
        let distance = kolmogorov_smirnov(sizes, |f| tail(f, 2190.0, 1.15066));
        assert!(distance < critical(DRAWS), "{distance}");
    }

    #[test]
    fn tails_without_end_are_cut_off() {
        let part = ThinkSpec {
            probability: 1.0,
            median: Duration::from_secs(1),
            shape: 1e-3,
        };
        let mut rng = Random::seed_from_u64(6);
        let thinks: Vec<_> = (0..100)
            .map(|_| draw_think(std::slice::from_ref(&part), &mut rng))
            .collect();
        assert_eq!(thinks.iter().max(), Some(&LONGEST_THINK));
        assert_eq!(thinks.iter().min(), Some(&Duration::ZERO));
    }
}
