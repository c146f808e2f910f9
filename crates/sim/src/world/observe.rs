//! Watching a run.

use skywave_units::Instant;

use crate::world::bodies::Bodies;
use crate::world::packet::Frame;
use crate::world::view::{Event, HostView, PacketView, Sample};

/// Watches a run. Observers never influence it.
///
/// By default, every method does nothing; a run with the observer `()` compiles to a run without
/// observation. A pair of observers is an observer, and so is an [`Option`].
/// [`run_observed`](crate::run_observed) runs a scenario with a custom observer. An observer that
/// makes a table is a [`Probe`](crate::Probe).
pub trait Observer: Send {
    /// Reports something that has happened to a packet.
    fn packet(&mut self, now: Instant, event: Event, packet: PacketView<'_>) {
        let _ = (now, event, packet);
    }

    /// Reports that a host has processed an input and sent what it had to send.
    fn settled(&mut self, now: Instant, host: HostView<'_>) {
        let _ = (now, host);
    }

    /// Reports a sample, at each multiple of the scenario's `probes.interval`, and at the end of
    /// the run.
    fn sample(&mut self, now: Instant, sample: Sample<'_>) {
        let _ = (now, sample);
    }
}

impl Observer for () {}

/// Keeps what must be in order of time: when packets are sent, received and dropped.
///
/// Elements of a network are executed one after the other. An [`Observer`] sees an effect after its
/// cause, but events of different elements in any order.
pub(crate) trait Chronicle: Mergeable {
    /// Whether it takes entries at all.
    const IS_KEPT: bool;

    /// Takes the next entry. The body of the packet is there if it has been dropped.
    fn enter(&mut self, entry: &Entry, packet: PacketView<'_>);
}

/// Counts that can be taken in several regions of a network at the same time, and added up.
pub(crate) trait Mergeable: Sized {
    /// Returns an observer for another region, which has seen nothing yet; `None` if one observer
    /// must see everything.
    fn of_region(&self) -> Option<Self> {
        None
    }

    /// Adds the counts of another region's observer, and resets them.
    fn absorb(&mut self, other: &mut Self) {
        let _ = other;
    }
}

impl Mergeable for () {
    fn of_region(&self) -> Option<Self> {
        Some(())
    }
}

impl<O: Observer + ?Sized> Mergeable for &mut O {}

impl<O: Observer> Mergeable for Option<O> {}

impl<A: Mergeable, B: Mergeable> Mergeable for (A, B) {
    fn of_region(&self) -> Option<Self> {
        Some((self.0.of_region()?, self.1.of_region()?))
    }

    fn absorb(&mut self, other: &mut Self) {
        self.0.absorb(&mut other.0);
        self.1.absorb(&mut other.1);
    }
}

/// An entry of a [`Chronicle`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) at: Instant,
    pub(crate) event: Event,
    pub(crate) frame: Frame,
    /// If it was sent: the sequence number in its header.
    pub(crate) seq: u64,
    /// If it was sent: the acknowledgement number in its header; `u64::MAX` if it has none.
    pub(crate) ack: u64,
}

impl Entry {
    /// Returns the entry of an event of a packet, if it has one.
    #[inline(always)]
    pub(crate) fn new(at: Instant, event: Event, frame: &Frame, bodies: &Bodies) -> Option<Self> {
        let (seq, ack) = match event {
            Event::Enqueue { .. } | Event::Arrive { .. } => return None,
            Event::Send => {
                let body = &bodies[frame.body()];
                (body.seq(), body.ack().unwrap_or(u64::MAX))
            }
            Event::Drop { .. } | Event::Receive => (0, 0),
        };
        Some(Self {
            at,
            event,
            frame: *frame,
            seq,
            ack,
        })
    }
}

impl<A: Chronicle, B: Chronicle> Chronicle for (A, B) {
    const IS_KEPT: bool = A::IS_KEPT || B::IS_KEPT;

    #[inline(always)]
    fn enter(&mut self, entry: &Entry, packet: PacketView<'_>) {
        self.0.enter(entry, packet);
        self.1.enter(entry, packet);
    }
}

#[deny(clippy::missing_trait_methods)]
impl<O: Observer + ?Sized> Observer for &mut O {
    #[inline(always)]
    fn packet(&mut self, now: Instant, event: Event, packet: PacketView<'_>) {
        (**self).packet(now, event, packet);
    }

    #[inline(always)]
    fn settled(&mut self, now: Instant, host: HostView<'_>) {
        (**self).settled(now, host);
    }

    fn sample(&mut self, now: Instant, sample: Sample<'_>) {
        (**self).sample(now, sample);
    }
}

#[deny(clippy::missing_trait_methods)]
impl<O: Observer> Observer for Option<O> {
    #[inline(always)]
    fn packet(&mut self, now: Instant, event: Event, packet: PacketView<'_>) {
        if let Some(observer) = self {
            observer.packet(now, event, packet);
        }
    }

    #[inline(always)]
    fn settled(&mut self, now: Instant, host: HostView<'_>) {
        if let Some(observer) = self {
            observer.settled(now, host);
        }
    }

    fn sample(&mut self, now: Instant, sample: Sample<'_>) {
        if let Some(observer) = self {
            observer.sample(now, sample);
        }
    }
}

#[deny(clippy::missing_trait_methods)]
impl<A: Observer, B: Observer> Observer for (A, B) {
    #[inline(always)]
    fn packet(&mut self, now: Instant, event: Event, packet: PacketView<'_>) {
        self.0.packet(now, event, packet);
        self.1.packet(now, event, packet);
    }

    #[inline(always)]
    fn settled(&mut self, now: Instant, host: HostView<'_>) {
        self.0.settled(now, host);
        self.1.settled(now, host);
    }

    fn sample(&mut self, now: Instant, sample: Sample<'_>) {
        self.0.sample(now, sample);
        self.1.sample(now, sample);
    }
}
