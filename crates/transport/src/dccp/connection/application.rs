//! The application's interface to a connection.

use std::collections::VecDeque;

use bytes::Bytes;
use skywave_congestion::MemberFailure;
use skywave_units::{Duration, Instant};
use skywave_wire::Payload;
use skywave_wire::dccp::ServiceCode;

use super::Connection;
use crate::dccp::ccid::HcSender;
use crate::dccp::queue::Queue;
use crate::dccp::{Ccid, Datagram, Event, QuickStartStats, Role, SendError, State, Stats};
#[cfg(doc)]
use crate::dccp::{Config, Counters};

impl Connection {
    /// Queues a datagram, which is sent once the handshake and congestion control permit. It may be
    /// queued before the connection is established.
    ///
    /// # Errors
    ///
    /// The datagram was not accepted: the queue is full, the datagram is too large, the peer has
    /// stopped reading, or the connection is over. After [`SendError::QueueFull`],
    /// [`Event::Writable`] reports when there is room.
    pub fn send(&mut self, datagram: Payload) -> Result<(), SendError> {
        self.send_with(datagram.len(), || datagram)
    }

    /// Queues a datagram of `size` bytes like [`send`](Self::send), but creates it only if it is
    /// accepted.
    ///
    /// # Errors
    ///
    /// As for [`send`](Self::send).
    pub fn send_with(
        &mut self,
        size: usize,
        datagram: impl FnOnce() -> Payload,
    ) -> Result<(), SendError> {
        self.admit(size)?;
        self.send_queue.push_back(datagram());
        Ok(())
    }

    /// Queues the last datagram before a close, even if the queue is full. Drops it if nothing can
    /// be sent any more, or if it is too large.
    pub(crate) fn send_last(&mut self, datagram: Payload) {
        if let Ok(()) | Err(SendError::QueueFull) = self.admit(datagram.len()) {
            self.send_queue.push_back(datagram);
        }
    }

    /// Queues `datagrams` in order, like [`send`](Self::send) but with less work for each.
    /// Datagrams that are not accepted stay in `datagrams`.
    ///
    /// # Errors
    ///
    /// The reason why the first remaining datagram was not accepted: see [`send`](Self::send).
    pub fn send_all(&mut self, datagrams: &mut VecDeque<Bytes>) -> Result<(), SendError> {
        while let Some(first) = datagrams.front() {
            self.admit(first.len())?;
            let (room, mps) = (self.send_room(), self.mps() as usize);
            let limit = self.send_limit();
            let mut bytes = self.send_queue.bytes();
            let fitting = datagrams.iter().skip(1).take_while(|next| {
                bytes += next.len();
                next.len() <= mps && bytes + first.len() <= limit.bytes
            });
            let count = 1 + fitting.take(room.saturating_sub(1)).count();
            let taken = datagrams.drain(..count).map(Payload::from);
            self.send_queue.extend(taken);
        }
        Ok(())
    }

    /// Checks whether a datagram of `size` bytes is accepted, and remembers a refusal because of a
    /// full queue.
    pub(crate) fn admit(&mut self, size: usize) -> Result<(), SendError> {
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
        if !self.send_queue.has_room(self.send_limit(), size) {
            self.was_full = true;
            return Err(SendError::QueueFull);
        }
        Ok(())
    }

    /// Returns the next received datagram, in order of arrival.
    pub fn recv(&mut self) -> Option<Datagram> {
        self.receive_queue.pop_front()
    }

    /// Returns the next event.
    pub fn event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Sets whether the application has trouble keeping up with the peer's data. While it has, each
    /// acknowledgement carries Slow Receiver, and the peer does not raise its rate (RFC 4340
    /// section 11.6). [`Counters::slow_receiver_reports`] counts such reports from the peer.
    pub const fn set_slow(&mut self, slow: bool) {
        self.is_slow = slow;
    }

    /// Stops reading; sending remains possible. Discards queued received data, and drops later data
    /// with Drop Code 1 (section 11.7.2), which makes the peer stop sending it.
    pub fn stop_listening(&mut self) {
        self.is_listening = false;
        self.receive_queue = Queue::default();
    }

    /// Closes the connection: accepts no more datagrams, sends queued ones for at most
    /// [`Config::linger`], waits a little for their acknowledgement, then closes (RFC 4340 section
    /// 8.3). Before the connection is established, this is [`abort`](Self::abort).
    pub fn close(&mut self, now: Instant) {
        match self.state {
            State::PartOpen | State::Open => self.request_close(now),
            State::Listen | State::Invited | State::Listen1 | State::Request | State::Respond => {
                self.abort(now)
            }
            State::Closed | State::CloseReq | State::Closing | State::TimeWait => {}
        }
    }

