//! What a path needs to know of a packet.

use skywave_wire::Ecn;

/// A packet as links and queues see it: a size and two bits.
///
/// The simulator implements it for its frames, a live router for real buffers.
pub trait Packet {
    /// Bytes that it occupies on the link, headers of IP and above included.
    fn size(&self) -> u32;

    /// The ECN field of its IP header.
    fn ecn(&self) -> Ecn;

    /// Writes the ECN field.
    fn set_ecn(&mut self, ecn: Ecn);
}
