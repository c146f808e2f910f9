//! A FIFO of packets with arrival times, for queues that keep packets.

use std::collections::VecDeque;

use skywave_units::{Duration, Instant};

use super::Room;
use crate::Packet;

/// Packets in order of arrival, with their arrival times: the simplest storage for a queue that
/// [keeps](super::Keeps) packets.
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
    /// Creates an empty backlog. Memory is allocated as it fills.
    pub const fn new() -> Self {
        Self {
            packets: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Returns the number of packets waiting.
    pub fn packets(&self) -> usize {
        self.packets.len()
    }

    /// Returns the number of bytes waiting.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl<P: Packet> Backlog<P> {
    /// Appends `packet`.
    pub fn push(&mut self, now: Instant, packet: P) {
        self.bytes += u64::from(packet.size());
        self.packets.push_back((now, packet));
    }

    /// Removes the oldest packet and returns how long it has waited at `now`.
    pub fn pop(&mut self, now: Instant) -> Option<(Duration, P)> {
        let (arrival, packet) = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.size());
        Some((now - arrival, packet))
    }

    /// Returns how long the oldest packet has waited at `now`; zero if there is none.
    pub fn delay(&self, now: Instant) -> Duration {
        let oldest = self.packets.front();
        oldest.map_or(Duration::ZERO, |&(arrival, _)| now - arrival)
    }

    /// Returns whether a packet of `size` bytes fits.
    pub fn has_room_for(&self, size: u32, room: Room) -> bool {
        room.fits(size, self.packets.len(), self.bytes)
    }
}
