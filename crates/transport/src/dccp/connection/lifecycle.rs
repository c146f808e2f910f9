//! State transitions: timers, handshake timing and resets (RFC 4340 sections 8.1 and 8.3).

use rand::Rng as _;
use skywave_units::{Duration, Instant};
use skywave_wire::dccp::{Packet, ResetCode, SeqNo, ServiceCode};

use super::transmit::Outbox;
use super::{Connection, Role, State};
use crate::dccp::ccid::{HcReceiver, HcSender};
use crate::dccp::features::{Feature, Location};
use crate::dccp::liveness::{Liveness, Verdict};
use crate::dccp::sequence::SEQUENCE_WINDOW_MAX;
use crate::dccp::timer::Timer;
use crate::dccp::{Event, Origin};

/// The number of Listens that a server sends (RFC 5596 section 2.2.2).
const LISTENS: u8 = 3;
/// The interval between Listens, and from the last one to LISTEN1 state (RFC 5596 section 2.2.2).
const LISTEN_INTERVAL: Duration = Duration::from_millis(200);

/// The round-trip time is less than this many times the interval between a client's first and last
/// Requests, if it sent several: the interval doubles each time (section 8.1.1), and the client
/// stops once a Response arrives.
const ROUND_TRIP_LIMIT: u64 = 3;

/// How long `close` waits for acknowledgements after the last data has left: this many round-trip
/// times, which is a few retransmission timeouts, but at least [`SETTLE_MIN`], because a peer may
/// delay its acknowledgement (RFC 4341 section 6.1) or, like Linux with CCID 2, never acknowledge a
/// single packet.
const SETTLE_ROUND_TRIPS: u64 = 6;
const SETTLE_MIN: Duration = Duration::from_secs(1);

/// The Requests or Responses sent so far, which give the first round-trip time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Handshake {
    last: Option<(SeqNo, Instant)>,
    /// When the first one left.
    began: Instant,
    /// The greatest sequence number among them.
    greatest: SeqNo,
    /// The time from the last one to its answer.
    pub(super) rtt: Option<Duration>,
}

impl Handshake {
    /// Records that a Request or Response has left.
    pub(super) const fn sent(&mut self, seq: SeqNo, now: Instant) {
        if self.last.is_none() {
            self.began = now;
        }
        self.last = Some((seq, now));
        self.greatest = seq;
    }

    /// Returns whether a Request or Response has left.
    pub(super) const fn has_begun(&self) -> bool {
        self.last.is_some()
    }

    /// Takes a round-trip time from a packet that acknowledges `ack`.
    pub(super) fn sample(&mut self, ack: SeqNo, now: Instant) {
        if let Some((seq, sent_at)) = self.last
            && seq == ack
        {
            self.rtt = Some(now - sent_at);
        }
    }

    /// Returns whether a client that acknowledges `ack` at `now` has received only Responses and
    /// will receive no further ones: it acknowledges the last of several Responses, or an earlier
    /// one after a round trip has passed since the last.
    pub(super) fn has_ended_with(&self, ack: SeqNo, now: Instant) -> bool {
        self.last.is_some_and(|(_, at)| {
            let is_overdue = now - at >= (at - self.began) * ROUND_TRIP_LIMIT;
            ack == self.greatest || (is_overdue && ack.is_before(self.greatest))
        })
    }
}

impl Connection {
    /// Skips `count` sequence numbers that forgotten Responses may have used.
    pub(in crate::dccp) fn skip_responses(&mut self, count: u64) {
        self.seq.take(count);
        self.handshake.greatest = self.seq.gss;
    }

    /// Handles a possible answer to a Request or Response. Its round-trip time initialises
    /// congestion control.
    pub(super) fn sample_handshake(&mut self, ack: SeqNo, now: Instant) {
        self.handshake.sample(ack, now);
        if let Some(rtt) = self.handshake.rtt {
            self.sender.on_handshake_rtt(rtt);
            self.receiver.on_rtt(rtt);
        }
    }

    pub(super) fn enter_request(&mut self, now: Instant) {
        self.state = State::Request;
        self.outbox.request = true;
        self.timers
            .set(Timer::GiveUp, now + self.config.request_give_up);
    }

    pub(super) fn enter_invited(&mut self) {
        self.state = State::Invited;
        self.outbox.listen = true;
    }

    /// Records that a Listen has left.
    pub(super) fn listen_sent(&mut self, now: Instant) {
        self.listens += 1;
        self.timers.set(Timer::Retransmit, now + LISTEN_INTERVAL);
    }