    /// Discards what has not been sent.
    pub(super) fn discard_queued(&mut self) {
        self.counters.datagrams_discarded += self.send_queue.len() as u64;
        self.send_queue = Queue::default();
    }

    /// Ends the connection immediately with a Reset, code 2 ("Aborted"), and discards queued data.
    pub fn abort(&mut self, now: Instant) {
        match self.state {
            State::Closed | State::TimeWait => {}
            state if state.is_passive() => self.enter_closed(),
            _ => self.give_up(now),
        }
    }

    /// Returns the connection's state.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Returns whether this end is the client or the server.
    pub const fn role(&self) -> Role {
        self.role
    }

    /// Returns how long the ports must not be used again after the connection
    /// ([`Config::timewait`]).
    ///
    /// [`Config::timewait`]: crate::dccp::Config::timewait
    pub fn timewait(&self) -> Duration {
        self.config.timewait
    }

    /// Returns the local port.
    pub const fn local_port(&self) -> u16 {
        self.local_port
    }

    /// Returns the peer's port, or zero in LISTEN state.
    pub const fn remote_port(&self) -> u16 {
        self.remote_port
    }

    /// Returns the Service Code of the connection.
    pub const fn service_code(&self) -> ServiceCode {
        self.service
    }

    /// Returns the CCIDs in force for the data that this end sends, and for the data that it
    /// receives.
    pub fn ccids(&self) -> [Ccid; 2] {
        [&self.features.here, &self.features.peer].map(|features| Ccid(features.ccid))
    }

    /// Passes the congestion control's internal values to `record`, each with a name that includes
    /// its unit.
    pub fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        self.sender.inner_values(record);
    }

    /// Returns why congestion control could no longer decide, which ended the connection.
    pub fn control_failure(&self) -> Option<MemberFailure> {
        self.sender.failure()
    }

    /// Returns how many more datagrams fit the send queue, if they are small.
    pub fn send_room(&self) -> usize {
        let limit = self.send_limit();
        let is_full = self.send_queue.bytes() >= limit.bytes && !self.send_queue.is_empty();
        let room = limit.datagrams.saturating_sub(self.send_queue.len());
        if is_full { 0 } else { room }
    }

    /// Returns the bytes of data ready to be read.
    pub const fn received_bytes(&self) -> usize {
        self.receive_queue.bytes()
    }

    /// Returns the bytes of data in both queues.
    pub const fn queued_bytes(&self) -> usize {
        self.send_queue.bytes() + self.receive_queue.bytes()
    }

    /// Copies the newest `count` received datagrams, so that they no longer keep in memory the
    /// buffers in which they arrived. A driver calls it if they are a small part of their buffer.
    pub fn detach_newest(&mut self, count: usize) {
        for datagram in self.receive_queue.newest_mut(count) {
            datagram.payload.detach();
        }
    }

    /// Passes the newest `count` received datagrams through `open`, and keeps what it returns.
    pub(crate) fn replace_newest(
        &mut self,
        count: usize,
        open: impl FnMut(Datagram) -> Option<Datagram>,
    ) {
        let opened = self
            .receive_queue
            .take_newest(count)
            .into_iter()
            .filter_map(open);
        self.receive_queue.extend(opened);
    }

    /// Sets how many bytes of data both queues together may still grow by, until the next call: as
    /// much as the driver's memory allows. An empty queue takes a datagram of any size
    /// nevertheless, so that every connection makes progress. Initially unlimited.
    pub fn set_queue_room(&mut self, bytes: usize) {
        let most = self.queued_bytes().saturating_add(bytes);
        self.most_queued = u32::try_from(most).unwrap_or(u32::MAX);
    }

    /// Returns whether it ended because it carried no data for [`Config::idle_timeout`].
    pub const fn ended_idle(&self) -> bool {
        self.ended_idle
    }

    /// Returns the number of datagrams ready to be read.
    pub fn readable(&self) -> usize {
        self.receive_queue.len()
    }

    /// Returns counters and the state of congestion control.
    pub fn stats(&self) -> Stats {
        let earlier = self.earlier_paths.as_deref().copied().unwrap_or_default();
        Stats {
            counters: self.counters,
            quick_start: self
                .quick_start
                .as_ref()
                .map_or_else(QuickStartStats::default, |exchange| exchange.stats),
            queued: self.send_queue.len(),
            srtt: self.sender.srtt(),
            timeouts: earlier.timeouts + self.sender.timeouts(),
            congestion: earlier.and_now(self.sender.congestion()),
        }
    }
}
