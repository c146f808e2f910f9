//! Loss detection and recovery: which data is lost, what to retransmit, and how far the window may
//! open in the meantime.
//!
//! A [`Detection`] decides when data is lost, a [`Recovery`] what to do about it. Both see the
//! sender's [`SentLog`]. [`LossRecovery`] combines them: a loss that the detection finds begins a
//! recovery, unless one is under way. [`RecoveryAlgorithm`](crate::tcp::RecoveryAlgorithm) names
//! the combinations. To add one, add a detection or a recovery here, and a name there.

mod detection;
mod duplicates;
mod fine_timer;
mod forward_rto;
mod is_lost;
mod newreno;
mod no_phase;
mod pipe;
mod prr;
mod rack;
mod recovery;
mod reno;
mod tail_loss_probe;
#[cfg(test)]
pub(super) mod testing;
mod words;

use skywave_congestion::DeliveryRate;
use skywave_units::{Duration, Instant};
use skywave_wire::tcp::SackBlock;

pub(super) use self::detection::Detection;
pub(super) use self::duplicates::DuplicateAcks;
pub(super) use self::fine_timer::FineTimer;
pub(super) use self::is_lost::IsLost;
pub(super) use self::newreno::NewReno;
pub(super) use self::no_phase::NoPhase;
pub(super) use self::pipe::Pipe;
pub(super) use self::prr::Prr;
pub(super) use self::rack::Rack;
pub(super) use self::recovery::Recovery;
pub(super) use self::reno::Reno;
pub(super) use self::words::{
    Acked, Begin, CwndChange, Found, News, OnDuplicate, OnProgress, Phase, Timing,
};
use super::reassembly::Range;
pub(super) use super::sent_log::DUPLICATE_THRESHOLD;
use super::sent_log::{Keeps, SentLog, SentSegment};
use super::sequence::{Position, SequenceSpace};

/// A detection, a recovery, and the log that both see. All sizes are in bytes; all positions are
/// offsets.
#[derive(Debug)]
pub(super) struct LossRecovery<D, R> {
    /// Whether nothing is lost, late or SACKed, so that an acknowledgement of new data has no
    /// effect. This is the common case, in which nothing else is examined.
    is_quiet: bool,
    /// Whether the log has the times of segments, and delivery rates.
    keeps_times: bool,
    keeps_rates: bool,
    /// Whether the log marks each segment as SACKed or lost.
    keeps_marks: bool,
    log: SentLog,
    detection: D,
    recovery: R,
}

impl<D: Detection, R: Recovery> LossRecovery<D, R> {
    /// Combines a detection and a recovery with the log that they need.
    pub(super) fn from_parts(detection: D, recovery: R, keeps: Keeps) -> Self {
        let log = SentLog::new(keeps);
        Self {
            is_quiet: detection.is_quiet(&log) && !recovery.is_recovering(),
            keeps_times: keeps.times,
            keeps_rates: keeps.rates,
            keeps_marks: keeps.marks,
            log,
            detection,
            recovery,
        }
    }

    /// Returns whether the call to [`LossRecovery::on_progress`] can be skipped.
    pub(super) const fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Returns whether the log has the times of segments.
    pub(super) const fn keeps_times(&self) -> bool {
        self.keeps_times
    }

    /// Returns whether delivery rates are measured.
    pub(super) const fn keeps_rates(&self) -> bool {
        self.keeps_rates
    }

    /// Returns whether each segment is marked as SACKed or lost.
    #[inline(always)]
    pub(super) const fn keeps_marks(&self) -> bool {
        self.keeps_marks
    }

    /// Reports that the handshake took `rtt`.
    pub(super) fn on_handshake(&mut self, now: Instant, rtt: Duration) {
        self.detection.on_handshake(now, rtt);
    }

    /// Records an outgoing segment: see [`SentLog::on_sent`].
    #[inline(always)]
    pub(super) fn on_sent(&mut self, now: Instant, start: u64, end: u64, data_end: u64) {
        if self.keeps_times {
            self.log.on_sent(now, start, end, data_end);
        }
    }

    /// Reports the SACK blocks of the acknowledgement that is reported next. `at` is the position
    /// before it.
    pub(super) fn on_sack(
        &mut self,
        now: Instant,
        blocks: &[SackBlock],
        space: SequenceSpace,
        at: Position,
    ) {
        self.is_quiet = false;
        self.log.on_sack(now, blocks, space, at);
    }

