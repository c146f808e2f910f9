//! When each outstanding segment was sent, for those who ask.

use std::collections::VecDeque;

use skywave_units::Instant;

/// A segment that has not been acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SentSegment {
    /// The offset of its first byte.
    pub(super) start: u64,
    /// The offset after its last byte.
    pub(super) end: u64,
    /// When it was sent last.
    pub(super) sent_at: Instant,
    /// How often it has been sent.
    pub(super) transmissions: u32,
}

/// The outstanding segments, in the order of the stream. Most senders need none: it is kept where
/// the window algorithm or the recovery asks for each segment's round-trip time.
#[derive(Clone, Debug, Default)]
pub(super) struct SentLog {
    segments: VecDeque<SentSegment>,
    /// What segments count as before they are sent.
    before: Option<Table>,
}

impl SentLog {
    /// With the `places` of ns-2's table, where it is to be imitated.
    pub(super) fn new(places: Option<u32>) -> Self {
        Self {
            segments: VecDeque::new(),
            before: places.map(Table::new),
        }
    }

    /// The bytes from `start` to `end` are sent. What was sent before counts as sent again where
    /// it begins in this segment.
    pub(super) fn on_sent(&mut self, now: Instant, start: u64, end: u64) {
        let first = self.segments.partition_point(|sent| sent.end <= start);
        let again = self.segments.range_mut(first..);
        for sent in again.take_while(|sent| sent.start < end) {
            sent.sent_at = now;
            sent.transmissions = sent.transmissions.saturating_add(1);
        }
        let known = self.segments.back().map_or(0, |sent| sent.end);
        if end > known {
            let ahead = self.segments.len();
            let before = self.before.as_ref().and_then(|table| table.of(ahead));
            self.segments.push_back(SentSegment {
                start: start.max(known),
                end,
                sent_at: now,
                transmissions: before.map_or(1, |before| before.transmissions.saturating_add(1)),
            });
        }
    }

    /// Everything before `ack` is acknowledged, and will be taken out.
    pub(super) fn on_ack(&mut self, ack: u64) {
        if let Some(table) = &mut self.before {
            let count = self.segments.partition_point(|sent| sent.end <= ack);
            table.on_ack(self.segments.range(..count));
        }
    }

    /// Takes out the first segment, where everything before `ack` covers it.
    pub(super) fn pop_acked(&mut self, ack: u64) -> Option<SentSegment> {
        self.segments.pop_front_if(|sent| sent.end <= ack)
    }

    /// The first segment that has not been acknowledged; where all have been, what the next one is
    /// taken for.
    pub(super) fn oldest(&self) -> Option<SentSegment> {
        let oldest = self.segments.front().copied();
        oldest.or_else(|| self.before.as_ref()?.of(0))
    }

    /// Bytes of heap in use.
    pub(super) fn heap_size(&self) -> usize {
        let places = self.before.as_ref().map_or(0, |table| table.places.len());
        self.segments.capacity() * size_of::<SentSegment>()
            + places * size_of::<Option<SentSegment>>()
    }
}

/// What ns-2's Vegas forgets to clear: see [`super::RecoveryAlgorithm::Ns2Vegas`].
#[derive(Clone, Debug)]
struct Table {
    /// Acknowledged segments that still count.
    places: Vec<Option<SentSegment>>,
    /// The place of the first outstanding segment, or of the next one. The SYN had the first of all.
    first: usize,
}

impl Table {
    /// No window has more segments.
    const MOST_PLACES: u32 = 1 << 20;

    fn new(places: u32) -> Self {
        let places = places.clamp(1, Self::MOST_PLACES) as usize;
        Self {
            places: vec![None; places],
            first: 1 % places,
        }
    }

    fn place(&self, ahead: usize) -> usize {
        (self.first + ahead) % self.places.len()
    }

    /// What the segment that has `ahead` outstanding ones before it is taken for.
    fn of(&self, ahead: usize) -> Option<SentSegment> {
        self.places.get(self.place(ahead)).copied().flatten()
    }

    fn on_ack<'a>(&mut self, acked: impl ExactSizeIterator<Item = &'a SentSegment>) {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn what_is_sent_again_is_known_by_its_first_byte() {
        let mut log = SentLog::default();
        log.on_sent(at(1), 1, 11);
        log.on_sent(at(2), 11, 21);
        log.on_sent(at(3), 21, 25);
        log.on_sent(at(9), 11, 21);
        let first = log.pop_acked(15).unwrap();
        assert_eq!((first.start, first.transmissions), (1, 1));
        assert_eq!(log.pop_acked(15), None);
        let second = log.oldest().unwrap();
        assert_eq!((second.sent_at, second.transmissions), (at(9), 2));
        // The last one grows: what is new of it is a segment of its own.
        log.on_sent(at(10), 21, 31);
        log.pop_acked(21).unwrap();
        let third = log.pop_acked(25).unwrap();
        assert_eq!((third.end, third.transmissions), (25, 2));
        let fourth = log.pop_acked(31).unwrap();
        assert_eq!((fourth.start, fourth.transmissions), (25, 1));
    }
}
