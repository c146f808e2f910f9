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
