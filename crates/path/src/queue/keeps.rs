//! Disciplines that keep packets.

use skywave_registry::MemberFailure;
use skywave_units::Instant;

use super::Dropped;

/// A discipline that keeps packets until the link is ready for them, so that it can reorder, drop
/// or mark packets it has accepted.
///
/// Time never decreases between calls. The packet in transmission is not part of the queue.
pub trait Keeps<P> {
    /// Accepts `packet`, which arrives at `now`.
    ///
    /// # Errors
    /// [`Dropped`] with the packet and the reason.
    fn enqueue(&mut self, now: Instant, packet: P) -> Result<(), Dropped<P>>;

    /// Returns the next packet for a link that is ready at `now`. The link keeps asking until this
    /// returns `None`.
    fn dequeue(&mut self, now: Instant) -> Option<P>;

    /// Returns a packet that was dropped after it was accepted, and is no longer counted. Called
    /// after each [`Keeps::enqueue`] and [`Keeps::dequeue`], until it returns `None`.
    fn dropped(&mut self) -> Option<Dropped<P>>;

    /// Returns the number of packets waiting.
    fn packets(&self) -> usize;

    /// Returns the number of bytes waiting.
    fn bytes(&self) -> u64;

    /// Passes the names and values of internal variables to `record`, as of the last call.
    fn inner_values(&self, record: &mut dyn FnMut(&str, f64)) {
        let _ = record;
    }

    /// Returns why it can no longer decide, or `None` as long as it can. Whoever drives the link
    /// then stops; until it does, the contract still holds.
    fn failure(&self) -> Option<MemberFailure> {
        None
    }
}

#[deny(clippy::missing_trait_methods)]
impl<P, Q: Keeps<P> + ?Sized> Keeps<P> for Box<Q> {
    fn enqueue(&mut self, now: Instant, packet: P) -> Result<(), Dropped<P>> {
        (**self).enqueue(now, packet)
    }

    fn dequeue(&mut self, now: Instant) -> Option<P> {
        (**self).dequeue(now)
    }

    fn dropped(&mut self) -> Option<Dropped<P>> {
        (**self).dropped()
    }

    fn packets(&self) -> usize {
        (**self).packets()
    }

    fn bytes(&self) -> u64 {
        (**self).bytes()
    }

    fn inner_values(&self, record: &mut dyn FnMut(&str, f64)) {
        (**self).inner_values(record);
    }

    fn failure(&self) -> Option<MemberFailure> {
        (**self).failure()
    }
}
