//! Queues of an operating system's kernel.

use std::collections::VecDeque;
use std::{fmt, io};

use skywave_registry::MemberFailure;
use skywave_units::Instant;
use skywave_wire::Ecn;
use thiserror::Error;

use super::{DropReason, Dropped, Keeps};
use crate::Packet;

/// The kernel's queueing discipline for which a queue stands.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Discipline {
    /// Its name and its options, in the words of `tc`.
    pub words: Vec<String>,
    /// The MTU of its device, in bytes.
    pub mtu: u32,
}

/// A queue in the kernel, with a packet of the kernel in it for each packet that waits. It releases
/// them at the link's rate.
pub trait Qdisc: Send {
    /// Puts a packet into it. `id` is not that of a packet in it; `flow` is that of [`Packet::flow`].
    /// Returns false if the discipline refuses the packet.
    ///
    /// # Errors
    /// The system's, if it cannot hold the packet.
    fn enqueue(&mut self, id: u32, size: u32, ecn: Ecn, flow: u64) -> io::Result<bool>;

    /// Returns the id and the ECN field of the next packet that it has released. Packets of a flow are
    /// released in order.
    fn dequeue(&mut self) -> Option<(u32, Ecn)>;
}

/// A queue whose packets wait in the kernel.
///
/// The kernel does not report the packets that it drops after accepting them. Since packets of a flow
/// stay in order, those still waiting when a later one of their flow is released have been dropped.
/// Until then, or until the end if there is no later one, they count as waiting. Its
/// [failures](Keeps::failure) are [`KernelQueueError`]s.
pub struct KernelQueue<P> {
    qdisc: Box<dyn Qdisc>,
    /// The packets in the kernel, in order of arrival.
    waiting: VecDeque<(u32, P)>,
    /// The packets that it has released and the link has not taken.
    released: VecDeque<P>,
    dropped: VecDeque<P>,
    bytes: u64,
    next_id: u32,
    mtu: u32,
    failure: Option<MemberFailure>,
}

impl<P: Packet> KernelQueue<P> {
    /// Creates the queue of an empty `qdisc`, which takes packets of up to `mtu` bytes. With a longer
    /// one, it fails.
    pub fn new(qdisc: Box<dyn Qdisc>, mtu: u32) -> Self {
        Self {
            qdisc,
            mtu,
            failure: None,
            waiting: VecDeque::new(),
            released: VecDeque::new(),
            dropped: VecDeque::new(),
            bytes: 0,
            next_id: 0,
        }
    }

    /// Records the first reason why it can no longer decide.
    fn fail(&mut self, reason: KernelQueueError) {
        self.failure
            .get_or_insert_with(|| MemberFailure::new(reason));
    }

    /// Takes what the kernel has released.
    fn take_released(&mut self) {
        while let Some((id, ecn)) = self.qdisc.dequeue() {
            let Some(place) = self.waiting.iter().position(|&(waiting, _)| waiting == id) else {
                self.fail(KernelQueueError::Reorders);
                continue;
            };
            let (_, mut packet) = self.waiting.remove(place).expect("it is there");
            for earlier in (0..place).rev() {
                if self.waiting[earlier].1.flow() == packet.flow() {
                    let (_, dropped) = self.waiting.remove(earlier).expect("it is there");
                    self.bytes -= u64::from(dropped.size());
                    self.dropped.push_front(dropped);
                }
            }
            packet.set_ecn(ecn);
            self.released.push_back(packet);
        }
    }
}

impl<P: Packet> Keeps<P> for KernelQueue<P> {
    fn enqueue(&mut self, _now: Instant, packet: P) -> Result<(), Dropped<P>> {
        let (id, size) = (self.next_id, packet.size());
        if size > self.mtu {
            let mtu = self.mtu;
            self.fail(KernelQueueError::TooLong { size, mtu });
            return Err(Dropped::new(packet, DropReason::Full));
        }
        let taken = self.qdisc.enqueue(id, size, packet.ecn(), packet.flow());
        let is_taken = taken.unwrap_or_else(|error| {
            self.fail(KernelQueueError::System(error));
            false
        });
        if !is_taken {
            return Err(Dropped::new(packet, DropReason::Full));
        }
        self.next_id = id.wrapping_add(1);
        self.bytes += u64::from(size);
        self.waiting.push_back((id, packet));
        Ok(())
    }

