//! Places in a chain of MPCP, told by TCP's header as published (Li and Yousefi'zadeh 2009, sections
//! 3.2 and 5): there is no field for them, so they hide in the order of its two numbers.
//!
//! - *Two packets* (DPCP): the sequence number is the larger one on the first, the acknowledgement
//!   number on the second; where it is not so, the two change places (Algorithm 1, with the negation
//!   that its printed form has lost). The checksum does not notice. Where both are equal, the one that
//!   has to be smaller is lowered by one after the checksum was computed: a checksum that is wrong by
//!   one tells of it.
//! - *More*: the acknowledgement number is lowered by the place, and the checksum tells by how much.
//!
//! Whoever receives a segment knows one of the two numbers, since data flow one way: so it sees
//! whether they have changed places, even when one has overtaken the other. Not told right is the
//! place of a segment whose number to be lowered is less than what it is to be lowered by: it would
//! have to wrap. Of two packets that is a tie at zero, which the receiver takes for another segment.

use skywave_wire::tcp::Segment;

/// The number of a segment that the receiver of it can tell.
#[derive(Clone, Copy, Debug)]
pub(super) enum Known {
    /// The sequence number, of a peer that sends no data.
    Seq(u32),
    /// The acknowledgement number, of an end that sends no data.
    Ack(u32),
}

impl Known {
    const fn fits(self, segment: &Segment) -> bool {
        match self {
            Self::Seq(seq) => segment.seq == seq,
            Self::Ack(ack) => segment.ack == ack,
        }
    }
}

/// The place in a chain of `packets` packets that a header tells: all that a router reads.
pub const fn place(seq: u32, ack: u32, checksum_offset: u8, packets: u8) -> u8 {
    match packets {
        0 | 1 => 0,
        2 => (seq <= ack) as u8,
        _ => checksum_offset,
    }
}

/// Lets the header of `segment` tell its place in a chain of `packets` packets.
pub(super) fn put(segment: &mut Segment, place: u8, packets: u8) {
    match packets {
        0 | 1 => {}
        2 if segment.seq == segment.ack => {
            let lowered = if place == 0 {
                &mut segment.ack
            } else {
                &mut segment.seq
            };
            *lowered = lowered.wrapping_sub(1);
            segment.checksum_offset = 1;
        }
        2 if (segment.seq > segment.ack) != (place == 0) => swap(segment),
        2 => {}
        _ => {
            segment.ack = segment.ack.wrapping_sub(place.into());
            segment.checksum_offset = place;
        }
    }
}

/// Makes the numbers of `segment` what they were, and returns the place that they told.
pub(super) fn take(segment: &mut Segment, packets: u8, known: Known) -> u8 {
    let offset = core::mem::take(&mut segment.checksum_offset);
    let place = place(segment.seq, segment.ack, offset, packets);
    match packets {
        0 | 1 => {}
        2 if offset > 0 => {
            let lowered = if place == 0 {
                &mut segment.ack
            } else {
                &mut segment.seq
            };
            *lowered = lowered.wrapping_add(1);
        }
        2 if known.fits(segment) => {}
        2 => {
            swap(segment);
            if !known.fits(segment) {
                swap(segment);
            }
        }
        _ => segment.ack = segment.ack.wrapping_add(offset.into()),
    }
    place
}

const fn swap(segment: &mut Segment) {
    core::mem::swap(&mut segment.seq, &mut segment.ack);
}

#[cfg(test)]
mod tests {
    use core::net::Ipv4Addr;

    use proptest::prelude::*;
    use skywave_wire::tcp::{Flags, TcpOptions};
    use skywave_wire::{AddressPair, Checksum, Payload};

    use super::*;

    const CHECKSUM: Checksum = Checksum::Over(AddressPair::V4 {
        source: Ipv4Addr::new(10, 0, 0, 1),
        destination: Ipv4Addr::new(10, 0, 0, 2),
    });

    fn segment(seq: u32, ack: u32) -> Segment {
        Segment {
            source_port: 49_152,
            destination_port: 5001,
            seq,
            ack,
            flags: Flags::ACK,
            window: 1000,
            checksum_offset: 0,
            options: TcpOptions::default(),
            payload: Payload::Synthetic(1000),
        }
    }

    /// Sends a segment over the wire, and returns it with what a router and the receiver make of the
    /// bytes.
    fn sent(seq: u32, ack: u32, place: u8, packets: u8, known: Known) -> (Segment, u8, u8) {
        let mut segment = segment(seq, ack);
        put(&mut segment, place, packets);
        let bytes = segment.to_bytes(CHECKSUM).unwrap();
        let mut parsed = Segment::parse_with_offset(&bytes, CHECKSUM, packets - 1).unwrap();
        let router = super::place(parsed.seq, parsed.ack, parsed.checksum_offset, packets);
        let receiver = take(&mut parsed, packets, known);
        (parsed, router, receiver)
    }

    fn number() -> impl Strategy<Value = u32> {
        prop_oneof![8..u32::MAX, 8..20_u32, u32::MAX - 9..u32::MAX]
    }

    proptest! {
        /// Order and both numbers come back from bytes alone, whichever number is the larger one,
        /// and for ties.
        #[test]
        fn place_and_numbers_come_back_from_bytes(
            seq in number(), ack in prop_oneof![number().prop_map(Some), Just(None)],
            packets in 1..=8_u8, place in 0..8_u8,
        ) {
            let place = place % packets;
            let ack = ack.unwrap_or(seq);
            for known in [Known::Seq(seq), Known::Ack(ack)] {
                let (parsed, router, receiver) = sent(seq, ack, place, packets, known);
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
            put(&mut segment, place, 2);
            assert_eq!((segment.seq, segment.ack), numbers);
            assert_eq!(segment.checksum_offset, offset);
        }
    }

    /// Numbers that have changed places have the same checksum: nothing on the way can tell.
    #[test]
    fn a_swap_needs_no_other_checksum() {
        let mut swapped = segment(1_000_000, 77);
        let checksum = |segment: &Segment| segment.to_bytes(CHECKSUM).unwrap()[16..18].to_vec();
        let before = checksum(&swapped);
        put(&mut swapped, 1, 2);
        assert_eq!(swapped.seq, 77);
        assert_eq!(checksum(&swapped), before);
    }
}
