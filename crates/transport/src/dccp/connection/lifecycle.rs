//! How states begin and end: timers, the handshake's clock, resets (RFC 4340 sections 8.1 and
//! 8.3).

use skywave_units::{Duration, Instant};
use skywave_wire::dccp::{Packet, ResetCode, SeqNo, ServiceCode};

use super::transmit::Outbox;
use super::{Connection, Role, State};
use crate::dccp::ccid::{HcReceiver, HcSender};
use crate::dccp::features::{Feature, Location};
use crate::dccp::timer::Timer;
use crate::dccp::{Event, Origin};

/// Listens that a server sends (RFC 5596 section 2.2.2).
const LISTENS: u8 = 3;
/// Time from one Listen to the next, and from the last to LISTEN1 state (the same section).
const LISTEN_INTERVAL: Duration = Duration::from_millis(200);

/// The greatest Sequence Window (section 7.5.2).
const SEQUENCE_WINDOW_MAX: u64 = (1 << 46) - 1;

/// A round trip takes less than so many times the time from a client's first Request to its last, where
/// there are several: it waits twice as long each time (section 8.1.1), and asks no more once a Response
/// has come.
const ROUND_TRIP_LIMIT: u64 = 3;

/// The Requests or Responses that have been sent, to take a first round-trip time from.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Handshake {
    last: Option<(SeqNo, Instant)>,
    /// When the first left.
    began: Instant,
    /// None has a greater number.
    greatest: SeqNo,
    /// From the last to its answer.
    pub(super) rtt: Option<Duration>,
}

impl Handshake {
    /// A Request or Response has left.
    pub(super) const fn sent(&mut self, seq: SeqNo, now: Instant) {
        if self.last.is_none() {
            self.began = now;
        }
        self.last = Some((seq, now));
        self.greatest = seq;
    }

    /// A packet came that acknowledges `ack`.
    pub(super) fn sample(&mut self, ack: SeqNo, now: Instant) {
        if let Some((seq, sent_at)) = self.last
            && seq == ack
        {
            self.rtt = Some(now - sent_at);
        }
    }

    /// Whether a client that acknowledges `ack` at `now` has seen nothing but Responses, and is to see
    /// no other: of several, the last is acknowledged, or an earlier one though a round trip has passed
    /// since the last.
    pub(super) fn has_ended_with(&self, ack: SeqNo, now: Instant) -> bool {
        self.last.is_some_and(|(_, at)| {
            let is_overdue = now - at >= (at - self.began) * ROUND_TRIP_LIMIT;
            ack == self.greatest || (is_overdue && ack.is_before(self.greatest))
        })
    }
}

impl Connection {
    /// Goes on behind the next `count` numbers, which Responses may have had of which nothing is
    /// remembered.
    pub(in crate::dccp) fn skip_responses(&mut self, count: u64) {
        self.seq.take(count);
        self.handshake.greatest = self.seq.gss;
    }

    /// The answer to a Request or Response may have come: its round-trip time is what congestion
    /// control can start from.
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

    /// A Listen has left.
    pub(super) fn listen_sent(&mut self, now: Instant) {
        self.listens += 1;
        self.timers.set(Timer::Retransmit, now + LISTEN_INTERVAL);
    }

