//! The header of most packets: Data with a 48-bit number and no options.

use super::over_ip::{MAX_PACKET, fill_in};
use super::{EmitError, Kind, OptionList, Packet, SeqNo};
use crate::{Checksum, Payload};

/// Data Offset of this header, in words.
const OFFSET: u64 = 4;
/// Type and X.
const TYPE_X: u64 = 2 << 1 | 1;

/// The header of a Data packet with a 48-bit sequence number, no options, and a checksum over all
/// of it (CsCov 0). It consists of two words that are read and written in a few instructions. All
/// other packets need a [`Packet`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataHeader {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// CCVal: the low four bits.
    pub ccval: u8,
    /// Sequence number.
    pub seq: SeqNo,
}

impl DataHeader {
    /// The length in bytes.
    pub const LEN: usize = 16;

    /// Reads the header at the start of `bytes` without verifying its checksum. Returns `None` if
    /// it is of another kind or malformed: see [`Packet::read`].
    #[inline(always)]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let words = u128::from_be_bytes(*bytes.first_chunk()?);
        let (first, second) = ((words >> 64) as u64, words as u64);
        let (offset, cscov) = (first >> 24 & 0xff, first >> 16 & 0x0f);
        // The type is preceded by three reserved bits.
        let type_x = second >> 56 & 0x1f;
        let is_one = offset == OFFSET && cscov == 0 && type_x == TYPE_X;
        is_one.then_some(Self {
            source_port: (first >> 48) as u16,
            destination_port: (first >> 32) as u16,
            ccval: (first >> 20 & 0x0f) as u8,
            seq: SeqNo::new(second),
        })
    }

    /// Returns the header of `packet`, or `None` if it is of another kind.
    #[inline(always)]
    pub fn of(packet: &Packet) -> Option<Self> {
        let is_one = matches!(packet.kind, Kind::Data)
            && packet.extended
            && packet.options.is_empty()
            && packet.cscov == 0
            && packet.ccval <= 0x0f;
        is_one.then_some(Self {
            source_port: packet.source_port,
            destination_port: packet.destination_port,
            ccval: packet.ccval,
            seq: packet.seq,
        })
    }

    /// Returns the packet with this header and `payload`.
    #[inline(always)]
    pub fn into_packet(self, payload: Payload) -> Packet {
        Packet {
            source_port: self.source_port,
            destination_port: self.destination_port,
            ccval: self.ccval,
            cscov: 0,
            extended: true,
            seq: self.seq,
            kind: Kind::Data,
            options: OptionList::new(),
            payload,
        }
    }

    /// Appends the encoded packet with this header and `payload` to `out`.
    ///
    /// # Errors
    ///
    /// It is too long for a packet; `out` is unchanged.
    #[inline(always)]
    pub fn emit(
        self,
        payload: &Payload,
        checksum: Checksum,
        out: &mut Vec<u8>,
    ) -> Result<(), EmitError> {
        let length = Self::LEN + payload.len();
        if length > MAX_PACKET {
            return Err(EmitError::PacketTooLong { length });
        }
        let start = out.len();
        out.reserve(length);
        out.extend_from_slice(&self.to_bytes());
        payload.emit(out);
        if let Checksum::Over(addresses) = checksum {
            fill_in(addresses, &mut out[start..], length);
        }
        Ok(())
    }

    /// Returns the encoded header with a checksum of zero.
    #[inline(always)]
    pub const fn to_bytes(self) -> [u8; Self::LEN] {
        let first = (self.source_port as u64) << 48
            | (self.destination_port as u64) << 32
            | OFFSET << 24
            | ((self.ccval & 0x0f) as u64) << 20;
        let second = TYPE_X << 56 | self.seq.get();
        ((first as u128) << 64 | second as u128).to_be_bytes()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;
    use crate::dccp::OptionList;
    use crate::{Checksum, Payload};

    proptest! {
        /// For any bytes, the header is that of the decoded packet, or there is none.
        #[test]
        fn it_is_read_as_a_whole_packet_is(
            mut bytes in prop::collection::vec(any::<u8>(), 16..40),
            offset in prop_oneof![Just(4_u8), any::<u8>()],
            type_x in prop_oneof![Just(5_u8), Just(0xe5), any::<u8>()],
            cscov in prop_oneof![Just(0_u8), 0_u8..16],
        ) {
            bytes[4] = offset;
            bytes[5] = bytes[5] & 0xf0 | cscov;
            bytes[8] = type_x;
            let whole = Packet::read(Bytes::from(bytes.clone()), Checksum::Ignored);
            prop_assert_eq!(
                DataHeader::read(&bytes),
                whole.ok().and_then(|packet| DataHeader::of(&packet))
            );
        }

        /// RFC 4340 section 5.1, field by field.
        #[test]
        fn it_is_written_as_a_whole_packet_is(
            source_port: u16,
            destination_port: u16,
            ccval in 0_u8..16,
            seq: u64,
        ) {
            let seq = SeqNo::new(seq);
            let header = DataHeader { source_port, destination_port, ccval, seq };
            let [s0, s1] = source_port.to_be_bytes();
            let [d0, d1] = destination_port.to_be_bytes();
            let [.., n0, n1, n2, n3, n4, n5] = seq.get().to_be_bytes();
            let bytes = [s0, s1, d0, d1, 4, ccval << 4, 0, 0, 5, 0, n0, n1, n2, n3, n4, n5];
            prop_assert_eq!(header.to_bytes(), bytes);
            prop_assert_eq!(DataHeader::read(&bytes), Some(header));
        }
    }

    #[test]
    fn what_is_shorter_has_none() {
        let header = DataHeader {
            source_port: 1,
            destination_port: 2,
            ccval: 3,
            seq: SeqNo::new(4),
        };
        assert_eq!(DataHeader::read(&header.to_bytes()[..15]), None);
        let packet = Packet {
            source_port: 1,
            destination_port: 2,
            ccval: 16,
            cscov: 0,
            extended: true,
            seq: SeqNo::new(4),
            kind: Kind::Data,
            options: OptionList::new(),
            payload: Payload::EMPTY,
        };
        // This is an error, reported when the packet is emitted.
        assert_eq!(DataHeader::of(&packet), None);
    }
}
