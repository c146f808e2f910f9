//! Satellites in low Earth orbit: the link changes from one satellite to the next.
//!
//! Sources, as read: Mohan et al., "A Multifaceted Look at Starlink Performance" (WWW 2024,
//! arXiv:2310.09242, abstract), for the interval of 15 s; Huston, "A transport protocol's view of
//! Starlink" (APNIC blog, May 2024, as quoted by The Register on 22 May 2024), for round-trip times
//! from 30 ms to 80 ms; Casparsen et al., "Statistical Characterization and Prediction of E2E Latency
//! over LEO Satellite Networks" (arXiv:2601.08439, abstract), for the 140 ms.

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::{Duration, Random, Rate};

use super::{CheckedTrace, Steps, TraceKind, TraceStep};

/// The shortest interval. A run of an hour with shorter ones has millions of steps.
const SHORTEST: Duration = Duration::from_millis(1);
/// The longest delay, that of any link.
const LONGEST_DELAY: Duration = Duration::from_secs(24 * 3600);

/// The link goes over satellites in low Earth orbit. It changes to another one at the end of each
/// interval: it is down for a moment, and then has another delay, uniformly distributed between a
/// minimum and a maximum. Until the first change, the link has its own `delay`. Packets wait in the
/// queue while it is down.
///
/// The defaults resemble Starlink.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Leo")]
#[serde(deny_unknown_fields, default)]
pub struct LeoSpec {
    /// The time from one change to the next, at least 1 ms.
    pub interval: Duration,
    /// How long each change takes; `0 s` if the link is never down.
    pub outage: Duration,
    /// The minimum delay, in one direction.
    pub min_delay: Duration,
    /// The maximum delay, in one direction, at most 24 hours.
    pub max_delay: Duration,
    /// What the delays depend on. The two directions of a link have the same delays at the same times
    /// if they have the same seed. Absent: they depend on the seed of the scenario, and differ.
    #[schemars(extend("x-unit" = "1"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl Default for LeoSpec {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(15),
            outage: Duration::from_millis(140),
            min_delay: Duration::from_millis(15),
            max_delay: Duration::from_millis(40),
            seed: None,
        }
    }
}

impl LeoSpec {
    pub(super) fn kind(self) -> CheckedTrace {
        let (interval, outage) = (self.interval, self.outage);
        ParameterError::unless(interval >= SHORTEST, "interval", || {
            format!("{interval}: at least {SHORTEST}")
        })?;
        ParameterError::unless(outage < interval, "outage", || {
            format!("{outage} is not below `interval`, {interval}: give less")
        })?;
        let (min, max) = (self.min_delay, self.max_delay);
        ParameterError::unless(max <= LONGEST_DELAY, "max_delay", || {
            format!("{max}: at most {LONGEST_DELAY}")
        })?;
        ParameterError::unless(min <= max, "min_delay", || {
            format!("{min} is above `max_delay`, {max}: give less")
        })?;
        Ok(Arc::new(self))
    }
}

impl TraceKind for LeoSpec {
    fn steps(&self, rate: Rate, _: Duration, random: Random) -> Steps {
        let Self {
            interval,
            outage,
            min_delay,
            max_delay,
            seed,
        } = *self;
        let mut random = seed.map_or(random, Random::seed_from_u64);
        let changes = (1..).map(move |change: u64| interval * change);
        Box::new(changes.flat_map(move |at| {
            let down = (!outage.is_zero()).then_some(TraceStep {
                at,
                rate: Some(Rate::default()),
                delay: None,
            });
            let delay = random.random_range(min_delay.as_nanos()..=max_delay.as_nanos());
            let up = TraceStep {
                at: at + outage,
                rate: Some(rate),
                delay: Some(Duration::from_nanos(delay)),
            };
            down.into_iter().chain([up])
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate::from_bps(100_000_000);

    fn steps(spec: &LeoSpec, stream: u64, number: usize) -> Vec<TraceStep> {
        let random = Random::seed_from_u64(stream);
        let steps = spec.steps(RATE, Duration::ZERO, random);
        steps.take(number).collect()
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn each_interval_ends_with_an_outage_and_another_delay() {
        let spec = LeoSpec::default();
        let steps = steps(&spec, 1, 2000);
        let mut delays = Vec::new();
        for (pair, change) in steps.chunks(2).zip(1..) {
            let at = spec.interval * change;
            let down = (at, Some(Rate::default()), None);
            assert_eq!((pair[0].at, pair[0].rate, pair[0].delay), down);
            assert_eq!((pair[1].at, pair[1].rate), (at + ms(140), Some(RATE)));
            delays.push(pair[1].delay.unwrap());
        }
        assert!(delays.iter().all(|delay| (ms(15)..=ms(40)).contains(delay)));
        let sum: f64 = delays.iter().map(|delay| delay.as_secs_f64()).sum();
        // The standard deviation of the mean of 1000 is 0.23 ms.
        assert!((sum / 1000.0 - 0.0275).abs() < 0.0008, "{sum}");
    }

    #[test]
    fn without_an_outage_only_the_delay_changes() {
        let spec = LeoSpec {
            outage: Duration::ZERO,
            interval: ms(500),
            ..LeoSpec::default()
        };
        let steps = steps(&spec, 1, 3);
        let at: Vec<_> = steps.iter().map(|step| step.at).collect();
        assert_eq!(at, [ms(500), ms(1000), ms(1500)]);
        assert!(steps.iter().all(|step| step.rate == Some(RATE)));
    }

    #[test]
    fn a_seed_of_ones_own_takes_the_place_of_the_stream() {
        let of = |seed, stream| {
            let spec = LeoSpec {
                seed,
                ..LeoSpec::default()
            };
            steps(&spec, stream, 20)
        };
        assert_eq!(of(None, 1), of(None, 1));
        assert_ne!(of(None, 1), of(None, 2));
        assert_eq!(of(Some(7), 1), of(Some(7), 2));
        assert_ne!(of(Some(7), 1), of(Some(8), 1));
    }

    #[test]
    fn wrong_parameters_have_one_line() {
        let default = LeoSpec::default;
        for (spec, error) in [
            (
                LeoSpec {
                    interval: Duration::ZERO,
                    ..default()
                },
                "interval: 0 s: at least 1 ms",
            ),
            (
                LeoSpec {
                    outage: ms(15_000),
                    ..default()
                },
                "outage: 15 s is not below `interval`, 15 s: give less",
            ),
            (
                LeoSpec {
                    min_delay: ms(50),
                    ..default()
                },
                "min_delay: 50 ms is above `max_delay`, 40 ms: give less",
            ),
            (
                LeoSpec {
                    max_delay: ms(100_000_000),
                    ..default()
                },
                "max_delay: 100000 s: at most 86400 s",
            ),
        ] {
            let found = spec.kind().err().unwrap();
            assert_eq!(format!("{}: {}", found.field, found.message), error);
        }
    }
}
