//! MPCP's encoding of a packet's position in its chain in the headers of TCP and IPv4 (Li and
//! Yousefi'zadeh 2009, sections 3.2 and 5). There is no field for it. By default it is encoded in
//! the order of the sequence and acknowledgement numbers:
//!
//! - *Two packets* (DPCP): the sequence number is the larger one in the first packet, the
//!   acknowledgement number in the second; if not, the two are swapped (Algorithm 1, including the
//!   negation missing in print). Swapping does not change the checksum. If both are equal, the one
//!   that must be smaller is decremented after the checksum is computed, and the receiver detects
//!   this because the checksum is off by one.
//! - *More packets*: the position is subtracted from the acknowledgement number, and the checksum
//!   is off by the same amount.
//!
//! Data flows one way, so the receiver of a segment knows one of the two numbers and can tell
//! whether they were swapped, even if segments were reordered.
//!
//! Routers cannot read TCP's header under IPsec. For this the paper proposes the lowest bit of
//! IPv4's identification field (section 5), which leaves TCP's numbers and checksum alone. For
//! longer chains, the lowest three bits hold the position (our extension).
//!
//! Known limitation: if subtracting would wrap below zero, the position is misread. With two
//! packets this affects only a tie at zero, which the receiver takes for another segment.

use skywave_transport::tcp::Header;

/// The bits of the identification field that hold a position.
const PLACE_BITS: u16 = 0b111;

/// How a sender determines the position of a packet in its chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainOrder {
    /// From its sequence number, modulo the length of the chain, if every packet has its own
    /// number, as in DCCP. Losses and reordering never cause a wrong position.
    SequenceNumbers,
    /// From the order of the two numbers in the headers of successive acknowledgements, or with
    /// chains of more than two packets from their checksums: TCP, as published. After three equal
    /// positions in a row, the sender switches to VCP.
    TcpNumbers,
    /// The same, but from the identification field of the IPv4 header, which routers can read
    /// where IPsec hides TCP's header (section 5).
    Identification,
}

/// The number of a segment that its receiver knows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known {
    /// The sequence number of a peer that sends no data.
    Seq(u32),
    /// The acknowledgement number to an end that sends no data.
    Ack(u32),
}

impl Known {
    const fn fits(self, header: &Header) -> bool {
        match self {
            Self::Seq(seq) => header.seq == seq,
            Self::Ack(ack) => header.ack == ack,
        }
    }
}

/// How the segments of a connection carry their positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// They carry none: every packet is its own chain.
    Absent,
    /// In the order of the two numbers, for chains of two packets.
    Swap,
    /// In the difference between an acknowledgement number and its checksum.
    Checksum,
    /// In IPv4's identification field.
    Identification,
}

impl Encoding {
    pub(crate) const fn new(packets: u8, order: ChainOrder) -> Self {
        match (packets, order) {
            (0 | 1, _) => Self::Absent,
            (_, ChainOrder::Identification) => Self::Identification,
            (2, _) => Self::Swap,
            _ => Self::Checksum,
        }
    }

    /// Returns the position encoded in a header: all that a router reads.
    pub(crate) const fn place(self, header: Header) -> u8 {
        match self {
            Self::Absent => 0,
            Self::Swap => (header.seq <= header.ack) as u8,
            Self::Checksum => header.checksum_offset,
            Self::Identification => (header.identification & PLACE_BITS) as u8,
        }
    }

    /// Encodes the position `place` into `header`.
    pub(crate) fn put(self, header: &mut Header, place: u8) {
        match self {
            Self::Absent => {}
            Self::Swap if header.seq == header.ack => {
                let lowered = if place == 0 {
                    &mut header.ack
                } else {
                    &mut header.seq
                };
                *lowered = lowered.wrapping_sub(1);
                header.checksum_offset = 1;
            }
            Self::Swap if (header.seq > header.ack) != (place == 0) => swap(header),
            Self::Swap => {}
            Self::Checksum => {
                header.ack = header.ack.wrapping_sub(place.into());
                header.checksum_offset = place;
            }
            Self::Identification => header.identification = place.into(),
        }
    }

    /// Restores the numbers of `header` and returns the position that they encoded.
    pub(crate) fn take(self, header: &mut Header, known: Known) -> u8 {
        let place = self.place(*header);
        let offset = core::mem::take(&mut header.checksum_offset);
        match self {
            Self::Absent => {}
            Self::Swap if offset > 0 => {
                let lowered = if place == 0 {
                    &mut header.ack
                } else {
                    &mut header.seq
                };
                *lowered = lowered.wrapping_add(1);
            }
            Self::Swap if known.fits(header) => {}
            Self::Swap => {
                swap(header);
                if !known.fits(header) {
                    swap(header);
                }
            }
            Self::Checksum => header.ack = header.ack.wrapping_add(offset.into()),
            Self::Identification => header.identification = 0,
        }
        place
    }
}

