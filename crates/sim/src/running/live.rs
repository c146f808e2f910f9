//! Runs in real time.
//!
//! The network and the ends of flows are those of a simulation, and so are the results. But packets
//! between them pass through sockets and devices outside, which an [`Outside`] represents:
//!
//! ```text
//! end -> Outside::send -> socket, kernel, device -> LiveRun::enters -> network
//! network -> Outside::deliver -> device, kernel, socket -> LiveRun::receives -> end
//! ```
//!
//! A run has no clock; its caller passes the time. Links act at the times at which actions are due,
//! so the errors of a late caller do not add up along a route.

mod ends;
mod world;

use std::net::Ipv4Addr;
use std::sync::Arc;

use bytes::Bytes;
use skywave_path::{AnyQueue, Discipline, KernelQueue, Qdisc};
use skywave_scenario::{LinkSpec, Scenario, ScenarioError};
use skywave_units::{Duration, Instant, Rate};
use skywave_wire::ip::IpPacket;

pub use crate::world::transport::KernelTransport;
pub use ends::{Encapsulation, EndKind, LiveEnd};

use crate::error::RunError;
use crate::running::build::Build;
use crate::running::report::{Reporter, Results};
use crate::running::run::{Files, Prepared, RunOptions, finish_files};
use crate::running::samples::{Pieces, Samples};
use crate::running::simulate::Ended;
use crate::watching::backend::Registry;
use crate::watching::probe::ProbeSetup;
use crate::watching::probes::ProbeSet;
use crate::watching::record::Fingerprint;
use crate::watching::totals::Totals;
use crate::world::elements::Division;
use crate::world::engine::{Parts, Simulator};
use crate::world::host::Supply;
use crate::world::ids::HostId;
use crate::world::transport::ClockKind;
use ends::ends;
use skywave_transport::EndStats;
use world::Sockets;

/// What a run in real time reaches: the sockets of the ends of flows, and the devices of their
/// nodes.
pub trait Outside: Send {
    /// Returns the time since the beginning of the run.
    fn now(&self) -> Instant;

    /// Sends a packet of one of our ends through its socket.
    fn send(&mut self, from: &LiveEnd, packet: &IpPacket);

    /// Delivers a packet, which left the network at time `at`, to the device of an end's node.
    fn deliver(&mut self, to: &LiveEnd, at: Instant, packet: &[u8]);

    /// Hands over what the kernel's end is to send, counted from the beginning, or asks it to open
    /// its connection.
    fn supply(&mut self, host: HostId, supply: Supply);

    /// Learns that a datagram of the kernel's end has entered the network: its send queue has room.
    fn sent(&mut self, host: HostId);

    /// Returns what the kernel reports about its end.
    fn stats(&mut self, host: HostId) -> EndStats;
}

/// A queue of the kernel that a link needs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LiveQueue {
    /// The index of the link.
    pub link: u32,
    /// The link's name.
    pub name: String,
    /// The rate at which it releases packets.
    pub rate: Rate,
    /// Its queueing discipline.
    pub discipline: Discipline,
}

/// Packets that were not part of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Strays {
    /// Packets that belong to no flow.
    pub unknown: u64,
    /// Incomplete or malformed packets.
    pub malformed: u64,
}

/// Samples are kept only if somebody reads them.
type Watching = (Totals<(ProbeSet, (Option<Pieces>, Files))>, Fingerprint);

/// A run in real time whose sockets and devices are not there yet.
pub struct PreparedRun {
    scenario: Scenario,
    build: Build,
    reporter: Reporter,
    setup: Arc<ProbeSetup>,
    observer: Watching,
    ends: Vec<LiveEnd>,
    queues: Vec<LiveQueue>,
    encapsulation: Encapsulation,
}

/// A run in real time.
pub struct LiveRun<X> {
    scenario: Scenario,
    reporter: Reporter,
    simulator: Simulator<Watching, Sockets<X>>,
    /// For each link, the least time from an arrival at its far end until an arrival at a host, or at
    /// a queue of the kernel.
    to_ends: Box<[Duration]>,
}

