//! Datagram transports, as the ends of flows.

use skywave_transport::peer::Peer;
use skywave_transport::{End, SendingEnd, dccp};

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

impl Datagrams for Box<dyn Peer> {
    fn read(&mut self) {
        (**self).read();
    }
}
