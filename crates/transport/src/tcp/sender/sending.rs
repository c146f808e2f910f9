//! Chooses which segment to send next, and when.

use skywave_congestion::{Control, Pacing, Sent};
use skywave_units::Instant;
use skywave_wire::Payload;
use skywave_wire::tcp::{Flags, Segment, TcpOptions};

use super::{Sender, State};
use crate::tcp::ecn::Sending;
use crate::tcp::reassembly::Range;
use crate::tcp::timestamps;
use crate::tcp::{Header, LimitedTransmit};

impl Sender {
    #[inline(always)]
    pub(super) fn next_segment(&mut self, now: Instant) -> Option<Segment> {
        if self.due.ack && self.ecn.owes_pure_ack() {
            return Some(self.pure_ack(now));
        }
        if core::mem::take(&mut self.due.probe) {
            let window = u64::from(self.rwnd).clamp(1, self.smss);
            let length = window.min(self.end - self.una);
            let probe = self.data_segment(now, self.una, length);
            // A closed window drops the probe's data, so it must be sent again.
            self.nxt = self.una;
            return Some(probe);
        }
        if core::mem::take(&mut self.due.tail_loss_probe)
            && let Some((start, length)) = self.tail_loss_probe()
        {
            let is_retransmission = start < self.max;
            let probe = self.data_segment(now, start, length);
            self.loss.on_probe(self.max, is_retransmission);
            return Some(probe);
        }
        self.fits_window = true;
        let next = if self.due.retransmission || self.loss.counts_pipe() {
            self.next_of_recovery(now)
        } else {
            self.sendable(now).map(|length| (self.nxt, length))
        };
        let limited = &mut self.counters.receive_window_limited;
        limited.note(now, !self.fits_window);
        if let Some((start, length)) = next {
            return Some(self.data_segment(now, start, length));
        }
        if let Some(jitter) = &mut self.jitter {
            jitter.on_nothing_to_send(now);
        }
        self.due.ack.then(|| self.pure_ack(now))
    }

    #[cold]
    fn pure_ack(&mut self, now: Instant) -> Segment {
        self.due.ack = false;
        let (flags, mut options) = self.ecn.on_pure_ack();
        options.timestamps = self.stamps.as_ref().map(|own| own.option(now));
        self.segment(self.nxt, Flags::ACK.union(flags), Payload::EMPTY, options)
    }

    /// Returns the first byte and data length of a retransmission due regardless of the window, or
    /// of a segment permitted by a pipe-based recovery. Separate from the common path to keep that
    /// short.
    #[cold]
    fn next_of_recovery(&mut self, now: Instant) -> Option<(u64, u64)> {
        if self.due.retransmission && self.flight() > 0 {
            if self.is_paced(now) {
                return None;
            }
            self.due.retransmission = false;
            let received = self.loss.end_of_hole(self.una).saturating_sub(self.una);
            let mut length = self.smss.min(self.end - self.una).min(self.flight());
            if self.loss.keeps_marks() {
                // A segment that leaves only in part would count as sent again.
                let first = self.loss.end_of_first().unwrap_or(u64::MAX);
                length = length.min(first.saturating_sub(self.una));
            }
            return Some((self.una, length.min(received)));
        }
        self.due.retransmission = false;
        if self.loss.counts_pipe() {
            self.sendable_by_pipe(now)
        } else {
            self.sendable(now).map(|length| (self.nxt, length))
        }
    }

    /// Returns the first byte and data length of a tail loss probe: new data, or else the last
    /// segment again (RFC 8985 section 7.3).
    #[cold]
    fn tail_loss_probe(&self) -> Option<(u64, u64)> {
        let fresh = self.fresh();
        if fresh > 0 {
            let end = (self.max + fresh).min(self.end);
            return Some((self.max, end.saturating_sub(self.max)));
        }
        let last = self.loss.last_segment()?;
        Some((
            last.start,
            last.end.min(self.end).saturating_sub(last.start),
        ))
    }