impl PreparedRun {
    /// Prepares a run. [`RunOptions::verify_physics`] is ignored: a real clock is late.
    ///
    /// # Errors
    /// [`RunError`], as for a simulation, or because something in the scenario can only be
    /// simulated.
    pub fn new(
        scenario: &Scenario,
        registry: &Registry,
        options: RunOptions,
        encapsulation: Encapsulation,
    ) -> Result<Self, RunError> {
        scenario.validate(registry)?;
        scenario.check_real_clock()?;
        let Prepared {
            build,
            reporter,
            setup,
            probes,
            files,
        } = Prepared::new(scenario, registry, options, ClockKind::Real)?;
        let (links, flows) = (build.network.links.len(), scenario.flows.len());
        let totals = Totals::new(links, flows, (probes, (None, files)));
        let ends = ends(scenario, &build)?;
        let queues = queues(scenario, &build)?;
        Ok(Self {
            scenario: scenario.clone(),
            build,
            reporter,
            setup,
            observer: (totals, Fingerprint::default()),
            ends,
            queues,
            encapsulation,
        })
    }

    /// Returns the ends of flows, in the order of their hosts.
    pub fn ends(&self) -> &[LiveEnd] {
        &self.ends
    }

    /// Returns the queues of the kernel that links need: give each its queue, with
    /// [`PreparedRun::set_queue`], before the run begins.
    pub fn queues(&self) -> &[LiveQueue] {
        &self.queues
    }

    /// Gives a link its queue of the kernel.
    pub fn set_queue(&mut self, queue: &LiveQueue, qdisc: Box<dyn Qdisc>) {
        let link = &mut self.build.network.links[queue.link as usize];
        link.set_queue(AnyQueue::keeps(KernelQueue::new(
            qdisc,
            queue.discipline.mtu,
        )));
    }

    /// Returns the name of a node.
    pub fn node(&self, index: u32) -> &str {
        &self.build.network.nodes()[index as usize]
    }

    /// Keeps what is sampled for [`LiveRun::samples`], which must then be called from time to time.
    pub fn keep_samples(&mut self) {
        let (totals, _) = &mut self.observer;
        let (_, (pieces, _)) = &mut totals.observer;
        *pieces = Some(Pieces::new(&self.setup, &self.scenario));
    }

    /// Begins the run at time zero.
    pub fn begin<X: Outside>(self, outside: X) -> LiveRun<X> {
        let Build {
            network,
            hosts,
            applications,
            ports,
            transports,
            sharing,
            ..
        } = self.build;
        // A queue of the kernel must learn of each packet in time, as the ends of flows must.
        let queues = network.kernel_queues();
        let queues = queues.map(|(link, _)| network.names[link as usize].from);
        let to_ends = network.least_times_to(self.ends.iter().map(|end| end.node).chain(queues));
        let simulator = Simulator::new(Parts {
            network,
            hosts,
            applications,
            ports,
            transports,
            sharing,
            observer: self.observer,
            sample_interval: Some(self.scenario.probes.interval),
            division: Division::Whole,
            threads: 1,
            verify_wire: false,
            world: Sockets::new(outside, self.ends, self.encapsulation),
        });
        LiveRun {
            scenario: self.scenario,
            reporter: self.reporter,
            simulator,
            to_ends,
        }
    }
}

impl<X: Outside> LiveRun<X> {
    /// Returns when to advance next, unless a packet arrives earlier.
    pub fn deadline(&self) -> Option<Instant> {
        self.simulator.deadline(&self.to_ends)
    }

    /// Does what is due up to `now`. Times never decrease. At the end of the scenario, the last
    /// sample is taken.
    pub fn advance(&mut self, now: Instant) {
        self.simulator.advance(now);
        if now - Instant::ZERO >= self.scenario.duration {
            self.simulator.sample_rest(now);
        }
    }

