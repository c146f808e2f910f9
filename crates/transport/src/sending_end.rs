//! The sending end of a transport, as an application sees it.

use skywave_units::Instant;
use skywave_wire::Payload;

use crate::{dccp, tcp, udp};

/// The kind of data that a transport carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A byte stream, with congestion control: TCP.
    Stream,
    /// Datagrams in connections, with congestion control: DCCP.
    Datagrams,
    /// Datagrams without connections or congestion control: UDP.
    BareDatagrams,
}

/// The sending end of a transport.
pub trait SendingEnd {
    /// Hands over a datagram; a byte stream takes its bytes. Returns false if the queue is full;
    /// the datagram is then lost unless the application sends it again.
    fn send(&mut self, datagram: Payload) -> bool;

    /// Hands over this many bytes at once if the transport is a byte stream; `None` stands for an
    /// endless stream. After [`SendingEnd::close`], the bytes are discarded. Returns false, and
    /// does nothing, if the transport carries datagrams.
    fn write(&mut self, bytes: Option<u64>) -> bool;

    /// Returns the number of datagrams waiting to be sent.
    fn waiting(&self) -> usize;

    /// Closes the sending side.
    fn close(&mut self, now: Instant);
}

impl SendingEnd for tcp::Sender {
    fn send(&mut self, datagram: Payload) -> bool {
        self.write(datagram.len() as u64).is_ok()
    }

    fn write(&mut self, bytes: Option<u64>) -> bool {
        let _after_close = match bytes {
            Some(bytes) => self.write(bytes),
            None => self.write_unlimited(),
        };
        true
    }

    fn waiting(&self) -> usize {
        0
    }

    fn close(&mut self, _now: Instant) {
        self.close();
    }
}

impl SendingEnd for dccp::Connection {
    fn send(&mut self, datagram: Payload) -> bool {
        self.send(datagram).is_ok()
    }

    fn write(&mut self, _bytes: Option<u64>) -> bool {
        false
    }

    fn waiting(&self) -> usize {
        self.stats().queued
    }

    fn close(&mut self, now: Instant) {
        self.close(now);
    }
}

impl SendingEnd for udp::Socket {
    fn send(&mut self, datagram: Payload) -> bool {
        self.send(datagram);
        true
    }

    fn write(&mut self, _bytes: Option<u64>) -> bool {
        false
    }

    fn waiting(&self) -> usize {
        0
    }

    fn close(&mut self, _now: Instant) {}
}
