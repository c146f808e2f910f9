//! Handles acknowledgements and timeouts.

use skywave_congestion::{
    Ack, AckedPacket, Control, Loss, LostPacket, Mark, MarkedPackets, RtoConfig, RttEstimator,
};
use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;
use skywave_wire::tcp::{Flags, Segment, TcpOptions};

use super::{Sender, State, keeps};
use crate::tcp::ecn::Echo;
use crate::tcp::loss::{Acked, Begin, OnDuplicate, OnProgress, Phase, Timing};
use crate::tcp::receive_window::MAX_WINDOW_SHIFT;
use crate::tcp::sent_log::SentSegment;
use crate::tcp::timestamps;
use crate::tcp::{Header, LimitedTransmit, RecoveryAlgorithm, RecoveryExit};

/// The segment size of a peer that sends no MSS option (RFC 9293 section 3.7.1).
const DEFAULT_MSS: u16 = 536;
/// The RTO after a SYN has been retransmitted (RFC 6298 step 5.7).
const RTO_AFTER_LOST_SYN: Duration = Duration::from_secs(3);

/// What times a round trip if the segments that an acknowledgement covers do not.
#[derive(Clone, Copy, Debug)]
struct OtherRtts {
    /// The round-trip time of the first segment that it SACKs, if that was sent only once.
    sacked: Option<Duration>,
    /// TSecr.
    echo: Option<u32>,
}

impl Sender {
    /// Handles a segment in SYN-SENT (RFC 9293 section 3.10.7.3).
    #[cold]
    #[inline(never)]
    pub(super) fn on_syn_ack(&mut self, now: Instant, ecn: Ecn, segment: Segment) {
        let flags = segment.flags;
        if !flags.contains(Flags::ACK) || segment.ack != self.local.wire(1) {
            return;
        }
        if flags.contains(Flags::RST) {
            return self.end_connection();
        }
        if !flags.contains(Flags::SYN) {
            return;
        }
        let repeated = self.state == State::SynRepeated;
        self.state = State::Established;
        let accurate_ecn = segment.options.accurate_ecn.as_ref();
        self.ecn.on_first_syn_ack(flags, ecn, accurate_ecn);
        self.events.connected = true;
        self.remote_next = segment.seq.wrapping_add(1);
        if self.config.syn_options {
            let mut mss = segment.options.mss.unwrap_or(DEFAULT_MSS);
            match (&mut self.stamps, segment.options.timestamps) {
                (Some(own), Some(peer)) => {
                    own.on_value(now, peer.value);
                    mss = mss.saturating_sub(timestamps::LENGTH);
                }
                _ => self.stamps = None,
            }
            self.smss = u64::from(self.config.segment_size.min(mss).max(1));
            self.window_shift = segment
                .options
                .window_scale
                .unwrap_or(0)
                .min(MAX_WINDOW_SHIFT);
            if segment.options.window_scale.is_some() {
                self.window_field = self.config.window.field(self.config.window.shift());
            }
            if self.config.recovery.uses_sack() && !segment.options.sack_permitted {
                let newreno = RecoveryAlgorithm::NewReno;
                let keeps = keeps(newreno, self.control.interests());
                self.loss = newreno.build(keeps, self.config.recovery_options(false));
            }
        }
        // RFC 7323 section 2.2: the window of a SYN is never scaled.
        self.rwnd = u32::from(segment.window);
        self.max_rwnd = self.rwnd;
        self.una = 1;
        self.nxt = 1;
        self.max = 1;
        self.timer.stop();
        self.due.ack = true;
        if repeated {
            // RFC 5681 section 3.1 and RFC 6298 step 5.7.
            self.control.limit_cwnd(1.0);
            if self.config.rto.initial < RTO_AFTER_LOST_SYN {
                self.rtt = RttEstimator::new(RtoConfig {
                    initial: RTO_AFTER_LOST_SYN,
                    ..self.config.rto
                });
            }
        }
        self.max_flight = self.control.cwnd() as u32;
        if let Some(rtt) = self.sample_rtt(now, 1) {
            self.loss.on_handshake(now, rtt);
            self.control.on_handshake(rtt);
        }
    }

