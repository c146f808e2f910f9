//! The boundary between one end of a connection and whatever drives it: the simulator or a socket.

use skywave_units::Instant;
use skywave_wire::Ecn;

/// A packet that an end wants on the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit<P> {
    /// The ECN bits that its IP header shall carry.
    pub ecn: Ecn,
    /// The packet.
    pub packet: P,
}

/// One end of a connection, or of a flow of datagrams: a protocol state machine that never blocks,
/// reads no clock and opens no socket.
///
/// Implementors are driven through [`Driven`], which enforces the law "mutate, then drain":
/// after every input, [`End::transmit`] is called until it returns `None`, and only then is
/// [`End::deadline`] valid.
pub trait End {
    /// What travels between two such ends.
    type Packet;

    /// A packet has arrived at `now`, with `ecn` in its IP header.
    fn receive(&mut self, now: Instant, ecn: Ecn, packet: Self::Packet);

    /// The next packet to send, if there is one that may leave at `now`.
    fn transmit(&mut self, now: Instant) -> Option<Transmit<Self::Packet>>;

    /// When [`End::expire`] must next be called; `None` for never.
    fn deadline(&self) -> Option<Instant>;

    /// Handles all timers that are due at `now`. Harmless when none is.
    fn expire(&mut self, now: Instant);
}

/// An end of a connection that takes no input without a [`Drain`].
///
/// Each input comes with a closure that drains what the input has caused. The closure must return a
/// [`Drained`], which only its `Drain` can give: [`Drain::finish`] once every packet has been taken,
/// or [`Drain::postpone`] by a driver that drains later. A driver that forgets to send, or that keeps
/// a stale timer, does not compile.
///
/// ```
/// use skywave_transport::{Driven, udp};
/// use skywave_units::Instant;
/// use skywave_wire::Payload;
///
/// let mut end = Driven::new(udp::Socket::new(1, 2));
/// let mut network = Vec::new();
/// let (_, deadline) = end.apply(
///     Instant::ZERO,
///     |socket| socket.send(Payload::Synthetic(100)),
///     |mut drain| {
///         while let Some(transmit) = drain.transmit() {
///             network.push(transmit.packet);
///         }
///         drain.finish()
///     },
/// );
/// assert_eq!(network.len(), 1);
/// assert_eq!(deadline, None, "UDP has no timers");
/// ```
///
/// A driver that ignores the drain has nothing to return:
///
/// ```compile_fail,E0308
/// # use skywave_transport::{Driven, udp};
/// # use skywave_units::Instant;
/// # let mut end = Driven::new(udp::Socket::new(1, 2));
/// end.expire(Instant::ZERO, |_drain| {});
/// ```
///
/// Nor can it put the drain aside and say that it has finished:
///
/// ```compile_fail,E0382
/// # use skywave_transport::{Driven, udp};
/// # use skywave_units::Instant;
/// # let mut end = Driven::new(udp::Socket::new(1, 2));
/// let mut aside = None;
/// end.expire(Instant::ZERO, |drain| {
///     let drained = drain.finish();
///     aside = Some(drain);
///     drained
/// });
/// ```
#[derive(Debug)]
pub struct Driven<E>(E);

impl<E: End> Driven<E> {
    /// Takes charge of `end`.
    pub const fn new(end: E) -> Self {
        Self(end)
    }

    /// The end, to look at.
    pub const fn get(&self) -> &E {
        &self.0
    }

