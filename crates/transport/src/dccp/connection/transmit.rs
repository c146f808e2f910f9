//! Chooses the next packet to send.

use skywave_units::Instant;
use skywave_wire::Payload;
use skywave_wire::dccp::{Kind, Packet, SeqNo};

use super::{Connection, Event, State, path};
use crate::Transmit;
use crate::dccp::ccid::{HcReceiver, HcSender, Permit};
use crate::dccp::features::{Feature, Location};
use crate::dccp::timer::Timer;

/// Packets to send as soon as the driver asks, at most one of each kind.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// Built in advance, because the connection that numbers it may be gone.
    pub(super) reset: Option<Box<Packet>>,
    /// A Sync with this acknowledgement number.
    pub(super) sync: Option<SeqNo>,
    /// A SyncAck with this acknowledgement number.
    pub(super) sync_ack: Option<SeqNo>,
    /// A Listen.
    pub(super) listen: bool,
    /// A Request.
    pub(super) request: bool,
    /// A Response.
    pub(super) response: bool,
    /// The CloseReq or the Close, by state.
    pub(super) ending: bool,
    /// An Ack, unless a DataAck can replace it.
    pub(super) ack: bool,
}

/// The next packet if nothing more urgent is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Data,
    DataAck,
    Ack,
}

impl Connection {
    /// Returns the next packet that may leave at `now`.
    pub(super) fn next_packet(&mut self, now: Instant) -> Option<Transmit<Packet>> {
        if self.outbox.reset.is_some() {
            return self.waiting_reset();
        }
        if core::mem::take(&mut self.outbox.listen) {
            return Some(self.listen_packet(now));
        }
        if core::mem::take(&mut self.outbox.request) {
            return Some(self.request(now));
        }
        if core::mem::take(&mut self.outbox.response) {
            let kind = Kind::Response {
                ack: self.ack_number(),
                service: self.service,
            };
            return Some(self.handshake_packet(now, kind));
        }
        if let Some(ack) = self.outbox.sync_ack.take() {
            return Some(self.without_data(now, Kind::SyncAck { ack }));
        }
        if let Some(ack) = self.outbox.sync.take() {
            self.counters.syncs_sent += 1;
            return Some(self.without_data(now, Kind::Sync { ack }));
        }
        if core::mem::take(&mut self.outbox.ending) {
            return Some(self.ending(now));
        }
        if !self.is_established() {
            return None;
        }
        if self.sender.failure().is_some() {
            self.give_up(now);
            return self.waiting_reset();
        }
        if self.state == State::PartOpen && self.outbox.ack {
            // Step 12 of section 8.5: an Ack completes the handshake; data follows it.
            return Some(self.acknowledge(now));
        }
        if let Some(size) = self.probe_due() {
            return Some(self.probe(now, size));
        }
        // Build each packet where it is returned: moving it is expensive.
        match self.next_in_turn(now) {
            Some(Turn::Data) => {
                let payload = self.send_queue.pop_front()?;
                self.tell_writable();
                self.skip_if_due();
                Some(self.build_data(now, payload))
            }
            Some(Turn::DataAck) => Some(self.data_ack(now)),
            Some(Turn::Ack) => Some(self.acknowledge(now)),
            None => {
                self.continue_closing(now);
                core::mem::take(&mut self.outbox.ending).then(|| self.ending(now))
            }
        }
    }

    #[cold]
    fn waiting_reset(&mut self) -> Option<Transmit<Packet>> {
        let reset = self.outbox.reset.take()?;
        self.counters.resets_sent += 1;
        self.counters.packets_sent += 1;
        Some(Transmit {
            ecn: self.ecn(false),
            packet: *reset,
        })
    }

    /// Builds a Listen. It is outside the sequence number space: its number is zero (RFC 5596
    /// section 2.2.1).
    fn listen_packet(&mut self, now: Instant) -> Transmit<Packet> {
        self.listen_sent(now);
        self.counters.packets_sent += 1;
        let kind = Kind::Listen {
            service: self.service,
        };
        Transmit {
            ecn: self.ecn(false),
            packet: self.empty_packet(kind, SeqNo::ZERO),
        }
    }

    fn request(&mut self, now: Instant) -> Transmit<Packet> {
        let interval = self
            .backoff
            .interval(self.config.request_retry, self.config.backoff_limit);
        self.timers.set(Timer::Retransmit, now + interval);
        self.handshake_packet(
            now,
            Kind::Request {
                service: self.service,
            },
        )
    }

