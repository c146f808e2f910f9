//! The bytes that have arrived: the cumulative point and the ranges beyond it.

/// Bytes from `start` up to, but not including, `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) start: u64,
    pub(super) end: u64,
}

/// The effect of a piece of data on the [`Reassembly`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// Every byte had arrived before.
    Duplicate,
    /// It lies beyond a gap.
    OutOfOrder,
    /// It continues the stream, with nothing beyond it.
    InOrder,
    /// It filled a gap, or the first part of one.
    FilledGap,
}

/// The bytes that have arrived, as ranges of offsets.
///
/// A range takes 16 bytes regardless of its size. They are in a buffer that is allocated at the
/// first gap and grows with the largest number of simultaneous gaps, which the receive window
/// bounds.
#[derive(Clone, Debug)]
pub(super) struct Reassembly {
    /// The next byte expected (RCV.NXT).
    next: u64,
    /// The ranges beyond `next`, in ascending order; they neither touch nor overlap.
    beyond: Vec<Range>,
}

impl Reassembly {
    /// Creates an empty state that expects `next` first.
    pub(super) const fn new(next: u64) -> Self {
        Self {
            next,
            beyond: Vec::new(),
        }
    }

    /// Returns the next byte expected (RCV.NXT).
    pub(super) const fn next(&self) -> u64 {
        self.next
    }

    /// Returns the ranges beyond the next byte expected, in ascending order; they neither touch nor
    /// overlap.
    pub(super) fn beyond(&self) -> &[Range] {
        &self.beyond
    }

    /// Returns the bytes of heap memory in use.
    pub(super) fn heap_size(&self) -> usize {
        self.beyond.capacity() * size_of::<Range>()
    }

    /// Inserts the bytes of `data`. An empty range counts as a duplicate.
    #[inline(always)]
    pub(super) fn insert(&mut self, data: Range) -> Arrival {
        let Range { start, end } = data;
        if end <= self.next || start >= end {
            return Arrival::Duplicate;
        }
        if start > self.next {
            return self.insert_beyond(data);
        }
        self.next = end;
        if self.beyond.is_empty() {
            return Arrival::InOrder;
        }
        self.fill_gap(end);
        Arrival::FilledGap
    }

    /// Extends the cumulative point over the ranges connected to the bytes before `end`.
    #[inline(never)]
    fn fill_gap(&mut self, end: u64) {
        let reached = self
            .beyond
            .iter()
            .take_while(|range| range.start <= end)
            .count();
        if let Some(last) = reached.checked_sub(1) {
            self.next = end.max(self.beyond[last].end);
            self.beyond.drain(..reached);
        }
    }

    #[inline(never)]
    fn insert_beyond(&mut self, data: Range) -> Arrival {
        // The ranges touched by `data` are `first..last`. Data nearly always extends or follows the
        // last range, so search from the end.
        let last = self
            .beyond
            .iter()
            .rposition(|range| range.start <= data.end)
            .map_or(0, |i| i + 1);
        let first = self.beyond[..last]
            .iter()
            .rposition(|range| range.end < data.start)
            .map_or(0, |i| i + 1);
        if first == last {
            self.beyond.insert(first, data);
            return Arrival::OutOfOrder;
        }
        let touched = Range {
            start: self.beyond[first].start,
            end: self.beyond[last - 1].end,
        };
        if last - first == 1 && touched.start <= data.start && data.end <= touched.end {
            return Arrival::Duplicate;
        }
        self.beyond[first] = Range {
            start: touched.start.min(data.start),
            end: touched.end.max(data.end),
        };
        self.beyond.drain(first + 1..last);
        Arrival::OutOfOrder
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reports_what_arrived() {
        let mut received = Reassembly::new(1);
        let mut insert = |start, end| received.insert(Range { start, end });
        assert_eq!(insert(1, 3), Arrival::InOrder);
        assert_eq!(insert(5, 7), Arrival::OutOfOrder);
        assert_eq!(insert(9, 11), Arrival::OutOfOrder);
        assert_eq!(insert(5, 7), Arrival::Duplicate);
        assert_eq!(insert(1, 3), Arrival::Duplicate);
        assert_eq!(insert(3, 5), Arrival::FilledGap);
        assert_eq!(insert(7, 9), Arrival::FilledGap);
        assert_eq!(insert(11, 12), Arrival::InOrder);
        assert_eq!(received.next(), 12);
    }

    proptest! {
        /// Compares with the naive implementation, which remembers every byte.
        #[test]
        fn agrees_with_a_set_of_bytes(
            pieces in prop::collection::vec((0_u64..120, 0_u64..12), 1..80),
        ) {
            let mut received = Reassembly::new(0);
            let mut bytes = BTreeSet::new();
            for (start, length) in pieces {
                let fresh = (start..start + length).any(|byte| !bytes.contains(&byte));
                bytes.extend(start..start + length);
                let arrival = received.insert(Range { start, end: start + length });
                prop_assert_eq!(arrival != Arrival::Duplicate, fresh);
                let next = (0..).find(|byte| !bytes.contains(byte)).unwrap();
                prop_assert_eq!(received.next(), next);
                let mut held = BTreeSet::new();
                let mut end_of_previous = next;
                for range in &received.beyond {
                    prop_assert!(range.start > end_of_previous && range.end > range.start);
                    end_of_previous = range.end;
                    held.extend(range.start..range.end);
                }
                prop_assert!(held.iter().eq(bytes.range(next..)));
            }
        }
    }
}
