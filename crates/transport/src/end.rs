//! The interface between one end of a connection and its driver (the simulator or a socket).

use skywave_units::Instant;
use skywave_wire::Ecn;
use skywave_wire::quick_start::QuickStart;

/// A packet to put on the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit<P> {
    /// The ECN bits for its IP header.
    pub ecn: Ecn,
    /// The packet.
    pub packet: P,
}

/// One end of a connection, or of a flow of datagrams: a protocol state machine that never blocks,
/// reads no clock and opens no socket.
///
/// Drive it through [`Driven`], which enforces "mutate, then drain": after every input, call
/// [`End::transmit`] until it returns `None`; only then is [`End::deadline`] valid. The [crate
/// documentation](crate) has a complete run loop.
pub trait End {
    /// The packets exchanged by two such ends.
    type Packet;

    /// Handles a packet that arrived at `now`, with `ecn` in its IP header.
    fn receive(&mut self, now: Instant, ecn: Ecn, packet: Self::Packet);

    /// Returns the next packet to send, if one may leave at `now`.
    fn transmit(&mut self, now: Instant) -> Option<Transmit<Self::Packet>>;

    /// Returns the Quick-Start option (RFC 4782) for the IP header of the packet that
    /// [`End::transmit`] returned last. A driver that cannot write IP options need not ask.
    fn quick_start(&mut self) -> Option<QuickStart> {
        None
    }

    /// Returns when [`End::expire`] must next be called, or `None` for never.
    fn deadline(&self) -> Option<Instant>;

    /// Handles all timers due at `now`. Does nothing if none is.
    fn expire(&mut self, now: Instant);
}

/// An end that accepts input only together with a [`Drain`].
///
/// Each input takes a closure that drains the resulting packets. The closure must return a
/// [`Drained`], which it can only get from its `Drain`: with [`Drain::finish`] after taking every
/// packet, or with [`Drain::postpone`] to drain later. A driver that forgets to send, or that keeps
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
/// Nor can it keep the drain after finishing it:
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
    /// Wraps `end`.
    pub const fn new(end: E) -> Self {
        Self(end)
    }

    /// Returns a shared reference to the end.
    pub const fn get(&self) -> &E {
        &self.0
    }

    /// Handles a packet that arrived at `now`, with `ecn` in its IP header. Returns the result of
    /// `drain`.
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

    /// Handles all timers due at `now`. Returns the result of `drain`.
    pub fn expire<T>(&mut self, now: Instant, drain: impl FnOnce(Drain<'_, E>) -> Drained<T>) -> T {
        self.0.expire(now);
        self.drain(now, drain)
    }

    /// Performs an action of the application, such as sending, reading or closing. Returns the
    /// results of `action` and `drain`.
    pub fn apply<A, T>(
        &mut self,
        now: Instant,
        action: impl FnOnce(&mut E) -> A,
        drain: impl FnOnce(Drain<'_, E>) -> Drained<T>,
    ) -> (A, T) {
        let answer = action(&mut self.0);
        (answer, self.drain(now, drain))
    }

    /// Performs an action of the application that may come to nothing. It then returns `None`, for
    /// which it must have changed neither what the end has to send nor its deadline, and nothing is
    /// drained. Otherwise this is [`apply`](Self::apply).
    pub fn try_apply<A, T>(
        &mut self,
        now: Instant,
        action: impl FnOnce(&mut E) -> Option<A>,
        drain: impl FnOnce(Drain<'_, E>) -> Drained<T>,
    ) -> Option<(A, T)> {
        let answer = action(&mut self.0)?;
        Some((answer, self.drain(now, drain)))
    }

    /// Drains an end that is new, or whose drain was [postponed](Drain::postpone). Returns the
    /// result of `drain`.
    #[inline(always)]
    pub fn drain<T>(&mut self, now: Instant, drain: impl FnOnce(Drain<'_, E>) -> Drained<T>) -> T {
        let end = &mut self.0;
        drain(Drain { end, now }).0
    }
}

/// The obligation after an input: send every packet, then set the timer.
#[must_use = "send every packet, then call `finish`"]
#[derive(Debug)]
pub struct Drain<'a, E> {
    pub(crate) end: &'a mut E,
    pub(crate) now: Instant,
}

impl<E: End> Drain<'_, E> {
    /// Returns the time of the input.
    #[inline(always)]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Returns the next packet to send.
    #[inline(always)]
    pub fn transmit(&mut self) -> Option<Transmit<E::Packet>> {
        self.end.transmit(self.now)
    }

    /// Returns the Quick-Start option for the IP header of the packet returned last.
    #[inline(always)]
    pub fn quick_start(&mut self) -> Option<QuickStart> {
        self.end.quick_start()
    }

    /// Ends the drain. Call it after taking every packet. Returns when [`Driven::expire`] is due;
    /// `None` for never.
    ///
    /// # Panics
    ///
    /// In debug builds, if a packet is left.
    pub fn finish(self) -> Drained<Option<Instant>> {
        debug_assert!(self.end.transmit(self.now).is_none(), "not drained");
        Drained(self.end.deadline())
    }

    /// Ends the drain early: packets may be left, and the deadline is unknown.
    ///
    /// Use it to process a batch of inputs before sending anything, or if the socket is full. The
    /// driver must drain later, through any input or [`Driven::drain`], and must schedule that
    /// itself: a timer set earlier may by now be too late or too early.
    pub const fn postpone(self) -> Drained<()> {
        Drained(())
    }
}

/// Proof that a [`Drain`] was ended, with a result for the driver.
#[must_use = "return it from the drain closure"]
#[derive(Debug)]
pub struct Drained<T>(T);

impl<T> Drained<T> {
    /// Maps the result.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Drained<U> {
        Drained(change(self.0))
    }
}

/// Returns the earlier of two times, either of which may be absent.
#[inline(always)]
pub(crate) fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
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
