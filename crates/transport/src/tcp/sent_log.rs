//! A sender's record of outstanding data, for controls and recoveries that need it.

mod delivery;
mod marks;
mod ns2_table;
mod scoreboard;

use std::collections::VecDeque;

use skywave_congestion::DeliveryRate;
use skywave_units::{Duration, Instant};
use skywave_wire::tcp::SackBlock;

use self::delivery::Delivery;
use self::marks::Marks;
use self::ns2_table::VegasTable;
pub(super) use self::scoreboard::{DUPLICATE_THRESHOLD, Scoreboard};
use super::reassembly::Range;
use super::sequence::{Position, SequenceSpace};

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
    /// Whether it is lost, and has not been sent again.
    pub(super) is_lost: bool,
    /// Whether all of it has been SACKed; only kept with [`Keeps::marks`].
    pub(super) is_sacked: bool,
}

impl SentSegment {
    const fn len(&self) -> u64 {
        self.end - self.start
    }
}

/// The records that a log keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Keeps {
    /// The sending time of each outstanding segment.
    pub(super) times: bool,
    /// The SACKed data.
    pub(super) sacks: bool,
    /// Which segments have arrived or are lost, which needs `times` and `sacks`.
    pub(super) marks: bool,
    /// Delivery rates, which need `times`.
    pub(super) rates: bool,
    /// ns-2's table of this many places.
    pub(super) vegas_table: Option<u32>,
}

impl Keeps {
    /// Returns whether there is anything to record.
    const fn anything(self) -> bool {
        self.times || self.sacks
    }
}

/// A sender's record of outstanding data, and the only place that keeps SACKs. It holds only the
/// records that the control or the recovery needs, and takes no memory if they need none.
#[derive(Debug)]
pub(super) struct SentLog {
    records: Option<Box<Records>>,
}

#[derive(Debug)]
struct Records {
    keeps: Keeps,
    /// The outstanding segments, in stream order.
    segments: VecDeque<SentSegment>,
    /// Entries of earlier segments that count as those of the next segments at their places.
    table: Option<VegasTable>,
    /// The SACKed data.
    sacks: Scoreboard,
    /// Whether something has been SACKed for the first time since the last [`SentLog::take_news`].
    has_news: bool,
    /// Everything that begins before this offset and was sent only once has arrived or is marked as
    /// lost.
    examined: u64,
    marks: Option<Box<Marks>>,
    /// The first block of the last SACK option, and whether the second block contains it.
    first_block: Option<(Range, bool)>,
    delivery: Option<Box<Delivery>>,
}

/// The scoreboard of a log without SACKs.
static NO_SACKS: Scoreboard = Scoreboard::new();

impl SentLog {
    /// Creates a log that keeps the records named by `keeps`.
    pub(super) fn new(keeps: Keeps) -> Self {
        let records = || {
            Box::new(Records {
                keeps,
                segments: VecDeque::new(),
                table: keeps.vegas_table.map(VegasTable::new),
                sacks: Scoreboard::new(),
                has_news: false,
                examined: 0,
                marks: keeps.marks.then(Box::default),
                first_block: None,
                delivery: keeps.rates.then(|| Box::new(Delivery::new())),
            })
        };
        Self {
            records: keeps.anything().then(records),
        }
    }

    /// Records that the bytes from `start` to `end` are sent; those from `data_end` on are a FIN.
    /// Every segment that contains any of the bytes counts as retransmitted; new bytes form their
    /// own segment.
    ///
    /// Call it only if the log has the times of segments.
    pub(super) fn on_sent(&mut self, now: Instant, start: u64, end: u64, data_end: u64) {
        if let Some(records) = &mut self.records {
            records.on_sent(now, start, end, data_end);
        }
    }

    /// Reports that nothing more can be sent although cwnd has room.
    pub(super) fn mark_application_limited(&mut self) {
        if let Some(delivery) = self.delivery() {
            delivery.sampler.mark_application_limited();
        }
    }

    /// Handles an expired retransmission timer.
    pub(super) fn on_timeout(&mut self) {
        if let Some(delivery) = self.delivery() {
            delivery.sampler.on_timeout();
        }
    }

