//! The data that the receiver has selectively acknowledged, and the losses that this shows.

use skywave_wire::tcp::SackBlock;

use crate::tcp::reassembly::{Arrival, Range, Reassembly};
use crate::tcp::sequence::SequenceSpace;

/// The number of duplicate acknowledgements that indicate a loss (RFC 5681 section 3.2), and of
/// SACKed ranges above a lost byte (RFC 6675 section 4).
pub(in crate::tcp) const DUPLICATE_THRESHOLD: u32 = 3;

/// The scoreboard of RFC 6675 section 4. Positions are offsets; an end is the byte after the last.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Scoreboard {
    /// The cumulative acknowledgement and the SACKed ranges above it.
    received: Reassembly,
}

impl Scoreboard {
    /// Creates an empty scoreboard.
    pub(in crate::tcp) const fn new() -> Self {
        Self {
            received: Reassembly::new(0),
        }
    }

    /// Adds the blocks' bytes between `una` and `max`: Update (). Returns whether any of them is
    /// new.
    pub(in crate::tcp) fn update(
        &mut self,
        blocks: &[SackBlock],
        space: SequenceSpace,
        una: u64,
        max: u64,
    ) -> bool {
        let mut is_news = false;
        for range in blocks.iter().filter_map(|b| space.block(b, una, max)) {
            is_news |= self.received.insert(range) != Arrival::Duplicate;
        }
        is_news
    }

    /// Records that everything before `una` is acknowledged.
    pub(in crate::tcp) fn advance(&mut self, una: u64) {
        if una > self.received.next() {
            self.received.insert(Range {
                start: self.received.next(),
                end: una,
            });
        }
    }

    /// Returns whether the receiver has discarded SACKed data: it has SACKed the byte at `una`, but
    /// still waits for that byte.
    pub(in crate::tcp) fn shows_reneging(&self, una: u64) -> bool {
        self.received.next() > una
    }

    /// Forgets all SACKs.
    pub(in crate::tcp) fn clear(&mut self) {
        self.received = Reassembly::new(self.received.next());
    }

    /// Returns the SACKed ranges, in ascending order.
    pub(in crate::tcp) fn sacked(&self) -> &[Range] {
        self.received.beyond()
    }

    /// Returns the bytes of heap memory in use.
    pub(in crate::tcp) fn heap_size(&self) -> usize {
        self.received.heap_size()
    }

    /// Returns the last unSACKed range between `una` and `max`.
    pub(in crate::tcp) fn last_unsacked(&self, una: u64, max: u64) -> Option<Range> {
        let mut end = max;
        for range in self.sacked().iter().rev() {
            if range.end < end {
                return Some(Range {
                    start: range.end,
                    end,
                });
            }
            end = range.start;
        }
        (una < end).then_some(Range { start: una, end })
    }

    /// Returns the number of SACKed bytes before `end`.
    pub(in crate::tcp) fn sacked_before(&self, end: u64) -> u64 {
        self.sacked()
            .iter()
            .take_while(|range| range.start < end)
            .map(|range| range.end.min(end) - range.start)
            .sum()
    }

    /// Returns the first hole at or after `from`, up to the next SACKed range, or `None` if nothing
    /// above is SACKed.
    pub(in crate::tcp) fn hole(&self, from: u64) -> Option<Range> {
        let mut start = from;
        for range in self.sacked() {
            if start < range.start {
                return Some(Range {
                    start,
                    end: range.start,
                });
            }
            start = start.max(range.end);
        }
        None
    }

    /// Returns the first unSACKed byte at or after `from`.
    pub(in crate::tcp) fn skip(&self, from: u64) -> u64 {
        let sacked = self.sacked();
        let next = sacked.get(sacked.partition_point(|range| range.end <= from));
        next.filter(|range| range.start <= from)
            .map_or(from, |range| range.end)
    }

    /// Returns the offset below which unSACKed bytes are lost, because three separate ranges or
    /// more than two segments above it have been SACKed: IsLost () of RFC 6675 for all bytes at
    /// once.
    pub(in crate::tcp) fn lost_below(&self, smss: u64) -> u64 {
        let mut bytes = 0;
        for (above, range) in self.sacked().iter().rev().enumerate() {
            bytes += range.end - range.start;
            if above + 1 >= DUPLICATE_THRESHOLD as usize
                || bytes > u64::from(DUPLICATE_THRESHOLD - 1) * smss
            {
                return range.start;
            }
        }
        0
    }

    /// Returns whether three separate ranges or more than two segments at or above `offset` have
    /// been SACKed, so that data sent just before them is lost. Unlike [`Scoreboard::lost_below`],
    /// does not count the part below `offset` of a range that reaches beyond it.
    pub(in crate::tcp) fn is_passed(&self, offset: u64, smss: u64) -> bool {
        let ranges = self.sacked().iter().rev();
        let above = ranges.take_while(|range| range.end > offset);
        let (count, bytes) = above.fold((0, 0), |(count, bytes), range| {
            (count + 1, bytes + range.end - range.start.max(offset))
        });
        count >= DUPLICATE_THRESHOLD || bytes > u64::from(DUPLICATE_THRESHOLD - 1) * smss
    }

