//! First in, first out, and the last is dropped when the queue is full.

use skywave_units::Instant;

use super::fifo::Fifo;
use super::limit::Room;
use super::{DropReason, Dropped, Limit, Queue};
use crate::Packet;

/// The drop-tail queue.
#[derive(Clone, Debug)]
pub struct DropTail<P> {
    room: Room,
    waiting: Fifo<P>,
}

impl<P: Packet> DropTail<P> {
    /// An empty queue that holds up to `limit`. Memory is taken as it fills.
    pub fn new(limit: Limit) -> Self {
        Self {
            room: Room::from(limit),
            waiting: Fifo::new(),
        }
    }
}

impl<P: Packet> Queue<P> for DropTail<P> {
    // A packet meets more of these than of anything else.
    #[inline(always)]
    fn enqueue(
        &mut self,
        now: Instant,
        free: Option<Instant>,
        packet: P,
    ) -> Result<Option<P>, Dropped<P>> {
        // Who waits is counted anew only where the queue would else be full.
        if !self.waiting.has_room_for(packet.size(), self.room) {
            self.waiting.begin(now);
            if !self.waiting.has_room_for(packet.size(), self.room) {
                return Err(Dropped {
                    packet,
                    reason: DropReason::Full,
                });
            }
        }
        Ok(self.waiting.push(now, free, packet))
    }

    fn keeps(&self) -> bool {
        false
    }

    fn dequeue(&mut self, _now: Instant) -> Option<P> {
        self.waiting.pop()
    }

    fn expire(&mut self, now: Instant) {
        self.waiting.begin(now);
    }

    fn packets(&self) -> usize {
        self.waiting.packets()
    }

    fn bytes(&self) -> u64 {
        self.waiting.bytes()
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
                .enqueue(NOW, Some(at(u64::from(id))), Parcel::new(id, 100))
                .unwrap();
            assert_eq!(handed_on.map(|parcel| parcel.id), Some(id));
        }
        let dropped = queue
            .enqueue(NOW, Some(at(3)), Parcel::new(3, 100))
            .unwrap_err();
        assert_eq!((dropped.packet.id, dropped.reason), (3, DropReason::Full));
        assert!(
            queue
                .enqueue(at(1), Some(at(3)), Parcel::new(4, 100))
                .is_ok()
        );
        assert_eq!(queue.dequeue(at(9)), None);
    }

    #[test]
    fn what_is_sent_at_once_does_not_wait() {
        let mut queue = DropTail::new(Limit::Packets(1));
        assert!(
            queue
                .enqueue(at(1), Some(at(1)), Parcel::new(1, 100))
                .is_ok()
        );
        assert_eq!(queue.packets(), 0);
    }

    #[test]
    fn a_byte_limit_counts_bytes() {
        let mut queue = DropTail::new(Limit::Bytes(250));
        let mut offer = |seconds, id, size| {
            queue
                .enqueue(NOW, Some(at(seconds)), Parcel::new(id, size))
                .is_ok()
        };
        assert!(offer(1, 1, 200));
        assert!(!offer(2, 2, 51));
        assert!(offer(2, 3, 50));
        assert_eq!((queue.packets(), queue.bytes()), (2, 250));
        queue.expire(at(1));
        assert_eq!((queue.packets(), queue.bytes()), (1, 50));
    }

    #[test]
    fn on_a_shared_link_packets_are_kept_in_their_order() {
        let mut queue = DropTail::new(Limit::Packets(2));
        for id in 1..=2 {
            assert_eq!(queue.enqueue(NOW, None, Parcel::new(id, 100)), Ok(None));
        }
        assert!(queue.enqueue(NOW, None, Parcel::new(3, 100)).is_err());
        let left: Vec<u32> = std::iter::from_fn(|| queue.dequeue(at(1)))
            .map(|parcel| parcel.id)
            .collect();
        assert_eq!(left, [1, 2]);
        assert_eq!((queue.packets(), queue.bytes()), (0, 0));
    }
}