    /// Handles a segment as in RFC 9293 section 3.10.7.4, for a peer that sends no data.
    #[inline(always)]
    pub(super) fn on_segment(&mut self, now: Instant, ecn: Ecn, mut segment: Segment) {
        if let Some(extension) = self.control.extension() {
            let header = extension.read(now, Header::of(&segment), self.remote_next);
            header.put_into(&mut segment);
        }
        // Moved out, so that the rest of the segment need not be stored in memory.
        let TcpOptions {
            sack,
            timestamps,
            accurate_ecn,
            ..
        } = segment.options;
        let flags = segment.flags;
        if flags.contains(Flags::RST) {
            if segment.seq == self.remote_next {
                self.end_connection();
            }
            return;
        }
        if flags.contains(Flags::SYN) {
            // The peer did not get our acknowledgement of its SYN.
            self.due.ack = true;
            self.ecn.on_syn_ack_again(flags, ecn);
            return;
        }
        if !flags.contains(Flags::ACK) {
            return;
        }
        if let Some(own) = &mut self.stamps {
            // RFC 7323 section 3.2. An old acknowledgement (section 5.3) does no harm: there is no data
            // to protect in this direction.
            let Some(peer) = timestamps else { return };
            own.on_value(now, peer.value);
        }
        let Some(ack) = self.local.offset(segment.ack, self.una) else {
            return;
        };
        if ack > self.max {
            self.due.ack = true;
            return;
        }
        if ack < self.una {
            return;
        }
        self.note_application_limit();
        self.released = 0;
        let window = u32::from(segment.window) << self.window_shift;
        let same_window = window == self.rwnd;
        if self.rwnd == 0 && window > 0 && self.flight() > 0 {
            // What was a probe becomes an ordinary segment.
            self.restart_timer(now);
        }
        self.rwnd = window;
        self.max_rwnd = self.max_rwnd.max(window);
        if let Some(extension) = self.control.extension() {
            self.echo = extension.echo(flags);
        }
        let has_blocks = !sack.is_empty();
        let mut sacked_rtt = None;
        if has_blocks {
            let at = self.position();
            self.loss.on_sack(now, &sack, self.local, at);
            if self.every_ack {
                self.report_sacked();
            }
            if self.config.samples_every_ack {
                sacked_rtt = self.loss.first_sacked_rtt(now);
            }
            if self.every_rtt
                && let Some(rtt) = self.loss.sacked_rtt(now)
            {
                self.report_rtt(now, rtt);
            }
        }
        let delivered = || self.loss.delivered_by(ack);
        let echo = (self.ecn).on_ack(flags, accurate_ecn.as_ref(), self.smss, delivered);
        if let Some(echo) = echo {
            self.report_marked_packets(now, ack, echo);
        }
        // The marked segment was in flight until now.
        let flight = echo.map(|_| self.flight_at_loss());
        if ack > self.una {
            let rtts = OtherRtts {
                sacked: sacked_rtt,
                echo: timestamps.map(|peer| peer.echo),
            };
            self.on_progress(now, ack, echo, rtts);
        } else {
            if let Some(rtt) = sacked_rtt {
                self.rtt.on_sample(now - rtt, rtt);
            }
            if !self.every_ack {
                self.loss.drop_sample();
            }
            // A duplicate acknowledgement as defined in RFC 5681 section 2. The answer to a probe of
            // a closed window is not one.
            let is_duplicate = same_window && window > 0 && self.flight() > 0;
            // RFC 8985 learns from every SACK, and from the answer to a probe that was not needed.
            let is_news = self.loss.keeps_marks() && (has_blocks || same_window);
            if (is_duplicate || is_news) && segment.payload.is_empty() {
                self.on_duplicate(now);
            }
            if self.every_ack {
                self.report_out_of_order(now, echo);
            }
        }
        // Not if this acknowledgement also reported a loss: one reduction is enough.
        if let Some(flight) = flight
            && self.ecn.is_unanswered(ack)
        {
            self.on_mark(now, flight);
        }
    }

