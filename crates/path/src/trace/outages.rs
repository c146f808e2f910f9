//! Links that fail at random.

use std::sync::Arc;

use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::{Duration, Random, Rate};

use super::{CheckedTrace, Steps, TraceKind, TraceStep};

/// The shortest mean. A run of an hour with shorter ones has millions of steps.
const SHORTEST: Duration = Duration::from_millis(1);

/// The link fails at random and comes back. Times between failures and lengths of outages are
/// exponentially distributed. The link starts up.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Outages")]
#[serde(deny_unknown_fields)]
pub struct OutagesSpec {
    /// The mean time from the end of an outage to the next one, at least 1 ms.
    pub up: Duration,
    /// The mean length of an outage, at least 1 ms. Packets wait in the queue meanwhile.
    pub down: Duration,
}

impl OutagesSpec {
    pub(super) fn kind(self) -> CheckedTrace {
        for (field, time) in [("up", self.up), ("down", self.down)] {
            ParameterError::unless(time >= SHORTEST, field, || {
                format!("{time}: at least {SHORTEST}")
            })?;
        }
        Ok(Arc::new(self))
    }
}

impl TraceKind for OutagesSpec {
    fn steps(&self, rate: Rate, _: Duration, mut random: Random) -> Steps {
        let (up, down) = (self.up, self.down);
        let (mut at, mut is_up) = (Duration::ZERO, true);
        Box::new(std::iter::from_fn(move || {
            at += exponential(if is_up { up } else { down }, &mut random);
            is_up = !is_up;
            let rate = if is_up { rate } else { Rate::default() };
            Some(TraceStep {
                at,
                rate: Some(rate),
                delay: None,
            })
        }))
    }
}

/// Draws a time of at least one nanosecond, so that time advances.
fn exponential(mean: Duration, random: &mut Random) -> Duration {
    let uniform: f64 = random.random();
    let drawn = Duration::from_secs_f64(-mean.as_secs_f64() * (1.0 - uniform).ln());
    drawn.max(Duration::from_nanos(1))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn the_link_is_up_for_its_share_of_the_time() {
        let spec = OutagesSpec {
            up: Duration::from_secs(9),
            down: Duration::from_secs(1),
        };
        let rate = Rate::from_bps(1000);
        let random = Random::seed_from_u64(3);
        let steps = spec.steps(rate, Duration::ZERO, random).take(20_000);
        let (mut up, mut since, mut is_up) = (0.0, Duration::ZERO, true);
        for step in steps {
            if is_up {
                up += (step.at - since).as_secs_f64();
            }
            (since, is_up) = (step.at, step.rate == Some(rate));
        }
        // 10,000 outages: the share's standard deviation is 0.13 %.
        let share = up / since.as_secs_f64();
        assert!((share - 0.9).abs() < 0.005, "{share}");
    }
}