    /// Records the SACK blocks of an acknowledgement that arrived at `at`.
    pub(super) fn on_sack(
        &mut self,
        now: Instant,
        blocks: &[SackBlock],
        space: SequenceSpace,
        at: Position,
    ) {
        let Some(records) = &mut self.records else {
            return;
        };
        if let Some(marks) = &mut records.marks {
            records.first_block = first_block(blocks, space, at.una);
            records.sacks.advance(at.una);
            for block in blocks.iter().filter_map(|b| space.block(b, at.una, at.max)) {
                let known = records.sacks.sacked();
                for part in missing(known, block) {
                    marks.on_sacked(part, block, &mut records.segments);
                }
            }
        }
        if records.keeps.sacks {
            records.sacks.advance(at.una);
            records.has_news = records.sacks.update(blocks, space, at.una, at.max);
        }
        let Some(delivery) = &mut records.delivery else {
            return;
        };
        for block in blocks.iter().filter_map(|b| space.block(b, at.una, at.max)) {
            delivery.on_block(now, block, &records.segments);
        }
    }

    /// Returns the SACKed data that has not been forgotten.
    pub(super) fn sacks(&self) -> &Scoreboard {
        self.records
            .as_ref()
            .map_or(&NO_SACKS, |records| &records.sacks)
    }

    /// Returns whether something has been SACKed for the first time since the last call.
    pub(super) fn take_news(&mut self) -> bool {
        self.records
            .as_mut()
            .is_some_and(|records| core::mem::take(&mut records.has_news))
    }

    /// Records that everything before `una` is acknowledged, and SACKs of it are void.
    pub(super) fn advance(&mut self, una: u64) {
        if let Some(records) = &mut self.records
            && records.keeps.sacks
        {
            records.sacks.advance(una);
        }
    }

    /// Forgets all SACKs. The data that they reported still counts as delivered.
    pub(super) fn forget_sacks(&mut self) {
        if let Some(records) = &mut self.records {
            records.sacks.clear();
            if let Some(marks) = &mut records.marks {
                marks.forget_sacks(&mut records.segments);
            }
        }
    }

    /// Takes the duplicate data that the last SACK option reports, if everything before `una` is
    /// acknowledged (RFC 2883 section 4).
    pub(super) fn take_dsack(&mut self, una: u64) -> Option<Range> {
        let (block, is_within_second) = self.records.as_mut()?.first_block.take()?;
        (block.end <= una || is_within_second).then_some(block)
    }

    /// Returns the segments reported for the first time since [`SentLog::clear_delivered`].
    pub(super) fn delivered(&self) -> &[SentSegment] {
        self.marks().map_or(&[], |marks| &marks.delivered)
    }

    /// Forgets which segments were delivered.
    pub(super) fn clear_delivered(&mut self) {
        if let Some((marks, _)) = self.marks_and_segments() {
            marks.delivered.clear();
        }
    }

    /// Returns the bytes in flight: neither SACKed nor lost.
    pub(super) fn in_flight(&self, at: Position) -> u64 {
        let outstanding = at.max - at.una;
        self.marks()
            .map_or(outstanding, |marks| marks.in_flight(outstanding))
    }

    /// Returns the full segments delivered since the last call, in order or not, if segments are
    /// marked.
    pub(super) fn take_delivered(&mut self, at: Position) -> Option<u32> {
        let (marks, _) = self.marks_and_segments()?;
        Some(marks.take_delivered(at))
    }

    /// Returns the bytes of the SACKed segments.
    pub(super) fn sacked_bytes(&self) -> u64 {
        self.marks().map_or(0, Marks::sacked)
    }

    /// Returns the number of SACKed segments.
    pub(super) fn sacked_segments(&self) -> u32 {
        self.marks().map_or(0, Marks::sacked_segments)
    }

    /// Returns the bytes of the segments that are lost and have not been sent again.
    pub(super) fn lost(&self) -> u64 {
        self.marks().map_or(0, Marks::lost)
    }

    /// Marks segments as lost: see [`Marks::find_lost`].
    pub(super) fn find_lost(
        &mut self,
        newest: (Instant, u64),
        remaining: impl Fn(&SentSegment) -> Duration,
    ) -> Duration {
        self.marks_and_segments()
            .map_or(Duration::ZERO, |(marks, segments)| {
                marks.find_lost(newest, segments, remaining)
            })
    }