    fn dequeue(&mut self, _now: Instant) -> Option<P> {
        self.take_released();
        let packet = self.released.pop_front()?;
        self.bytes -= u64::from(packet.size());
        Some(packet)
    }

    fn dropped(&mut self) -> Option<Dropped<P>> {
        let packet = self.dropped.pop_front()?;
        Some(Dropped::new(packet, DropReason::Early))
    }

    fn packets(&self) -> usize {
        self.waiting.len() + self.released.len()
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn failure(&self) -> Option<MemberFailure> {
        self.failure.clone()
    }
}

/// Why a queue of the kernel can no longer decide.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KernelQueueError {
    /// A packet is longer than the MTU.
    #[error(
        "a packet has {size} B, and the kernel's queue takes up to {mtu} B: give a larger kernel.mtu"
    )]
    TooLong {
        /// Its size in bytes.
        size: u32,
        /// The MTU in bytes.
        mtu: u32,
    },
    /// A packet left after a later one of its flow.
    #[error(
        "the kernel's queue reorders packets of a flow, or repeats them: use another discipline"
    )]
    Reorders,
    /// The system cannot hold a packet.
    #[error("the kernel cannot hold a packet in its queue: {0}")]
    System(io::Error),
}

impl<P> fmt::Debug for KernelQueue<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelQueue")
            .field("waiting", &self.waiting.len())
            .field("released", &self.released.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use skywave_units::{Duration, Rate};

    use super::*;
    use crate::contract::Parcel;
    use crate::{AnyQueue, Link};

    /// What a kernel would release.
    #[derive(Clone, Default)]
    struct Pretended(Arc<Mutex<VecDeque<(u32, Ecn)>>>);

    impl Qdisc for Pretended {
        fn enqueue(&mut self, _: u32, size: u32, _: Ecn, _: u64) -> io::Result<bool> {
            if size == 1999 {
                return Err(io::ErrorKind::OutOfMemory.into());
            }
            Ok(size < 2000)
        }

        fn dequeue(&mut self) -> Option<(u32, Ecn)> {
            self.0.lock().expect("not poisoned").pop_front()
        }
    }

    impl Pretended {
        fn release(&self, id: u32, ecn: Ecn) {
            self.0.lock().expect("not poisoned").push_back((id, ecn));
        }
    }

    fn queue() -> (Pretended, KernelQueue<Parcel>) {
        let qdisc = Pretended::default();
        (qdisc.clone(), KernelQueue::new(Box::new(qdisc), 2500))
    }

    fn parcel(id: u32, flow: u32) -> Parcel {
        Parcel::new(id, 1000).of_flow(flow)
    }

    #[test]
    fn packets_leave_as_the_kernel_releases_them() {
        let (qdisc, mut queue) = queue();
        for id in 0..3 {
            assert!(queue.enqueue(Instant::ZERO, parcel(id, id)).is_ok());
        }
        assert_eq!(queue.dequeue(Instant::ZERO), None);
        qdisc.release(2, Ecn::NotEct);
        qdisc.release(0, Ecn::Ce);
        let left = [(); 2].map(|()| queue.dequeue(Instant::ZERO).expect("it is released"));
        assert_eq!(left.map(|parcel| parcel.id), [2, 0]);
        assert_eq!(left.map(|parcel| parcel.ecn()), [Ecn::NotEct, Ecn::Ce]);
        assert_eq!((queue.packets(), queue.bytes()), (1, 1000));
        assert_eq!(queue.dropped(), None, "another flow");
    }

    #[test]
    fn what_a_later_packet_of_its_flow_overtakes_has_been_dropped() {
        let (qdisc, mut queue) = queue();
        for (id, flow) in [(0, 1), (1, 2), (2, 1), (3, 1)] {
            assert!(queue.enqueue(Instant::ZERO, parcel(id, flow)).is_ok());
        }
        qdisc.release(3, Ecn::NotEct);
        assert_eq!(
            queue.dequeue(Instant::ZERO).map(|parcel| parcel.id),
            Some(3)
        );
        let dropped = [(); 3].map(|()| queue.dropped().map(|dropped| dropped.packet.id));
        assert_eq!(dropped, [Some(0), Some(2), None]);
        assert_eq!((queue.packets(), queue.bytes()), (1, 1000));
    }

    #[test]
    fn what_the_kernel_refuses_is_dropped_on_arrival() {
        let (qdisc, mut queue) = queue();
        assert!(queue.enqueue(Instant::ZERO, Parcel::new(7, 1000)).is_ok());
        qdisc.release(0, Ecn::NotEct);
        let refused = queue.enqueue(Instant::ZERO, Parcel::new(8, 2000));
        assert_eq!(refused.map_err(|dropped| dropped.packet.id), Err(8));
        assert_eq!(
            qdisc.0.lock().expect("not poisoned").len(),
            1,
            "the link asks"
        );
        assert!(queue.dequeue(Instant::ZERO).is_some() && queue.failure().is_none());
    }

    #[test]
    fn what_it_cannot_serve_is_a_failure() {
        let failed = |parcel: Parcel, released: &[u32]| {
            let (qdisc, mut queue) = queue();
            let _dropped = queue.enqueue(Instant::ZERO, parcel);
            released
                .iter()
                .for_each(|&id| qdisc.release(id, Ecn::NotEct));
            while queue.dequeue(Instant::ZERO).is_some() {}
            queue.failure().map(|failure| failure.to_string())
        };
        assert_eq!(failed(Parcel::new(7, 1500), &[0]), None);
        for (parcel, released, beginning) in [
            (Parcel::new(7, 2501), &[][..], "a packet has 2501 B, and "),
            (Parcel::new(7, 1999), &[], "the kernel cannot hold a packet"),
            (
                Parcel::new(7, 1000),
                &[0, 0],
                "the kernel's queue reorders packets",
            ),
        ] {
            let failure = failed(parcel, released).expect(beginning);
            assert!(failure.starts_with(beginning), "{failure}");
        }
    }

    #[test]
    fn a_drop_that_is_never_known_stops_nothing() {
        let (qdisc, mut queue) = queue();
        assert!(queue.enqueue(Instant::ZERO, parcel(0, 1)).is_ok());
        for id in 1..70_000 {
            assert!(queue.enqueue(Instant::ZERO, parcel(id, 2)).is_ok());
            qdisc.release(id, Ecn::NotEct);
            assert!(queue.dequeue(Instant::ZERO).is_some());
        }
        assert_eq!((queue.packets(), queue.dropped()), (1, None));
    }

    #[test]
    fn a_link_sends_what_is_released_when_it_is_free() {
        let ms = |millis| Instant::ZERO + Duration::from_millis(millis);
        let (qdisc, queue) = queue();
        // 1000 B take 10 ms.
        let rate = Rate::from_bps(800_000);
        let mut link = Link::new(AnyQueue::keeps(queue), rate, Duration::ZERO);
        for id in 0..4 {
            assert!(link.enqueue(ms(0), parcel(id, 1)).is_ok());
        }
        let mut at = |millis, released| {
            if let Some(id) = released {
                qdisc.release(id, Ecn::NotEct);
                link.ask_again(ms(millis));
            }
            link.dequeue(ms(millis)).map(|parcel| parcel.id)
        };
        assert_eq!(at(0, Some(0)), None);
        // Released late, just in time, and early.
        assert_eq!(
            (at(10, None), at(12, Some(1)), at(21, None)),
            (Some(0), None, None)
        );
        assert_eq!((at(22, Some(2)), at(25, Some(3))), (Some(1), None));
        assert_eq!(
            (at(31, None), at(32, None), at(42, None)),
            (None, Some(2), Some(3))
        );
        assert_eq!(link.deadline(), None);
    }
}
