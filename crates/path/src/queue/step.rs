//! Marks from a single threshold on, as switches do for DCTCP (RFC 8257 section 3.1).

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::{Bytes, Duration, Instant};

use super::{
    AnyQueue, Backlog, Checked, Conduct, DropReason, Dropped, Head, Keeps, Limit, QueueKind, Room,
    Writes, mark,
};
use crate::Packet;

/// The queue above which packets are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepThreshold {
    /// This many packets, which wait when another one arrives (RFC 8257 section 3.1). That one is
    /// marked.
    Packets(u32),
    /// This waiting time of a packet, which is marked when it leaves.
    Delay(Duration),
}

/// A FIFO that marks packets with Congestion Experienced (RFC 3168) while its queue is above a
/// threshold. It looks at the queue of the moment, not at an average, and decides nothing at random.
/// Packets that cannot be marked are dropped only when the queue is full.
#[derive(Clone, Debug)]
pub struct Step<P> {
    room: Room,
    threshold: StepThreshold,
    waiting: Backlog<P>,
}

impl<P: Packet> Step<P> {
    /// Creates an empty queue that holds up to `limit`.
    pub fn new(limit: Limit, threshold: StepThreshold) -> Self {
        Self {
            room: Room::from(limit),
            threshold,
            waiting: Backlog::new(),
        }
    }
}

impl<P: Packet> Keeps<P> for Step<P> {
    fn enqueue(&mut self, now: Instant, mut packet: P) -> Result<(), Dropped<P>> {
        if !self.waiting.has_room_for(packet.size(), self.room) {
            return Err(Dropped {
                packet,
                reason: DropReason::Full,
            });
        }
        if let StepThreshold::Packets(most) = self.threshold
            && self.waiting.packets() > most as usize
        {
            mark(&mut packet);
        }
        self.waiting.push(now, packet);
        Ok(())
    }

    fn dequeue(&mut self, now: Instant) -> Option<P> {
        let (waited, mut packet) = self.waiting.pop(now)?;
        if let StepThreshold::Delay(most) = self.threshold
            && waited > most
        {
            mark(&mut packet);
        }
        Some(packet)
    }

    fn dropped(&mut self) -> Option<Dropped<P>> {
        None
    }

    fn packets(&self) -> usize {
        self.waiting.packets()
    }

    fn bytes(&self) -> u64 {
        self.waiting.bytes()
    }
}

/// A FIFO that marks packets while its queue is above a threshold, as switches do for DCTCP (RFC 8257
/// section 3.1). Give `threshold` or `threshold_delay`. Packets that cannot be marked are dropped only
/// when the queue is full.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Step")]
#[serde(deny_unknown_fields, default)]
pub struct StepSpec {
    /// Capacity in packets; give this or `bytes`.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    /// Capacity in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// K: a packet that arrives while more packets than these wait is marked. K above a seventh of
    /// the bandwidth-delay product keeps DCTCP's link busy (RFC 8257 section 3.1).
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<u32>,
    /// A packet that has waited longer than this is marked when it leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold_delay: Option<Duration>,
}

impl StepSpec {
    pub(super) fn kind<P: Packet + Send + 'static>(self) -> Checked<P> {
        let limit = Limit::from_parameters(self.packets, self.bytes)?;
        let threshold = match (self.threshold, self.threshold_delay) {
            (Some(packets), None) => StepThreshold::Packets(packets),
            (None, Some(delay)) => StepThreshold::Delay(delay),
            (None, None) => {
                let message = "give `threshold`, in packets, or `threshold_delay`";
                return Err(ParameterError::new("threshold", message));
            }
            (Some(_), Some(_)) => {
                let message = "give either `threshold` or `threshold_delay`";
                return Err(ParameterError::new("threshold_delay", message));
            }
        };
        if let (Limit::Packets(most), StepThreshold::Packets(packets)) = (limit, threshold) {
            // A packet is marked if more than these wait and there is still room for it.
            ParameterError::unless(packets.saturating_add(1) < most, "threshold", || {
                format!("{packets} packets, with room for {most}: no packet would be marked")
            })?;
        }
        Ok(Arc::new(Kind { limit, threshold }))
    }
}

