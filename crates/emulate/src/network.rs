//! The network between hosts: links and routes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use serde::Serialize;
use skywave_path::{Dropped, Link, Packet};
use skywave_registry::OpenSet;
use skywave_scenario::{Backend, LinkSpec, Routes, ScenarioError};
use skywave_units::Instant;

use crate::packet::IpBuffer;

/// The emulator, as a backend of scenarios.
#[derive(Clone, Copy, Debug)]
pub struct Emulator;

/// The open sets from which emulated links select by name.
pub type Registry = skywave_scenario::Registry<Emulator>;

impl Backend for Emulator {
    type Packet = IpBuffer;
    type Probe = ();

    fn register_probes(_: &mut OpenSet<()>) {}
}

/// The most memory that packets in the network take, in bytes. Queues may be unlimited, and anyone
/// may send into them.
pub const MOST_BYTES: u64 = 256 << 20;

/// What a packet takes besides its own bytes.
const OVERHEAD_BYTES: u64 = 128;

/// Where a packet goes next.
#[derive(Clone, Copy, Debug)]
enum Hop {
    Link(u32),
    Host,
}

/// Links and the routes over them, between hosts.
///
/// It has no clock: it is told the time, and does everything at the times that its links determine,
/// in order. So the errors of a late driver do not add up along a route.
#[derive(Debug)]
pub struct Network {
    links: Vec<Direction>,
    hosts: Vec<String>,
    hops: Vec<Hop>,
    /// The first hop from one host to another, if there is a route.
    routes: BTreeMap<(u32, u32), u32>,
    /// The deadlines of links. Those that differ from [`Direction::scheduled`] are void.
    agenda: BinaryHeap<Reverse<(Instant, u32)>>,
    now: Instant,
    /// The memory that packets in the network take, in bytes.
    held_bytes: u64,
    refused: u64,
}

/// One direction of a link.
#[derive(Debug)]
struct Direction {
    link: Link<IpBuffer>,
    scheduled: Option<Instant>,
    totals: LinkTotals,
}

/// What a link has done with packets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LinkTotals {
    /// Its name, such as `"r1->r2"`.
    pub name: String,
    /// Packets that arrived at it.
    pub arrivals: u64,
    /// Packets that its loss model lost or its queue dropped.
    pub drops: u64,
    /// Packets that reached the far end.
    pub delivered: u64,
    /// The bytes of those packets, from their IP headers on.
    pub delivered_bytes: u64,
    /// Of these, packets whose ECN field its queue has changed.
    pub marks: u64,
    /// Packets in the queue now.
    pub queue_packets: u64,
}

/// A packet that has reached a host.
#[derive(Debug)]
pub struct Arrival {
    /// When it arrived, according to the links on its way. Never later than the time that the
    /// network was told.
    pub at: Instant,
    /// The index of the host.
    pub host: u32,
    /// The packet.
    pub packet: IpBuffer,
}

impl Network {
    /// Creates the network of these nodes and links. Between any two of `hosts`, packets take the
    /// route with the fewest links.
    ///
    /// # Errors
    /// [`ScenarioError`] if a link has a setting that only a simulation obeys.
    ///
    /// # Panics
    /// If a link or a host names a node that is not in `nodes`.
    pub fn new(
        nodes: &[String],
        specs: &[LinkSpec],
        hosts: &[String],
        registry: &Registry,
        seed: u64,
    ) -> Result<Self, ScenarioError> {
        let index: BTreeMap<&str, u32> = nodes.iter().map(String::as_str).zip(0..).collect();
        let (mut links, mut ends) = (Vec::new(), Vec::new());
        for spec in specs {
            spec.check_real_clock()?;
            for direction in spec.directions() {
                ends.push((index[direction.from], index[direction.to]));
                links.push(Direction {
                    link: direction.link(registry, seed)?,
                    scheduled: None,
                    totals: LinkTotals::new(direction.name()),
                });
            }
        }
        let mut network = Self {
            links,
            hosts: hosts.to_vec(),
            hops: Vec::new(),
            routes: BTreeMap::new(),
            agenda: BinaryHeap::new(),
            now: Instant::ZERO,
            held_bytes: 0,
            refused: 0,
        };
        let mut routes = Routes::new(nodes.len(), ends);
        for (from, source) in (0..).zip(hosts) {
            for (to, sink) in (0..).zip(hosts).filter(|&(to, _)| to != from) {
                if let Some(found) = routes.fewest_links(index[&**source], index[&**sink]) {
                    network.routes.insert((from, to), network.hops.len() as u32);
                    let hops = found.links.into_iter().map(Hop::Link);
                    network.hops.extend(hops.chain([Hop::Host]));
                }
            }
        }
        Ok(network)
    }

