//! A web source: it thinks, sends a file over its own connection, and thinks again.
//!
//! Each file uses a new connection with its own handshake, slow start and round-trip time estimate.
//! It ends with the connection, when the sender knows that the receiver knows of the end (TCP: the
//! FIN is acknowledged; DCCP: the Close is answered). Then the next think time begins.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use skywave_units::{Duration, Instant};

use crate::connect::{Connector, Opened};
use crate::random::stream;
use crate::traffic::Transfer;
use skywave_scenario::{ThinkSpec, WebSpec};

/// The longest think time drawn and the largest file. Both distributions have unbounded tails;
/// beyond these limits (ten years, one pebibyte) clocks and sequence numbers would overflow.
const LONGEST_THINK: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
const LARGEST_FILE: f64 = (1_u64 << 50) as f64;

/// The sending end of a flow of web traffic.
#[derive(Debug)]
pub(crate) struct WebSource {
    spec: WebSpec,
    rng: Xoshiro256PlusPlus,
    connector: Connector,
    /// Bytes of the current file not handed over yet.
    pub(crate) remaining: u64,
    pub(crate) transfers: Vec<Transfer>,
}

impl WebSource {
    /// Creates a source before its first think time.
    pub(crate) fn new(spec: &WebSpec, connector: Connector) -> Self {
        let rng = stream(connector.seed, &format!("{}/web", connector.flow.name));
        Self {
            spec: spec.clone(),
            rng,
            connector,
            remaining: 0,
            transfers: Vec::new(),
        }
    }

    /// Draws a think time.
    pub(crate) fn think(&mut self) -> Duration {
        draw_think(&self.spec.think, &mut self.rng)
    }

    /// Returns the size of a full datagram, in bytes.
    pub(crate) const fn datagram(&self) -> u32 {
        self.spec.datagram.get() as u32
    }

    /// Returns whether a file is being sent.
    pub(crate) fn is_sending(&self) -> bool {
        self.transfers.last().is_some_and(|file| file.end.is_none())
    }

    /// Draws a file and opens its connection.
    pub(crate) fn open(&mut self, now: Instant) -> Opened {
        let size = &self.spec.size;
        let drawn = log_logistic(size.median.get() as f64, size.shape, &mut self.rng);
        let bytes = drawn.ceil().clamp(1.0, LARGEST_FILE) as u64;
        self.remaining = bytes;
        self.transfers.push(Transfer {
            start: now,
            bytes,
            end: None,
        });
        self.connector.open(self.transfers.len(), now)
    }

    /// Handles the end of the connection, after `delivered` bytes have arrived.
    pub(crate) fn ended(&mut self, now: Instant, delivered: u64) {
        self.remaining = 0;
        if let Some(file) = self.transfers.last_mut() {
            file.end = Some((now, delivered));
        }
    }
}

/// Draws from the mixture: a component by its probability, then a time from it.
fn draw_think(parts: &[ThinkSpec], rng: &mut Xoshiro256PlusPlus) -> Duration {
    let mut left: f64 = rng.random();
    let (last, others) = parts.split_last().expect("a checked mixture has parts");
    let part = others
        .iter()
        .find(|part| {
            left -= part.probability;
            left < 0.0
        })
        .unwrap_or(last);
    let seconds = log_logistic(part.median.as_secs_f64(), part.shape, rng);
    Duration::from_secs_f64(seconds.min(LONGEST_THINK.as_secs_f64()))
}

/// Draws from `P{X > x} = 1 / (1 + (x / median)^shape)` by inversion.
fn log_logistic(median: f64, shape: f64, rng: &mut Xoshiro256PlusPlus) -> f64 {
    // In (0, 1]; one yields the smallest value, zero.
    let exceeded = 1.0 - rng.random::<f64>();
    median * ((1.0 - exceeded) / exceeded).powf(shape.recip())
}

#[cfg(test)]
mod tests {
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
        let mut rng = stream(5, "laws");
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
        let mut rng = stream(5, "tails");
        let thinks: Vec<_> = (0..100)
            .map(|_| draw_think(std::slice::from_ref(&part), &mut rng))
            .collect();
        assert_eq!(thinks.iter().max(), Some(&LONGEST_THINK));
        assert_eq!(thinks.iter().min(), Some(&Duration::ZERO));
    }
}