    /// Hands a packet in: it has arrived at `now`, with `ecn` in its IP header. Returns what `drain`
    /// makes of it.
    #[inline(always)]
    pub fn receive<T>(
        &mut self,
        now: Instant,
        ecn: Ecn,
        packet: E::Packet,
        drain: impl FnOnce(Drain<'_, E>) -> Drained<T>,
    ) -> T {
        self.0.receive(now, ecn, packet);
        self.drain(now, drain)
    }

    /// Lets the timers expire that are due at `now`. Returns what `drain` makes of it.
    pub fn expire<T>(&mut self, now: Instant, drain: impl FnOnce(Drain<'_, E>) -> Drained<T>) -> T {
        self.0.expire(now);
        self.drain(now, drain)
    }

    /// Does something of the application's: sends, reads, closes. Returns what `action` answers, and
    /// what `drain` makes of it.
    pub fn apply<A, T>(
        &mut self,
        now: Instant,
        action: impl FnOnce(&mut E) -> A,
        drain: impl FnOnce(Drain<'_, E>) -> Drained<T>,
    ) -> (A, T) {
        let answer = action(&mut self.0);
        (answer, self.drain(now, drain))
    }

    /// Drains an end that has just been made, or whose drain has been [postponed](Drain::postpone).
    /// Returns what `drain` makes of it.
    #[inline(always)]
    pub fn drain<T>(&mut self, now: Instant, drain: impl FnOnce(Drain<'_, E>) -> Drained<T>) -> T {
        let end = &mut self.0;
        drain(Drain { end, now }).0
    }
}

/// What must happen after an input: send every packet, then set the timer.
#[must_use = "take every packet to transmit, then `finish`"]
#[derive(Debug)]
pub struct Drain<'a, E> {
    pub(crate) end: &'a mut E,
    pub(crate) now: Instant,
}

impl<E: End> Drain<'_, E> {
    /// The next packet to send.
    #[inline(always)]
    pub fn transmit(&mut self) -> Option<Transmit<E::Packet>> {
        self.end.transmit(self.now)
    }

    /// Ends the drain after every packet has been taken, with the time when [`Driven::expire`] is due;
    /// `None` for never.
    ///
    /// # Panics
    ///
    /// In debug builds, if a packet is left.
    pub fn finish(self) -> Drained<Option<Instant>> {
        debug_assert!(self.end.transmit(self.now).is_none(), "not drained");
        Drained(self.end.deadline())
    }

    /// Ends the drain early: packets may be left, and no deadline is known.
    ///
    /// It is for a driver that hands in a batch before it sends anything, or whose socket is full. The
    /// driver owes another drain, by any input or by [`Driven::drain`], and must see to it itself that
    /// it happens: a timer that was set before may be too late by now, or too early.
    pub const fn postpone(self) -> Drained<()> {
        Drained(())
    }
}

/// The proof that a [`Drain`] has been ended, with what the driver takes away from it.
#[must_use = "return it to the input that caused the drain"]
#[derive(Debug)]
pub struct Drained<T>(T);

impl<T> Drained<T> {
    /// Changes what the driver takes away.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Drained<U> {
        Drained(change(self.0))
    }
}

#[cfg(test)]
mod tests {
    use skywave_wire::Payload;

    use super::*;
    use crate::udp::Socket;

    fn sends(socket: &mut Socket) {
        for size in [10, 20] {
            socket.send(Payload::Synthetic(size));
        }
    }

    fn sizes(mut drain: Drain<'_, Socket>) -> Drained<Vec<usize>> {
        let sent = core::iter::from_fn(|| drain.transmit());
        let sizes = sent.map(|transmit| transmit.packet.payload.len()).collect();
        drain.finish().map(|_| sizes)
    }

    #[test]
    #[cfg_attr(not(debug_assertions), ignore = "only debug builds look")]
    #[should_panic(expected = "not drained")]
    fn what_is_left_in_an_end_is_noticed() {
        let mut end = Driven::new(Socket::new(1, 2));
        end.apply(Instant::ZERO, sends, |mut drain| {
            drain.transmit();
            drain.finish()
        });
    }

    #[test]
    fn what_is_postponed_is_there_for_the_next_drain() {
        let mut end = Driven::new(Socket::new(1, 2));
        end.apply(Instant::ZERO, sends, |drain| drain.postpone());
        let first = end.drain(Instant::ZERO, |mut drain| {
            let first = drain.transmit();
            drain.postpone().map(|()| first)
        });
        assert_eq!(first.unwrap().packet.payload.len(), 10);
        let ((), rest) = end.apply(Instant::ZERO, sends, sizes);
        assert_eq!(rest, [20, 10, 20]);
        assert_eq!(end.drain(Instant::ZERO, sizes), [0; 0]);
    }
}