    /// Marks the segments as lost that have not arrived and for which `is_lost` holds.
    pub(super) fn mark_lost_where(&mut self, is_lost: impl Fn(&SentSegment) -> bool) {
        if let Some((marks, segments)) = self.marks_and_segments() {
            marks.mark_where(segments, is_lost);
        }
    }

    /// Returns the first segment that is lost and has not been sent again.
    pub(super) fn next_lost(&mut self) -> Option<Range> {
        let (marks, segments) = self.marks_and_segments()?;
        marks.next_lost(segments)
    }

    /// Holds lost segments back while this many segments of new data leave instead; `None` releases
    /// them.
    pub(super) fn hold_losses(&mut self, new: Option<u8>) {
        if let Some((marks, _)) = self.marks_and_segments() {
            marks.held = new;
        }
    }

    /// Returns how many segments of new data may still leave while lost segments are held back.
    pub(super) fn held(&self) -> Option<u8> {
        self.marks().and_then(|marks| marks.held)
    }

    /// Removes the mark of all lost segments.
    pub(super) fn unmark_lost(&mut self) {
        if let Some((marks, segments)) = self.marks_and_segments() {
            marks.unmark_lost(segments);
        }
    }

    /// Returns the last segment sent.
    pub(super) fn last(&self) -> Option<Range> {
        let last = self.records.as_ref()?.segments.back()?;
        Some(Range {
            start: last.start,
            end: last.end,
        })
    }

    /// Returns whether segments have been marked as lost since [`SentLog::take_found_lost`].
    pub(super) fn has_found_lost(&self) -> bool {
        self.marks().is_some_and(Marks::has_found)
    }

    /// Passes to `each` every segment marked as lost since the last call.
    pub(super) fn take_found_lost(&mut self, each: impl FnMut(&SentSegment)) {
        if let Some((marks, _)) = self.marks_and_segments() {
            marks.take_found(each);
        }
    }

    fn marks(&self) -> Option<&Marks> {
        self.records.as_ref()?.marks.as_deref()
    }

    fn marks_and_segments(&mut self) -> Option<(&mut Marks, &mut VecDeque<SentSegment>)> {
        let records = self.records.as_mut()?;
        Some((records.marks.as_deref_mut()?, &mut records.segments))
    }

    /// Records that everything before `ack` is acknowledged and about to be removed.
    pub(super) fn on_ack(&mut self, ack: u64) {
        let Some(records) = &mut self.records else {
            return;
        };
        if let Some(delivery) = &mut records.delivery {
            delivery.on_ack(ack);
        }
        if let Some(table) = &mut records.table {
            let count = records.segments.partition_point(|sent| sent.end <= ack);
            table.on_ack(records.segments.range(..count));
        }
    }

    /// Removes the first segment if it is acknowledged entirely by `ack`.
    pub(super) fn pop_acked(&mut self, now: Instant, ack: u64) -> Option<SentSegment> {
        let records = self.records.as_mut()?;
        let segment = records.segments.pop_front_if(|sent| sent.end <= ack)?;
        if let Some(delivery) = &mut records.delivery {
            delivery.sampler.on_acked(now, segment.start);
        }
        if let Some(marks) = &mut records.marks {
            marks.on_acked(&segment);
        }
        Some(segment)
    }

    /// Passes the segments that are lost to `each`, once per transmission: those that begin before
    /// `below`, and the first one if `is_first_lost`. A retransmitted segment counts as lost only
    /// if the first one was retransmitted too, and is lost: SACKs do not distinguish a
    /// retransmission from the original.
    pub(super) fn take_lost(
        &mut self,
        below: u64,
        is_first_lost: bool,
        mut each: impl FnMut(&SentSegment),
    ) {
        let Some(records) = &mut self.records else {
            return;
        };
        let Some(first) = records.segments.front() else {
            return;
        };
        let are_repeated_lost = is_first_lost && first.transmissions > 1;
        if is_first_lost {
            records.mark_lost(0..1, |_| true, &mut each);
        }
        // A window may have many thousands of segments, and each acknowledgement asks.
        let from = if are_repeated_lost {
            0
        } else {
            records.examined
        };
        let bound = |offset| {
            let segments = &records.segments;
            segments.partition_point(|sent| sent.start < offset)
        };
        let range = bound(from)..bound(below.max(from));
        records.mark_lost(
            range,
            |sent| are_repeated_lost || sent.transmissions == 1,
            &mut each,
        );
        records.examined = records.examined.max(below);
    }

