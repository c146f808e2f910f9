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
///
/// What it has taken in leaves in that order whatever comes, so it hands on every packet at once
/// and remembers only when its transmission begins.
#[derive(Clone, Debug)]
pub struct DropTail {
    limit: Limit,
    /// When each packet that waits begins its transmission, and its size.
    waiting: VecDeque<(Instant, u32)>,
    bytes: u64,
}

impl DropTail {
    /// An empty queue that holds up to `limit`. Memory is taken as it fills.
    pub const fn new(limit: Limit) -> Self {
        Self {
            limit,
            waiting: VecDeque::new(),
            bytes: 0,
        }
    }

    fn has_room_for(&self, size: u32) -> bool {
        match self.limit {
            Limit::Packets(limit) => self.waiting.len() < limit as usize,
            Limit::Bytes(limit) => self.bytes + u64::from(size) <= limit,
            Limit::Unlimited => true,
        }
    }

    fn begin(&mut self, now: Instant) {
        while let Some(&(start, size)) = self.waiting.front()
            && start <= now
        {
            self.waiting.pop_front();
            self.bytes -= u64::from(size);
        }
    }
}

impl<P: Packet> Queue<P> for DropTail {
    fn enqueue(
        &mut self,
        now: Instant,
        start: Instant,
        packet: P,
    ) -> Result<Option<P>, Dropped<P>> {
        self.begin(now);
        let size = packet.size();
        if !self.has_room_for(size) {
            return Err(Dropped {
                packet,
                reason: DropReason::Full,
            });
        }
        if start > now {
            self.waiting.push_back((start, size));
            self.bytes += u64::from(size);
        }
        Ok(Some(packet))
    }

    fn dequeue(&mut self, _now: Instant) -> Option<P> {
        None
    }

    fn expire(&mut self, now: Instant) {
        self.begin(now);
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
    use skywave_units::Duration;

    use super::*;
    use crate::testing::Parcel;

    const NOW: Instant = Instant::ZERO;

    fn at(seconds: u64) -> Instant {
        NOW + Duration::from_secs(seconds)
    }

    #[test]
    fn a_full_queue_refuses_the_newcomer_until_a_transmission_begins() {
        let mut queue = DropTail::new(Limit::Packets(2));
        for id in 1..=2 {
            let handed_on = queue
                .enqueue(NOW, at(u64::from(id)), Parcel::new(id, 100))
                .unwrap();
            assert_eq!(handed_on.map(|parcel| parcel.id), Some(id));
        }
        let dropped = queue.enqueue(NOW, at(3), Parcel::new(3, 100)).unwrap_err();
        assert_eq!((dropped.packet.id, dropped.reason), (3, DropReason::Full));
        assert!(queue.enqueue(at(1), at(3), Parcel::new(4, 100)).is_ok());
        assert_eq!(queue.dequeue(at(9)), None::<Parcel>);
    }

    #[test]
    fn what_is_sent_at_once_does_not_wait() {
        let mut queue = DropTail::new(Limit::Packets(1));
        assert!(queue.enqueue(at(1), at(1), Parcel::new(1, 100)).is_ok());
        assert_eq!(Queue::<Parcel>::packets(&queue), 0);
    }

    #[test]
    fn a_byte_limit_counts_bytes() {
        let mut queue = DropTail::new(Limit::Bytes(250));
        assert!(queue.enqueue(NOW, at(1), Parcel::new(1, 200)).is_ok());
        assert!(queue.enqueue(NOW, at(2), Parcel::new(2, 51)).is_err());
        assert!(queue.enqueue(NOW, at(2), Parcel::new(3, 50)).is_ok());
        let waiting = |queue: &DropTail| {
            let queue: &dyn Queue<Parcel> = queue;
            (queue.packets(), queue.bytes())
        };
        assert_eq!(waiting(&queue), (2, 250));
        Queue::<Parcel>::expire(&mut queue, at(1));
        assert_eq!(waiting(&queue), (1, 50));
    }
}