    /// Returns the data length of the next segment; zero for a FIN alone.
    #[inline(always)]
    fn sendable(&mut self, now: Instant) -> Option<u64> {
        let mut hole = u64::MAX;
        if self.nxt < self.max {
            self.nxt = self.loss.skip_received(self.nxt);
            hole = self.loss.end_of_hole(self.nxt) - self.nxt;
        }
        let remaining = self.end.checked_sub(self.nxt)?;
        if remaining == 0 {
            let fits = self.nxt < self.window_end() || self.flight() == 0;
            return (self.closing && fits).then_some(0);
        }
        let validation = self.validation.as_ref();
        if validation.is_some_and(|validation| !validation.is_undefined()) {
            self.validate_before_sending(now);
        } else if self.flight() == 0 && now - self.last_sent > self.rtt.rto() {
            // RFC 5681 section 4.1. A new connection sent its SYN at most an RTO ago.
            let before = self.control.cwnd();
            self.control.on_restart(now);
            if self.control.cwnd() < before {
                self.max_flight = 0;
            }
        }
        let mut length = remaining.min(self.smss).min(hole);
        let cwnd_end = self.cwnd_end();
        let mut allowed_end = cwnd_end;
        let is_limited_transmit = match self.config.limited_transmit {
            LimitedTransmit::Off => false,
            LimitedTransmit::NewData => self.nxt == self.max,
            LimitedTransmit::Any => true,
        };
        if is_limited_transmit {
            allowed_end += u64::from(self.loss.limited_transmit()) * self.smss;
        }
        if self.nxt + length > allowed_end {
            return None;
        }
        let room = self.window_end().saturating_sub(self.nxt);
        if room < length {
            // RFC 9293 section 3.8.6.2.1: send part of a segment only if it is worthwhile.
            if room == 0 || room < u64::from(self.max_rwnd) / 2 {
                self.fits_window = false;
                if self.flight() == 0 {
                    self.timer.start_if_off(now + self.rtt.rto());
                }
                return None;
            }
            length = room;
        }
        if self.is_held(now) || !self.loss.is_quiet() && self.exceeds_recovery_burst() {
            return None;
        }
        if self.nxt == self.max && self.nxt + length > cwnd_end {
            self.limited += length as u32;
        }
        Some(length)
    }

    /// Counts a segment that the last acknowledgement of a recovery releases. Returns whether that
    /// exceeds the limit. Jitter has no limit, as in ns-2.
    #[cold]
    fn exceeds_recovery_burst(&mut self) -> bool {
        let Some(most) = self.config.recovery_burst else {
            return false;
        };
        if !self.loss.is_recovering() || self.jitter.is_some() {
            return false;
        }
        self.released = self.released.saturating_add(1);
        self.released > most
    }

    /// Returns whether pacing holds back a retransmission. Neither a mark nor jitter
    /// holds one back.
    fn is_paced(&mut self, now: Instant) -> bool {
        self.held_until = self.pacer.earliest_departure().filter(|&at| at > now);
        self.held_until.is_some()
    }

    /// Returns whether pacing, a mark or jitter holds back data that the window permits.
    #[inline(always)]
    fn is_held(&mut self, now: Instant) -> bool {
        let earliest = self.pacer.earliest_departure().max(Some(self.marked_until));
        self.held_until = earliest.filter(|&at| at > now);
        self.held_until.is_some() || self.jitter.as_mut().is_some_and(|jitter| jitter.holds(now))
    }

    /// Returns the first byte and data length of the next segment of a pipe-based recovery.
    fn sendable_by_pipe(&mut self, now: Instant) -> Option<(u64, u64)> {
        let cwnd = u64::try_from(self.cwnd()).unwrap_or(0);
        if !self.loss.has_room(cwnd, self.smss) || self.is_held(now) {
            return None;
        }
        let fresh = Range {
            start: self.max,
            end: self.max + self.fresh(),
        };
        let segment = self.loss.next_segment(self.position(), cwnd, fresh)?;
        if self.loss.keeps_marks() && segment.start <= self.una {
            // RFC 6298 section 5: the RTO of the first segment starts when it leaves.
            self.restart_timer(now);
        }
        // The FIN occupies sequence space but is not data.
        let data = segment.end.min(self.end).saturating_sub(segment.start);
        Some((segment.start, data))
    }

    /// Returns the length of new data that could be sent: a full segment, the last one, or a FIN
    /// alone.
    fn fresh(&self) -> u64 {
        let Some(remaining) = self.end.checked_sub(self.max) else {
            return 0;
        };
        let room = self.window_end().saturating_sub(self.max);
        let wanted = if remaining == 0 {
            u64::from(self.closing)
        } else {
            remaining.min(self.smss)
        };
        if wanted <= room { wanted } else { 0 }
    }

    /// Returns the pacing of a window whose control names none.
    #[inline(always)]
    fn pacing_of_window(&self) -> Option<Pacing> {
        if !self.config.pacing && !self.has_lapsed_cwnd() {
            return None;
        }
        let srtt = self.rtt.srtt()?;
        Some(Pacing::of_window(
            self.control.cwnd(),
            self.smss as u32,
            srtt,
        ))
    }