    /// Passes all segments that have not arrived to `each`, once per transmission.
    pub(super) fn take_all(&mut self, mut each: impl FnMut(&SentSegment)) {
        if let Some(records) = &mut self.records {
            let all = 0..records.segments.len();
            records.mark_lost(all, |_| true, &mut each);
        }
    }

    /// Returns the delivery rate, after everything covered by an acknowledgement has been recorded
    /// and removed; `rtt` is the acknowledgement's sample.
    pub(super) fn delivery_rate(&mut self, rtt: Option<Duration>) -> Option<DeliveryRate> {
        self.delivery()?.sampler.sample(rtt)
    }

    /// Returns the first unacknowledged segment. If there is none, returns the entry at the place
    /// of the next segment in ns-2's table, if there is a table.
    pub(super) fn oldest(&self) -> Option<SentSegment> {
        let records = self.records.as_ref()?;
        let oldest = records.segments.front().copied();
        oldest.or_else(|| records.table.as_ref()?.of(0))
    }

    fn delivery(&mut self) -> Option<&mut Delivery> {
        self.records.as_mut()?.delivery.as_deref_mut()
    }

    /// Returns the bytes of heap memory in use.
    pub(super) fn heap_size(&self) -> usize {
        self.records.as_ref().map_or(0, |records| {
            size_of::<Records>()
                + records.segments.capacity() * size_of::<SentSegment>()
                + records.sacks.heap_size()
                + records.delivery.as_ref().map_or(0, |kept| kept.heap_size())
                + records.marks.as_ref().map_or(0, |marks| marks.heap_size())
                + records.table.as_ref().map_or(0, |table| table.heap_size())
        })
    }
}

impl Records {
    /// Marks the lost segments of `range` that have neither arrived nor been marked since they were
    /// last sent, and passes them to `each`.
    fn mark_lost(
        &mut self,
        range: core::ops::Range<usize>,
        is_lost: impl Fn(&SentSegment) -> bool,
        each: &mut impl FnMut(&SentSegment),
    ) {
        for sent in self.segments.range_mut(range) {
            let has_arrived = self.sacks.skip(sent.start) >= sent.end;
            if !sent.is_lost && !has_arrived && is_lost(sent) {
                sent.is_lost = true;
                each(sent);
            }
        }
    }

    fn on_sent(&mut self, now: Instant, start: u64, end: u64, data_end: u64) {
        let first = self.segments.partition_point(|sent| sent.end <= start);
        let again = self.segments.range_mut(first..);
        for sent in again.take_while(|sent| sent.start < end) {
            if let Some(marks) = &mut self.marks {
                marks.on_sent_again(now, sent);
            }
            sent.sent_at = now;
            sent.is_lost = false;
            sent.transmissions = sent.transmissions.saturating_add(1);
            if let Some(delivery) = &mut self.delivery {
                delivery.on_sent(now, sent, data_end);
            }
        }
        let known = self.segments.back().map_or(0, |sent| sent.end);
        if end > known {
            let ahead = self.segments.len();
            let before = self.table.as_ref().and_then(|table| table.of(ahead));
            let segment = SentSegment {
                start: start.max(known),
                end,
                sent_at: now,
                transmissions: before.map_or(1, |before| before.transmissions.saturating_add(1)),
                is_lost: false,
                is_sacked: false,
            };
            if let Some(delivery) = &mut self.delivery {
                delivery.on_sent(now, &segment, data_end);
            }
            self.segments.push_back(segment);
        }
    }
}

/// Returns the first block of a SACK option near `una`, and whether the second one contains it.
fn first_block(blocks: &[SackBlock], space: SequenceSpace, una: u64) -> Option<(Range, bool)> {
    let range = |block: &SackBlock| {
        let start = space.offset(block.left, una)?;
        let end = space.offset(block.right, una)?;
        (start < end).then_some(Range { start, end })
    };
    let first = range(blocks.first()?)?;
    let second = blocks.get(1).and_then(range);
    let is_within = |second: Range| second.start <= first.start && first.end <= second.end;
    Some((first, second.is_some_and(is_within)))
}

