//! The start of a DCCP packet as quoted in an ICMP error (RFC 792; RFC 4340 section 14.1).

use super::{PacketType, SeqNo};

/// The fields that identify one of our packets in an ICMP error, whose quotation may end within the
/// header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotedHeader {
    /// The source port of the packet; its sender receives the error.
    pub source_port: u16,
    /// The port of the other end.
    pub destination_port: u16,
    /// X: whether `seq` has 48 bits; otherwise it contains the low 24 bits.
    pub extended: bool,
    /// Sequence number.
    pub seq: SeqNo,
}

impl QuotedHeader {
    /// Decodes the first bytes of a DCCP header. Returns `None` if they do not include the sequence
    /// number (12 bytes, or 16 if X is set) or if the packet type is unknown.
    ///
    /// ```
    /// use skywave_wire::dccp::QuotedHeader;
    ///
    /// let data = [0x9c, 0x40, 0x13, 0x89, 3, 0, 0, 0, 2 << 1, 0, 1, 2];
    /// let quoted = QuotedHeader::parse(&data).unwrap();
    /// assert_eq!((quoted.source_port, quoted.destination_port), (40_000, 5_001));
    /// assert_eq!(quoted.seq.get(), 0x102);
    /// ```
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let (&[s0, s1, d0, d1, _, _, _, _, type_x, n0, n1, n2], rest) =
            bytes.split_first_chunk::<12>()?;
        PacketType::from_number(type_x >> 1 & 0x0f)?;
        let extended = type_x & 1 == 1;
        let seq = if extended {
            let &[n3, n4, n5, n6] = rest.first_chunk::<4>()?;
            [0, 0, n1, n2, n3, n4, n5, n6]
        } else {
            [0, 0, 0, 0, 0, n0, n1, n2]
        };
        Some(Self {
            source_port: u16::from_be_bytes([s0, s1]),
            destination_port: u16::from_be_bytes([d0, d1]),
            extended,
            seq: SeqNo::new(u64::from_be_bytes(seq)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dccp::{Kind, Packet};
    use crate::{Checksum, Payload};

    /// D14-2: the first 12 or 16 bytes of an encoded packet identify it; fewer do not.
    #[test]
    fn reads_what_is_emitted() {
        for extended in [false, true] {
            let packet = Packet {
                source_port: 40_000,
                destination_port: 5_001,
                ccval: 3,
                cscov: 0,
                extended,
                seq: SeqNo::new(if extended {
                    0x8123_4567_89ab
                } else {
                    0x81_2345
                }),
                kind: Kind::Data,
                options: Default::default(),
                payload: Payload::Synthetic(100),
            };
            let bytes = packet.to_bytes(Checksum::Ignored).unwrap();
            let enough = if extended { 16 } else { 12 };
            for length in 0..40 {
                let quoted = QuotedHeader::parse(&bytes[..length]);
                let expected = (length >= enough).then_some(QuotedHeader {
                    source_port: 40_000,
                    destination_port: 5_001,
                    extended,
                    seq: packet.seq,
                });
                assert_eq!(quoted, expected, "{length} bytes");
            }
        }
        assert_eq!(QuotedHeader::parse(&[0xff; 16]), None, "type 15");
    }
}
