//! One of the disciplines, chosen at run time.

use skywave_units::Instant;

use super::{CoDel, DropTail, Dropped, FqCoDel, Mpcp, Pie, Queue, Red, Weighted};
use crate::Packet;

/// One of this crate's disciplines. A closed choice: a packet costs a comparison and no virtual
/// call, and a link with a drop-tail queue stays small.
#[derive(Clone, Debug)]
// A tag of its own is compared in one instruction; one hidden in a limit's tag takes several.
#[repr(u8)]
pub enum AnyQueue<P> {
    /// Drop-tail.
    DropTail(DropTail<P>),
    /// RED, adaptive or not.
    Red(Box<Red<P>>),
    /// CoDel.
    CoDel(Box<CoDel<P>>),
    /// FQ-CoDel.
    FqCoDel(Box<FqCoDel<P>>),
    /// PIE.
    Pie(Box<Pie<P>>),
    /// A VCP or MPCP router's.
    Mpcp(Box<Mpcp<P>>),
    /// Several side by side.
    Weighted(Box<Weighted<AnyQueue<P>>>),
}

/// Does the same for whatever discipline it is.
macro_rules! each {
    ($any:expr, $queue:ident => $do:expr) => {
        match $any {
            AnyQueue::DropTail($queue) => $do,
            AnyQueue::Red($queue) => $do,
            AnyQueue::CoDel($queue) => $do,
            AnyQueue::FqCoDel($queue) => $do,
            AnyQueue::Pie($queue) => $do,
            AnyQueue::Mpcp($queue) => $do,
            AnyQueue::Weighted($queue) => $do,
        }
    };
}

impl<P: Packet> AnyQueue<P> {
    /// How many packets tell the load factor that it writes on packets of this class: 1 for VCP,
    /// more for MPCP, `None` where it writes none.
    pub fn chain(&self, class: u8) -> Option<u8> {
        match self {
            Self::Mpcp(queue) => Some(queue.packets_of_chain()),
            Self::Weighted(weighted) => weighted.queue_of(class).chain(class),
            _ => None,
        }
    }

    /// What keeps packets, out of the way of what does not.
    #[inline(never)]
    fn enqueue_kept(
        &mut self,
        now: Instant,
        free: Option<Instant>,
        packet: P,
    ) -> Result<Option<P>, Dropped<P>> {
        each!(self, queue => queue.enqueue(now, free, packet))
    }
}

impl<P: Packet> Queue<P> for AnyQueue<P> {
    #[inline(always)]
    fn enqueue(
        &mut self,
        now: Instant,
        free: Option<Instant>,
        packet: P,
    ) -> Result<Option<P>, Dropped<P>> {
        match self {
            Self::DropTail(queue) => queue.enqueue(now, free, packet),
            Self::Red(queue) => queue.enqueue(now, free, packet),
            keeping => keeping.enqueue_kept(now, free, packet),
        }
    }

    #[inline(always)]
    fn keeps(&self) -> bool {
        !matches!(self, Self::DropTail(_) | Self::Red(_))
    }

    fn dequeue(&mut self, now: Instant) -> Option<P> {
        each!(self, queue => queue.dequeue(now))
    }

    fn dropped(&mut self) -> Option<Dropped<P>> {
        match self {
            Self::DropTail(_) | Self::Red(_) | Self::Pie(_) | Self::Mpcp(_) => None,
            Self::CoDel(queue) => queue.dropped(),
            Self::FqCoDel(queue) => queue.dropped(),
            Self::Weighted(queue) => queue.dropped(),
        }
    }

    fn expire(&mut self, now: Instant) {
        each!(self, queue => queue.expire(now));
    }

    fn packets(&self) -> usize {
        each!(self, queue => queue.packets())
    }

    fn bytes(&self) -> u64 {
        each!(self, queue => queue.bytes())
    }
}
