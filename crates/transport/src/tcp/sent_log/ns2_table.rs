//! The circular table of ns-2's Vegas.

use super::SentSegment;

/// The entries that ns-2's Vegas fails to clear: see
/// [`RecoveryAlgorithm::Ns2Vegas`](crate::tcp::RecoveryAlgorithm::Ns2Vegas).
#[derive(Clone, Debug)]
pub(super) struct VegasTable {
    /// Acknowledged segments that still count.
    places: Vec<Option<SentSegment>>,
    /// The index of the first outstanding segment, or of the next one. The SYN used index 0.
    first: usize,
}

impl VegasTable {
    /// Larger than any window in segments.
    const MOST_PLACES: u32 = 1 << 20;

    pub(super) fn new(places: u32) -> Self {
        let places = places.clamp(1, Self::MOST_PLACES) as usize;
        Self {
            places: vec![None; places],
            first: 1 % places,
        }
    }

    fn place(&self, ahead: usize) -> usize {
        (self.first + ahead) % self.places.len()
    }

    /// Returns the entry at the place of the segment that has `ahead` outstanding segments before
    /// it. It may be that of an earlier segment.
    pub(super) fn of(&self, ahead: usize) -> Option<SentSegment> {
        self.places.get(self.place(ahead)).copied().flatten()
    }

    pub(super) fn on_ack<'a>(&mut self, acked: impl ExactSizeIterator<Item = &'a SentSegment>) {
        let Some(others) = acked.len().checked_sub(1) else {
            return;
        };
        let is_cleared = self.first <= self.place(others);
        for segment in acked {
            if let Some(place) = self.places.get_mut(self.first) {
                *place = (!is_cleared).then_some(*segment);
            }
            self.first = self.place(1);
        }
    }

    /// Returns the bytes of heap memory in use.
    pub(super) fn heap_size(&self) -> usize {
        self.places.len() * size_of::<Option<SentSegment>>()
    }
}
