//! Sequence numbers: 32 bits on the wire, 64 bits inside.
//!
//! An endpoint counts the bytes of a direction as *offsets* that never wrap: the SYN is offset 0,
//! the first byte of data offset 1. Only on the wire are they reduced modulo 2^32 and shifted by
//! the initial sequence number, so no comparison inside an endpoint needs the modular arithmetic of
//! RFC 9293 section 3.4.

use skywave_wire::tcp::SackBlock;

use super::reassembly::Range;

/// The offsets of one direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SequenceSpace {
    initial: u32,
}

impl SequenceSpace {
    /// Creates the space whose SYN has sequence number `initial` (ISS or IRS).
    pub(super) const fn new(initial: u32) -> Self {
        Self { initial }
    }

    /// Returns the sequence number of `offset`.
    pub(super) const fn wire(self, offset: u64) -> u32 {
        self.initial.wrapping_add(offset as u32)
    }

    /// Returns the offset of `number` nearest to `near`, or `None` if it lies before the SYN.
    pub(super) const fn offset(self, number: u32, near: u64) -> Option<u64> {
        let distance = number.wrapping_sub(self.wire(near)) as i32;
        near.checked_add_signed(distance as i64)
    }

    /// Returns the byte range of a SACK block, if it lies between `una` and `max`; otherwise
    /// `None`, because a peer cannot have received what was never sent.
    pub(super) fn block(self, block: &SackBlock, una: u64, max: u64) -> Option<Range> {
        let start = self.offset(block.left, una)?;
        let end = self.offset(block.right, una)?;
        (una < start && start < end && end <= max).then_some(Range { start, end })
    }
}

/// A sender's position in the sequence space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// The first unacknowledged byte.
    pub(super) una: u64,
    /// The byte after the last one ever sent.
    pub(super) max: u64,
    /// Bytes in a full segment.
    pub(super) smss: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_space_wraps_on_the_wire_only() {
        let space = SequenceSpace::new(u32::MAX - 1);
        assert_eq!(space.wire(0), u32::MAX - 1);
        assert_eq!(space.wire(5), 3);
        assert_eq!(space.offset(3, 0), Some(5));
        assert_eq!(space.offset(u32::MAX, 5), Some(1));
    }

    #[test]
    fn a_number_before_the_syn_has_no_offset() {
        assert_eq!(SequenceSpace::new(100).offset(99, 0), None);
    }

    proptest! {
        #[test]
        fn every_offset_within_two_gigabytes_is_found_again(
            initial: u32, near in 0..1_u64 << 40, distance in -(1_i64 << 31) + 1..1_i64 << 31,
        ) {
            let space = SequenceSpace::new(initial);
            if let Some(offset) = near.checked_add_signed(distance) {
                prop_assert_eq!(space.offset(space.wire(offset), near), Some(offset));
            }
        }
    }
}