    /// Records that everything before `ack` is acknowledged, and passes each segment to `each`.
    pub(super) fn take_acked(
        &mut self,
        now: Instant,
        ack: u64,
        mut each: impl FnMut(&SentSegment),
    ) -> Acked {
        self.log.on_ack(ack);
        let (mut first, mut last) = (None, None);
        let (mut is_ambiguous, mut delivered) = (false, 0);
        while let Some(segment) = self.log.pop_acked(now, ack) {
            each(&segment);
            is_ambiguous |= segment.transmissions > 1;
            // A segment that was SACKed arrived earlier.
            if !segment.is_sacked {
                last = (segment.transmissions == 1).then(|| now - segment.sent_at);
                first = first.or(last);
                delivered += segment.end - segment.start;
            }
        }
        Acked {
            first_rtt: first.filter(|_| !is_ambiguous),
            last_rtt: last,
            delivered,
            delivery_rate: self.log.delivery_rate(last),
        }
    }

    /// Drops the delivery-rate sample of an acknowledgement that is not reported to the control, so
    /// that it is not attributed to the next one.
    pub(super) fn drop_sample(&mut self) {
        if self.keeps_rates {
            self.log.delivery_rate(None);
        }
    }

    /// Takes the delivery-rate sample of an acknowledgement that does not advance.
    #[cold]
    pub(super) fn take_sample(&mut self) -> Option<DeliveryRate> {
        self.log.delivery_rate(None)
    }

    /// Returns the full segments delivered since the last call, in order or not, if segments are
    /// marked. A rest is counted later.
    #[cold]
    pub(super) fn take_delivered(&mut self, at: Position) -> Option<u32> {
        self.log.take_delivered(at)
    }

    /// Returns the bytes in flight: all outstanding ones unless segments are marked.
    #[cold]
    pub(super) fn in_flight(&self, at: Position) -> u64 {
        self.log.in_flight(at)
    }

    /// Returns the bytes, from the start of the stream, that an acknowledgement of everything before
    /// `ack` and the SACKs so far report as delivered.
    #[cold]
    pub(super) fn delivered_by(&self, ack: u64) -> u64 {
        let sacks = self.log.sacks();
        ack + sacks.sacked_before(u64::MAX) - sacks.sacked_before(ack)
    }

    /// Reports that nothing more can be sent although cwnd has room.
    pub(super) fn mark_application_limited(&mut self) {
        self.log.mark_application_limited();
    }

    /// Handles a duplicate acknowledgement.
    pub(super) fn on_duplicate(&mut self, now: Instant, at: Position) -> OnDuplicate {
        self.is_quiet = false;
        let news = self.news(now, at, 0, None);
        let found = self.detection.on_duplicate(&news, &mut self.log);
        let answer = if !self.recovery.is_recovering() {
            self.answer(found, at)
        } else if self.recovery.on_duplicate(&news, &mut self.log) {
            OnDuplicate::Retransmit
        } else {
            OnDuplicate::Wait
        };
        self.recovery.note(at, &self.log);
        answer
    }

    /// Handles an acknowledgement of `acked` bytes of new data, with `rtt` as the round-trip time
    /// of the last segment.
    pub(super) fn on_progress(
        &mut self,
        now: Instant,
        at: Position,
        acked: u64,
        rtt: Option<Duration>,
    ) -> OnProgress {
        self.log.advance(at.una);
        let news = self.news(now, at, acked, rtt);
        let found = self.detection.on_progress(&news, &mut self.log);
        let progress = if self.recovery.is_recovering() {
            let phase = self.recovery.on_progress(&news, &mut self.log);
            if phase == Phase::Full {
                self.detection.on_recovered();
            }
            // Other detections find the loss again at the next duplicate acknowledgement.
            match (phase, found) {
                (Phase::Full, Found::Loss { .. }) if self.keeps_marks => {
                    self.detection.on_recovery(at);
                    OnProgress::NextLoss(self.recovery.begin(at, &mut self.log))
                }
                _ => OnProgress::Recovery(phase),
            }
        } else {
            match self.answer(found, at) {
                OnDuplicate::Wait if found == Found::Repaired => OnProgress::Repaired,
                OnDuplicate::Wait | OnDuplicate::TailLoss { .. } => OnProgress::Ordinary,
                OnDuplicate::Loss { begin, .. } => OnProgress::Loss(begin),
                OnDuplicate::Retransmit => OnProgress::Overdue,
                OnDuplicate::SpuriousTimeout => OnProgress::SpuriousTimeout,
            }
        };
        self.recovery.note(at, &self.log);
        self.is_quiet = !self.recovery.is_recovering() && self.detection.is_quiet(&self.log);
        progress
    }

