//! The properties of a packet that a path uses.

use skywave_wire::Ecn;

/// The number of traffic classes.
pub const CLASSES: usize = 4;

/// A packet as links and queues see it.
///
/// The simulator implements it for its frames, the emulator for real buffers.
pub trait Packet {
    /// Returns the bytes it occupies on the link, including the headers of IP and above.
    fn size(&self) -> u32;

    /// Returns the ECN field of its IP header.
    fn ecn(&self) -> Ecn;

    /// Writes the ECN field.
    fn set_ecn(&mut self, ecn: Ecn);

    /// Returns a number that all packets of a flow in one direction share, and that differs from
    /// that of most other flows. A router derives it from addresses, protocol and ports.
    fn flow(&self) -> u64;

    /// Returns its traffic class, less than [`CLASSES`], which selects the sub-queue that serves
    /// it. A router derives it from the Differentiated Services field (RFC 2474).
    fn class(&self) -> u8;

    /// Returns three bits that routers read from its transport header, as defined by the flow's
    /// protocol, or 0 if it defines none.
    fn tag(&self) -> u8 {
        0
    }
}