    /// Builds the segment from `start`, including the FIN if it reaches the end of a closed stream.
    #[inline(always)]
    fn data_segment(&mut self, now: Instant, start: u64, length: u64) -> Segment {
        // A FIN beyond the receiver's window would be cut off and recovered only by a timeout: send
        // it separately.
        let fits = length == 0 || start + length < self.window_end();
        let fin = self.closing && start + length == self.end && fits;
        let stop = start + length + u64::from(fin);
        self.counters.bytes_sent += length;
        let is_new = start >= self.max;
        if !is_new {
            self.counters.segments_retransmitted += 1;
            self.counters.bytes_retransmitted += length;
            if let Some(validation) = &mut self.validation {
                validation.on_resent(start, start + length);
            }
            if !self.config.recovery.times_retransmissions() {
                // Karn's rule: retransmitted data is not timed.
                self.timed.take_if(|(end, _)| start < *end && *end <= stop);
            }
        } else if self.timed.is_none() {
            self.timed = Some((stop, now));
        }
        // RFC 6298 step 5.1. With nothing outstanding, a running timer was for probing the window.
        if self.flight() == 0 {
            self.restart_timer(now);
        } else {
            self.timer.start_if_off(now + self.rtt.rto());
        }
        self.max = self.max.max(stop);
        let follows = self.last_sent == now && is_new;
        let application_limited = stop >= self.end && self.max < self.cwnd_end();
        self.loss.on_sent(now, start, stop, self.end);
        if self.loss.keeps_marks() {
            self.loss.note_sent(self.position());
        }
        self.nxt = self.nxt.max(stop);
        if self.config.rate_limited_increase {
            self.max_flight = self.max_flight.max(self.in_segments(self.flight()));
        }
        self.note_application_limit();
        self.last_sent = now;
        self.due.ack = false;
        if is_new && self.loss.keeps_marks() && stop <= self.window_end() {
            self.report_timing(now);
        }
        let in_flight = self.in_segments(if self.every_ack {
            self.loss.in_flight(self.position())
        } else {
            self.flight()
        });
        let mut sent = Sent::new(now, start, length as u32, in_flight);
        sent.application_limited = application_limited;
        self.control.on_sent(&sent);
        let pacing = self.control.pacing().or_else(|| self.pacing_of_window());
        self.pacer.on_sent(now, length as u32, pacing);
        let (code, marks) = self.ecn.on_data(if start >= self.window_end() {
            Sending::Probe
        } else if is_new {
            Sending::New
        } else {
            Sending::Again
        });
        self.code = code;
        let mut flags = Flags::ACK.union(marks);
        if fin {
            flags = flags.union(Flags::FIN);
        }
        let ends_burst = self.config.pushes_bursts
            && follows
            && self.nxt + self.smss > self.cwnd_end().min(self.window_end());
        if stop >= self.end || ends_burst {
            flags = flags.union(Flags::PSH);
        }
        let payload = Payload::Synthetic(u32::try_from(length).unwrap_or(u32::MAX));
        let options = TcpOptions {
            timestamps: self.stamps.as_ref().map(|own| own.option(now)),
            ..TcpOptions::default()
        };
        let mut segment = self.segment(start, flags, payload, options);
        if let Some(extension) = self.control.extension() {
            let (header, code) = extension.write(Header::of(&segment));
            header.put_into(&mut segment);
            self.code = code;
        }
        segment
    }

    /// Marks delivery-rate samples as application-limited if the application, not the network, is
    /// the bottleneck.
    #[inline(always)]
    pub(super) fn note_application_limit(&mut self) {
        if self.loss.keeps_rates() {
            self.note_application_limit_in_log();
        }
    }

    #[cold]
    fn note_application_limit_in_log(&mut self) {
        if self.is_application_limited() {
            self.loss.mark_application_limited();
        }
    }

    /// Returns whether the sender is limited by the application: CheckIfAppLimited (see
    /// [`skywave_congestion::DeliverySampler::mark_application_limited`]).
    fn is_application_limited(&self) -> bool {
        if self.state != State::Established || self.max < self.end {
            return false;
        }
        // After a timeout, outstanding data is retransmitted from `una` on.
        let resends = self.nxt < self.max || self.due.retransmission || self.due.probe;
        if resends || self.loss.has_unsent_loss(self.position()) {
            return false;
        }
        if self.loss.counts_pipe() {
            let cwnd = u64::try_from(self.cwnd()).unwrap_or(0);
            return self.loss.has_room(cwnd, self.smss);
        }
        self.max < self.cwnd_end()
    }

    pub(super) fn syn(&mut self, now: Instant) -> Segment {
        let repeated = self.state != State::Closed;
        self.state = if repeated {
            State::SynRepeated
        } else {
            State::SynSent
        };
        self.due.syn = false;
        self.max = 1;
        self.timed = (!repeated).then_some((1, now));
        self.last_sent = now;
        self.timer.start_if_off(now + self.rtt.rto());
        let mut options = TcpOptions::default();
        if self.config.syn_options {
            let stamps = self.stamps.as_ref();
            let length = stamps.map_or(0, |_| timestamps::LENGTH);
            options.timestamps = stamps.map(|own| own.option(now));
            options.mss = Some(self.config.segment_size.saturating_add(length));
            options.window_scale = Some(self.config.window.shift());
            options.sack_permitted = self.config.recovery.uses_sack();
        }
        let flags = Flags::SYN.union(self.ecn.syn_flags());
        self.segment(0, flags, Payload::EMPTY, options)
    }

    #[inline(always)]
    fn segment(&self, seq: u64, flags: Flags, payload: Payload, options: TcpOptions) -> Segment {
        let acks = flags.contains(Flags::ACK);
        Segment {
            source_port: self.ports.local,
            destination_port: self.ports.remote,
            seq: self.local.wire(seq),
            ack: if acks { self.remote_next } else { 0 },
            flags,
            window: self.window_field,
            checksum_offset: 0,
            identification: 0,
            options,
            payload,
        }
    }
}
