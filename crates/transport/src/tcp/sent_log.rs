//! When each outstanding segment was sent, for controls and recoveries that need it.

use std::collections::VecDeque;

use skywave_congestion::{DeliveryRate, DeliverySampler};
use skywave_units::{Duration, Instant};
use skywave_wire::tcp::SackBlock;

use super::reassembly::{Arrival, Range, Reassembly};
use super::sequence::SequenceSpace;

/// An unacknowledged segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SentSegment {
    /// The offset of its first byte.
    pub(super) start: u64,
    /// The offset after its last byte.
    pub(super) end: u64,
    /// When it was last sent.
    pub(super) sent_at: Instant,
    /// How often it has been sent.
    pub(super) transmissions: u32,
}

/// The outstanding segments, in stream order. Kept only if the control or the recovery needs each
/// segment's round-trip time, or the control needs delivery rates.
#[derive(Clone, Debug, Default)]
pub(super) struct SentLog {
    segments: VecDeque<SentSegment>,
    /// What segments count as before they are sent.
    before: Option<Table>,
    rate: Option<Box<Rate>>,
}

/// What was delivered, and how fast. Each segment with data is one of the sampler's packets,
/// identified by its first byte, so that each byte belongs to exactly one.
#[derive(Clone, Debug)]
struct Rate {
    sampler: DeliverySampler,
    /// What was acknowledged, cumulatively or selectively. After a timeout the recovery forgets
    /// SACKs, in case the receiver reneges, but delivered data stays delivered.
    delivered: Reassembly,
}

impl Rate {
    fn new() -> Self {
        Self {
            sampler: DeliverySampler::default(),
            delivered: Reassembly::new(0),
        }
    }

    /// Records an outgoing segment. Data ends at `data_end`; anything after it is a FIN.
    fn on_sent(&mut self, now: Instant, segment: &SentSegment, data_end: u64) {
        let bytes = segment.end.min(data_end).saturating_sub(segment.start);
        if bytes > 0 {
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            self.sampler.on_sent(now, segment.start, bytes);
        }
    }

    /// Records that the bytes of `block` were SACKed, and with them every segment that lies inside.
    fn on_block(&mut self, now: Instant, block: Range, segments: &VecDeque<SentSegment>) {
        let Range { mut start, mut end } = block;
        // A block usually extends a known one: examine only the new part.
        for known in self.delivered.beyond() {
            if known.start <= start && start < known.end {
                start = known.end;
            }
            if known.start < end && end <= known.end {
                end = known.start;
            }
        }
        if self.delivered.insert(block) == Arrival::Duplicate {
            return;
        }
        let covers = |known: &&Range| known.start <= start && start < known.end;
        let before_next = Range {
            start: 0,
            end: self.delivered.next(),
        };
        let beyond = self.delivered.beyond().iter().find(covers);
        let known = beyond.copied().unwrap_or(before_next);
        let first = segments.partition_point(|sent| sent.end <= start);
        for sent in segments.range(first..).take_while(|sent| sent.start < end) {
            if known.start <= sent.start && sent.end <= known.end {
                self.sampler.on_acked(now, sent.start);
            }
        }
    }
}

impl SentLog {
    /// Creates a log, with `places` entries of ns-2's table if that is emulated. `samples_rate`
    /// says whether to measure delivery rates.
    pub(super) fn new(places: Option<u32>, samples_rate: bool) -> Self {
        Self {
            segments: VecDeque::new(),
            before: places.map(Table::new),
            rate: samples_rate.then(|| Box::new(Rate::new())),
        }
    }

    /// Records that the bytes from `start` to `end` are sent; those from `data_end` on are a FIN.
    /// Every segment that contains any of the bytes counts as retransmitted; new bytes form their
    /// own segment.
    pub(super) fn on_sent(&mut self, now: Instant, start: u64, end: u64, data_end: u64) {
        let first = self.segments.partition_point(|sent| sent.end <= start);
        let again = self.segments.range_mut(first..);
        for sent in again.take_while(|sent| sent.start < end) {
            sent.sent_at = now;
            sent.transmissions = sent.transmissions.saturating_add(1);
            if let Some(rate) = &mut self.rate {
                rate.on_sent(now, sent, data_end);
            }
        }
        let known = self.segments.back().map_or(0, |sent| sent.end);
        if end > known {
            let ahead = self.segments.len();
            let before = self.before.as_ref().and_then(|table| table.of(ahead));
            let segment = SentSegment {
                start: start.max(known),
                end,
                sent_at: now,
                transmissions: before.map_or(1, |before| before.transmissions.saturating_add(1)),
            };
            if let Some(rate) = &mut self.rate {
                rate.on_sent(now, &segment, data_end);
            }
            self.segments.push_back(segment);
        }
    }

