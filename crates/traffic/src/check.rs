//! Parameter checks shared by several sources.

use skywave_registry::ParameterError;
use skywave_units::Duration;

/// The largest datagram in an IPv4 packet with the longest headers: 65,535 bytes minus 20 for IP
/// and 1020 for DCCP, whose Data Offset counts up to 255 words (RFC 4340 section 5.1).
const LARGEST_DATAGRAM: u64 = 65_535 - 20 - 255 * 4;

/// Checks the size of a datagram, which must fit into a packet.
///
/// # Errors
/// [`ParameterError`] at `field` if it does not.
pub fn check_datagram(bytes: u64, field: &str) -> Result<(), ParameterError> {
    ParameterError::unless((1..=LARGEST_DATAGRAM).contains(&bytes), field, || {
        format!("{bytes} B do not fit a packet: between 1 B and {LARGEST_DATAGRAM} B")
    })
}

pub(crate) fn check_above_zero(time: Duration, field: &str) -> Result<(), ParameterError> {
    ParameterError::unless(!time.is_zero(), field, || {
        "0 s: give a time above zero".to_owned()
    })
}
