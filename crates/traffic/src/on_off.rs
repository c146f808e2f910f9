//! Bursts of constant rate.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::{Bytes, Duration, Instant, Random, Rate};
use skywave_wire::Payload;

use crate::draw::{exponential, pareto};
use crate::interval::{Interval, Intervals};
use crate::{CheckedSource, SendingEnd, Setup, Source, SourceKind};

/// The shortest mean of a period. Shorter ones would cost more than the datagrams.
const SHORTEST: Duration = Duration::from_micros(1);

/// Bursts of constant rate, separated by pauses. The lengths of both are random, and the mean rate
/// is `rate * on / (on + off)`, where `on` and `off` are the mean lengths.
///
/// Pauses do not count: a datagram leaves each time the flow has spent as long in bursts as a
/// datagram takes at `rate`. A flow starts in a pause, so that many flows do not start together.
///
/// In ns-2, this is `Application/Traffic/Exponential` or `/Pareto`, which round a burst to whole
/// datagrams, at least one.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "OnOff")]
#[serde(deny_unknown_fields)]
pub struct OnOffSpec {
    /// The rate of application data in a burst.
    pub rate: Rate,
    /// The size of each datagram.
    pub datagram: Bytes,
    /// The lengths of bursts (`burst_time_` in ns-2).
    pub on: PeriodSpec,
    /// The lengths of pauses (`idle_time_` in ns-2).
    pub off: PeriodSpec,
}

/// How the lengths of bursts or pauses are distributed.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Period")]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PeriodSpec {
    /// Exponential.
    Exponential(ExponentialSpec),
    /// Pareto, which has a heavy tail. The traffic of many such sources is self-similar (Willinger et
    /// al. 1997).
    Pareto(ParetoSpec),
}

/// An exponential distribution: `P{T > t} = exp(-t / mean)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Exponential")]
#[serde(deny_unknown_fields)]
pub struct ExponentialSpec {
    /// The mean length, at least 1 µs.
    pub mean: Duration,
}

/// A Pareto distribution: `P{T > t} = (scale / t)^shape` for `t` above `scale`, which is
/// `mean * (shape - 1) / shape`.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Pareto")]
#[serde(deny_unknown_fields)]
pub struct ParetoSpec {
    /// The mean length, at least 1 µs.
    pub mean: Duration,
    /// How quickly the tail decays, above 1. The variance is infinite for values up to 2. The
    /// default is ns-2's.
    #[schemars(extend("x-unit" = "1"))]
    #[serde(default = "ns2_shape")]
    pub shape: f64,
}

/// Returns the default of ns-2: `shape_` in `ns-default.tcl`.
const fn ns2_shape() -> f64 {
    1.5
}

impl OnOffSpec {
    pub(crate) fn kind(self) -> CheckedSource {
        let interval = Interval::new(self.rate, self.datagram)?;
        for (field, period) in [("on", self.on), ("off", self.off)] {
            period.check().map_err(|error| error.within(field))?;
        }
        Ok(Arc::new(OnOff {
            interval,
            datagram: self.datagram.get() as u32,
            on: self.on,
            off: self.off,
        }))
    }
}

impl PeriodSpec {
    fn check(self) -> Result<(), ParameterError> {
        let (name, mean) = match self {
            Self::Exponential(ExponentialSpec { mean }) => ("exponential", mean),
            Self::Pareto(ParetoSpec { mean, shape }) => {
                let has_mean = shape.is_finite() && shape > 1.0;
                ParameterError::unless(has_mean, "pareto.shape", || {
                    format!(
                        "{shape}: the mean is finite only for a shape above 1: give a larger one"
                    )
                })?;
                ("pareto", mean)
            }
        };
        ParameterError::unless(mean >= SHORTEST, &format!("{name}.mean"), || {
            format!("{mean}: at least {SHORTEST}")
        })
    }

    fn draw(self, random: &mut Random) -> Duration {
        match self {
            Self::Exponential(ExponentialSpec { mean }) => exponential(mean.as_secs_f64(), random),
            Self::Pareto(ParetoSpec { mean, shape }) => pareto(mean, shape, random),
        }
    }
}

/// Checked parameters.
#[derive(Clone, Copy, Debug)]
struct OnOff {
    /// The time that a datagram takes in a burst.
    interval: Interval,
    datagram: u32,
    on: PeriodSpec,
    off: PeriodSpec,
}

impl SourceKind for OnOff {
    fn datagram(&self) -> u64 {
        self.datagram.into()
    }

    fn build(&self, setup: &Setup<'_>) -> Box<dyn Source> {
        let mut random = setup.random("on-off");
        let mut intervals = Intervals::new(self.interval);
        Box::new(Bursts {
            kind: *self,
            begins: setup.start + self.off.draw(&mut random),
            random,
            is_on: false,
            left: Duration::ZERO,
            missing: intervals.advance(),
            intervals,
        })
    }
}

#[derive(Debug)]
struct Bursts {
    kind: OnOff,
    begins: Instant,
    random: Random,
    /// Whether it acts next when a datagram is due; otherwise when a burst begins.
    is_on: bool,
    /// What is then left of the burst.
    left: Duration,
    intervals: Intervals,
    /// The time in bursts until the next datagram is due.
    missing: Duration,
}

impl Source for Bursts {
    fn begins(&self) -> Instant {
        self.begins
    }

    fn act(&mut self, now: Instant, transport: &mut dyn SendingEnd) -> Option<Instant> {
        if self.is_on {
            // An application that does not wait: what the transport refuses is lost.
            let _accepted = transport.send(Payload::Synthetic(self.kind.datagram));
            self.missing = self.intervals.advance();
        } else {
            self.left = self.kind.on.draw(&mut self.random);
        }
        self.is_on = self.missing <= self.left;
        if self.is_on {
            self.left -= self.missing;
            return Some(now + self.missing);
        }
        self.missing -= self.left;
        Some(now + self.left + self.kind.off.draw(&mut self.random))
    }
}