    /// Whether delivery rates are measured.
    pub(super) const fn samples_rate(&self) -> bool {
        self.rate.is_some()
    }

    /// Reports that nothing more can be sent although cwnd has room.
    pub(super) fn mark_application_limited(&mut self) {
        if let Some(rate) = &mut self.rate {
            rate.sampler.mark_application_limited();
        }
    }

    /// Handles an expired retransmission timer.
    pub(super) fn on_timeout(&mut self) {
        if let Some(rate) = &mut self.rate {
            rate.sampler.on_timeout();
        }
    }

    /// Records SACK blocks. `una` is the first unacknowledged byte; `max` is the byte after the
    /// last one sent.
    pub(super) fn on_sack(
        &mut self,
        now: Instant,
        blocks: &[SackBlock],
        space: SequenceSpace,
        una: u64,
        max: u64,
    ) {
        let Some(rate) = &mut self.rate else { return };
        for block in blocks.iter().filter_map(|b| space.block(b, una, max)) {
            rate.on_block(now, block, &self.segments);
        }
    }

    /// Records that everything before `ack` is acknowledged and about to be removed.
    pub(super) fn on_ack(&mut self, ack: u64) {
        if let Some(rate) = &mut self.rate {
            rate.delivered.insert(Range {
                start: rate.delivered.next(),
                end: ack,
            });
        }
        if let Some(table) = &mut self.before {
            let count = self.segments.partition_point(|sent| sent.end <= ack);
            table.on_ack(self.segments.range(..count));
        }
    }

    /// Removes the first segment if it is acknowledged entirely by `ack`.
    pub(super) fn pop_acked(&mut self, now: Instant, ack: u64) -> Option<SentSegment> {
        let segment = self.segments.pop_front_if(|sent| sent.end <= ack)?;
        if let Some(rate) = &mut self.rate {
            rate.sampler.on_acked(now, segment.start);
        }
        Some(segment)
    }

    /// The delivery rate, after everything covered by an acknowledgement was recorded and removed;
    /// `rtt` is the acknowledgement's sample.
    pub(super) fn delivery_rate(&mut self, rtt: Option<Duration>) -> Option<DeliveryRate> {
        self.rate.as_mut()?.sampler.sample(rtt)
    }

    /// The first unacknowledged segment; if there is none, what the next segment is taken for.
    pub(super) fn oldest(&self) -> Option<SentSegment> {
        let oldest = self.segments.front().copied();
        oldest.or_else(|| self.before.as_ref()?.of(0))
    }

    /// Bytes of heap memory in use.
    pub(super) fn heap_size(&self) -> usize {
        let places = self.before.as_ref().map_or(0, |table| table.places.len());
        self.segments.capacity() * size_of::<SentSegment>()
            + self.rate.as_ref().map_or(0, |rate| {
                size_of::<Rate>() + rate.sampler.heap_size() + rate.delivered.heap_size()
            })
            + places * size_of::<Option<SentSegment>>()
    }
}

/// The entries that ns-2's Vegas fails to clear: see [`super::RecoveryAlgorithm::Ns2Vegas`].
#[derive(Clone, Debug)]
struct Table {
    /// Acknowledged segments that still count.
    places: Vec<Option<SentSegment>>,
    /// The index of the first outstanding segment, or of the next one. The SYN used index 0.
    first: usize,
}

impl Table {
    /// Larger than any window in segments.
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

    /// What the segment with `ahead` outstanding segments before it is taken for.
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
    use proptest::prelude::*;

    use super::*;

    const SPACE: SequenceSpace = SequenceSpace::new(u32::MAX - 50);
    /// A data end that no segment reaches.
    const FAR: u64 = 1 << 62;

