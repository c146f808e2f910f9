//! Disciplines that keep packets.

use skywave_units::Instant;

use super::Dropped;

/// A discipline that keeps its packets until the link is ready for one: whatever reorders, or drops or
/// marks what it has taken in.
///
/// Time never runs backwards from one call to the next. The packet in transmission is not in the
/// queue.
pub trait Keeps<P> {
    /// Takes in `packet`, which arrives at `now`.
    ///
    /// # Errors
    /// [`Dropped`] with the packet and the reason.
    fn enqueue(&mut self, now: Instant, packet: P) -> Result<(), Dropped<P>>;

    /// The next packet, for a link that is ready for it at `now`. A link asks until nothing is left.
    fn dequeue(&mut self, now: Instant) -> Option<P>;

    /// Takes out a packet that was dropped after it had been taken in, and is counted no longer. It is
    /// called after each [`Keeps::enqueue`] and [`Keeps::dequeue`], until nothing is left.
    fn dropped(&mut self) -> Option<Dropped<P>>;

    /// Packets that wait.
    fn packets(&self) -> usize;

    /// Bytes that wait.
    fn bytes(&self) -> u64;

    /// Tells `record` the inner values and their names, as of the last call.
    fn inner_values(&self, record: &mut dyn FnMut(&str, f64)) {
        let _ = record;
    }
}

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
}