    /// Returns the bytes between `una` and `max` assumed in flight: SetPipe () of RFC 6675. An
    /// unSACKed byte counts once unless it is lost, and once more if it is below `retransmitted`.
    pub(in crate::tcp) fn pipe(&self, una: u64, max: u64, retransmitted: u64, smss: u64) -> u64 {
        let unsacked_before = |end: u64| {
            let end = end.clamp(una, max);
            end - una - self.sacked_before(end)
        };
        let not_lost = unsacked_before(max) - unsacked_before(self.lost_below(smss));
        not_lost + unsacked_before(retransmitted)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const SPACE: SequenceSpace = SequenceSpace::new(u32::MAX - 5);

    fn block(start: u64, end: u64) -> SackBlock {
        SackBlock {
            left: SPACE.wire(start),
            right: SPACE.wire(end),
        }
    }

    #[test]
    fn rfc6675_2_only_news_is_a_duplicate_acknowledgement() {
        let mut board = Scoreboard::new();
        board.advance(10);
        assert!(board.update(&[block(20, 30)], SPACE, 10, 100));
        assert!(!board.update(&[block(20, 30)], SPACE, 10, 100));
        assert!(board.update(&[block(20, 30), block(40, 50)], SPACE, 10, 100));
        // Acknowledged before, never sent, empty, the wrong way round.
        for (start, end) in [(2, 9), (90, 101), (60, 60), (70, 60)] {
            assert!(!board.update(&[block(start, end)], SPACE, 10, 100));
        }
        assert_eq!(board.hole(10), Some(Range { start: 10, end: 20 }));
        assert_eq!(board.hole(25), Some(Range { start: 30, end: 40 }));
        assert_eq!(board.hole(40), None);
        assert_eq!((board.skip(20), board.skip(30)), (30, 30));
        let last = |max| {
            board
                .last_unsacked(10, max)
                .map(|hole| (hole.start, hole.end))
        };
        assert_eq!((last(50), last(60)), (Some((30, 40)), Some((50, 60))));
        board.advance(35);
        assert_eq!(board.sacked(), [Range { start: 40, end: 50 }]);
        board.clear();
        assert!(board.sacked().is_empty());
    }

    #[test]
    fn rfc6675_4_three_ranges_or_more_than_two_segments_above_are_a_loss() {
        let mut board = Scoreboard::new();
        board.advance(1);
        let mut sack = |start, end| {
            board.update(&[block(start, end)], SPACE, 1, 100);
            board.lost_below(10)
        };
        assert_eq!(sack(11, 31), 0);
        assert_eq!(sack(31, 32), 11);
        assert_eq!(sack(40, 41), 11);
        assert_eq!(sack(50, 51), 11);
        assert_eq!(sack(60, 61), 40);
    }

    /// Data sent before `offset` is lost: three ranges or more than two segments of later data have
    /// arrived. Arrivals of earlier data do not count.
    #[test]
    fn three_ranges_or_more_than_two_segments_sent_later_pass_a_retransmission() {
        let passes = |blocks: &[(u64, u64)], offset| {
            let mut board = Scoreboard::new();
            board.advance(1);
            for &(start, end) in blocks {
                board.update(&[block(start, end)], SPACE, 1, 100);
            }
            board.is_passed(offset, 10)
        };
        assert!(!passes(&[], 1));
        let one = [(11, 60)];
        assert!(passes(&one, 11) && passes(&one, 5) && passes(&one, 39));
        assert!(!passes(&one, 40), "two segments");
        let two = [(20, 30), (50, 61)];
        assert!(passes(&two, 20) && !passes(&two, 21));
        let three = [(20, 22), (30, 32), (40, 42)];
        assert!(passes(&three, 20) && passes(&three, 21));
        assert!(!passes(&three, 22), "two ranges");
    }

    proptest! {
        /// Compares with RFC 6675's own definitions, byte by byte.
        #[test]
        fn pipe_and_loss_are_those_of_the_rfc(
            una in 1_u64..20,
            blocks in prop::collection::vec((0_u64..100, 1_u64..15), 0..12),
            retransmitted in 0_u64..110,
            smss in 1_u64..8,
        ) {
            const MAX: u64 = 100;
            let mut board = Scoreboard::new();
            board.advance(una);
            let mut sacked = BTreeSet::new();
            for (start, length) in blocks {
                let end = start + length;
                board.update(&[block(start, end)], SPACE, una, MAX);
                if start > una && end <= MAX {
                    sacked.extend(start..end);
                }
            }
            let is_lost = |byte: u64| {
                let above: Vec<_> = sacked.range(byte..).collect();
                let ranges = above.iter().filter(|&&&b| !sacked.contains(&(b - 1))).count();
                ranges >= 3 || above.len() as u64 > 2 * smss
            };
            let mut pipe = 0;
            for byte in (una..MAX).filter(|byte| !sacked.contains(byte)) {
                prop_assert_eq!(is_lost(byte), byte < board.lost_below(smss));
                pipe += u64::from(!is_lost(byte)) + u64::from(byte < retransmitted);
                let hole = board.hole(byte);
                prop_assert_eq!(hole.is_some(), sacked.range(byte..).next().is_some());
                prop_assert!(hole.is_none_or(|hole| hole.start == byte));
            }
            prop_assert_eq!(board.pipe(una, MAX, retransmitted, smss), pipe);
        }
    }
}
