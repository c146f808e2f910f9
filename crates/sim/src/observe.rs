//! Watching a run.

use skywave_units::Instant;

use crate::view::{Event, HostView, PacketView, Sample};

/// Watches a run. Observers see; they never change what happens.
///
/// Every method does nothing unless it is overridden, and a run that nobody watches (`()`)
/// compiles to a run without observation. A pair of observers is one, and so is an [`Option`].
/// [`run_observed`](crate::run_observed) runs a scenario with an observer of one's own; one that
/// makes a table is a [`Probe`](crate::Probe).
pub trait Observer {
    /// Something happens to a packet.
    fn packet(&mut self, now: Instant, event: Event, packet: PacketView<'_>) {
        let _ = (now, event, packet);
    }

    /// A host has dealt with an input and sent what it had to send.
    fn settled(&mut self, now: Instant, host: HostView<'_>) {
        let _ = (now, host);
    }

    /// A sampling time: each multiple of the scenario's `probes.interval`.
    fn sample(&mut self, now: Instant, sample: Sample<'_>) {
        let _ = (now, sample);
    }
}

impl Observer for () {}

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