    /// Builds a Request or Response. Each carries all unanswered Changes.
    fn handshake_packet(&mut self, now: Instant, kind: Kind) -> Transmit<Packet> {
        self.features.retransmit();
        let sent = self.without_data(now, kind);
        self.handshake.sent(sent.packet.seq, now);
        sent
    }

    fn without_data(&mut self, now: Instant, kind: Kind) -> Transmit<Packet> {
        self.build(now, kind, Payload::EMPTY)
    }

    /// Builds the CloseReq or Close (section 8.3). It is repeated after two round-trip times, with
    /// back-off.
    fn ending(&mut self, now: Instant) -> Transmit<Packet> {
        let interval = self
            .backoff
            .interval(self.timer_rtt() * 2, self.config.backoff_limit);
        self.timers.set(Timer::Retransmit, now + interval);
        let ack = self.ack_number();
        let kind = match self.state {
            State::CloseReq => Kind::CloseReq { ack },
            _ => Kind::Close { ack },
        };
        self.without_data(now, kind)
    }

    /// Chooses between data, an acknowledgement, and both in one packet.
    fn next_in_turn(&mut self, now: Instant) -> Option<Turn> {
        let data = self.data_in_turn(now);
        data.or_else(|| {
            let due = self.ack_is_due() || self.features.is_due() && !self.config.features_wait;
            due.then_some(Turn::Ack)
        })
    }

    /// Chooses the next packet if a datagram is queued and may leave.
    fn data_in_turn(&mut self, now: Instant) -> Option<Turn> {
        let waiting = self.send_queue.front()?;
        if self.state == State::PartOpen && self.waits_for_open {
            return None;
        }
        let has_ccid = self.features.is_stable(Feature::Ccid, Location::Here);
        let lacks_vectors =
            self.sender.row().features.ack_vector && !self.features.peer.send_ack_vector;
        if !has_ccid || lacks_vectors {
            return None;
        }
        let size = waiting.len();
        self.paced_until = None;
        if self.seq.room(self.windows()) == 0 {
            self.wait_for_window(now);
            return None;
        }
        match self
            .sender
            .may_send(now, u32::try_from(size).unwrap_or(u32::MAX))
        {
            Permit::Now => {}
            Permit::At(at) => {
                self.paced_until = Some(at);
                return None;
            }
            Permit::Blocked => return None,
        }
        if self.state == State::PartOpen {
            return Some(Turn::DataAck);
        }
        let is_due = self.ack_is_due() || self.features.is_due() || self.sender.ack_of_ack_due();
        if !is_due && self.receiver.deadline().is_none() {
            return Some(Turn::Data);
        }
        Some(match (self.has_room_to_piggyback(size), is_due) {
            // A pending delayed acknowledgement rides along early.
            (true, _) => Turn::DataAck,
            (false, true) => Turn::Ack,
            (false, false) => Turn::Data,
        })
    }

    fn data_ack(&mut self, now: Instant) -> Transmit<Packet> {
        self.skip_if_due();
        let payload = self.send_queue.pop_front().unwrap_or_default();
        let ack = self.ack_number();
        let packet = self.build(now, Kind::DataAck { ack }, payload);
        // The datagram may have been put back into the queue.
        self.tell_writable();
        packet
    }

    /// Tells the application that the send queue has room again, if a datagram was refused.
    fn tell_writable(&mut self) {
        if self.was_full && self.send_room() > 0 {
            self.was_full = false;
            self.events.push_back(Event::Writable);
        }
    }

    fn has_room_to_piggyback(&self, size: usize) -> bool {
        let vector = if self.features.here.send_ack_vector {
            self.ack_vector.len()
        } else {
            0
        };
        let options = vector + self.receiver.ack_options_len();
        size + options <= (self.mps() + path::OPTIONS_ROOM) as usize
    }

    /// Returns whether an acknowledgement should leave at once.
    fn ack_is_due(&self) -> bool {
        self.outbox.ack || self.receiver.ack_due()
    }

    fn acknowledge(&mut self, now: Instant) -> Transmit<Packet> {
        let ack = self.ack_number();
        self.without_data(now, Kind::Ack { ack })
    }
}
