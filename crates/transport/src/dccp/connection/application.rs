//! A connection as its application sees it.

use std::collections::VecDeque;

use bytes::Bytes;
use skywave_units::Instant;
use skywave_wire::Payload;
use skywave_wire::dccp::ServiceCode;

use super::Connection;
use crate::dccp::ccid::HcSender;
use crate::dccp::{Ccid, Datagram, Event, Role, SendError, State, Stats};
#[cfg(doc)]
use crate::dccp::{Config, Counters};

impl Connection {
    /// Queues a datagram to be sent as soon as the handshake and congestion control allow. It may
    /// be queued before the connection is established.
    ///
    /// # Errors
    ///
    /// The datagram is not taken: the queue is full, it is too large, the peer reads no more, or the
    /// connection is over. After [`SendError::QueueFull`], [`Event::Writable`] tells when there is room.
    pub fn send(&mut self, datagram: Payload) -> Result<(), SendError> {
        self.send_with(datagram.len(), || datagram)
    }

    /// As [`send`](Self::send), of a datagram of `size` bytes that is made only if it is taken.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub fn send_with(
        &mut self,
        size: usize,
        datagram: impl FnOnce() -> Payload,
    ) -> Result<(), SendError> {
        self.admit(size)?;
        self.send_queue.push_back(datagram());
        Ok(())
    }

    /// Gives all of `datagrams` to the connection in order, as [`send`](Self::send) does one, with less
    /// work for each. Those that are not taken stay.
    ///
    /// # Errors
    ///
    /// Why the first that stays is not taken: see [`send`](Self::send).
    pub fn send_all(&mut self, datagrams: &mut VecDeque<Bytes>) -> Result<(), SendError> {
        while let Some(first) = datagrams.front() {
            self.admit(first.len())?;
            let (room, mps) = (self.send_room(), self.mps() as usize);
            let fitting = datagrams.iter().take_while(|next| next.len() <= mps);
            let count = fitting.take(room).count();
            let taken = datagrams.drain(..count).map(Payload::from);
            self.send_queue.extend(taken);
        }
        Ok(())
    }

    /// Answers whether a datagram of `size` bytes is taken, and remembers that one was refused for want
    /// of room.
    fn admit(&mut self, size: usize) -> Result<(), SendError> {
        if self.closing || !(State::Listen..=State::Open).contains(&self.state) {
            return Err(SendError::Closed);
        }
        if self.peer_not_listening {
            return Err(SendError::PeerNotListening);
        }
        let mps = self.mps();
        if size > mps as usize {
            return Err(SendError::TooLarge { size, mps });
        }
        if self.send_queue.len() >= self.config.send_queue {
            self.was_full = true;
            return Err(SendError::QueueFull);
        }
        Ok(())
    }

    /// The next datagram from the peer, in the order of arrival.
    pub fn recv(&mut self) -> Option<Datagram> {
        let datagram = self.receive_queue.pop_front();
        if self.receive_queue.is_empty() {
            // What comes next is stored at the beginning again, not all around a ring that was once
            // full: the processor's cache holds it.
            self.receive_queue.clear();
        }
        datagram
    }

    /// The next event.
    pub fn event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Says whether the application has trouble keeping up with the peer's data. While it has, each
    /// acknowledgement carries Slow Receiver, and the peer does not raise its rate (RFC 4340 section
    /// 11.6). [`Counters::slow_receiver_reports`] counts what the peer says so.
    pub const fn set_slow(&mut self, slow: bool) {
        self.is_slow = slow;
    }

    /// The application reads no more, though it may go on sending: what waits to be read is
    /// discarded, and data that comes from now on is dropped and reported with Drop Code 1
    /// (section 11.7.2), at which the peer stops sending it.
    pub fn stop_listening(&mut self) {
        self.is_listening = false;
        self.receive_queue = VecDeque::new();
    }

    /// Ends the connection: takes no more datagrams, sends those that wait (for no longer than
    /// [`Config::linger`]), then closes (RFC 4340 section 8.3). Before the connection is established, this
    /// is [`abort`](Self::abort).
    pub fn close(&mut self, now: Instant) {
        match self.state {
            State::PartOpen | State::Open => self.request_close(now),
            State::Listen | State::Invited | State::Listen1 | State::Request | State::Respond => {
                self.abort(now)
            }
            State::Closed | State::CloseReq | State::Closing | State::TimeWait => {}
        }
    }

    /// Ends the connection at once with a Reset, code 2 ("Aborted"); what waits to be sent is
    /// discarded.
    pub fn abort(&mut self, now: Instant) {
        match self.state {
            State::Closed | State::TimeWait => {}
            state if state.is_passive() => self.enter_closed(),
            _ => self.give_up(now),
        }
    }

    /// The state.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Client or server.
    pub const fn role(&self) -> Role {
        self.role
    }

    /// The local port.
    pub const fn local_port(&self) -> u16 {
        self.local_port
    }

    /// The peer's port; zero in LISTEN state.
    pub const fn remote_port(&self) -> u16 {
        self.remote_port
    }

    /// The Service Code of the connection.
    pub const fn service_code(&self) -> ServiceCode {
        self.service
    }

    /// The congestion control in force for what this end sends, and for what it receives.
    pub fn ccids(&self) -> [Ccid; 2] {
        [&self.features.here, &self.features.peer].map(|features| Ccid(features.ccid))
    }

    /// Tells `record` the values inside congestion control that explain what it does, each by a name
    /// with its unit.
    pub fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        self.sender.inner_values(record);
    }

    /// Datagrams that still find room in the send queue.
    pub fn send_room(&self) -> usize {
        self.config.send_queue.saturating_sub(self.send_queue.len())
    }

    /// Datagrams that wait to be read.
    pub fn readable(&self) -> usize {
        self.receive_queue.len()
    }

    /// Counters and the state of congestion control.
    pub fn stats(&self) -> Stats {
        let earlier = self.earlier_paths.as_deref().copied().unwrap_or_default();
        Stats {
            counters: self.counters,
            queued: self.send_queue.len(),
            srtt: self.sender.srtt(),
            timeouts: earlier.timeouts + self.sender.timeouts(),
            congestion: earlier.and_now(self.sender.congestion()),
        }
    }
}