    /// Handles a Listen: the server is about to open the connection that this client is requesting.
    /// The first Listen makes the client repeat its Request at once (RFC 5596 section 2.2.3.1).
    pub(super) fn obey_listen(&mut self) {
        if self.state == State::Request && self.listens == 0 {
            self.listens = 1;
            self.retransmit();
        }
    }

    pub(super) fn enter_respond(&mut self, now: Instant, remote_port: u16, service: ServiceCode) {
        self.state = State::Respond;
        self.outbox.listen = false;
        self.timers.stop(Timer::Retransmit);
        self.remote_port = remote_port;
        self.service = service;
        self.timers
            .set(Timer::GiveUp, now + self.config.handshake_give_up);
    }

    pub(super) fn enter_partopen(&mut self, now: Instant) {
        self.state = State::PartOpen;
        self.outbox.request = false;
        self.features.repeat_confirms(self.config.repeat_confirms);
        self.backoff.reset();
        self.timers
            .set(Timer::GiveUp, now + self.config.handshake_give_up);
        self.watch_negotiation(now);
        self.liveness = Liveness::new(now, 0);
        self.judge_liveness(now);
        self.events.push_back(Event::Connected);
    }

    pub(super) fn enter_open(&mut self, now: Instant) {
        self.state = State::Open;
        self.outbox.response = false;
        self.features.repeat_confirms(false);
        self.cookies = Box::default();
        self.waits_for_open = false;
        self.start_skipping();
        self.backoff.reset();
        self.timers.stop(Timer::Retransmit);
        self.timers.stop(Timer::GiveUp);
        self.watch_negotiation(now);
        let is_asked = self.config.keepalive.is_some();
        let random = if is_asked { self.rng.next_u64() } else { 0 };
        self.liveness = Liveness::new(now, random);
        self.judge_liveness(now);
    }

    /// Reports that data has left, which the peer must acknowledge.
    #[inline(always)]
    pub(super) fn expect_answer(&mut self, now: Instant) {
        let heard = self.last_valid.unwrap_or_default();
        let look = self.liveness.on_data_sent(now, heard, &self.config);
        self.look_by(look);
    }

    /// Reports that a packet has left in PARTOPEN, where each asks for a sign that the server has
    /// received one (section 8.1.5). A server that has nothing to send need not give it, but answers
    /// a Sync.
    pub(super) fn expect_end_of_partopen(&mut self, now: Instant) {
        let heard = self.last_valid.unwrap_or_default();
        let look = self.liveness.on_question(now, heard, &self.config);
        self.look_by(look);
    }

    #[inline(always)]
    fn look_by(&mut self, look: Option<Instant>) {
        if let Some(at) = look
            && self.is_established()
        {
            self.timers.set_at_most(Timer::Liveness, at);
        }
    }

    /// Sends a Sync, which the peer answers.
    pub(in crate::dccp) fn ask_peer(&mut self) {
        self.outbox.sync = Some(self.seq.gsr);
    }

    /// Asks a silent peer whether it is there, or ends the connection.
    fn judge_liveness(&mut self, now: Instant) {
        if !self.is_established() {
            return;
        }
        let heard = self.last_valid.unwrap_or(now);
        let next = match self.liveness.judge(now, heard, &self.config) {
            Verdict::Wait(next) => next,
            Verdict::Ask(next) => {
                self.ask_peer();
                next
            }
            Verdict::Silent => return self.give_up(now),
            Verdict::Idle => {
                self.ended_idle = true;
                return self.give_up(now);
            }
        };
        self.timers.set(Timer::Liveness, next);
    }

    /// Handles the application's request to close: queued data goes first.
    pub(super) fn request_close(&mut self, now: Instant) {
        if self.closing {
            return;
        }
        self.closing = true;
        self.timers.set(Timer::Linger, now + self.config.linger);
        self.continue_closing(now);
    }

    /// Continues `close` once the send queue is empty: when the peer has what was sent, or should
    /// have had it long since, the CloseReq or Close leaves.
    pub(super) fn continue_closing(&mut self, now: Instant) {
        if !self.closing || !self.is_established() || !self.send_queue.is_empty() {
            return;
        }
        if self.has_settled() {
            self.finish_closing(now);
        } else if !core::mem::replace(&mut self.settling, true) {
            let patience = (self.timer_rtt() * SETTLE_ROUND_TRIPS).max(SETTLE_MIN);
            self.timers.set_at_most(Timer::Linger, now + patience);
        }
    }