    fn news(&mut self, now: Instant, at: Position, acked: u64, rtt: Option<Duration>) -> News {
        News {
            now,
            at,
            acked,
            rtt,
            has_sacked: self.log.take_news(),
            dsack: self.log.take_dsack(at.una),
            oldest: self.log.oldest(),
        }
    }

    /// Returns the response to a result of the detection outside of a recovery.
    fn answer(&mut self, found: Found, at: Position) -> OnDuplicate {
        match found {
            Found::Nothing | Found::Repaired => OnDuplicate::Wait,
            Found::TailLoss { probe } => OnDuplicate::TailLoss { probe },
            Found::Covered => OnDuplicate::Retransmit,
            Found::SpuriousTimeout => OnDuplicate::SpuriousTimeout,
            Found::Loss { is_repeated } => {
                self.detection.on_recovery(at);
                OnDuplicate::Loss {
                    begin: self.recovery.begin(at, &mut self.log),
                    is_repeated,
                }
            }
        }
    }

    /// Handles an expired retransmission timer.
    pub(super) fn on_timeout(&mut self, now: Instant, at: Position) {
        self.is_quiet = false;
        self.log.on_timeout();
        self.recovery.on_timeout(at, &mut self.log);
        self.detection.on_timeout(now, at, &mut self.log);
        self.recovery.note(at, &self.log);
    }

    /// Returns whether a timeout sends everything again: see [`Recovery::goes_back`].
    pub(super) fn goes_back(&self) -> bool {
        self.recovery.goes_back()
    }

    /// Reports the sender's times, after new data was sent or acknowledged.
    #[cold]
    pub(super) fn on_timing(&mut self, timing: &Timing) {
        self.detection.on_timing(timing, &self.log);
    }

    /// Reports that a tail loss probe was sent, after which everything before `end` has been sent.
    #[cold]
    pub(super) fn on_probe(&mut self, end: u64, is_retransmission: bool) {
        self.detection.on_probe(end, is_retransmission);
    }

    /// Updates what a recovery that marks segments knows of them, after a segment was sent.
    #[cold]
    pub(super) fn note_sent(&mut self, at: Position) {
        self.recovery.note(at, &self.log);
    }

    /// Passes to `each` every segment that the current acknowledgement reports for the first time, if
    /// segments are marked.
    #[cold]
    pub(super) fn each_delivered(&self, each: impl FnMut(&SentSegment)) {
        self.log.delivered().iter().for_each(each);
    }

    /// Returns the round-trip time of the first of these that was sent only once.
    #[cold]
    pub(super) fn first_sacked_rtt(&self, now: Instant) -> Option<Duration> {
        let mut delivered = self.log.delivered().iter();
        let first = delivered.find(|sent| sent.transmissions == 1)?;
        Some(now - first.sent_at)
    }

    /// Returns the round-trip time of the last of these that was sent only once.
    #[cold]
    pub(super) fn sacked_rtt(&self, now: Instant) -> Option<Duration> {
        let mut delivered = self.log.delivered().iter();
        let last = delivered.rfind(|sent| sent.transmissions == 1)?;
        Some(now - last.sent_at)
    }

    /// Returns the round-trip time of the last of these that was sent again, if its retransmission
    /// can have arrived (RFC 8985 section 6.2, step 2).
    #[cold]
    pub(super) fn retransmission_rtt(&self, now: Instant) -> Option<Duration> {
        let mut delivered = self.log.delivered().iter();
        let last = delivered.rfind(|sent| sent.transmissions > 1)?;
        let least = self.detection.min_rtt()?;
        Some(now - last.sent_at).filter(|rtt| *rtt >= least)
    }

    /// Returns the end of the first unacknowledged segment.
    #[cold]
    pub(super) fn end_of_first(&self) -> Option<u64> {
        self.log.oldest().map(|oldest| oldest.end)
    }

    /// Returns the last segment sent.
    #[cold]
    pub(super) fn last_segment(&self) -> Option<Range> {
        self.log.last()
    }

    /// Returns when [`LossRecovery::expire`] is due. A quiet detection has no
    /// deadline.
    #[inline(always)]
    pub(super) fn deadline(&self) -> Option<Instant> {
        if self.is_quiet {
            None
        } else {
            self.detection.deadline()
        }
    }

    /// Handles an expired deadline of the detection.
    pub(super) fn expire(&mut self, now: Instant, at: Position) -> OnDuplicate {
        self.is_quiet = false;
        let found = self.detection.expire(now, at, &mut self.log);
        self.recovery.note(at, &self.log);
        if self.recovery.is_recovering() {
            return OnDuplicate::Wait;
        }
        self.answer(found, at)
    }