/// Returns the parts of `data` that none of the ascending ranges `known` contains.
fn missing(known: &[Range], data: Range) -> impl Iterator<Item = Range> + '_ {
    let first = known.partition_point(|range| range.end <= data.start);
    let touched = known[first..]
        .iter()
        .take_while(move |r| r.start < data.end);
    let ends = core::iter::once(Range {
        start: data.end,
        end: data.end,
    });
    let mut start = data.start;
    touched.copied().chain(ends).filter_map(move |range| {
        let gap = Range {
            start,
            end: range.start,
        };
        start = start.max(range.end);
        (gap.start < gap.end).then_some(gap)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SPACE: SequenceSpace = SequenceSpace::new(u32::MAX - 50);
    /// A data end that no segment reaches.
    const FAR: u64 = 1 << 62;
    const TIMES: Keeps = Keeps {
        times: true,
        sacks: false,
        marks: false,
        rates: false,
        vegas_table: None,
    };
    const RATES: Keeps = Keeps {
        rates: true,
        ..TIMES
    };

    const fn position(una: u64, max: u64) -> Position {
        Position { una, max, smss: 10 }
    }

    const fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn what_is_sent_again_is_known_by_its_first_byte() {
        let mut log = SentLog::new(TIMES);
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

    /// Removes the segments that `ack` covers. Returns the bytes delivered so far, if any are new.
    fn acked(log: &mut SentLog, now: u64, ack: u64) -> Option<u64> {
        log.on_ack(ack);
        while log.pop_acked(at(now), ack).is_some() {}
        Some(log.delivery_rate(None)?.total_delivered)
    }

    #[test]
    fn small_segments_that_are_sent_again_as_a_large_one_are_delivered_once() {
        let mut log = SentLog::new(RATES);
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
        let mut log = SentLog::new(RATES);
        log.on_sent(at(1), 1, 12, 11);
        log.on_sent(at(5), 1, 12, 11);
        assert_eq!(acked(&mut log, 10, 12), Some(10));
        let mut log = SentLog::new(RATES);
        log.on_sent(at(1), 1, 11, 11);
        log.on_sent(at(1), 11, 12, 11);
        assert_eq!(acked(&mut log, 10, 12), Some(10));
    }

    #[test]
    fn what_is_acknowledged_selectively_is_delivered_at_once() {
        let mut log = SentLog::new(RATES);
        for start in (1..51).step_by(10) {
            log.on_sent(at(start), start, start + 10, FAR);
        }
        let mut sack = |now, start, end| {
            log.on_sack(at(now), &[block(start, end)], SPACE, position(1, 51));
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

    /// Returns the first bytes of the segments that the log reports as lost.
    fn lost(log: &mut SentLog, below: u64, is_first_lost: bool) -> Vec<u64> {
        let mut lost = Vec::new();
        log.take_lost(below, is_first_lost, |sent| lost.push(sent.start));
        lost
    }

    #[test]
    fn each_transmission_is_lost_once() {
        let mut log = SentLog::new(Keeps {
            sacks: true,
            ..TIMES
        });
        for start in (1..101).step_by(10) {
            log.on_sent(at(start), start, start + 10, FAR);
        }
        log.on_sack(
            at(200),
            &[block(31, 41), block(51, 61)],
            SPACE,
            position(1, 101),
        );
        assert_eq!(lost(&mut log, 51, false), [1, 11, 21, 41]);
        assert!(lost(&mut log, 51, true).is_empty());
        assert_eq!(lost(&mut log, 71, false), [61]);
        // A retransmission is not lost because of the same SACKs.
        log.on_sent(at(300), 1, 11, FAR);
        log.on_sent(at(300), 11, 21, FAR);
        assert!(lost(&mut log, 71, false).is_empty());
        // If the first one is, so are the others.
        assert_eq!(lost(&mut log, 71, true), [1, 11]);
        assert!(lost(&mut log, 71, true).is_empty());
        let mut all = Vec::new();
        log.take_all(|sent| all.push(sent.start));
        assert_eq!(all, [71, 81, 91]);
    }

    /// An event of a sender's log.
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

    /// A log, a receiver that remembers each byte, and the data that it has reported to the sender.
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

        /// Returns the number of data bytes in segments that have been reported as received
        /// completely.
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
            self.log
                .on_sack(at(self.now), &blocks, SPACE, position(una, max));
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
                log: SentLog::new(RATES),
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
            prop_assert!(model.log.oldest().is_none());
        }
    }
}
