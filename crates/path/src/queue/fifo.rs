//! What waits in a queue that is first in, first out and decides on arrival.

use std::collections::VecDeque;

use skywave_units::Instant;

use super::limit::Room;
use crate::Packet;

/// Packets in the order in which they came.
///
/// Where the link is its queue's alone, it is known on arrival when a packet's transmission begins:
/// the packet is handed on at once, and only this time and its size are remembered. Where the link
/// is shared, packets are kept.
#[derive(Clone, Debug)]
pub(super) struct Fifo<P> {
    /// When each packet that was handed on begins its transmission, and its size; of those that
    /// have begun, some may still be here.
    starts: VecDeque<(Instant, u32)>,
    kept: VecDeque<P>,
    bytes: u64,
}

impl<P: Packet> Fifo<P> {
    pub(super) const fn new() -> Self {
        Self {
            starts: VecDeque::new(),
            kept: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Takes in a packet; the arguments and the answer are those of [`Queue::enqueue`].
    ///
    /// [`Queue::enqueue`]: super::Queue::enqueue
    #[inline(always)]
    pub(super) fn push(&mut self, now: Instant, free: Option<Instant>, packet: P) -> Option<P> {
        let size = packet.size();
        match free {
            Some(free) if free <= now => {
                // The link is idle: whatever was handed on has begun.
                if !self.starts.is_empty() {
                    self.starts.clear();
                    self.bytes = 0;
                }
                Some(packet)
            }
            Some(start) => {
                if self.starts.len() == self.starts.capacity() {
                    self.begin(now);
                }
                self.starts.push_back((start, size));
                self.bytes += u64::from(size);
                Some(packet)
            }
            None => {
                self.kept.push_back(packet);
                self.bytes += u64::from(size);
                None
            }
        }
    }

    /// The oldest packet that was kept.
    pub(super) fn pop(&mut self) -> Option<P> {
        let packet = self.kept.pop_front()?;
        self.bytes -= u64::from(packet.size());
        Some(packet)
    }

    /// Forgets the packets whose transmission has begun by `now`.
    pub(super) fn begin(&mut self, now: Instant) {
        while let Some(&(start, size)) = self.starts.front()
            && start <= now
        {
            self.starts.pop_front();
            self.bytes -= u64::from(size);
        }
    }

    /// Whether a packet of `size` bytes fits.
    #[inline(always)]
    pub(super) fn has_room_for(&self, size: u32, room: Room) -> bool {
        room.fits(size, self.packets(), self.bytes)
    }

    /// Packets that wait, as of the last [`Fifo::begin`].
    pub(super) fn packets(&self) -> usize {
        self.starts.len() + self.kept.len()
    }

    /// Bytes that wait, as of the last [`Fifo::begin`].
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }
}
