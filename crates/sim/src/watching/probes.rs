//! The probes of a run: the set of them, their notification, and their tables. Each built-in probe
//! has its own file.
//!
//! To add one, write a module here and register it in `register_probes` (`backend.rs`).

pub(crate) mod controls;
pub(crate) mod drops;
pub(crate) mod flows;
mod identity;
mod inner_values;
pub(crate) mod link_flows;
pub(crate) mod links;
pub(crate) mod packets;
pub(crate) mod queues;
pub(crate) mod rates;
pub(crate) mod transfers;
pub(crate) mod voice;
pub(crate) mod windows;

use std::any::Any;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use skywave_units::Instant;

use self::drops::Drops;
use self::flows::Flows;
use self::link_flows::LinkFlows;
use self::voice::Voice;
use crate::watching::probe::{Probe, ProbeSetup, RunEnd, Wants};
use crate::world::observe::{Chronicle, Entry, Mergeable, Observer};
use crate::world::view::{Event, HostView, PacketView, Sample};

/// The probes of every run, as far as they are registered, in the order of their tables. Requested
/// probes follow.
pub(crate) const STANDARD: [&str; 6] = [
    "flows",
    "links",
    "link_flows",
    "drops",
    "voice",
    "transfers",
];

/// The probes of a run.
///
/// The built-in probes that process every packet in every run have their own fields, so that they
/// are called without dynamic dispatch. They are created and requested like all others. If `flows`
/// or `link_flows` is replaced by a custom probe, its field holds a built-in probe that samples
/// nothing, so that no check is needed for each packet.
pub(crate) struct ProbeSet {
    /// The names of the tables, in order; empty in a region that only counts.
    names: Vec<String>,
    flows: Placed<Flows>,
    link_flows: Placed<LinkFlows>,
    drops: Option<Placed<Drops>>,
    voice: Option<Placed<Voice>>,
    others: Vec<Placed<Box<dyn Probe>>>,
    /// What any of the others wants.
    wants: Wants,
    /// Whether `voice` or any of the others wants packets.
    is_listening: bool,
}

/// A probe, what it wants, and the position of its name; `None` if it is only a stand-in.
struct Placed<P> {
    probe: P,
    wants: Wants,
    position: Option<usize>,
}

impl ProbeSet {
    /// Creates a set of these probes, each with the name of its table.
    pub(crate) fn new(probes: Vec<(String, Box<dyn Probe>)>, setup: &ProbeSetup) -> Self {
        let (mut flows, mut link_flows, mut drops, mut voice) = (None, None, None, None);
        let mut wants = Wants::NOTHING;
        let mut names = Vec::with_capacity(probes.len());
        let mut others = Vec::new();
        for (position, (name, probe)) in probes.into_iter().enumerate() {
            names.push(name);
            let unplaced = Placed {
                wants: probe.wants(),
                probe,
                position: Some(position),
            }
            .settle_in(&mut flows)
            .and_then(|probe| probe.settle_in(&mut link_flows))
            .and_then(|probe| probe.settle_in(&mut drops))
            .and_then(|probe| probe.settle_in(&mut voice));
            if let Some(other) = unplaced {
                wants.packets |= other.wants.packets;
                wants.settled |= other.wants.settled;
                wants.samples |= other.wants.samples;
                others.push(other);
            }
        }
        let has_calls = voice.as_ref().is_some_and(Placed::wants_packets);
        let nothing = Arc::new(setup.of_nothing());
        Self {
            names,
            flows: flows.unwrap_or_else(|| Placed::stand_in(Flows::new(&nothing))),
            link_flows: link_flows.unwrap_or_else(|| Placed::stand_in(LinkFlows::new(&nothing))),
            drops,
            voice,
            others,
            wants,
            is_listening: has_calls || wants.packets,
        }
    }

    /// Returns whether any probe must see everything in order of time. The built-in ones need not:
    /// what becomes of the frames of a call, for example, does not depend on other packets.
    pub(crate) const fn in_order(&self) -> bool {
        self.wants.packets || self.wants.settled
    }

    /// Returns the tables by name.
    pub(crate) fn finish(self, end: &RunEnd<'_>) -> Result<Vec<(String, RecordBatch)>, ArrowError> {
        let mut probes: Vec<Placed<Box<dyn Probe>>> = self.others;
        probes.extend([self.flows.boxed(), self.link_flows.boxed()]);
        probes.extend(self.drops.map(Placed::boxed));
        probes.extend(self.voice.map(Placed::boxed));
        probes.retain(|placed| placed.position.is_some());
        probes.sort_by_key(|placed| placed.position);
        let mut tables = Vec::with_capacity(probes.len());
        for (name, placed) in self.names.into_iter().zip(probes) {
            let is_optional = placed.probe.is_optional();
            let table = placed.probe.finish(end)?;
            if table.num_rows() > 0 || !is_optional {
                tables.push((name, table));
            }
        }
        Ok(tables)
    }

    #[inline(never)]
    fn packet_to_others(&mut self, now: Instant, event: Event, packet: PacketView<'_>) {
        if let Some(voice) = &mut self.voice {
            voice.probe.packet(now, event, packet);
        }
        for other in self.others.iter_mut().filter(|other| other.wants.packets) {
            other.probe.packet(now, event, packet);
        }
    }

