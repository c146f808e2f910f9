//! Queue disciplines: what waits, in which order it leaves, what is marked and what is refused.
//!
//! [`DropTail`], [`Red`] (adaptive RED included), [`CoDel`], [`FqCoDel`], [`Pie`], the router of
//! [`Mpcp`], and [`Weighted`], which serves several of them side by side. [`AnyQueue`] is one of
//! them, chosen at run time.
//!
//! # To add a discipline
//!
//! 1. Write a module here with a struct and its `impl` of [`Queue`]. There are two kinds. A
//!    discipline that is FIFO and has decided all when a packet arrives holds a `Fifo`, says so by
//!    [`Queue::keeps`], decides in [`Queue::enqueue`] and returns what `Fifo::push` gives it
//!    (`drop_tail` is the model). Any other keeps packets, most simply in a `Backlog`, which knows
//!    how long each has waited, returns `Ok(None)` from [`Queue::enqueue`] and does its work in
//!    [`Queue::dequeue`] (`codel` is the model).
//! 2. What is dropped after it was taken in goes out by [`Queue::dropped`]. Mark with `mark`, which
//!    leaves packets alone that cannot be marked.
//! 3. A queue is never woken. What happens by the clock is made up for at the next call, as
//!    `pie` does. A generator of random numbers is handed in.
//! 4. Add a variant to [`AnyQueue`]. For the simulator, add one to its `QueueSpec` too, and say in
//!    `physics::link` what the discipline may do (drop early or inside, mark, change the order): the
//!    verifier shares no code with the queues.

mod any;
mod backlog;
mod codel;
mod drop_tail;
mod fifo;
mod fq_codel;
mod limit;
mod mpcp;
mod pie;
mod red;
mod weighted;

pub use any::AnyQueue;
pub use codel::{CoDel, CoDelConfig};
pub use drop_tail::DropTail;
pub use fq_codel::{FqCoDel, FqCoDelConfig};
pub use limit::Limit;
pub use mpcp::Mpcp;
pub use pie::{Pie, PieConfig};
pub use red::{AdaptiveRed, Red, RedConfig, RedThresholds, RedWeight};
pub use weighted::Weighted;

use skywave_units::Instant;
use skywave_wire::Ecn;

use crate::Packet;

/// Why a packet did not get through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The queue was full.
    Full,
    /// The discipline dropped it before the queue was full, to slow its sender down.
    Early,
    /// The link's loss model took it.
    Loss,
}

impl DropReason {
    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Early => "early",
            Self::Loss => "loss",
        }
    }
}

/// A packet that did not get through, handed back with the reason.
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
/// only counts it until its transmission begins. Any other *keeps* packets until it is asked. A
/// queue does one or the other, never both.
pub trait Queue<P: Packet> {
    /// Takes in `packet`, which arrives at `now` at a link that was or will be done at `free` with
    /// all that it has been given. Gives it back to be sent as soon as that is; `Ok(None)` keeps
    /// it. Where `free` is absent, others share the link and the packet must be kept.
    ///
    /// # Errors
    /// [`Dropped`] with the packet and the reason.
    fn enqueue(
        &mut self,
        now: Instant,
        free: Option<Instant>,
        packet: P,
    ) -> Result<Option<P>, Dropped<P>>;

    /// Whether it keeps packets where the link is its own; always the same.
    fn keeps(&self) -> bool {
        true
    }

    /// The next of the packets that were kept, for a link that is ready for it at `now`. A link
    /// asks until nothing is left.
    fn dequeue(&mut self, now: Instant) -> Option<P>;

    /// Takes out a packet that was dropped after it had been kept. To be called after each
    /// [`Queue::enqueue`] and [`Queue::dequeue`], until nothing is left.
    fn dropped(&mut self) -> Option<Dropped<P>> {
        None
    }

    /// Brings the counts up to `now`.
    fn expire(&mut self, now: Instant);

    /// Packets that wait, as of the last [`Queue::expire`].
    fn packets(&self) -> usize;

    /// Bytes that wait, as of the last [`Queue::expire`].
    fn bytes(&self) -> u64;
}

/// Writes Congestion Experienced where the transport understands it (RFC 3168 section 5), and says
/// whether it does.
fn mark<P: Packet>(packet: &mut P) -> bool {
    let capable = packet.ecn().is_capable();
    if capable {
        packet.set_ecn(Ecn::Ce);
    }
    capable
}
