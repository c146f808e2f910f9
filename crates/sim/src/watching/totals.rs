//! The totals of a run.

use std::mem;

use skywave_units::Instant;

use crate::watching::probes::ProbeSet;
use crate::world::observe::{Chronicle, Entry, Mergeable, Observer};
use crate::world::view::{Event, HostView, PacketCount, PacketView, Sample};

/// Counts packets for the summary, and passes the counts to the inner observer.
pub(crate) struct Totals<O> {
    /// The packets of each link.
    pub(crate) links: Vec<PacketCount>,
    /// The longest queue of each link at a sampling time, in packets.
    pub(crate) queue_max: Vec<u64>,
    /// The packets of each flow lost on links, in both directions.
    pub(crate) flow_drops: Vec<u64>,
    /// When the last data packet of each flow arrived at its receiver.
    pub(crate) last_data: Vec<Instant>,
    pub(crate) observer: O,
}

impl<O> Totals<O> {
    /// Creates zero totals for these numbers of links and flows.
    pub(crate) fn new(links: usize, flows: usize, observer: O) -> Self {
        Self {
            links: vec![PacketCount::default(); links],
            queue_max: vec![0; links],
            flow_drops: vec![0; flows],
            last_data: vec![Instant::ZERO; flows],
            observer,
        }
    }
}

#[deny(clippy::missing_trait_methods)]
impl<O: Observer> Observer for Totals<O> {
    #[inline(always)]
    fn packet(&mut self, now: Instant, event: Event, packet: PacketView<'_>) {
        if let Some(link) = event.link() {
            self.links[link as usize].add(event, packet);
        }
        if let Event::Drop { .. } = event {
            self.flow_drops[packet.flow().index()] += 1;
        }
        if event == Event::Receive && packet.is_forward() && packet.data() > 0 {
            self.last_data[packet.flow().index()] = now;
        }
        self.observer.packet(now, event, packet);
    }

    #[inline(always)]
    fn settled(&mut self, now: Instant, host: HostView<'_>) {
        self.observer.settled(now, host);
    }

    fn sample(&mut self, now: Instant, sample: Sample<'_>) {
        for (most, link) in self.queue_max.iter_mut().zip(sample.links()) {
            *most = (*most).max(link.queued_packets());
        }
        self.observer.sample(now, sample.with_counts(&self.links));
    }
}

impl<O: Mergeable> Mergeable for Totals<O> {
    fn of_region(&self) -> Option<Self> {
        let observer = self.observer.of_region()?;
        Some(Self::new(self.links.len(), self.last_data.len(), observer))
    }

    fn absorb(&mut self, other: &mut Self) {
        for (link, other) in self.links.iter_mut().zip(&mut other.links) {
            *link += mem::take(other);
        }
        for (drops, other) in self.flow_drops.iter_mut().zip(&mut other.flow_drops) {
            *drops += mem::take(other);
        }
        for (last, &other) in self.last_data.iter_mut().zip(&other.last_data) {
            *last = (*last).max(other);
        }
        self.observer.absorb(&mut other.observer);
    }
}

impl<O: Mergeable> Chronicle for Totals<(ProbeSet, O)> {
    const IS_KEPT: bool = true;

    #[inline(always)]
    fn enter(&mut self, entry: &Entry, packet: PacketView<'_>) {
        let (probes, _) = &mut self.observer;
        probes.enter(entry, packet);
    }
}
