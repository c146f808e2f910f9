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
///
/// First in, first out and decided on arrival: such a discipline *hands on* each packet at once and
/// only counts it until its transmission begins. Any other *keeps* packets until it is asked.
pub trait Queue<P: Packet> {
    /// Takes in `packet`, which arrives at `now` at a link that will be done at `start` with all
    /// that it has been given. Gives it back to be sent then; `Ok(None)` keeps it.
    ///
    /// # Errors
    /// [`Dropped`] with the packet and the reason.
    fn enqueue(&mut self, now: Instant, start: Instant, packet: P)
    -> Result<Option<P>, Dropped<P>>;

    /// The next of the packets that were kept, for a link that is ready for it at `now`.
    fn dequeue(&mut self, now: Instant) -> Option<P>;

    /// Brings the counts up to `now`.
    fn expire(&mut self, now: Instant);

    /// Packets that wait.
    fn packets(&self) -> usize;

    /// Bytes that wait.
    fn bytes(&self) -> u64;
}
