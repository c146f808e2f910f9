//! What waits in a queue that keeps packets and asks how long they have waited.

use std::collections::VecDeque;

use skywave_units::{Duration, Instant};

use super::Limit;
use super::limit::Room;
use crate::Packet;

/// Kept packets in the order in which they came, with the times of their arrival.
#[derive(Clone, Debug)]
pub(super) struct Backlog<P> {
    packets: VecDeque<(Instant, P)>,
    bytes: u64,
}

impl<P: Packet> Backlog<P> {
    pub(super) const fn new() -> Self {
        Self {
            packets: VecDeque::new(),
            bytes: 0,
        }
    }

    pub(super) fn push(&mut self, now: Instant, packet: P) {
        self.bytes += u64::from(packet.size());
        self.packets.push_back((now, packet));
    }

    /// The oldest packet, and how long it has waited at `now`.
    pub(super) fn pop(&mut self, now: Instant) -> Option<(Duration, P)> {
        let (arrival, packet) = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.size());
        Some((now - arrival, packet))
    }

    /// Whether a packet of `size` bytes fits.
    pub(super) fn has_room_for(&self, size: u32, limit: Limit) -> bool {
        Room::from(limit).fits(size, self.packets.len(), self.bytes)
    }

    pub(super) fn packets(&self) -> usize {
        self.packets.len()
    }

    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }
}