struct Kind {
    limit: Limit,
    threshold: StepThreshold,
}

impl<P: Packet + Send + 'static> QueueKind<P> for Kind {
    fn conduct(&self) -> Conduct {
        Conduct {
            writes: Writes::Marks,
            ..Conduct::fifo(self.limit)
        }
    }

    fn build(&self, _head: &Head<'_>) -> AnyQueue<P> {
        AnyQueue::keeps(Step::new(self.limit, self.threshold))
    }
}

#[cfg(test)]
mod tests {
    use skywave_wire::Ecn;

    use super::*;
    use crate::contract::Parcel;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// Returns which of the packets that leave are marked.
    fn marks(queue: &mut Step<Parcel>, now: Instant) -> Vec<bool> {
        let left = std::iter::from_fn(|| queue.dequeue(now));
        left.map(|parcel| parcel.ecn().is_ce()).collect()
    }

    /// RFC 8257 section 3.1: a packet is marked if it finds more than K packets waiting, whatever was
    /// before.
    #[test]
    fn a_packet_that_finds_more_than_the_threshold_is_marked() {
        let mut queue = Step::new(Limit::Packets(5), StepThreshold::Packets(2));
        for codes in [[Ecn::Ect0; 5], [Ecn::Ect1; 5]] {
            for (ecn, id) in codes.into_iter().zip(0..) {
                let parcel = Parcel::new(id, 1000).with_ecn(ecn);
                assert_eq!(queue.enqueue(ms(0), parcel), Ok(()));
            }
            assert_eq!(marks(&mut queue, ms(9)), [false, false, false, true, true]);
        }
    }

    #[test]
    fn a_packet_that_has_waited_longer_than_the_threshold_is_marked() {
        let threshold = StepThreshold::Delay(Duration::from_millis(5));
        let mut queue = Step::new(Limit::Unlimited, threshold);
        for at in [0, 1, 2] {
            let parcel = Parcel::new(at, 1000).with_ecn(Ecn::Ect0);
            assert_eq!(queue.enqueue(ms(at.into()), parcel), Ok(()));
        }
        assert_eq!(marks(&mut queue, ms(6)), [true, false, false]);
    }

    #[test]
    fn what_cannot_be_marked_is_dropped_only_when_the_queue_is_full() {
        let mut queue = Step::new(Limit::Packets(3), StepThreshold::Packets(0));
        for id in 0..3 {
            assert_eq!(queue.enqueue(ms(0), Parcel::new(id, 1000)), Ok(()));
        }
        let refused = queue.enqueue(ms(0), Parcel::new(3, 1000)).unwrap_err();
        assert_eq!((refused.packet.id, refused.reason), (3, DropReason::Full));
        assert_eq!(marks(&mut queue, ms(1)), [false; 3]);
    }

    #[test]
    fn one_threshold_is_needed() {
        let of = |threshold, threshold_delay| StepSpec {
            packets: Some(100),
            threshold,
            threshold_delay,
            ..StepSpec::default()
        };
        let delay = Some(Duration::from_millis(1));
        assert!(of(Some(65), None).kind::<Parcel>().is_ok());
        assert!(of(None, delay).kind::<Parcel>().is_ok());
        for (spec, error) in [
            (
                of(None, None),
                "threshold: give `threshold`, in packets, or `threshold_delay`",
            ),
            (
                of(Some(65), delay),
                "threshold_delay: give either `threshold` or `threshold_delay`",
            ),
        ] {
            let found = spec.kind::<Parcel>().err().unwrap();
            assert_eq!(format!("{}: {}", found.field, found.message), error);
        }
    }

    /// A packet is marked if it finds more than the threshold, and is not refused.
    #[test]
    fn a_threshold_that_no_packet_can_exceed_is_refused() {
        for (threshold, is_accepted) in [(7, true), (8, true), (9, false), (u32::MAX, false)] {
            let spec = StepSpec {
                packets: Some(10),
                threshold: Some(threshold),
                ..StepSpec::default()
            };
            assert_eq!(spec.kind::<Parcel>().is_ok(), is_accepted, "{threshold}");
        }
    }
}