    /// Takes a packet, from its IP header on, that a node has sent to its device, at the time to
    /// which the run has advanced.
    pub fn enters(&mut self, now: Instant, bytes: Vec<u8>) {
        let packet = IpPacket::parse(&Bytes::copy_from_slice(&bytes));
        if let Some((to, ecn, body)) = self.simulator.world().recognise(packet.ok()) {
            self.simulator.world().count(to, &body);
            self.simulator.enter(now, to, ecn, body, bytes);
        }
    }

    /// Takes what the kernel's queue of a link has released, at the time to which the run has advanced.
    pub fn released(&mut self, now: Instant, link: u32) {
        self.simulator.released(now, link);
    }

    /// Takes a packet that has arrived at the socket of one of our ends, at the time to which the run
    /// has advanced.
    pub fn receives(&mut self, now: Instant, packet: IpPacket) {
        if let Some((to, ecn, body)) = self.simulator.world().recognise(Some(packet)) {
            self.simulator.receive(now, to, ecn, body);
        }
    }

    /// Checks whether the run can go on.
    ///
    /// # Errors
    /// [`RunError`] if the control of a flow failed, an end had something to send that no packet
    /// can hold, or two flows ended up with the same port.
    pub fn check(&mut self) -> Result<(), RunError> {
        if let Some(failure) = self.simulator.world().failure() {
            return Err(failure);
        }
        let stopped = self.simulator.check();
        stopped.map_err(|stop| stop.of_run(&self.scenario))
    }

    /// Returns what has been sampled since the last call; nothing if it is not kept
    /// ([`PreparedRun::keep_samples`]).
    ///
    /// # Errors
    /// [`RunError::Table`] if the columns do not form a table.
    pub fn samples(&mut self) -> Result<Samples, RunError> {
        let now = self.simulator.world().outside().now();
        let (totals, _) = self.simulator.observer();
        let (_, (pieces, _)) = &mut totals.observer;
        match pieces {
            Some(pieces) => pieces.take(&self.reporter, now),
            None => Ok(Samples::new()),
        }
    }

    /// Returns the outside.
    pub fn outside(&mut self) -> &mut X {
        self.simulator.world().outside()
    }

    /// Ends the run after this time. Returns its results, the outside, and the packets that did not
    /// belong to it. A run that ends early has the results up to that point.
    ///
    /// # Errors
    /// [`RunError`] as from [`LiveRun::check`], or if something could not be written.
    pub fn finish(mut self, elapsed: Duration) -> Result<(Results, X, Strays), RunError> {
        let end = Instant::ZERO + elapsed;
        self.simulator.sample_rest(end);
        self.check()?;
        let scenario = Scenario {
            duration: elapsed,
            ..self.scenario
        };
        let (outside, strays) = self.simulator.world().end();
        let mut ended = Ended::of(self.simulator, end);
        let (_, (_, files)) = &mut ended.observer.observer;
        finish_files(std::mem::take(files))?;
        let results = self.reporter.report(&scenario, ended)?;
        Ok((results, outside, strays))
    }
}

/// Returns the queues of the kernel that links need.
fn queues(scenario: &Scenario, build: &Build) -> Result<Vec<LiveQueue>, ScenarioError> {
    let (_, specs) = scenario.topology();
    let directions: Vec<_> = specs.iter().flat_map(LinkSpec::directions).collect();
    let queue = |(link, discipline): (u32, &Discipline)| {
        let direction = &directions[link as usize];
        let name = direction.name();
        if direction.trace.is_some() {
            let message = "a queue of the kernel serves a constant rate: leave out the trace";
            return Err(ScenarioError::new(format!("link \"{name}\""), message));
        }
        Ok(LiveQueue {
            link,
            name,
            rate: direction.rate,
            discipline: discipline.clone(),
        })
    };
    build.network.kernel_queues().map(queue).collect()
}

/// Returns the kernel's address of a node.
fn kernel_address(node: u32) -> Ipv4Addr {
    crate::world::wire_check::address(node)
}

/// Returns the address of a node's TCP in user space: 10.128.0.1 plus its index. The kernel does
/// not know this address, and so does not reset its connections.
fn user_space_address(node: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(Ipv4Addr::new(10, 128, 0, 1).to_bits() + node)
}
