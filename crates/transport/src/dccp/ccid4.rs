//! CCID 4, TFRC for small packets (RFC 5622): CCID 3 with the rules of RFC 4828 and one more option,
//! Dropped Packets.

use skywave_congestion::tfrc::{self, SmallPackets};

/// Bytes of headers that a packet is charged with: IPv4 and DCCP-Data with 48-bit sequence numbers
/// (section 5).
const HEADER: u32 = 36;

/// The same with 24-bit numbers.
const SHORT_HEADER: u32 = 32;

/// The parameters of CCID 4 among those of TFRC.
pub(super) fn profile(config: &tfrc::Config, short_seqnos: bool) -> tfrc::Config {
    tfrc::Config {
        small_packets: Some(SmallPackets {
            header: if short_seqnos { SHORT_HEADER } else { HEADER },
            ..SmallPackets::rfc4828()
        }),
        ..config.clone()
    }
}
