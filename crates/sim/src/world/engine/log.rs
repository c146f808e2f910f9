//! The log: what has happened to packets in the elements of a network, until it is in order of time.

use skywave_units::Instant;

use crate::world::observe::Entry;

/// Elements without lines have keys from here on.
pub(super) const NEVER: u64 = u64::MAX << 33;

/// The entries of a [`Chronicle`](crate::world::observe::Chronicle) in a region, by element, each in order of time.
///
/// All entries of a packet are kept until they are in order, and until then its key is not used
/// again.
pub(super) struct Log {
    pub(super) elements: Vec<Lines>,
    /// The element whose turn it is.
    turn: usize,
    /// The number of lines.
    pub(super) waiting: usize,
}

/// The entries of an element.
#[derive(Default)]
pub(super) struct Lines {
    pub(super) lines: Vec<(u32, Entry)>,
    /// The time and the rank of the last event in the element.
    last: (Instant, u32),
}

impl Log {
    /// Creates the log of so many elements.
    pub(super) fn new(elements: usize) -> Self {
        Self {
            elements: (0..elements).map(|_| Lines::default()).collect(),
            turn: 0,
            waiting: 0,
        }
    }

    /// Continues with more elements than one. What is in the log comes before all that follows.
    pub(super) fn divide(&mut self, elements: usize) {
        // The division may come in the middle of an instant.
        let last = self.elements[0].last;
        self.elements.resize_with(elements, || Lines {
            lines: Vec::new(),
            last,
        });
    }

    /// Continues with one element.
    pub(super) fn join(&mut self) {
        let mut all = Lines::default();
        for element in &mut self.elements {
            all.lines.append(&mut element.lines);
        }
        // The order of lines with the same key is that within their element.
        all.lines.sort_by_key(|(rank, entry)| (entry.at, *rank));
        self.elements = vec![all];
    }

    /// Gives the turn to an element.
    pub(super) const fn turn(&mut self, element: usize) {
        self.turn = element;
    }

    /// Notes the event from which the next entries follow.
    ///
    /// An event can cause another one at the same instant that ranks before it. Whatever ranks
    /// before the cause has then already happened.
    #[inline(always)]
    pub(super) fn begin(&mut self, now: Instant, rank: u32) {
        let turn = &mut self.elements[self.turn];
        let (at, last) = turn.last;
        let rank = if at == now { rank.max(last) } else { rank };
        turn.last = (now, rank);
    }

    #[inline(always)]
    pub(super) fn push(&mut self, entry: &Entry) {
        let turn = &mut self.elements[self.turn];
        turn.lines.push((turn.last.1, *entry));
        self.waiting += 1;
    }
}

impl Lines {
    /// Returns the place of a line among those of all elements, if it comes before the line `end`.
    #[inline(always)]
    pub(super) fn key(&self, next: usize, end: usize, merged: Instant) -> Option<u64> {
        let (rank, entry) = self.lines[..end].get(next)?;
        Some((entry.at - merged).as_nanos() << 32 | u64::from(*rank))
    }
}