    /// Reports the packets that `echo` counts as marked, or else all the data before `ack`.
    #[cold]
    fn report_marked_packets(&mut self, now: Instant, ack: u64, echo: Echo) {
        let marked = if let Some(packets) = echo.packets {
            MarkedPackets::new(now, packets, echo.bytes)
        } else if ack == self.una {
            return;
        } else {
            let unreported = u64::from(self.acked_rest) + (ack - self.una);
            let packets = u32::try_from(unreported / self.smss).unwrap_or(u32::MAX);
            // The FIN is not data.
            let bytes = ack.min(self.end) - self.una;
            MarkedPackets::new(now, packets, Some(bytes))
        };
        self.control.on_packets_marked(&marked);
    }

    /// Responds to a mark as to a loss, but retransmits nothing (RFC 3168 section 6.1.2). A window
    /// of one segment cannot be halved: the next segment waits for an RTO instead.
    #[cold]
    fn on_mark(&mut self, now: Instant, flight: u32) {
        let used = self.used_without_validation(now, true);
        let flight = used.map_or(flight, |used| self.in_segments(used));
        let cwnd = self.control.cwnd();
        self.ecn.on_reduced(self.max);
        self.control.on_mark(&Mark::new(now, flight, 1));
        self.max_flight = 0;
        if cwnd < 2.0 {
            // The minimum of some algorithms is larger.
            self.control.limit_cwnd(cwnd);
            self.marked_until = now + self.rtt.rto();
            if self.flight() > 0 {
                self.restart_timer(now);
            }
        }
    }

