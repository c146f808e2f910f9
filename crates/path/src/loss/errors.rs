//! The probability that an error loses a packet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;

/// What an error hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorUnit {
    /// A packet, regardless of its size.
    #[default]
    Packet,
    /// A bit. A packet with at least one wrong bit is lost.
    Bit,
}

/// Returns the probability that a packet of `size` bytes is lost if an error hits each unit with
/// `probability`, independently of others.
pub fn loss_probability(probability: f64, per: ErrorUnit, size: u32) -> f64 {
    match per {
        ErrorUnit::Packet => probability,
        // 1 - (1 - b)^(8 size), computed so that a bit error rate of 1e-17 is not rounded to zero.
        ErrorUnit::Bit => -(8.0 * f64::from(size) * (-probability).ln_1p()).exp_m1(),
    }
}

/// Checks a probability.
pub(super) fn check_probability(probability: f64, field: &str) -> Result<(), ParameterError> {
    ParameterError::unless((0.0..=1.0).contains(&probability), field, || {
        format!("{probability} is not a probability: between 0 and 1")
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_bit_error_rate_of_1e_17_is_not_zero() {
        let probability = loss_probability(1e-17, ErrorUnit::Bit, 1000);
        assert!((probability - 8e-14).abs() < 1e-18);
    }

    #[test]
    fn a_long_packet_has_more_bit_errors() {
        let expected = 1.0 - (1.0_f64 - 1e-6).powi(8000);
        let probability = loss_probability(1e-6, ErrorUnit::Bit, 1000);
        assert!((probability - expected).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn a_loss_probability_is_one(errors in 0.0..=1.0_f64, size in 0..=65_535_u32) {
            let probability = loss_probability(errors, ErrorUnit::Bit, size);
            prop_assert!((0.0..=1.0).contains(&probability), "{}", probability);
        }
    }
}