    /// Returns whether the peer has acknowledged the last data packet, and no earlier one is
    /// outstanding.
    fn has_settled(&self) -> bool {
        let congestion = self.sender.congestion();
        let is_outstanding = congestion.window().is_some_and(|window| window.pipe > 0);
        !is_outstanding && !self.data_acked.is_before(self.last_data)
    }

    fn finish_closing(&mut self, now: Instant) {
        if self.role == Role::Server && !self.config.server_holds_timewait {
            self.enter_ending(now, State::CloseReq);
        } else {
            self.enter_ending(now, State::Closing);
        }
    }

    /// Sends a Close now.
    pub(super) fn enter_closing(&mut self, now: Instant) {
        self.enter_ending(now, State::Closing);
    }

    fn enter_ending(&mut self, now: Instant, state: State) {
        self.state = state;
        self.closing = true;
        self.discard_queued();
        self.outbox = Outbox {
            ending: true,
            sync_ack: self.outbox.sync_ack,
            ..Outbox::default()
        };
        self.backoff.reset();
        self.timers.stop_all();
        let patience = self.config.silence_timeout;
        let patience = patience.unwrap_or(self.config.handshake_give_up);
        self.timers.set(Timer::GiveUp, now + patience);
    }

    /// Handles the Reset with which the peer ended the connection.
    pub(super) fn enter_timewait(&mut self, now: Instant) {
        self.tear_down();
        self.state = State::TimeWait;
        self.timers.set(Timer::TimeWait, now + self.config.timewait);
    }

    /// Ends the connection without TIMEWAIT.
    pub(super) fn enter_closed(&mut self) {
        self.tear_down();
        self.state = State::Closed;
    }

    fn tear_down(&mut self) {
        self.closing = true;
        self.discard_queued();
        self.outbox = Outbox::default();
        self.timers.stop_all();
    }

    /// Ends the connection by sending a Reset.
    pub(super) fn reset(&mut self, now: Instant, code: ResetCode, data: [u8; 3]) {
        let reset = self.build_reset(now, code, data);
        self.enter_closed();
        self.outbox.reset = Some(reset);
        self.events.push_back(Event::Closed {
            code,
            origin: Origin::Local,
        });
    }

    /// Ends the connection because it makes no progress, or on the application's request.
    pub(super) fn give_up(&mut self, now: Instant) {
        self.reset(now, ResetCode::ABORTED, [0; 3]);
    }

    /// Answers a packet that belongs to no connection (section 8.3.1). If the Reset that ended this
    /// connection has not left yet, that Reset is the answer; the peer accepts no other.
    pub(super) fn reset_stray(&mut self, now: Instant, packet: &Packet, code: ResetCode) {
        if self.outbox.reset.is_some() {
            return;
        }
        let answer = self
            .strays
            .answer(now, packet, code, self.config.resets_per_second);
        if let Some(reset) = answer {
            self.outbox.reset = Some(Box::new(reset));
        }
    }

    /// Answers an unexpected packet in REQUEST state. The Reset acknowledges that packet and ends
    /// the peer's connection, but not this one (section 7.5.6).
    ///
    /// It uses the numbers of section 8.3.1, because none of ours would be in the window of a
    /// half-open peer: that peer answers with a Sync that acknowledges its GSR and accepts the
    /// Reset sent in reply. These Resets also do not push our Request out of our own window.
    pub(super) fn challenge_with_reset(&mut self, now: Instant, packet: &Packet) {
        self.reset_stray(now, packet, ResetCode::PACKET_ERROR);
    }

    /// Schedules a Sync if the rate limit allows one (section 7.5.4).
    pub(super) fn send_sync(&mut self, now: Instant, ack: SeqNo) {
        if self.sync_limit.allows(now, self.config.syncs_per_second) {
            self.outbox.sync = Some(ack);
        }
    }

    /// Sets or stops the retransmission timer of Change options, depending on whether any is
    /// unanswered.
    pub(super) fn watch_negotiation(&mut self, now: Instant) {
        if !self.features.is_unanswered() {
            self.timers.stop(Timer::Features);
            self.feature_backoff.reset();
        } else if self.is_established() && !self.timers.is_set(Timer::Features) {
            self.rearm_negotiation(now);
        }
    }

    fn rearm_negotiation(&mut self, now: Instant) {
        // At least a round-trip time, plus time for a delayed acknowledgement.
        let first = (self.timer_rtt() * 2).max(self.config.partopen_retry);
        let interval = self
            .feature_backoff
            .interval(first, self.config.backoff_limit);
        self.timers.set(Timer::Features, now + interval);
    }

