//! A DCCP connection as an application sees it: its state in the application's terms, and an
//! optional layer, such as DTLS (RFC 5238), through which all its datagrams pass.

mod event;
mod layer;

use std::collections::VecDeque;
use std::iter::once;
use std::ops::ControlFlow;

use bytes::Bytes;
use skywave_units::Instant;
use skywave_wire::dccp::{Packet, QuotedHeader};
use skywave_wire::quick_start::QuickStart;
use skywave_wire::{Checksum, Ecn, Payload};

use self::event::History;
pub use self::event::{Cause, Event};
pub use self::layer::Layer;
use self::layer::Layered;
use crate::dccp::{Connection, Datagram, Outlet, SendError};
use crate::end::earlier;
use crate::{Drain, End, Transmit};

/// A [`Connection`] with an optional [`Layer`].
///
/// Without a layer, it sends the packets that the connection sends, and costs no more. With a
/// layer, [`Event::Connected`] waits until the layer is ready too. The application's datagrams are
/// sealed before they enter the send queue, and the peer's are opened when they arrive.
/// [`mps`](Self::mps) leaves room for the layer's overhead.
#[derive(Debug)]
pub struct Session {
    connection: Connection,
    history: History,
    layered: Option<Box<Layered>>,
}

impl Session {
    /// Creates a session without a layer.
    pub fn new(connection: Connection) -> Self {
        Self {
            connection,
            history: History::default(),
            layered: None,
        }
    }

    /// Creates a session with `layer` over a new connection.
    pub fn with_layer(connection: Connection, layer: Box<dyn Layer>) -> Self {
        Self {
            layered: Some(Box::new(Layered::new(layer))),
            ..Self::new(connection)
        }
    }

    /// Returns a shared reference to the connection. Its sizes are those of sealed datagrams.
    #[inline]
    pub const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Returns whether [`Event::Connected`] has happened.
    pub fn is_established(&self) -> bool {
        match &self.layered {
            None => self.history.is_connected,
            Some(layered) => layered.is_announced(),
        }
    }

    /// Returns the current maximum size of a datagram, in bytes (RFC 4340 section 14):
    /// [`Connection::mps`] minus the layer's overhead.
    pub fn mps(&self) -> u32 {
        match &self.layered {
            None => self.connection.mps(),
            Some(layered) => layered.mps(&self.connection),
        }
    }

    /// Returns how many more small datagrams fit in the send queue; zero before the layer is ready.
    pub fn send_room(&self) -> usize {
        match &self.layered {
            Some(layered) if !layered.is_announced() => 0,
            _ => self.connection.send_room(),
        }
    }

    /// Queues a datagram: see [`Connection::send`]. Before the layer is ready, the queue is full.
    ///
    /// # Errors
    ///
    /// See [`Connection::send`].
    pub fn send(&mut self, datagram: Payload) -> Result<(), SendError> {
        self.send_with(datagram.len(), || datagram)
    }

    /// Queues a datagram that is created only if it is accepted: see [`Connection::send_with`].
    ///
    /// # Errors
    ///
    /// See [`Connection::send`].
    #[inline]
    pub fn send_with(
        &mut self,
        size: usize,
        datagram: impl FnOnce() -> Payload,
    ) -> Result<(), SendError> {
        match &mut self.layered {
            None => self.connection.send_with(size, datagram),
            Some(layered) => layered.send(&mut self.connection, size, || datagram().into_bytes()),
        }
    }

    /// Queues `datagrams` in order: see [`Connection::send_all`].
    ///
    /// # Errors
    ///
    /// See [`Connection::send_all`].
    #[inline]
    pub fn send_all(&mut self, datagrams: &mut VecDeque<Bytes>) -> Result<(), SendError> {
        let Some(layered) = &mut self.layered else {
            return self.connection.send_all(datagrams);
        };
        while let Some(first) = datagrams.front_mut() {
            layered.send(&mut self.connection, first.len(), || core::mem::take(first))?;
            datagrams.pop_front();
        }
        Ok(())
    }

    /// Returns the next datagram of the peer's application, in order of arrival.
    #[inline]
    pub fn recv(&mut self) -> Option<Datagram> {
        self.connection.recv()
    }

    /// Returns the next event.
    pub fn event(&mut self) -> Option<Event> {
        match &mut self.layered {
            None => self.history.next_event(&mut self.connection),
            Some(layered) => layered.event(&mut self.connection, &mut self.history),
        }
    }

    /// Closes the connection: see [`Connection::close`]. A layer's last datagram is still sent.
    pub fn close(&mut self, now: Instant) {
        let Self {
            connection,
            history,
            layered,
        } = self;
        match layered {
            Some(layered) => layered.close(now, connection, history),
            None => {
                history.is_closing = true;
                connection.close(now);
            }
        }
    }