const fn swap(header: &mut Header) {
    core::mem::swap(&mut header.seq, &mut header.ack);
}

#[cfg(test)]
pub(crate) mod tests {
    use core::net::Ipv4Addr;

    use proptest::prelude::*;
    use skywave_wire::tcp::{Flags, Segment, TcpOptions};
    use skywave_wire::{AddressPair, Checksum, Payload};

    use super::*;

    const CHECKSUM: Checksum = Checksum::Over(AddressPair::V4 {
        source: Ipv4Addr::new(10, 0, 0, 1),
        destination: Ipv4Addr::new(10, 0, 0, 2),
    });

    pub(crate) fn segment(seq: u32, ack: u32) -> Segment {
        Segment {
            source_port: 49_152,
            destination_port: 5001,
            seq,
            ack,
            flags: Flags::ACK,
            window: 1000,
            checksum_offset: 0,
            identification: 0,
            options: TcpOptions::default(),
            payload: Payload::Synthetic(1000),
        }
    }

    fn put_into(segment: &mut Segment, place: u8, encoding: Encoding) {
        let mut header = Header::of(segment);
        encoding.put(&mut header, place);
        header.put_into(segment);
    }

    /// Sends a segment over the wire. Returns it with the position read by a router and by the
    /// receiver.
    fn sent(seq: u32, ack: u32, place: u8, encoding: Encoding, known: Known) -> (Segment, u8, u8) {
        let mut segment = segment(seq, ack);
        put_into(&mut segment, place, encoding);
        let bytes = segment.to_bytes(CHECKSUM).unwrap();
        let mut parsed = Segment::parse_with_offset(&bytes, CHECKSUM, 7).unwrap();
        parsed.identification = segment.identification;
        let router = encoding.place(Header::of(&parsed));
        let mut header = Header::of(&parsed);
        let receiver = encoding.take(&mut header, known);
        header.put_into(&mut parsed);
        (parsed, router, receiver)
    }

    fn order(by_identification: bool) -> ChainOrder {
        if by_identification {
            ChainOrder::Identification
        } else {
            ChainOrder::TcpNumbers
        }
    }

    fn number() -> impl Strategy<Value = u32> {
        prop_oneof![8..u32::MAX, 8..20_u32, u32::MAX - 9..u32::MAX]
    }

    proptest! {
        /// The position and both numbers are recovered from bytes alone, whichever number is
        /// larger, and for ties.
        #[test]
        fn place_and_numbers_come_back_from_bytes(
            seq in number(), ack in prop_oneof![number().prop_map(Some), Just(None)],
            packets in 1..=8_u8, place in 0..8_u8, by_identification: bool,
        ) {
            let place = place % packets;
            let encoding = Encoding::new(packets, order(by_identification));
            let ack = ack.unwrap_or(seq);
            for known in [Known::Seq(seq), Known::Ack(ack)] {
                let (parsed, router, receiver) = sent(seq, ack, place, encoding, known);
                prop_assert_eq!((parsed.seq, parsed.ack), (seq, ack));
                prop_assert_eq!(parsed.payload.len(), 1000);
                prop_assert_eq!((router, receiver), (place, place));
            }
        }
    }

    /// Algorithm 1, line by line.
    #[test]
    fn the_larger_number_names_the_half() {
        let cases = [
            // The first packet: seq > ack.
            ((9, 5), 0, (9, 5), 0),
            ((5, 9), 0, (9, 5), 0),
            ((7, 7), 0, (7, 6), 1),
            // The second one: seq < ack.
            ((9, 5), 1, (5, 9), 0),
            ((5, 9), 1, (5, 9), 0),
            ((7, 7), 1, (6, 7), 1),
        ];
        for ((seq, ack), place, numbers, offset) in cases {
            let mut segment = segment(seq, ack);
            put_into(&mut segment, place, Encoding::Swap);
            assert_eq!((segment.seq, segment.ack), numbers);
            assert_eq!(segment.checksum_offset, offset);
        }
    }

    /// Swapped numbers have the same checksum, so nothing on the path can notice.
    #[test]
    fn a_swap_needs_no_other_checksum() {
        let mut swapped = segment(1_000_000, 77);
        let checksum = |segment: &Segment| segment.to_bytes(CHECKSUM).unwrap()[16..18].to_vec();
        let before = checksum(&swapped);
        put_into(&mut swapped, 1, Encoding::Swap);
        assert_eq!(swapped.seq, 77);
        assert_eq!(checksum(&swapped), before);
    }
}