    const fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn what_is_sent_again_is_known_by_its_first_byte() {
        let mut log = SentLog::default();
        log.on_sent(at(1), 1, 11, FAR);
        log.on_sent(at(2), 11, 21, FAR);
        log.on_sent(at(3), 21, 25, FAR);
        log.on_sent(at(9), 11, 21, FAR);
        let first = log.pop_acked(at(50), 15).unwrap();
        assert_eq!((first.start, first.transmissions), (1, 1));
        assert_eq!(log.pop_acked(at(50), 15), None);
        let second = log.oldest().unwrap();
        assert_eq!((second.sent_at, second.transmissions), (at(9), 2));
        // New bytes that extend the last segment form their own segment.
        log.on_sent(at(10), 21, 31, FAR);
        log.pop_acked(at(50), 21).unwrap();
        let third = log.pop_acked(at(50), 25).unwrap();
        assert_eq!((third.end, third.transmissions), (25, 2));
        let fourth = log.pop_acked(at(50), 31).unwrap();
        assert_eq!((fourth.start, fourth.transmissions), (25, 1));
    }

    fn block(start: u64, end: u64) -> SackBlock {
        SackBlock {
            left: SPACE.wire(start),
            right: SPACE.wire(end),
        }
    }

    /// Removes what `ack` covers. Returns the bytes delivered so far, if any are new.
    fn acked(log: &mut SentLog, now: u64, ack: u64) -> Option<u64> {
        log.on_ack(ack);
        while log.pop_acked(at(now), ack).is_some() {}
        Some(log.delivery_rate(None)?.total_delivered)
    }

    #[test]
    fn small_segments_that_are_sent_again_as_a_large_one_are_delivered_once() {
        let mut log = SentLog::new(None, true);
        log.on_sent(at(1), 1, 11, FAR);
        log.on_sent(at(2), 11, 21, FAR);
        log.on_sent(at(3), 21, 31, FAR);
        // A retransmission may start within a segment and end with new data.
        log.on_sent(at(10), 5, 41, FAR);
        log.on_ack(25);
        while log.pop_acked(at(20), 25).is_some() {}
        let sample = log.delivery_rate(None).unwrap();
        assert_eq!((sample.total_delivered, sample.delivered), (20, 20));
        assert_eq!(acked(&mut log, 30, 41), Some(40));
        assert_eq!(acked(&mut log, 31, 41), None);
    }

    #[test]
    fn a_fin_is_no_data() {
        let mut log = SentLog::new(None, true);
        log.on_sent(at(1), 1, 12, 11);
        log.on_sent(at(5), 1, 12, 11);
        assert_eq!(acked(&mut log, 10, 12), Some(10));
        let mut log = SentLog::new(None, true);
        log.on_sent(at(1), 1, 11, 11);
        log.on_sent(at(1), 11, 12, 11);
        assert_eq!(acked(&mut log, 10, 12), Some(10));
    }

    #[test]
    fn what_is_acknowledged_selectively_is_delivered_at_once() {
        let mut log = SentLog::new(None, true);
        for start in (1..51).step_by(10) {
            log.on_sent(at(start), start, start + 10, FAR);
        }
        let mut sack = |now, start, end| {
            log.on_sack(at(now), &[block(start, end)], SPACE, 1, 51);
            Some(log.delivery_rate(None)?.total_delivered)
        };
        assert_eq!(sack(100, 21, 31), Some(10));
        assert_eq!(sack(101, 21, 31), None, "the same again");
        assert_eq!(sack(102, 21, 36), None, "a part of a segment");
        assert_eq!(sack(103, 21, 41), Some(20));
        assert_eq!(sack(104, 41, 61), None, "more than was sent");
        assert_eq!(sack(105, 11, 51), Some(40));
        // Neither a retransmission nor the cumulative acknowledgement counts it again.
        log.on_timeout();
        log.on_sent(at(200), 1, 31, FAR);
        assert_eq!(acked(&mut log, 300, 51), Some(50));
    }

