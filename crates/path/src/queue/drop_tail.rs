//! First in, first out, and the last is dropped when the queue is full.

use std::collections::VecDeque;

use skywave_units::Instant;

use super::{DropReason, Dropped, Queue};
use crate::Packet;

/// How much a queue holds, not counting the packet in transmission.
///
/// An ns-2 `queue-limit` of L counts the packet in transmission, so it is `Packets(L - 1)` here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many packets of whatever size.
    Packets(u32),
    /// So many bytes.
    Bytes(u64),
    /// No limit: for access links that are never the bottleneck.
    Unlimited,
}

/// The drop-tail queue.
#[derive(Clone, Debug)]
pub struct DropTail<P> {
    limit: Limit,
    waiting: VecDeque<P>,
    bytes: u64,
}

impl<P> DropTail<P> {
    /// An empty queue that holds up to `limit`. Memory is taken as it fills.
    pub const fn new(limit: Limit) -> Self {
        Self {
            limit,
            waiting: VecDeque::new(),
            bytes: 0,
        }
    }

    fn has_room_for(&self, size: u64) -> bool {
        match self.limit {
            Limit::Packets(limit) => self.waiting.len() < limit as usize,
            Limit::Bytes(limit) => self.bytes + size <= limit,
            Limit::Unlimited => true,
        }
    }
}

impl<P: Packet> Queue<P> for DropTail<P> {
    fn enqueue(&mut self, _now: Instant, packet: P) -> Result<(), Dropped<P>> {
        let size = u64::from(packet.size());
        if !self.has_room_for(size) {
            return Err(Dropped {
                packet,
                reason: DropReason::Full,
            });
        }
        self.bytes += size;
        self.waiting.push_back(packet);
        Ok(())
    }

    fn dequeue(&mut self, _now: Instant) -> Option<P> {
        let packet = self.waiting.pop_front()?;
        self.bytes -= u64::from(packet.size());
        Some(packet)
    }

    fn pass(&mut self, _now: Instant, packet: P) -> Result<Option<P>, Dropped<P>> {
        if self.has_room_for(u64::from(packet.size())) {
            Ok(Some(packet))
        } else {
            Err(Dropped {
                packet,
                reason: DropReason::Full,
            })
        }
    }

    fn packets(&self) -> usize {
        self.waiting.len()
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Parcel;

    const NOW: Instant = Instant::ZERO;

    #[test]
    fn a_full_queue_refuses_the_newcomer_and_keeps_the_order() {
        let mut queue = DropTail::new(Limit::Packets(2));
        for id in 1..=2 {
            assert!(queue.enqueue(NOW, Parcel::new(id, 100)).is_ok());
        }
        let dropped = queue.enqueue(NOW, Parcel::new(3, 100)).unwrap_err();
        assert_eq!((dropped.packet.id, dropped.reason), (3, DropReason::Full));
        assert_eq!(queue.dequeue(NOW).map(|parcel| parcel.id), Some(1));
        assert!(queue.enqueue(NOW, Parcel::new(4, 100)).is_ok());
        let order: Vec<_> = std::iter::from_fn(|| queue.dequeue(NOW))
            .map(|p| p.id)
            .collect();
        assert_eq!(order, [2, 4]);
    }

    #[test]
    fn a_byte_limit_counts_bytes() {
        let mut queue = DropTail::new(Limit::Bytes(250));
        assert!(queue.enqueue(NOW, Parcel::new(1, 200)).is_ok());
        assert!(queue.enqueue(NOW, Parcel::new(2, 51)).is_err());
        assert!(queue.enqueue(NOW, Parcel::new(3, 50)).is_ok());
        assert_eq!((queue.packets(), queue.bytes()), (2, 250));
        queue.dequeue(NOW);
        assert_eq!((queue.packets(), queue.bytes()), (1, 50));
    }
}
