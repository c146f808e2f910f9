//! Datagram transports, as applications see them.

use skywave_transport::{End, dccp, udp};
use skywave_units::Instant;
use skywave_wire::Payload;

/// What an application does with a datagram transport.
pub(crate) trait Datagrams: End {
    /// Hands over a datagram to be sent; returns false if it is refused.
    fn send(&mut self, datagram: Payload) -> bool;

    /// Returns the number of datagrams waiting to be sent.
    fn waiting(&self) -> usize;

    /// Reads what has arrived.
    fn read(&mut self);

    /// Closes the sending side.
    fn close(&mut self, now: Instant);
}

impl Datagrams for dccp::Connection {
    fn send(&mut self, datagram: Payload) -> bool {
        self.send(datagram).is_ok()
    }

    fn waiting(&self) -> usize {
        self.stats().queued
    }

    fn read(&mut self) {
        while self.recv().is_some() {}
    }

    fn close(&mut self, now: Instant) {
        self.close(now);
    }
}

impl Datagrams for udp::Socket {
    fn send(&mut self, datagram: Payload) -> bool {
        self.send(datagram);
        true
    }

    fn waiting(&self) -> usize {
        0
    }

    fn read(&mut self) {
        while self.recv().is_some() {}
    }

    fn close(&mut self, _now: Instant) {}
}
