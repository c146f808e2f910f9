//! The packets of a discipline in Python, by number.

use std::collections::VecDeque;

use skywave_path::Packet;

/// Packets by number, which counts arrivals. Most leave in order, so a number leads to its place.
pub(super) struct Store<P> {
    /// From the oldest packet that waits; `None` for one that has left before it.
    packets: VecDeque<Option<P>>,
    /// The number of the first of them.
    first: u64,
    waiting: usize,
    bytes: u64,
}

impl<P: Packet> Store<P> {
    pub(super) const fn new() -> Self {
        Self {
            packets: VecDeque::new(),
            first: 0,
            waiting: 0,
            bytes: 0,
        }
    }

    /// Returns the number that the next packet gets.
    pub(super) fn next_number(&self) -> u64 {
        self.first + self.packets.len() as u64
    }

    pub(super) fn push(&mut self, packet: P) {
        self.waiting += 1;
        self.bytes += u64::from(packet.size());
        self.packets.push_back(Some(packet));
    }

    /// Removes the packet with this number, if it is waiting.
    pub(super) fn take(&mut self, number: u64) -> Option<P> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let packet = self.packets.get_mut(index)?.take()?;
        self.waiting -= 1;
        self.bytes -= u64::from(packet.size());
        while let Some(None) = self.packets.front() {
            self.packets.pop_front();
            self.first += 1;
        }
        Some(packet)
    }

    /// Returns the number of the oldest packet.
    pub(super) fn first(&self) -> Option<u64> {
        (self.waiting > 0).then_some(self.first)
    }

    pub(super) const fn packets(&self) -> usize {
        self.waiting
    }

    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }
}