    /// Returns the temporary addition to cwnd in bytes if `nxt` is the next byte to send; may be
    /// negative.
    #[inline(always)]
    pub(super) fn inflation(&self, nxt: u64) -> i64 {
        if self.is_quiet {
            0
        } else {
            self.inflation_of_parts(nxt)
        }
    }

    #[inline(never)]
    fn inflation_of_parts(&self, nxt: u64) -> i64 {
        self.detection.inflation() + self.recovery.inflation(nxt, &self.log)
    }

    /// Returns the number of segments that limited transmit permits beyond cwnd (RFC 3042).
    #[inline(always)]
    pub(super) fn limited_transmit(&self) -> u32 {
        if self.is_quiet {
            0
        } else {
            self.limited_transmit_of_parts()
        }
    }

    #[inline(never)]
    fn limited_transmit_of_parts(&self) -> u32 {
        if self.recovery.is_recovering() {
            0
        } else {
            self.detection.limited_transmit()
        }
    }

    /// Returns whether a recovery is under way.
    #[cold]
    pub(super) fn is_recovering(&self) -> bool {
        self.recovery.is_recovering()
    }

    /// Returns the bytes known to be lost when a recovery begins; zero if the detection only knows
    /// that something was lost.
    #[cold]
    pub(super) fn lost(&self, at: Position) -> u64 {
        if self.keeps_marks {
            return self.log.lost();
        }
        let below = self.detection.lost_below(at, &self.log);
        below.saturating_sub(at.una + self.log.sacks().sacked_before(below))
    }

    /// Passes to `each` every lost segment that has not been passed since it was last sent.
    /// `is_first_lost` says whether the first unacknowledged one is lost in any case.
    pub(super) fn take_lost(
        &mut self,
        at: Position,
        is_first_lost: bool,
        each: impl FnMut(&SentSegment),
    ) {
        if self.keeps_marks {
            self.log.take_found_lost(each);
        } else if self.keeps_times {
            let below = self.detection.lost_below(at, &self.log);
            self.log.take_lost(below, is_first_lost, each);
        }
    }

    /// Passes to `each` every segment that is neither acknowledged nor SACKed, and has not been
    /// passed since it was last sent.
    pub(super) fn take_all(&mut self, each: impl FnMut(&SentSegment)) {
        if self.keeps_times {
            self.log.take_all(each);
        }
    }

    /// Takes the pending change of cwnd itself. Call after each acknowledgement.
    #[cold]
    pub(super) fn take_cwnd_change(&mut self) -> Option<CwndChange> {
        self.detection.take_cwnd_change()
    }

    /// Takes the bytes that deflation has removed from cwnd itself.
    pub(super) fn take_deficit(&mut self, smss: u64) -> u64 {
        self.recovery.take_deficit(smss)
    }

    /// Returns whether [`LossRecovery::next_segment`] decides what may be sent, rather than the
    /// window alone.
    #[inline(always)]
    pub(super) fn counts_pipe(&self) -> bool {
        if self.is_quiet {
            false
        } else {
            self.counts_pipe_of_recovery()
        }
    }

    #[inline(never)]
    fn counts_pipe_of_recovery(&self) -> bool {
        self.recovery.counts_pipe()
    }

    /// Returns whether a pipe-based recovery may send with a cwnd of `cwnd` bytes.
    pub(super) fn has_room(&self, cwnd: u64, smss: u64) -> bool {
        self.recovery.has_room(cwnd, smss)
    }

    /// Returns whether a pipe-based recovery knows of a loss it has not retransmitted yet.
    pub(super) fn has_unsent_loss(&self, at: Position) -> bool {
        self.recovery.has_unsent_loss(at, &self.log)
    }

    /// Returns the next segment of a pipe-based recovery: see [`Recovery::next_segment`].
    pub(super) fn next_segment(&mut self, at: Position, cwnd: u64, fresh: Range) -> Option<Range> {
        self.recovery.next_segment(at, cwnd, fresh, &mut self.log)
    }

    /// Returns where to continue after a timeout if `nxt` is the next byte to send: behind SACKed
    /// data.
    #[cold]
    pub(super) fn skip_received(&self, nxt: u64) -> u64 {
        self.recovery.skip_received(nxt, &self.log)
    }

    /// Returns the end of the hole that begins at `una`, as far as is known.
    #[cold]
    pub(super) fn end_of_hole(&self, una: u64) -> u64 {
        let hole = self.log.sacks().hole(una);
        hole.map_or(u64::MAX, |hole| hole.end)
    }

    /// Returns the bytes of heap memory in use.
    pub(super) fn heap_size(&self) -> usize {
        self.detection.heap_size() + self.recovery.heap_size() + self.log.heap_size()
    }
}
