//! Drop-tail: a FIFO that drops arrivals when full.

use skywave_units::Instant;

use super::{Admission, Arrival, DropReason, Limit, Line, Room, Verdict};

/// The drop-tail queue.
#[derive(Clone, Debug)]
pub struct DropTail {
    room: Room,
}

impl DropTail {
    /// Creates a queue that holds up to `limit`.
    pub fn new(limit: Limit) -> Self {
        Self {
            room: Room::from(limit),
        }
    }
}

impl Admission for DropTail {
    #[inline(always)]
    fn admit(
        &mut self,
        _now: Instant,
        line: &mut Line<'_>,
        arrival: Arrival,
    ) -> Result<Verdict, DropReason> {
        if line.has_room_for(arrival.size, self.room) {
            Ok(Verdict::Keep)
        } else {
            Err(DropReason::Full)
        }
    }
}

#[cfg(test)]
mod tests {
    use skywave_units::Duration;

    use super::*;
    use crate::contract::Parcel;
    use crate::{HandsOn, Keeps, Kept};

    const NOW: Instant = Instant::ZERO;

    fn at(seconds: u64) -> Instant {
        NOW + Duration::from_secs(seconds)
    }

    #[test]
    fn a_full_queue_refuses_the_newcomer_until_a_transmission_begins() {
        let mut queue = HandsOn::new(DropTail::new(Limit::Packets(2)));
        for id in 1..=2 {
            let handed_on = queue
                .enqueue(NOW, at(u64::from(id)), Parcel::new(id, 100))
                .unwrap();
            assert_eq!(handed_on.id, id);
        }
        let dropped = queue.enqueue(NOW, at(3), Parcel::new(3, 100)).unwrap_err();
        assert_eq!((dropped.packet.id, dropped.reason), (3, DropReason::Full));
        assert!(queue.enqueue(at(1), at(3), Parcel::new(4, 100)).is_ok());
    }

    #[test]
    fn what_is_sent_at_once_does_not_wait() {
        let mut queue = HandsOn::new(DropTail::new(Limit::Packets(1)));
        assert!(queue.enqueue(at(1), at(1), Parcel::new(1, 100)).is_ok());
        assert_eq!(queue.packets(), 0);
    }

    #[test]
    fn a_byte_limit_counts_bytes() {
        let mut queue = HandsOn::new(DropTail::new(Limit::Bytes(250)));
        let mut offer = |seconds, id, size| {
            queue
                .enqueue(NOW, at(seconds), Parcel::new(id, size))
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
        let mut queue = Kept::new(DropTail::new(Limit::Packets(2)));
        for id in 1..=2 {
            assert_eq!(queue.enqueue(NOW, Parcel::new(id, 100)), Ok(()));
        }
        assert!(queue.enqueue(NOW, Parcel::new(3, 100)).is_err());
        let left: Vec<u32> = std::iter::from_fn(|| queue.dequeue(at(1)))
            .map(|parcel| parcel.id)
            .collect();
        assert_eq!(left, [1, 2]);
        assert_eq!((queue.packets(), queue.bytes()), (0, 0));
    }
}
