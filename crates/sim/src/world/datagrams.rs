//! Datagram transports, as the ends of flows.

use skywave_traffic::SendingEnd;
use skywave_transport::{End, dccp, udp};

/// A datagram transport whose receiving end is read as datagrams arrive.
pub(crate) trait Datagrams: End + SendingEnd {
    /// Reads what has arrived.
    fn read(&mut self);
}

impl Datagrams for dccp::Connection {
    fn read(&mut self) {
        while self.recv().is_some() {}
    }
}

impl Datagrams for udp::Socket {
    fn read(&mut self) {
        while self.recv().is_some() {}
    }
}