    /// Returns the names of the hosts.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Takes a packet from one host to another, at the time last passed to [`Network::advance`].
    /// Returns it if there is no route.
    pub fn send(&mut self, from: u32, to: u32, mut packet: IpBuffer) -> Result<(), IpBuffer> {
        let Some(&hop) = self.routes.get(&(from, to)) else {
            return Err(packet);
        };
        if self.held_bytes + held(&packet) > MOST_BYTES {
            self.refused += 1;
            return Ok(());
        }
        self.held_bytes += held(&packet);
        packet.hop = hop;
        packet.to = to;
        if let Hop::Link(link) = self.hops[hop as usize] {
            self.enter(self.now, link, packet);
        }
        Ok(())
    }

    /// Returns when something happens next.
    pub fn deadline(&self) -> Option<Instant> {
        // A void entry wakes the driver once, for nothing.
        self.agenda.peek().map(|&Reverse((at, _))| at)
    }

    /// Advances to `now`, and passes the packets that have arrived to `arrived`, in order of time.
    pub fn advance(&mut self, now: Instant, mut arrived: impl FnMut(Arrival)) {
        self.now = self.now.max(now);
        while let Some(&Reverse((at, index))) = self.agenda.peek()
            && at <= self.now
        {
            self.agenda.pop();
            let link = &mut self.links[index as usize];
            if link.scheduled == Some(at) {
                link.scheduled = None;
                self.leave(at, index, &mut arrived);
            }
        }
    }

    /// Returns what each link has done, in the order of the links, forward directions first.
    pub fn totals(&mut self) -> Vec<LinkTotals> {
        let now = self.now;
        let links = self.links.iter_mut();
        links
            .map(|direction| {
                direction.link.expire(now);
                LinkTotals {
                    queue_packets: direction.link.queued_packets() as u64,
                    ..direction.totals.clone()
                }
            })
            .collect()
    }

    /// Returns the number of packets refused because the network held [`MOST_BYTES`].
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// A packet enters a link.
    fn enter(&mut self, at: Instant, index: u32, mut packet: IpBuffer) {
        let direction = &mut self.links[index as usize];
        packet.is_marked = false;
        direction.totals.arrivals += 1;
        let refused = direction.link.enqueue(at, packet).err();
        self.settle(index, refused);
    }

    /// Packets leave a link.
    fn leave(&mut self, at: Instant, index: u32, arrived: &mut impl FnMut(Arrival)) {
        while let Some(mut packet) = self.links[index as usize].link.dequeue(at) {
            let totals = &mut self.links[index as usize].totals;
            totals.delivered += 1;
            totals.delivered_bytes += u64::from(packet.size());
            totals.marks += u64::from(packet.is_marked);
            packet.hop += 1;
            match self.hops[packet.hop as usize] {
                Hop::Link(next) => self.enter(at, next, packet),
                Hop::Host => {
                    self.held_bytes -= held(&packet);
                    let host = packet.to;
                    arrived(Arrival { at, host, packet });
                }
            }
        }
        self.settle(index, None);
    }

    /// Counts what a link has dropped, and schedules its next deadline.
    fn settle(&mut self, index: u32, refused: Option<Dropped<IpBuffer>>) {
        let direction = &mut self.links[index as usize];
        let keeps = direction.link.keeps();
        let later = std::iter::from_fn(|| keeps.then(|| direction.link.dropped()).flatten());
        for dropped in refused.into_iter().chain(later) {
            direction.totals.drops += 1;
            self.held_bytes -= held(&dropped.packet);
        }
        let deadline = direction.link.deadline();
        if deadline != direction.scheduled {
            direction.scheduled = deadline;
            self.agenda.extend(deadline.map(|at| Reverse((at, index))));
        }
    }
}

impl LinkTotals {
    const fn new(name: String) -> Self {
        Self {
            name,
            arrivals: 0,
            drops: 0,
            delivered: 0,
            delivered_bytes: 0,
            marks: 0,
            queue_packets: 0,
        }
    }
}

/// The memory that a packet takes, in bytes.
fn held(packet: &IpBuffer) -> u64 {
    u64::from(packet.size()) + OVERHEAD_BYTES
}
