//! Independent random losses.

use std::sync::Arc;

use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_units::{Instant, Random};

use super::errors::check_probability;
use super::{CheckedLoss, ErrorUnit, Loss, LossKind, loss_probability};

/// Independent random losses.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Bernoulli")]
#[serde(deny_unknown_fields)]
pub struct BernoulliSpec {
    /// The probability of an error, from 0 to 1.
    #[schemars(extend("x-unit" = "1"))]
    pub probability: f64,
    /// Whether errors hit packets or bits.
    #[serde(default)]
    pub per: ErrorUnit,
}

impl BernoulliSpec {
    pub(super) fn kind(self) -> CheckedLoss {
        check_probability(self.probability, "probability")?;
        Ok(Arc::new(self))
    }
}

impl LossKind for BernoulliSpec {
    fn build(&self, random: Random) -> Box<dyn Loss + Send> {
        let spec = self.clone();
        Box::new(Bernoulli { spec, random })
    }
}

#[derive(Debug)]
struct Bernoulli {
    spec: BernoulliSpec,
    random: Random,
}

impl Loss for Bernoulli {
    fn loses(&mut self, _now: Instant, size: u32) -> bool {
        let drawn: f64 = self.random.random();
        drawn < loss_probability(self.spec.probability, self.spec.per, size)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{losses, share};
    use super::*;

    fn spec(probability: f64, per: ErrorUnit) -> BernoulliSpec {
        BernoulliSpec { probability, per }
    }

    #[test]
    fn loses_the_share_that_it_is_given() {
        let lost = losses(&spec(0.01, ErrorUnit::Packet), 1000);
        // Four standard deviations are 0.13 %.
        assert!((share(&lost) - 0.01).abs() < 0.0013, "{}", share(&lost));
        for probability in [0.0, 1.0] {
            let lost = losses(&spec(probability, ErrorUnit::Packet), 1000);
            assert!((share(&lost) - probability).abs() < f64::EPSILON);
        }
        let lost = losses(&spec(1e-6, ErrorUnit::Bit), 1000);
        let expected = loss_probability(1e-6, ErrorUnit::Bit, 1000);
        assert!((share(&lost) - expected).abs() < 0.0012);
    }
}
