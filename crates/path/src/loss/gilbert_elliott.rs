//! Random losses in bursts.

use std::sync::Arc;

use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::{Instant, Random};

use super::errors::check_probability;
use super::{CheckedLoss, ErrorUnit, Loss, LossKind, loss_probability};

/// A channel that is either good or bad (Gilbert 1960, Elliott 1963). It starts good and may change
/// before each packet.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "GilbertElliott")]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottSpec {
    /// The probability that a good channel becomes bad.
    #[schemars(extend("x-unit" = "1"))]
    pub good_to_bad: f64,
    /// The probability that a bad channel becomes good. The mean length of a bad period is 1 /
    /// `bad_to_good` packets.
    #[schemars(extend("x-unit" = "1"))]
    pub bad_to_good: f64,
    /// The probability of an error while the channel is good.
    #[schemars(extend("x-unit" = "1"))]
    #[serde(default)]
    pub in_good: f64,
    /// The probability of an error while the channel is bad.
    #[schemars(extend("x-unit" = "1"))]
    #[serde(default = "certain")]
    pub in_bad: f64,
    /// Whether errors hit packets or bits.
    #[serde(default)]
    pub per: ErrorUnit,
}

const fn certain() -> f64 {
    1.0
}

impl GilbertElliottSpec {
    pub(super) fn kind(self) -> CheckedLoss {
        let changes = self.good_to_bad != 0.0 || self.bad_to_good != 0.0;
        ParameterError::unless(changes, "good_to_bad", || {
            "the channel never changes: give a probability above 0, or use bernoulli".to_owned()
        })?;
        check_probability(self.good_to_bad, "good_to_bad")?;
        check_probability(self.bad_to_good, "bad_to_good")?;
        check_probability(self.in_good, "in_good")?;
        check_probability(self.in_bad, "in_bad")?;
        Ok(Arc::new(self))
    }
}

impl LossKind for GilbertElliottSpec {
    fn build(&self, random: Random) -> Box<dyn Loss + Send> {
        Box::new(GilbertElliott {
            spec: self.clone(),
            is_bad: false,
            random,
        })
    }
}

#[derive(Debug)]
struct GilbertElliott {
    spec: GilbertElliottSpec,
    is_bad: bool,
    random: Random,
}

impl GilbertElliott {
    fn draw(&mut self) -> f64 {
        self.random.random()
    }
}

impl Loss for GilbertElliott {
    fn loses(&mut self, _now: Instant, size: u32) -> bool {
        let change = if self.is_bad {
            self.spec.bad_to_good
        } else {
            self.spec.good_to_bad
        };
        self.is_bad ^= self.draw() < change;
        let errors = if self.is_bad {
            self.spec.in_bad
        } else {
            self.spec.in_good
        };
        self.draw() < loss_probability(errors, self.spec.per, size)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{PACKETS, losses, share};
    use super::*;

    /// A channel that is bad for 10 of 110 packets on average, and loses all of those.
    #[test]
    fn loses_in_bursts() {
        let spec = GilbertElliottSpec {
            good_to_bad: 0.01,
            bad_to_good: 0.1,
            in_good: 0.0,
            in_bad: 1.0,
            per: ErrorUnit::Packet,
        };
        let lost = losses(&spec, 1000);
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let burst = share(&lost) * f64::from(PACKETS) / bursts as f64;
        assert!((share(&lost) - 1.0 / 11.0).abs() < 0.01, "{}", share(&lost));
        assert!((burst - 10.0).abs() < 1.0, "{burst}");
    }
}