    #[inline(never)]
    fn settled_to_others(&mut self, now: Instant, host: HostView<'_>) {
        for other in self.others.iter_mut().filter(|other| other.wants.settled) {
            other.probe.settled(now, host);
        }
    }
}

impl Placed<Box<dyn Probe>> {
    /// Moves the probe into `place` if it is of this type and `place` is free; otherwise returns
    /// it.
    fn settle_in<P: Probe>(self, place: &mut Option<Placed<P>>) -> Option<Self> {
        let probe: &dyn Any = &*self.probe;
        if place.is_some() || !probe.is::<P>() {
            return Some(self);
        }
        let probe: Box<dyn Any> = self.probe;
        let probe = probe.downcast().expect("its type has just been looked at");
        *place = Some(Placed {
            probe: *probe,
            wants: self.wants,
            position: self.position,
        });
        None
    }
}

impl<P: Probe + Mergeable> Placed<P> {
    fn of_region(&self) -> Option<Self> {
        Some(Self {
            probe: self.probe.of_region()?,
            wants: self.wants,
            position: self.position,
        })
    }
}

impl<P: Probe> Placed<P> {
    const fn stand_in(probe: P) -> Self {
        Self {
            probe,
            wants: Wants::NOTHING,
            position: None,
        }
    }

    const fn wants_packets(&self) -> bool {
        self.wants.packets
    }

    fn boxed(self) -> Placed<Box<dyn Probe>> {
        Placed {
            probe: Box::new(self.probe),
            wants: self.wants,
            position: self.position,
        }
    }
}

#[deny(clippy::missing_trait_methods)]
impl Observer for ProbeSet {
    #[inline(always)]
    fn packet(&mut self, now: Instant, event: Event, packet: PacketView<'_>) {
        self.flows.probe.packet(now, event, packet);
        self.link_flows.probe.packet(now, event, packet);
        if self.is_listening {
            self.packet_to_others(now, event, packet);
        }
    }

    #[inline(always)]
    fn settled(&mut self, now: Instant, host: HostView<'_>) {
        if self.wants.settled {
            self.settled_to_others(now, host);
        }
    }

    fn sample(&mut self, now: Instant, sample: Sample<'_>) {
        self.flows.probe.sample(now, sample);
        self.link_flows.probe.sample(now, sample);
        for other in self.others.iter_mut().filter(|other| other.wants.samples) {
            other.probe.sample(now, sample);
        }
    }
}

impl Mergeable for ProbeSet {
    fn of_region(&self) -> Option<Self> {
        if self.in_order() {
            return None;
        }
        let voice = match &self.voice {
            Some(voice) => Some(voice.of_region()?),
            None => None,
        };
        Some(Self {
            names: Vec::new(),
            flows: self.flows.of_region()?,
            link_flows: self.link_flows.of_region()?,
            drops: None,
            voice,
            others: Vec::new(),
            wants: Wants::NOTHING,
            is_listening: self.is_listening,
        })
    }

    fn absorb(&mut self, other: &mut Self) {
        self.flows.probe.absorb(&mut other.flows.probe);
        self.link_flows.probe.absorb(&mut other.link_flows.probe);
        if let Some((voice, other)) = self.voice.as_mut().zip(other.voice.as_mut()) {
            voice.probe.absorb(&mut other.probe);
        }
    }
}

impl Chronicle for ProbeSet {
    const IS_KEPT: bool = true;

    #[inline(always)]
    fn enter(&mut self, entry: &Entry, packet: PacketView<'_>) {
        if let Event::Drop { .. } = entry.event
            && let Some(drops) = &mut self.drops
        {
            drops.probe.packet(entry.at, entry.event, packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Registry, RunOptions, Scenario, register_probe, run};

    /// A built-in probe makes the same table in its dedicated field as under another name.
    #[test]
    fn a_place_of_its_own_changes_nothing() {
        let mut registry = Registry::default();
        register_probe(&mut registry.probes, "flows again", "", Flows::new);
        register_probe(&mut registry.probes, "link_flows again", "", LinkFlows::new);
        register_probe(&mut registry.probes, "drops again", "", Drops::new);
        let text = include_str!("../../../../examples/named-drops.toml");
        let text = text.replace("windows = true", "");
        let mut scenario = Scenario::from_toml(&text, &registry).unwrap();
        let pairs = ["flows", "link_flows", "drops"].map(|name| (name, format!("{name} again")));
        scenario.probes.tables = pairs.iter().map(|(_, again)| again.clone()).collect();
        let results = run(&scenario, &registry, RunOptions::default(), |_| true).unwrap();
        let table = |name: &str| {
            let mut tables = results.tables.iter();
            tables
                .find(|(table, _)| table == name)
                .map(|(_, batch)| batch)
        };
        for (name, again) in &pairs {
            assert!(table(name).unwrap().num_rows() > 0, "{name}");
            assert_eq!(table(name), table(again), "{name}");
        }
    }
}
