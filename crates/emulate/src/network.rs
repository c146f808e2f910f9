//! The network between hosts: links and routes.

use std::collections::BTreeMap;

use serde::Serialize;
use skywave_path::{Dropped, NetworkObserver, Packet, Routed};
use skywave_registry::{MemberFailure, OpenSet};
use skywave_scenario::{Backend, LinkSpec, ScenarioError};
use skywave_units::Instant;

use crate::packet::IpBuffer;
use crate::pool::Pool;

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

/// The memory that a packet takes besides its buffer.
const OVERHEAD_BYTES: u64 = 128;

/// Links and the routes over them, between hosts.
///
/// It has no clock: its caller passes the time, and it acts at the times that its links determine,
/// in order. So the errors of a late driver do not add up along a route.
#[derive(Debug)]
pub struct Network {
    links: skywave_path::Network<IpBuffer>,
    hosts: Vec<String>,
    /// The first hop from one host to another, if there is a route.
    routes: BTreeMap<(u32, u32), u32>,
    accounts: Accounts,
}

/// The record of what has happened to packets.
#[derive(Debug)]
struct Accounts {
    totals: Vec<LinkTotals>,
    /// The memory that packets in the network take, in bytes.
    held_bytes: u64,
    refused: u64,
    /// The buffers of packets that have left.
    pool: Pool,
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
    /// caller passed.
    pub at: Instant,
    /// The index of the host.
    pub host: u32,
    /// The packet.
    pub packet: IpBuffer,
}

impl Network {
    /// Creates the network of these nodes and links. Between any two of `hosts`, packets take the
    /// route with the fewest links; among equals, the one whose links come first.
    /// [`Network::set_route`] chooses another.
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
        let mut links = skywave_path::Network::new(nodes.to_vec());
        let mut totals = Vec::new();
        for spec in specs {
            spec.check_real_clock()?;
            for direction in spec.directions() {
                let [from, to] = [direction.from, direction.to]
                    .map(|end| links.node(end).expect("links connect nodes"));
                if direction
                    .queue
                    .read(&registry.queues)?
                    .of_kernel()
                    .is_some()
                {
                    let field = format!("link \"{}\"", direction.name());
                    let message = "the kernel's queues are for skywave realtime: give one of ours";
                    return Err(ScenarioError::new(field, message));
                }
                links.add_link(from, to, direction.link(registry, seed)?);
                totals.push(LinkTotals::new(direction.name()));
            }
        }
        let ends = hosts.iter().map(|host| links.node(host));
        let ends: Vec<_> = ends.map(|node| node.expect("hosts are nodes")).collect();
        let mut routes = BTreeMap::new();
        for (from, &source) in (0..).zip(&ends) {
            for (to, &sink) in (0..).zip(&ends).filter(|&(_, &sink)| sink != source) {
                if let Ok(way) = links.route(source, sink, None) {
                    routes.insert((from, to), way.hop);
                }
            }
        }
        Ok(Self {
            links,
            hosts: hosts.to_vec(),
            routes,
            accounts: Accounts {
                totals,
                held_bytes: 0,
                refused: 0,
                pool: Pool::default(),
            },
        })
    }

    /// Routes packets from one host to another through these nodes, in this order, as a flow's
    /// `route` does in a scenario. If there are none, they take the link between the two. The
    /// reverse route stays as it is, and so do the routes of packets already in the network.
    ///
    /// # Errors
    /// [`ScenarioError`] at `route` if a host or node does not exist, or two successive nodes have
    /// no link.
    pub fn set_route(
        &mut self,
        from: &str,
        to: &str,
        through: &[String],
    ) -> Result<(), ScenarioError> {
        let failed = |message| ScenarioError::new("route", message);
        let host = |name: &str| -> Result<(u32, u32), ScenarioError> {
            let index = self.hosts.iter().position(|host| host == name);
            let index = index.ok_or_else(|| failed(format!("there is no host \"{name}\"")))?;
            let node = self.links.node(name).expect("hosts are nodes");
            Ok((index as u32, node))
        };
        let ((from, source), (to, sink)) = (host(from)?, host(to)?);
        if source == sink {
            return Err(failed("a route leads from one host to another".to_owned()));
        }
        let way = self.links.route(source, sink, Some(through));
        let way = way.map_err(|error| failed(error.to_string()))?;
        self.routes.insert((from, to), way.hop);
        Ok(())
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
        let accounts = &mut self.accounts;
        if accounts.held_bytes + held(&packet) > MOST_BYTES {
            accounts.refused += 1;
            accounts.pool.give(packet.into_bytes());
            return Ok(());
        }
        accounts.held_bytes += held(&packet);
        packet.set_hop(hop);
        packet.to = to;
        let arrived = self.links.send(packet, accounts);
        debug_assert!(arrived.is_none(), "a route has links");
        Ok(())
    }

    /// Returns when something happens next.
    pub fn deadline(&self) -> Option<Instant> {
        self.links.deadline()
    }

    /// Advances to `now`, and passes the packets that have arrived to `arrived`, in order of time.
    pub fn advance(&mut self, now: Instant, mut arrived: impl FnMut(Arrival)) {
        let accounts = &mut self.accounts;
        self.links.advance(now, accounts, |accounts, at, packet| {
            accounts.held_bytes -= held(&packet);
            let host = packet.to;
            arrived(Arrival { at, host, packet });
        });
    }

    /// Returns what each link has done, in the order of the links, forward directions first.
    pub fn totals(&mut self) -> Vec<LinkTotals> {
        let links = self.links.links().zip(&self.accounts.totals);
        links
            .map(|(link, totals)| LinkTotals {
                queue_packets: link.queued_packets() as u64,
                ..totals.clone()
            })
            .collect()
    }

    /// Returns why a queue or a loss model can no longer decide, or `None` as long as all can.
    pub fn failure(&self) -> Option<MemberFailure> {
        self.links.failure()
    }

    /// Returns the number of packets refused because the network held [`MOST_BYTES`].
    pub const fn refused(&self) -> u64 {
        self.accounts.refused
    }

    /// Returns the buffers that no packet currently uses.
    pub(crate) const fn pool(&mut self) -> &mut Pool {
        &mut self.accounts.pool
    }

    /// Returns an empty buffer for a packet, a recycled one if there is any.
    pub fn buffer(&mut self) -> Vec<u8> {
        self.pool().take()
    }

    /// Takes back a buffer that is no longer needed, such as that of a packet that has arrived, for
    /// reuse. A network that gets all its buffers back allocates no memory for packets.
    pub fn recycle(&mut self, buffer: Vec<u8>) {
        self.pool().give(buffer);
    }
}

impl NetworkObserver<IpBuffer> for Accounts {
    fn enters(&mut self, link: u32, packet: &mut IpBuffer) {
        packet.is_marked = false;
        self.totals[link as usize].arrivals += 1;
    }

    fn leaves(&mut self, link: u32, packet: &IpBuffer) {
        let totals = &mut self.totals[link as usize];
        totals.delivered += 1;
        totals.delivered_bytes += u64::from(packet.size());
        totals.marks += u64::from(packet.is_marked);
    }

    fn dropped(&mut self, link: u32, dropped: Dropped<IpBuffer>) {
        self.totals[link as usize].drops += 1;
        self.held_bytes -= held(&dropped.packet);
        self.pool.give(dropped.packet.into_bytes());
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

/// Returns the memory that a packet takes, in bytes.
fn held(packet: &IpBuffer) -> u64 {
    packet.buffer_size() + OVERHEAD_BYTES
}