    fn on_progress(&mut self, now: Instant, ack: u64, echo: Option<Echo>, others: OtherRtts) {
        let acked = ack - self.una;
        let unused = self.cwnd_end().saturating_sub(self.nxt);
        let all_acknowledged_before = self.una >= self.end;
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        // The segment that pacing still held back has arrived after all.
        self.due.retransmission = false;
        self.limited = 0;
        let (rtt, delivery_rate, delivered) = if self.loss.keeps_times() {
            let taken = self.take_acked(now, ack);
            let rtt = self.sample_acked(now, ack, &taken, others);
            (rtt, taken.delivery_rate, taken.delivered)
        } else {
            let sample = self.sample_rtt(now, ack);
            (
                sample.or_else(|| self.sample_by_stamps(now, others.echo)),
                None,
                acked,
            )
        };

        let unreported = u64::from(self.acked_rest) + acked;
        let is_jittered = self.jitter.as_ref().is_some_and(|it| it.is_waiting());
        let mut summary = Ack::new(
            now,
            u32::try_from(unreported / self.smss).unwrap_or(u32::MAX),
            self.in_segments(self.nxt - ack),
        );
        summary.rtt = rtt;
        summary.delivery_rate = delivery_rate;
        summary.application_limited =
            unused >= self.smss && !is_jittered && !self.may_grow_when_limited();
        note_echo(&mut summary, echo);
        self.acked_rest = (unreported % self.smss) as u32;

        let rtt_in_recovery = if self.every_rtt {
            rtt.or_else(|| self.loss.retransmission_rtt(now))
        } else {
            None
        };
        let progress = if self.loss.is_quiet() {
            OnProgress::Ordinary
        } else {
            let progress = self.loss.on_progress(now, self.position(), acked, rtt);
            self.change_cwnd();
            if self.loss.keeps_marks() {
                self.report_lost_packets(now, false);
            }
            progress
        };
        if self.every_ack {
            self.count_out_of_order(&mut summary);
        }
        match progress {
            OnProgress::Ordinary => self.grow(&summary, unused),
            OnProgress::Loss(begin) => {
                self.control.on_ack(&summary);
                self.begin_recovery(now, begin, false);
            }
            OnProgress::SpuriousTimeout => {
                self.undo_timeout(now);
                self.control.on_ack(&summary);
            }
            OnProgress::Repaired => {
                self.control.on_ack(&summary);
                self.report_loss(now, false);
                if let Some(validation) = &mut self.validation {
                    // The probe repaired the loss before it was known.
                    validation.on_resent(ack.saturating_sub(self.smss), ack);
                }
            }
            OnProgress::Overdue => {
                self.control.on_ack(&summary);
                self.report_lost_packets(now, true);
                if self.flight() > 0 {
                    self.due.retransmission = true;
                    if !self.config.recovery.times_retransmissions() {
                        self.timed = None;
                    }
                } else {
                    // It has not been sent yet: send it like a probe, and again in its turn.
                    self.due.probe = self.una < self.end;
                }
            }
            OnProgress::Recovery(Phase::Partial { retransmit, .. }) => {
                self.report_lost_packets(now, retransmit);
                self.on_partial(retransmit);
                if self.every_ack {
                    self.control.on_ack(&summary);
                } else if let Some(rtt) = rtt_in_recovery {
                    self.report_rtt(now, rtt);
                }
            }
            OnProgress::Recovery(Phase::Full) => {
                if self.reports_exit() {
                    summary.rtt = rtt_in_recovery.or(rtt);
                    summary.newly_acked = self.in_segments(delivered);
                    // What PRR holds back leaves cwnd unused, but would have filled it.
                    summary.application_limited = self.max >= self.end || !self.fits_window;
                    self.control.on_ack(&summary);
                } else {
                    if let Some(rtt) = rtt_in_recovery {
                        self.report_rtt(now, rtt);
                    }
                    self.on_recovered(&summary);
                }
            }
            OnProgress::NextLoss(begin) => {
                self.on_recovered(&summary);
                self.end_event_without_validation();
                self.begin_recovery(now, begin, false);
            }
        }
        if self.flight() == 0 {
            // RFC 6298 step 5.2.
            self.timer.stop();
        } else if !matches!(
            progress,
            OnProgress::Recovery(Phase::Partial {
                restart_timer: false,
                ..
            })
        ) {
            // RFC 6298 step 5.3; RFC 6582 section 3.2 step 3 for recovery.
            self.restart_timer(now);
        }
        if self.loss.keeps_marks() {
            self.report_timing(now);
        }
        if self.validation.is_some() {
            let is_full = matches!(progress, OnProgress::Recovery(Phase::Full));
            self.validate_acked(now, acked, is_full);
        }
        if self.una >= self.end && !all_acknowledged_before {
            self.events.all_acknowledged = true;
        }
        if self.closing && self.una > self.end {
            self.events.closed = true;
            self.state = State::Ended;
        }
    }

    /// Reports the packets that the acknowledgement SACKs for the first time.
    #[cold]
    fn report_sacked(&mut self) {
        let (control, ecn) = (&mut self.control, self.echo);
        self.loss.each_delivered(|segment| {
            control.on_packet_acked(&acked_packet(segment, ecn));
        });
    }

    /// Reports a round-trip time to a control that asks for every one.
    #[cold]
    fn report_rtt(&mut self, now: Instant, rtt: Duration) {
        let mut summary = Ack::new(now, 0, self.in_segments(self.flight()));
        summary.rtt = Some(rtt);
        self.control.on_ack(&summary);
    }

    /// Counts data delivered out of order in the acknowledgement that reports it, rather than in the
    /// one that covers it.
    #[cold]
    fn count_out_of_order(&mut self, summary: &mut Ack) {
        let at = self.position();
        if let Some(segments) = self.loss.take_delivered(at) {
            summary.newly_acked = segments;
        }
        summary.in_flight = self.in_segments(self.loss.in_flight(at));
        summary.recovering = self.loss.is_recovering();
    }