    /// A server is about to open the connection that this client would open: the first Listen
    /// makes it send its Request again at once (RFC 5596 section 2.2.3.1).
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
        self.events.push_back(Event::Connected);
    }

    pub(super) fn enter_open(&mut self, now: Instant) {
        self.state = State::Open;
        self.outbox.response = false;
        self.features.repeat_confirms(false);
        self.cookies = Box::default();
        self.waits_for_open = false;
        self.backoff.reset();
        self.timers.stop(Timer::Retransmit);
        self.timers.stop(Timer::GiveUp);
        self.watch_negotiation(now);
    }

    /// The application wants to close: what waits to be sent goes first.
    pub(super) fn request_close(&mut self, now: Instant) {
        if self.closing {
            return;
        }
        self.closing = true;
        self.timers.set(Timer::Linger, now + self.config.linger);
        self.close_when_empty(now);
    }

    /// Goes on with `close` once nothing waits to be sent.
    pub(super) fn close_when_empty(&mut self, now: Instant) {
        if !self.closing || !self.is_established() || !self.send_queue.is_empty() {
            return;
        }
        if self.role == Role::Server && !self.config.server_holds_timewait {
            self.enter_ending(now, State::CloseReq);
        } else {
            self.enter_ending(now, State::Closing);
        }
    }

    /// Sends a Close, now.
    pub(super) fn enter_closing(&mut self, now: Instant) {
        self.enter_ending(now, State::Closing);
    }

    fn enter_ending(&mut self, now: Instant, state: State) {
        self.state = state;
        self.closing = true;
        self.send_queue = Default::default();
        self.outbox = Outbox {
            ending: true,
            sync_ack: self.outbox.sync_ack,
            ..Outbox::default()
        };
        self.backoff.reset();
        self.timers.stop_all();
        self.timers
            .set(Timer::GiveUp, now + self.config.handshake_give_up);
    }

    /// The peer's Reset has ended the connection.
    pub(super) fn enter_timewait(&mut self, now: Instant) {
        self.tear_down();
        self.state = State::TimeWait;
        self.timers.set(Timer::TimeWait, now + self.config.timewait);
    }

    /// There is no connection any more.
    pub(super) fn enter_closed(&mut self) {
        self.tear_down();
        self.state = State::Closed;
    }

    fn tear_down(&mut self) {
        self.closing = true;
        self.send_queue = Default::default();
        self.outbox = Outbox::default();
        self.timers.stop_all();
    }

    /// Ends the connection with a Reset of ours.
    pub(super) fn reset(&mut self, now: Instant, code: ResetCode, data: [u8; 3]) {
        let reset = self.build_reset(now, code, data);
        self.enter_closed();
        self.outbox.reset = Some(reset);
        self.events.push_back(Event::Closed {
            code,
            origin: Origin::Local,
        });
    }

    /// Ends the connection for lack of progress, or because the application will have it so.
    pub(super) fn give_up(&mut self, now: Instant) {
        self.reset(now, ResetCode::ABORTED, [0; 3]);
    }

    /// Answers a packet that belongs to no connection (section 8.3.1), unless the Reset that ended
    /// the connection has not left yet: that one is the answer, and its peer takes no other.
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

    /// Answers an unexpected packet in REQUEST state: the Reset acknowledges that packet, and
    /// ends the peer's connection but not this one (section 7.5.6).
    ///
    /// It has the numbers of section 8.3.1, since none of ours would be in the window of a
    /// half-open peer: that peer asks with a Sync that acknowledges its GSR, and takes the Reset
    /// that answers it. Nor do these Resets push our Request out of our own window.
    pub(super) fn challenge_with_reset(&mut self, now: Instant, packet: &Packet) {
        self.reset_stray(now, packet, ResetCode::PACKET_ERROR);
    }

    /// Asks for a Sync, if the rate limit allows one (section 7.5.4).
    pub(super) fn send_sync(&mut self, now: Instant, ack: SeqNo) {
        if self.sync_limit.allows(now, self.config.syncs_per_second) {
            self.outbox.sync = Some(ack);
        }
    }

    /// Keeps the retransmission timer of Change options in step with what is unanswered.
    pub(super) fn watch_negotiation(&mut self, now: Instant) {
        if !self.features.is_unanswered() {
            self.timers.stop(Timer::Features);
            self.feature_backoff.reset();
        } else if self.is_established() && !self.timers.is_set(Timer::Features) {
            self.rearm_negotiation(now);
        }
    }

    fn rearm_negotiation(&mut self, now: Instant) {
        // No less than a round-trip time, and time enough for a delayed acknowledgement.
        let first = (self.rtt() * 2).max(self.config.partopen_retry);
        let interval = self
            .feature_backoff
            .interval(first, self.config.backoff_limit);
        self.timers.set(Timer::Features, now + interval);
    }

    /// Declares what the CCID wishes of the Ack Ratio and the Sequence Window, at most once in a
    /// round-trip time (sections 6.6.1 and 7.5.2, RFC 4341 section 6.1.2).
    pub(super) fn declare_wishes(&mut self, now: Instant) {
        let too_soon = self.last_declared.is_some_and(|at| now - at < self.rtt());
        if !self.is_established() || too_soon {
            return;
        }
        let here = &self.features.here;
        let ratio = self
            .sender
            .ack_ratio()
            .filter(|&ratio| ratio != here.ack_ratio);
        // Every packet counts, acknowledgements too: a peer that acknowledges them only now and
        // then must not fall out of the acknowledgement window.
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

    /// Handles all timers that are due.
    pub(super) fn expire_timers(&mut self, now: Instant) {
        while let Some(timer) = self.timers.take_due(now) {
            match timer {
                Timer::Retransmit => self.retransmit(),
                Timer::GiveUp => self.give_up(now),
                Timer::Features => {
                    self.features.retransmit();
                    self.feature_backoff.advance();
                    self.rearm_negotiation(now);
                }
                Timer::TimeWait => self.enter_closed(),
                Timer::Linger => {
                    self.send_queue = Default::default();
                    self.close_when_empty(now);
                }
            }
        }
        if self.is_established() {
            self.sender.expire(now);
            self.receiver.expire(now);
            if self.paced_until.is_some_and(|at| at <= now) {
                self.paced_until = None;
            }
        }
    }

    /// No answer came: sends the packet of this state again. The timer is set when it leaves.
    fn retransmit(&mut self) {
        self.backoff.advance();
        match self.state {
            State::Request => self.outbox.request = true,
            State::Invited if self.listens < LISTENS => self.outbox.listen = true,
            State::Invited => self.state = State::Listen1,
            State::PartOpen => self.outbox.ack = true,
            State::CloseReq | State::Closing => self.outbox.ending = true,
            _ => {}
        }
    }
}
