//! What waits in a queue that keeps packets and asks how long they have waited.

use std::collections::VecDeque;

use skywave_units::{Duration, Instant};

use super::Room;
use crate::Packet;

/// Kept packets in the order in which they came, with the times of their arrival: what a queue that
/// [keeps](super::Keeps) its packets is most simply made of.
#[derive(Clone, Debug)]
pub struct Backlog<P> {
    packets: VecDeque<(Instant, P)>,
    bytes: u64,
}

impl<P> Default for Backlog<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P> Backlog<P> {
    /// Nothing waits. Memory is taken as it fills.
    pub const fn new() -> Self {
        Self {
            packets: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Packets that wait.
    pub fn packets(&self) -> usize {
        self.packets.len()
    }

    /// Bytes that wait.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl<P: Packet> Backlog<P> {
    /// Puts `packet` at the end.
    pub fn push(&mut self, now: Instant, packet: P) {
        self.bytes += u64::from(packet.size());
        self.packets.push_back((now, packet));
    }

    /// Takes out the oldest packet, and says how long it has waited at `now`.
    pub fn pop(&mut self, now: Instant) -> Option<(Duration, P)> {
        let (arrival, packet) = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.size());
        Some((now - arrival, packet))
    }

    /// Whether a packet of `size` bytes fits.
    pub fn has_room_for(&self, size: u32, room: Room) -> bool {
        room.fits(size, self.packets.len(), self.bytes)
    }
}