    /// Requests the Ack Ratio and the Sequence Window that the CCID wants (section 7.5.2, RFC 4341
    /// section 6.1.2): at most once per round-trip time (section 6.6.1) if that may cause a packet.
    pub(super) fn declare_wishes(&mut self, now: Instant) {
        let too_soon = !self.config.features_wait
            && self.last_declared.is_some_and(|at| now - at < self.rtt());
        if !self.is_established() || too_soon {
            return;
        }
        if self.config.features_wait && self.features.is_lost(self.seq.gar) {
            self.features.retransmit();
        }
        let here = &self.features.here;
        let ratio = self
            .sender
            .ack_ratio()
            .filter(|&ratio| ratio != here.ack_ratio);
        // Count all packets, acknowledgements included: a peer that acknowledges them rarely must
        // not fall outside the acknowledgement window.
        let unacknowledged = self.seq.gss.distance_from(self.seq.gar).max(0) as u64;
        let window = self
            .sender
            .sequence_window()
            .unwrap_or(0)
            .max(unacknowledged * 5);
        let window = window.min(SEQUENCE_WINDOW_MAX);
        let window = (window > here.sequence_window)
            .then(|| window.next_power_of_two().min(SEQUENCE_WINDOW_MAX));
        for (feature, wish) in [
            (Feature::SequenceWindow, window),
            (Feature::AckRatio, ratio.map(u64::from)),
        ] {
            if let Some(value) = wish
                && self.features.is_stable(feature, Location::Here)
            {
                self.features.declare(feature, value);
                self.last_declared = Some(now);
            }
        }
    }

    /// Handles data that waits for room in the Sequence Window. Acknowledgements usually make some
    /// soon. What may be missing is brought forward: the Confirm of a larger window, and any sign of
    /// the packets in flight.
    #[cold]
    pub(super) fn wait_for_window(&mut self, now: Instant) {
        let limit = self.config.backoff_limit;
        if self.features.is_unanswered() {
            let interval = self.feature_backoff.interval(self.rtt() * 2, limit);
            self.timers.set_at_most(Timer::Features, now + interval);
        }
        if self.state == State::Open && !self.timers.is_set(Timer::Retransmit) {
            // After three silent round-trip times the connection is not active, so a SyncAck counts
            // however many of the peer's packets were lost before it (section 7.5.3).
            let interval = self.backoff.interval(self.rtt() * 4, limit);
            self.timers.set(Timer::Retransmit, now + interval);
            self.full_at = self.seq.gar;
        }
    }

    /// Gives up what is in flight if no acknowledgement has made room in the Sequence Window. The
    /// Sync moves the peer's own window, so that it accepts what follows whatever was lost; the rate
    /// of what follows is a matter of the CCID.
    fn resynchronize(&mut self) {
        if self.seq.gar == self.full_at {
            self.seq.give_up_in_flight();
            self.ask_peer();
        } else {
            self.backoff.reset();
        }
    }

    /// Handles all timers that are due.
    pub(super) fn expire_timers(&mut self, now: Instant) {
        while let Some(timer) = self.timers.take_due(now) {
            match timer {
                Timer::Retransmit => {
                    if self.state == State::Request {
                        self.ecn_path.fail();
                    }
                    self.retransmit();
                }
                Timer::GiveUp => self.give_up(now),
                Timer::Features => {
                    self.features.retransmit();
                    self.feature_backoff.advance();
                    self.rearm_negotiation(now);
                }
                Timer::TimeWait => self.enter_closed(),
                Timer::Linger => {
                    self.discard_queued();
                    if self.closing && self.is_established() {
                        self.finish_closing(now);
                    }
                }
                Timer::Liveness => self.judge_liveness(now),
            }
        }
        if self.is_established() {
            self.sender.expire(now);
            self.receiver.expire(now);
            self.expire_discovery(now);
            if self.paced_until.is_some_and(|at| at <= now) {
                self.paced_until = None;
            }
        }
    }

    /// Sends the packet of the current state again after no answer arrived. The timer is set when
    /// the packet leaves.
    fn retransmit(&mut self) {
        self.backoff.advance();
        match self.state {
            State::Request => self.outbox.request = true,
            State::Invited if self.listens < LISTENS => self.outbox.listen = true,
            State::Invited => self.state = State::Listen1,
            State::PartOpen => self.outbox.ack = true,
            State::Open => self.resynchronize(),
            State::CloseReq | State::Closing => self.outbox.ending = true,
            _ => {}
        }
    }
}
