//! What a path needs to know of a packet.

use skywave_wire::Ecn;

/// Classes of traffic that there are.
pub const CLASSES: usize = 4;

/// A packet as links and queues see it: a size, two bits and where it belongs.
///
/// The simulator implements it for its frames, a live router for real buffers.
pub trait Packet {
    /// Bytes that it occupies on the link, headers of IP and above included.
    fn size(&self) -> u32;

    /// The ECN field of its IP header.
    fn ecn(&self) -> Ecn;

    /// Writes the ECN field.
    fn set_ecn(&mut self, ecn: Ecn);

    /// The same number for all packets of a flow in one direction, and another for most other
    /// flows: what a router makes of addresses, protocol and ports.
    fn flow(&self) -> u64;

    /// The class of traffic that it belongs to, below [`CLASSES`], which says by which of several
    /// sub-queues it is served: what a router makes of the Differentiated Services field (RFC 2474).
    fn class(&self) -> u8;

    /// Three bits that routers read out of its transport header, as the flow's protocol defines
    /// them; 0 where it defines none.
    fn tag(&self) -> u8 {
        0
    }
}