    /// What happens to a sender's log.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// This many new bytes are sent, and arrive or are lost.
        Send(u64, bool),
        /// Bytes are retransmitted, and arrive or are lost: the start in thousandths of the
        /// outstanding data, and the number of bytes.
        Resend(u64, u64, bool),
        /// An acknowledgement arrives, with up to 4 of the receiver's ranges from this one on.
        Acknowledge(usize),
        Timeout,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (1_u64..30, any::<bool>()).prop_map(|(bytes, arrives)| Step::Send(bytes, arrives)),
            4 => (0_u64..1000, 1_u64..60, any::<bool>())
                .prop_map(|(place, bytes, arrives)| Step::Resend(place, bytes, arrives)),
            4 => (0_usize..8).prop_map(Step::Acknowledge),
            1 => Just(Step::Timeout),
        ]
    }

    /// A log, a receiver that remembers each byte, and what it has reported to the sender.
    struct Model {
        log: SentLog,
        now: u64,
        una: u64,
        /// Where segments begin, and the byte after the last one.
        starts: Vec<u64>,
        arrived: Vec<bool>,
        told: Vec<bool>,
        delivered: u64,
        data_end: u64,
    }

    impl Model {
        fn max(&self) -> u64 {
            self.arrived.len() as u64
        }

        fn send(&mut self, start: u64, end: u64, arrives: bool) {
            self.log.on_sent(at(self.now), start, end, self.data_end);
            if end > self.max() {
                self.starts.push(end);
                self.arrived.resize(end as usize, false);
                self.told.resize(end as usize, false);
            }
            if arrives {
                self.arrived[start as usize..end as usize].fill(true);
            }
        }

        /// The data bytes of segments whose every byte has been reported as received.
        fn expected(&self) -> u64 {
            let whole = self.starts.windows(2).filter(|ends| {
                self.told[ends[0] as usize..ends[1] as usize]
                    .iter()
                    .all(|&told| told)
            });
            whole.map(|ends| ends[1].min(self.data_end) - ends[0]).sum()
        }

        fn acknowledge(&mut self, skip: usize) -> Result<(), TestCaseError> {
            let first_missing = self.arrived.iter().position(|arrived| !arrived);
            let ack = first_missing.map_or(self.max(), |first| first as u64);
            let mut ranges: Vec<(u64, u64)> = Vec::new();
            for byte in (ack..self.max()).filter(|&byte| self.arrived[byte as usize]) {
                match ranges.last_mut() {
                    Some((_, end)) if *end == byte => *end += 1,
                    _ => ranges.push((byte, byte + 1)),
                }
            }
            let ranges: Vec<_> = ranges.into_iter().skip(skip).take(4).collect();
            self.told[..ack as usize].fill(true);
            for &(start, end) in &ranges {
                self.told[start as usize..end as usize].fill(true);
            }
            let blocks: Vec<_> = ranges
                .iter()
                .map(|&(start, end)| block(start, end))
                .collect();
            let (una, max) = (self.una, self.max());
            self.log.on_sack(at(self.now), &blocks, SPACE, una, max);
            self.una = ack;
            let expected = self.expected();
            match acked(&mut self.log, self.now, ack) {
                Some(delivered) => prop_assert_eq!(delivered, expected),
                None => prop_assert_eq!(self.delivered, expected),
            }
            self.delivered = expected;
            Ok(())
        }
    }

    proptest! {
        /// With small writes, retransmissions of any range, losses, SACKs and timeouts, every
        /// acknowledged byte counts as delivered once, and in the end the whole stream does.
        #[test]
        fn every_byte_is_delivered_once(
            steps in prop::collection::vec(step(), 0..120),
            fin in any::<bool>(),
        ) {
            let mut model = Model {
                log: SentLog::new(None, true),
                now: 0,
                una: 1,
                starts: vec![1],
                arrived: vec![true],
                told: vec![true],
                delivered: 0,
                data_end: FAR,
            };
            for step in steps {
                model.now += 1;
                let max = model.max();
                match step {
                    Step::Send(bytes, arrives) => model.send(max, max + bytes, arrives),
                    Step::Resend(place, bytes, arrives) => {
                        let start = model.una + (max - model.una) * place / 1000;
                        if start < max {
                            model.send(start, max.min(start + bytes), arrives);
                        }
                    }
                    Step::Acknowledge(skip) => model.acknowledge(skip)?,
                    Step::Timeout => model.log.on_timeout(),
                }
            }
            model.now += 1;
            let max = model.max();
            if fin {
                model.data_end = max;
            }
            let una = model.una;
            let end = max + u64::from(fin);
            if una < end {
                model.send(una, end, true);
                model.now += 1;
                model.acknowledge(0)?;
            }
            prop_assert_eq!(model.delivered, max - 1);
            prop_assert!(model.log.segments.is_empty());
        }
    }
}