    /// Ends the connection immediately: see [`Connection::abort`].
    pub fn abort(&mut self, now: Instant) {
        self.history.is_aborted = true;
        self.connection.abort(now);
    }

    /// Handles packets that arrived together: see [`Connection::receive_all`].
    #[inline]
    pub fn receive_all(
        &mut self,
        now: Instant,
        ecn: Ecn,
        checksum: Checksum,
        packets: impl IntoIterator<Item = Bytes>,
    ) -> u64 {
        if self.layered.is_none() {
            return self.connection.receive_all(now, ecn, checksum, packets);
        }
        let one = |packet| {
            self.receive_through_layer(now, |connection| {
                connection.receive_all(now, ecn, checksum, once(packet))
            })
        };
        packets.into_iter().map(one).sum()
    }

    /// Calls `receive` on the connection, then passes the datagrams that arrived to the layer.
    fn receive_through_layer<T>(
        &mut self,
        now: Instant,
        receive: impl FnOnce(&mut Connection) -> T,
    ) -> T {
        let Self {
            connection,
            history,
            layered,
        } = self;
        let before = connection.readable();
        let answer = receive(connection);
        if let Some(layered) = layered {
            let new = connection.readable().saturating_sub(before);
            layered.open(now, connection, new);
            layered.send_own(now, connection, history);
        }
        answer
    }

    /// Copies the newest received datagrams: see [`Connection::detach_newest`].
    pub fn detach_newest(&mut self, count: usize) {
        self.connection.detach_newest(count);
    }

    /// Limits both queues: see [`Connection::set_queue_room`].
    #[inline]
    pub fn set_queue_room(&mut self, bytes: usize) {
        self.connection.set_queue_room(bytes);
    }

    /// Describes the path: see [`Connection::set_path`].
    pub fn set_path(&mut self, now: Instant, mtu: u32, lower_headers: u32) {
        self.connection.set_path(now, mtu, lower_headers);
    }

    /// Returns whether the connection asks for this host's MTU: see
    /// [`Connection::wants_local_mtu`].
    pub fn wants_local_mtu(&mut self) -> bool {
        self.connection.wants_local_mtu()
    }

    /// Handles this host's MTU for the path: see [`Connection::on_local_mtu`].
    pub fn on_local_mtu(&mut self, now: Instant, mtu: u32) {
        self.connection.on_local_mtu(now, mtu);
    }

    /// Handles a report that a packet was too big: see [`Connection::on_too_big`].
    pub fn on_too_big(&mut self, now: Instant, mtu: u32, quoted: QuotedHeader) -> bool {
        self.connection.on_too_big(now, mtu, quoted)
    }
}

impl End for Session {
    type Packet = Packet;

    #[inline]
    fn receive(&mut self, now: Instant, ecn: Ecn, packet: Packet) {
        if self.layered.is_none() {
            self.connection.receive(now, ecn, packet);
        } else {
            self.receive_through_layer(now, |connection| connection.receive(now, ecn, packet));
        }
    }

    #[inline]
    fn transmit(&mut self, now: Instant) -> Option<Transmit<Packet>> {
        if let Some(layered) = &mut self.layered {
            layered.send_own(now, &mut self.connection, &mut self.history);
        }
        self.connection.transmit(now)
    }

    fn quick_start(&mut self) -> Option<QuickStart> {
        self.connection.quick_start()
    }

    #[inline]
    fn deadline(&self) -> Option<Instant> {
        let deadline = self.connection.deadline();
        let Some(layered) = &self.layered else {
            return deadline;
        };
        earlier(deadline, layered.deadline(&self.connection, &self.history))
    }

    fn expire(&mut self, now: Instant) {
        self.connection.expire(now);
        if let Some(layered) = &mut self.layered {
            layered.expire(now, &self.connection, &self.history);
        }
    }
}

impl Drain<'_, Session> {
    /// Sends all packets that may leave, until `outlet` breaks. Equivalent to repeated calls of
    /// [`transmit`](Self::transmit), but faster if there is no layer. After a break, call it again
    /// for the remaining packets.
    pub fn transmit_all(&mut self, outlet: &mut impl Outlet) -> ControlFlow<()> {
        if self.end.layered.is_none() {
            let end = &mut self.end.connection;
            return Drain { end, now: self.now }.transmit_all(outlet);
        }
        while let Some(transmit) = self.transmit() {
            outlet.packet(transmit)?;
        }
        ControlFlow::Continue(())
    }
}