    /// Reports an acknowledgement that does not advance to a control that asks for every one.
    #[cold]
    fn report_out_of_order(&mut self, now: Instant, echo: Option<Echo>) {
        let mut summary = Ack::new(now, 0, 0);
        note_echo(&mut summary, echo);
        summary.delivery_rate = self.loss.take_sample();
        self.count_out_of_order(&mut summary);
        if summary.newly_acked > 0 || summary.delivery_rate.is_some() {
            self.control.on_ack(&summary);
        }
    }

    /// Reports the times that decide when a tail loss probe is due.
    pub(super) fn report_timing(&mut self, now: Instant) {
        let timing = Timing {
            now,
            srtt: self.rtt.srtt(),
            rto_at: self.timer.due().unwrap_or(now + self.rtt.rto()),
            in_flight: self.in_segments(self.flight()),
        };
        self.loss.on_timing(&timing);
    }

    /// Removes the segments that `ack` covers from the log and reports them to the control.
    fn take_acked(&mut self, now: Instant, ack: u64) -> Acked {
        let (control, ecn, every_ack) = (&mut self.control, self.echo, self.every_ack);
        self.loss.take_acked(now, ack, |segment| {
            let is_reported = every_ack && segment.is_sacked;
            if !is_reported {
                control.on_packet_acked(&acked_packet(segment, ecn));
            }
        })
    }

    /// Returns whether cwnd, which was not used up, may grow nevertheless.
    fn may_grow_when_limited(&self) -> bool {
        self.config.rate_limited_increase
            && !self.has_lapsed_cwnd()
            && self.control.cwnd() < self.rate_limited_cwnd()
    }

    /// Returns limit(maxFS): the largest cwnd of a sender that does not use it up, in segments
    /// (draft-ietf-ccwg-ratelimited-increase section 3).
    fn rate_limited_cwnd(&self) -> f64 {
        let max_flight = f64::from(self.max_flight);
        if self.control.cwnd() < self.control.ssthresh() {
            2.0 * max_flight
        } else {
            max_flight + 1.0
        }
    }

    /// Reports an acknowledgement outside of a recovery, before which `unused` bytes of cwnd were
    /// unused.
    fn grow(&mut self, summary: &Ack, unused: u64) {
        if !self.config.rate_limited_increase || unused < self.smss {
            return self.control.on_ack(summary);
        }
        let (before, most) = (self.control.cwnd(), self.rate_limited_cwnd());
        self.control.on_ack(summary);
        if self.control.cwnd() > most.max(before) {
            self.control.limit_cwnd(most.max(before));
        }
    }

    fn on_partial(&mut self, retransmit: bool) {
        self.due.retransmission |= retransmit;
        let deficit = self.loss.take_deficit(self.smss);
        if deficit > 0 {
            let left = self.control.cwnd() - deficit as f64 / self.smss as f64;
            self.control.limit_cwnd(left);
        }
    }

    /// Returns whether the acknowledgement that ends a recovery is reported with what it delivers.
    fn reports_exit(&self) -> bool {
        let exit = self.config.recovery_exit;
        exit == RecoveryExit::Reported && self.loss.keeps_marks() && !self.every_ack
    }

    fn on_recovered(&mut self, summary: &Ack) {
        if self.every_ack {
            return self.control.on_ack(summary);
        }
        match self.config.recovery_exit {
            RecoveryExit::FlightSize => {
                let flight = self.flight().max(self.smss) + self.smss;
                self.control.limit_cwnd(flight as f64 / self.smss as f64);
            }
            RecoveryExit::Ssthresh | RecoveryExit::Reported => {}
            RecoveryExit::Deflated => self.control.on_ack(summary),
        }
    }

    fn on_duplicate(&mut self, now: Instant) {
        let limited_before = self.loss.limited_transmit();
        let answer = self.loss.on_duplicate(now, self.position());
        if self.config.limited_transmit != LimitedTransmit::Off
            && self.loss.limited_transmit() > limited_before
            && let Some(jitter) = &mut self.jitter
        {
            jitter.let_one_pass();
        }
        self.repair(now, answer);
    }

