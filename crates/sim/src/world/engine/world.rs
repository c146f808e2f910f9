//! What lies between the ends of flows and the network.

use skywave_transport::EndStats;
use skywave_units::Instant;
use skywave_wire::Ecn;

use crate::world::host::Supply;
use crate::world::ids::{FlowId, HostId};
use crate::world::packet::Body;

/// What lies between the ends of flows and the network.
///
/// An open world carries packets outside the engine. What an end sends is passed to
/// [`World::send`], and enters the network through [`Simulator::enter`](super::Simulator::enter). What leaves the network is
/// passed to [`World::deliver`], and reaches its end through [`Simulator::receive`](super::Simulator::receive).
pub(crate) trait World: Send + Sized {
    /// Whether packets leave the engine between ends and network.
    const IS_OPEN: bool;

    /// Takes a packet that an end sends.
    fn send(&mut self, from: HostId, ecn: Ecn, body: &Body);

    /// Keeps the encoded form of a packet that enters the network, under the key of its body.
    fn keep(&mut self, key: usize, bytes: Vec<u8>);

    /// Takes a packet that has passed through the network at this time. Returns when it left for
    /// its host.
    fn deliver(&mut self, at: Instant, key: usize, to: HostId, ecn: Ecn) -> Instant;

    /// Learns that the network has dropped a packet.
    fn forget(&mut self, key: usize);

    /// Learns the sender's port of a flow's next connection.
    fn opened(&mut self, flow: FlowId, port: u16);

    /// Hands over what the kernel is to send for this end, counted from the beginning.
    fn supply(&mut self, host: HostId, supply: Supply);

    /// Returns what the kernel reports about this end.
    fn stats(&mut self, host: HostId) -> EndStats;

    /// Returns what lies between ends and network in another region; `None` if there can be only one.
    fn of_region(&self) -> Option<Self> {
        None
    }
}

/// Ends are attached to the network: nothing lies between them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attached;

impl World for Attached {
    const IS_OPEN: bool = false;

    fn send(&mut self, _: HostId, _: Ecn, _: &Body) {}
    fn keep(&mut self, _: usize, _: Vec<u8>) {}
    fn deliver(&mut self, at: Instant, _: usize, _: HostId, _: Ecn) -> Instant {
        at
    }
    fn forget(&mut self, _: usize) {}
    fn opened(&mut self, _: FlowId, _: u16) {}
    fn supply(&mut self, _: HostId, _: Supply) {}
    fn stats(&mut self, _: HostId) -> EndStats {
        EndStats::default()
    }
    fn of_region(&self) -> Option<Self> {
        Some(Self)
    }
}
