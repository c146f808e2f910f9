//! Datagram transports, as the ends of flows.

use skywave_transport::peer::Peer;
use skywave_transport::{End, SendingEnd, dccp};

/// A datagram transport whose receiving end is read as datagrams arrive.
pub(crate) trait Datagrams: End + SendingEnd {
    /// Reads what has arrived. Returns whether the end may have something to send because of that,
    /// or of a datagram that it refused.
    fn read(&mut self) -> bool;
}

impl Datagrams for dccp::Connection {
    fn read(&mut self) -> bool {
        while self.recv().is_some() {}
        false
    }
}

impl Datagrams for Box<dyn Peer> {
    fn read(&mut self) -> bool {
        (**self).read();
        // Of a user's transport nothing is known.
        true
    }
}
