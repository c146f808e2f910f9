//! Parameter checks shared by several disciplines.

use skywave_registry::ParameterError;
use skywave_units::{Bytes, Duration};

/// Checks the mean packet size.
pub(super) fn check_mean_packet(size: Bytes) -> Result<(), ParameterError> {
    let is_packet = (1..=65_535).contains(&size.get());
    ParameterError::unless(is_packet, "mean_packet", || {
        format!("{size} is not a packet: between 1 B and 65535 B")
    })
}

pub(super) fn check_above_zero(time: Duration, field: &str) -> Result<(), ParameterError> {
    ParameterError::unless(!time.is_zero(), field, || {
        "0 s: give a time above zero".to_owned()
    })
}

/// Checks a probability that may not be zero.
pub(super) fn check_probability(probability: f64, field: &str) -> Result<(), ParameterError> {
    ParameterError::unless(probability > 0.0 && probability <= 1.0, field, || {
        format!("{probability} is not a probability: above 0 and up to 1")
    })
}
