//! Queue disciplines: what waits, and what is refused.

mod drop_tail;

pub use drop_tail::{DropTail, Limit};

use skywave_units::Instant;

use crate::Packet;

/// Why a packet did not get through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The queue was full.
    Full,
    /// The link's loss model took it.
    Loss,
}

impl DropReason {
    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Loss => "loss",
        }
    }
}

/// A packet that was not taken in, handed back with the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped<P> {
    /// The packet.
    pub packet: P,
    /// Why.
    pub reason: DropReason,
}

/// A queue discipline.
///
/// It is told when packets come and when the link is ready for one; it never acts by itself. The
/// packet in transmission is not in the queue.
pub trait Queue<P: Packet> {
    /// Takes `packet` in, or hands it back.
    ///
    /// # Errors
    /// [`Dropped`] with the packet and the reason.
    fn enqueue(&mut self, now: Instant, packet: P) -> Result<(), Dropped<P>>;

    /// The next packet for the link, if one waits.
    fn dequeue(&mut self, now: Instant) -> Option<P>;

    /// Takes `packet` in when nothing waits and the link is idle, and gives it out at once: what
    /// [`Queue::enqueue`] and [`Queue::dequeue`] would do. `Ok(None)` where the discipline keeps
    /// it.
    ///
    /// # Errors
    /// As for [`Queue::enqueue`].
    fn pass(&mut self, now: Instant, packet: P) -> Result<Option<P>, Dropped<P>> {
        self.enqueue(now, packet)?;
        Ok(self.dequeue(now))
    }

    /// Packets that wait.
    fn packets(&self) -> usize;

    /// Bytes that wait.
    fn bytes(&self) -> u64;
}
