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

/// An endpoint that can be changed only through a [`Drain`].
///
/// `Driven` owns the endpoint; each input borrows it mutably until the resulting [`Drain`] has
/// been emptied and turned into the next deadline. A driver that forgets to send what an input
/// caused, or that keeps a stale timer, does not compile without a warning.
#[derive(Debug)]
pub struct Driven<E>(E);

impl<E: End> Driven<E> {
    /// Takes charge of `endpoint`.
    pub const fn new(endpoint: E) -> Self {
        Self(endpoint)
    }

    /// The endpoint, to look at.
    pub const fn get(&self) -> &E {
        &self.0
    }

    /// Hands a packet in.
    #[inline(always)]
    pub fn receive(&mut self, now: Instant, ecn: Ecn, packet: E::Packet) -> Drain<'_, E> {
        self.0.receive(now, ecn, packet);
        Drain {
            endpoint: &mut self.0,
            now,
        }
    }

    /// Lets timers expire.
    pub fn expire(&mut self, now: Instant) -> Drain<'_, E> {
        self.0.expire(now);
        Drain {
            endpoint: &mut self.0,
            now,
        }
    }

    /// Does something of the application's: sends, reads, closes.
    pub fn apply<T>(
        &mut self,
        now: Instant,
        action: impl FnOnce(&mut E) -> T,
    ) -> (T, Drain<'_, E>) {
        let answer = action(&mut self.0);
        (
            answer,
            Drain {
                endpoint: &mut self.0,
                now,
            },
        )
    }
}

/// What must happen after an input: send every packet, then set the timer.
#[must_use = "take every packet to transmit, then the `deadline`"]
#[derive(Debug)]
pub struct Drain<'a, E: End> {
    pub(crate) endpoint: &'a mut E,
    pub(crate) now: Instant,
}

impl<E: End> Drain<'_, E> {
    /// The next packet to send.
    #[inline(always)]
    pub fn transmit(&mut self) -> Option<Transmit<E::Packet>> {
        self.endpoint.transmit(self.now)
    }

    /// Ends the drain: when [`Driven::expire`] is due.
    ///
    /// Call it after all packets have been taken; one that is still waiting is an error of the driver,
    /// caught in debug builds.
    pub fn deadline(self) -> Option<Instant> {
        debug_assert!(self.endpoint.transmit(self.now).is_none(), "not drained");
        self.endpoint.deadline()
    }
}
