//! DCCP as an IP protocol: its number, its maximum length, and its checksum, which includes the IP
//! addresses (RFC 4340 section 9.1).

use crate::checksum::{AddressPair, internet_checksum};

/// DCCP's IP protocol number.
pub const IP_PROTOCOL: u8 = 33;

/// The longest packet that the length fields of IP can describe.
pub(super) const MAX_PACKET: usize = 65535;
/// The offset of the checksum.
const CHECKSUM: usize = 6;

/// Writes the checksum over the first `covered` bytes into `packet`, where it must be zero.
pub(super) fn fill_in(addresses: AddressPair, packet: &mut [u8], covered: usize) {
    let length = packet.len() as u32;
    let sum = internet_checksum(addresses, IP_PROTOCOL, length, &packet[..covered]);
    packet[CHECKSUM..CHECKSUM + 2].copy_from_slice(&sum.to_be_bytes());
}