    /// Handles an expired deadline of the loss detection.
    #[cold]
    pub(super) fn on_loss_deadline(&mut self, now: Instant) {
        let answer = self.loss.expire(now, self.position());
        self.repair(now, answer);
    }

    fn repair(&mut self, now: Instant, answer: OnDuplicate) {
        match answer {
            OnDuplicate::Wait => self.report_lost_packets(now, false),
            OnDuplicate::SpuriousTimeout => self.undo_timeout(now),
            OnDuplicate::TailLoss { probe } => {
                // A closed window has probes of its own.
                let fits = self.max <= self.window_end();
                self.due.tail_loss_probe = probe && fits && self.flight() > 0;
                if self.flight() > 0 {
                    self.restart_timer(now);
                }
            }
            OnDuplicate::Loss { begin, is_repeated } => {
                self.begin_recovery(now, begin, is_repeated);
            }
            OnDuplicate::Retransmit => {
                self.report_lost_packets(now, true);
                self.restart_with_retransmission(now);
            }
        }
        self.change_cwnd();
    }

    #[cold]
    fn undo_timeout(&mut self, now: Instant) {
        self.control.on_spurious_loss(now);
        self.ecn.on_undone();
        if let Some(validation) = &mut self.validation {
            validation.on_spurious_timeout();
        }
    }

    fn begin_recovery(&mut self, now: Instant, begin: Begin, is_repeated: bool) {
        match begin {
            Begin::Restart => self.report_all_lost(now),
            Begin::Retransmit | Begin::Wait => self.report_lost_packets(now, true),
        }
        self.report_loss(now, is_repeated);
        match begin {
            Begin::Retransmit => self.restart_with_retransmission(now),
            Begin::Wait => self.counters.fast_retransmits += 1,
            Begin::Restart => {
                self.control.limit_cwnd(1.0);
                self.counters.fast_retransmits += 1;
                self.nxt = self.una;
                self.limited = 0;
                self.timed = None;
                self.restart_timer(now);
            }
        }
    }

    fn change_cwnd(&mut self) {
        if let Some(change) = self.loss.take_cwnd_change() {
            self.control.change_cwnd(change);
        }
    }

    /// Reports the packets that are newly known to be lost, if the control asks for them.
    fn report_lost_packets(&mut self, now: Instant, is_first_lost: bool) {
        let at = self.position();
        let control = &mut self.control;
        self.loss.take_lost(at, is_first_lost, |segment| {
            control.on_packet_lost(&lost_packet(now, segment));
        });
    }

    /// Reports as lost all packets that have not arrived, because they will be sent again.
    fn report_all_lost(&mut self, now: Instant) {
        let control = &mut self.control;
        self.loss.take_all(|segment| {
            control.on_packet_lost(&lost_packet(now, segment));
        });
    }

    /// Reports a loss: the control reduces the window, and CWR informs the peer.
    fn report_loss(&mut self, now: Instant, is_repeated: bool) {
        self.ecn.on_reduced(self.max);
        let lost = self.loss.lost(self.position());
        let used = self.used_without_validation(now, false);
        let flight = used.map_or_else(|| self.flight_at_loss(), |used| self.in_segments(used));
        let mut loss = Loss::new(now, flight, self.in_segments(lost).max(1));
        loss.is_repeated = is_repeated;
        self.control.on_loss(&loss);
        if let Some(used) = used {
            self.set_windows(used / 2);
        }
        self.max_flight = 0;
    }

    fn restart_with_retransmission(&mut self, now: Instant) {
        self.counters.fast_retransmits += 1;
        self.retransmit();
        if self.config.recovery.backs_off() {
            self.rtt.back_off();
        }
        // RFC 6298 section 5: the RTO of the segment starts when it leaves.
        let leaves = self.pacer.earliest_departure().max(Some(now));
        self.restart_timer(leaves.unwrap_or(now));
    }

