//! The Data Checksum option (RFC 4340 section 9.3).

use super::{DccpOption, Packet};

impl Packet {
    /// Returns the Data Checksum option for this packet's data: CRC-32c in network byte order.
    pub fn data_checksum(&self) -> DccpOption {
        DccpOption::DataChecksum(self.payload.crc32c())
    }

    /// Returns whether the data matches the Data Checksum, or `None` if the packet has none. If
    /// there are several, the last one counts.
    pub fn verify_data_checksum(&self) -> Option<bool> {
        let claimed = self.options.iter().rev().find_map(|option| match option {
            DccpOption::DataChecksum(crc) => Some(*crc),
            _ => None,
        })?;
        Some(claimed == self.payload.crc32c())
    }
}