    fn retransmit(&mut self) {
        self.due.retransmission = true;
        self.timed = None;
    }

    /// Takes a sample if the timed segment is acknowledged. Retransmitted segments are never timed
    /// (Karn's rule, RFC 6298 section 3).
    fn sample_rtt(&mut self, now: Instant, ack: u64) -> Option<Duration> {
        let (_, sent_at) = self.timed.take_if(|(end, _)| *end <= ack)?;
        let rtt = now - sent_at;
        self.rtt.on_sample(sent_at, rtt);
        Some(rtt)
    }

    /// Takes a sample where each segment's sending time is known. Returns the round-trip time that the
    /// control learns: that of the last segment, or what timestamps tell.
    #[inline(always)]
    fn sample_acked(
        &mut self,
        now: Instant,
        ack: u64,
        acked: &Acked,
        others: OtherRtts,
    ) -> Option<Duration> {
        let sample = if self.config.samples_every_ack {
            let first = acked.first_rtt.or(others.sacked);
            first.inspect(|&rtt| self.rtt.on_sample(now - rtt, rtt))
        } else {
            self.sample_rtt(now, ack)
        };
        let by_stamps = if sample.is_none() {
            self.sample_by_stamps(now, others.echo)
        } else {
            None
        };
        acked.last_rtt.or(by_stamps)
    }

    /// Takes a sample from the echo of a timestamp (RFC 7323 section 4.1), of a retransmission too,
    /// unless a segment is being timed more exactly.
    #[inline(always)]
    fn sample_by_stamps(&mut self, now: Instant, echo: Option<u32>) -> Option<Duration> {
        let (own, echo) = (self.stamps.as_ref()?, echo?);
        if self.timed.is_some() && !self.config.samples_every_ack {
            return None;
        }
        let rtt = own.since(now, echo)?.max(timestamps::TICK);
        self.rtt.on_sample(now - rtt, rtt);
        Some(rtt)
    }

    pub(super) fn end_connection(&mut self) {
        self.state = State::Ended;
        self.events.reset = true;
        self.timer.stop();
    }

    /// Handles a retransmission timeout: RFC 6298 steps 5.4 to 5.6, RFC 5681 section 3.1, RFC 6582
    /// section 3.2 step 4.
    pub(super) fn on_timeout(&mut self, now: Instant) {
        self.counters.timeouts += 1;
        self.ecn.on_reduced(self.max);
        self.loss.on_timeout(now, self.position());
        if self.loss.goes_back() {
            self.report_all_lost(now);
            self.nxt = self.una;
        } else {
            self.report_lost_packets(now, true);
        }
        self.control.on_timeout(now, self.flight_at_loss());
        if let Some(validation) = &mut self.validation {
            validation.on_timeout();
        }
        self.max_flight = 0;
        self.limited = 0;
        self.timed = None;
        self.due.retransmission = !self.loss.goes_back();
        self.due.tail_loss_probe = false;
        self.rtt.back_off();
        self.restart_timer(now);
    }

    /// Makes a window probe due, because the window has been closed, or too small to use, for an RTO
    /// (RFC 9293 section 3.8.6.1).
    pub(super) fn on_persist(&mut self, now: Instant) {
        self.timed = None;
        self.due.probe = self.una < self.end || self.closing;
        self.rtt.back_off();
        self.restart_timer(now);
    }
}

fn note_echo(summary: &mut Ack, echo: Option<Echo>) {
    let Some(echo) = echo else { return };
    summary.ecn_echo = echo.packets.is_none();
    summary.marked = echo.packets.unwrap_or(0);
}

fn acked_packet(segment: &SentSegment, ecn: Ecn) -> AckedPacket {
    AckedPacket::new(segment.start, segment.sent_at, segment.transmissions, ecn)
}

fn lost_packet(now: Instant, segment: &SentSegment) -> LostPacket {
    LostPacket::new(now, segment.start, segment.sent_at, segment.transmissions)
}
