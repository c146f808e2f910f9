//! A simulation: regions of a network, samples and reports. `region` is the event loop, `turns` gives
//! elements their turns in `rounds`, `regions` shares them out among threads, `border` carries packets
//! between regions, `merge` puts what is in the `log` into order of time, `plane` is the network, `ends`
//! are hosts and applications, and `world` is what lies between them and the network, as in an `open` one.

mod border;
mod ends;
mod log;
mod merge;
mod open;
mod plane;
mod region;
mod regions;
mod rounds;
mod turns;
mod world;

use skywave_registry::MemberFailure;
use skywave_scenario::{LinkSpec, Scenario};
use skywave_units::{Duration, Instant};

use crate::error::RunError;
use crate::error::WireMismatch;
use crate::world::application::Application;
use crate::world::elements::Division;
use crate::world::host::Host;
use crate::world::ids::{FlowId, HostId};
use crate::world::network::Network;
use crate::world::observe::{Chronicle, Observer};
use crate::world::packet::{Port, SimLink};
use crate::world::partition::Map;
use crate::world::transport::Transport;
use crate::world::view::Sample;

use merge::Merge;
use plane::Plane;
use region::Region;
use regions::Pool;
pub use regions::Threads;
pub(crate) use world::{Attached, World};

/// The time between two instants.
const INSTANT: Duration = Duration::from_nanos(1);

/// The number of events between calls of `progress`, at the end of the round in which it is reached.
/// That gives some hundreds of calls per second.
///
/// Few in this crate's own tests, which then end turns early, too.
const EVENTS_PER_REPORT: u64 = if cfg!(test) { 1 << 6 } else { 1 << 15 };

/// The least number of events per host and link between two checks for members that have failed. A
/// check visits all of them, and should cost next to nothing compared with the events.
const EVENTS_PER_VISIT: u64 = 32;

/// A simulation in progress.
pub(crate) struct Simulator<O, W = Attached> {
    /// The whole network, or as many regions of it as there are threads.
    regions: Vec<Region<O, W>>,
    map: Map,
    /// The threads, if there are several.
    pool: Option<Pool>,
    /// Why the threads that were asked for have no regions.
    obstacle: Option<&'static str>,
    /// How far the logs of all elements have been merged, if there are any.
    merge: Option<Merge>,
    /// The time before which everything has happened.
    until: Instant,
    sample_interval: Option<Duration>,
    /// When the last sample was taken.
    sampled: Instant,
    samples: u64,
    /// The number of events at the last report.
    reported: u64,
    /// The number of events at which to check for failed members next.
    next_look: u64,
}

/// The reason why a run stopped early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The progress callback asked to stop.
    Interrupted,
    /// The control of a flow failed.
    Control(FlowId, MemberFailure),
    /// The source of a flow failed.
    Source(FlowId, MemberFailure),
    /// The queue or the loss model of a link failed.
    Link(u32, MemberFailure),
    /// A packet differed after encoding and parsing.
    Wire(WireMismatch),
}

impl Stop {
    /// Returns its place among several, of which a run reports the first.
    const fn order(&self) -> (u8, u32) {
        match self {
            Self::Interrupted | Self::Wire(_) => (0, 0),
            Self::Control(flow, _) => (1, flow.get()),
            Self::Source(flow, _) => (2, flow.get()),
            Self::Link(link, _) => (3, *link),
        }
    }

    /// Returns the error of a run that it ends.
    pub(crate) fn of_run(self, scenario: &Scenario) -> RunError {
        let of = |flow: FlowId| format!("flow {:?}", scenario.flows[flow.index()].name);
        let (kind, place, failure) = match self {
            Self::Interrupted => return RunError::Interrupted,
            Self::Wire(mismatch) => return mismatch.into(),
            Self::Control(flow, failure) => ("congestion control", of(flow), failure),
            Self::Source(flow, failure) => ("source", of(flow), failure),
            Self::Link(link, failure) => {
                let (_, specs) = scenario.topology();
                let mut directions = specs.iter().flat_map(LinkSpec::directions);
                let direction = directions.nth(link as usize).expect("links do not change");
                let place = format!("link {:?}", direction.name());
                ("queue or loss model", place, failure)
            }
        };
        RunError::Member {
            scenario: scenario.name.clone(),
            kind,
            place,
            failure,
        }
    }
}

/// The parts of a simulation.
pub(crate) struct Parts<O, W> {
    pub(crate) network: Network,
    pub(crate) hosts: Vec<Host>,
    pub(crate) applications: Vec<Application>,
    pub(crate) ports: Vec<Port>,
    pub(crate) transports: Vec<Transport>,
    /// The flows whose controls or sources share state.
    pub(crate) sharing: Vec<FlowId>,
    pub(crate) observer: O,
    /// The interval between samples; `None` disables sampling.
    pub(crate) sample_interval: Option<Duration>,
    pub(crate) division: Division,
    /// The number of threads.
    pub(crate) threads: usize,
    pub(crate) verify_wire: bool,
    pub(crate) world: W,
}

impl<O: Observer + Chronicle, W: World> Simulator<O, W> {
    /// Creates a simulation at time zero.
    pub(crate) fn new(parts: Parts<O, W>) -> Self {
        let (interval, division, threads) = (parts.sample_interval, parts.division, parts.threads);
        let mut simulator = Self {
            regions: vec![Region::new(parts)],
            map: Map::default(),
            pool: None,
            obstacle: None,
            merge: None,
            until: Instant::ZERO,
            sample_interval: interval,
            sampled: Instant::ZERO,
            samples: 0,
            reported: 0,
            next_look: 0,
        };
        if threads > 1 {
            simulator.obstacle = simulator.partition(threads).err();
        }
        if division.is_fixed() {
            for region in 0..simulator.regions.len() {
                simulator.divide(region);
            }
        }
        simulator
    }

    /// Runs until `end`, including events at `end`. Calls `progress` regularly with the current
    /// time; the run stops if it returns false.
    pub(crate) fn run(
        &mut self,
        end: Instant,
        mut progress: impl FnMut(Instant) -> bool,
    ) -> Result<(), Stop> {
        while let Some(at) = self.next_sample().filter(|&at| at <= end) {
            self.run_rounds(at, &mut progress)?;
            self.sample(at);
        }
        self.run_rounds(end, &mut progress)?;
        self.keep_chronicle(true);
        self.check()
    }

    /// Returns the time up to which everything has happened.
    pub(crate) fn now(&self) -> Instant {
        self.until - INSTANT
    }

    /// Returns when the next sample is due. It comes after everything else at that time, and so
    /// sees its effects.
    fn next_sample(&self) -> Option<Instant> {
        self.sample_interval.map(|interval| self.sampled + interval)
    }

    /// Reports progress, and stops if something has failed.
    #[cold]
    #[inline(never)]
    fn look_outside(
        &mut self,
        now: Instant,
        progress: &mut impl FnMut(Instant) -> bool,
    ) -> Result<(), Stop> {
        if self.events() >= self.next_look {
            self.check()?;
            let visits: u64 = self.regions.iter().map(Region::members).sum();
            self.next_look = self.events() + EVENTS_PER_REPORT.max(visits * EVENTS_PER_VISIT);
        }
        if progress(now) {
            Ok(())
        } else {
            Err(Stop::Interrupted)
        }
    }

    /// Checks whether a packet has differed, or a control, a source, a queue or a loss model has
    /// failed.
    pub(crate) fn check(&self) -> Result<(), Stop> {
        let failed = self
            .regions
            .iter()
            .filter_map(|region| region.check().err());
        failed.min_by_key(Stop::order).map_or(Ok(()), Err)
    }

    /// Returns the number of events so far. A sample counts as one.
    pub(crate) fn events(&self) -> u64 {
        let events = self.regions.iter().map(|region| region.events);
        events.sum::<u64>() + self.samples
    }

    /// Returns the hosts of all regions, in the order of their [`HostId`]s.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = &Host> {
        let hosts = (0..self.regions[0].hosts.len() as u32).map(HostId::new);
        hosts.map(|id| &self.regions[self.map.of_host(id)].hosts[id.index()])
    }

    /// Returns the links of all regions, in order.
    pub(crate) fn links(&self) -> impl Iterator<Item = &SimLink> {
        let links = 0..self.regions[0].plane.network.links.len() as u32;
        links.map(|link| {
            let region = &self.regions[self.map.of_link(link)];
            &region.plane.network.links[link as usize]
        })
    }

    /// Returns the applications of all regions, in the order of their flows.
    pub(crate) fn applications(&self) -> impl Iterator<Item = &Application> {
        let flows = (0..self.regions[0].applications.len() as u32).map(FlowId::new);
        flows.map(|flow| {
            let region = &self.regions[self.map.of_host(flow.sender())];
            &region.applications[flow.index()]
        })
    }

    /// Returns the observer.
    pub(crate) fn observer(&mut self) -> &mut O {
        &mut self.regions[0].plane.observer
    }

    /// Ends the simulation and returns its observer.
    pub(crate) fn into_observer(mut self) -> O {
        self.add_up();
        self.regions.swap_remove(0).plane.observer
    }

    /// Adds what the observers of other regions have counted to that of the first.
    fn add_up(&mut self) {
        let (first, others) = self.regions.split_first_mut().expect("there is one");
        for other in others {
            first.plane.observer.absorb(&mut other.plane.observer);
        }
    }

    /// Samples the part of an interval that has passed at the end of the run. Does nothing at the
    /// end of a whole interval, whose sample has already been taken.
    pub(crate) fn sample_rest(&mut self, end: Instant) {
        if self.sample_interval.is_some() && end > self.sampled {
            self.sample(end);
        }
    }

    fn sample(&mut self, now: Instant) {
        self.sampled = now;
        self.samples += 1;
        if W::IS_OPEN {
            self.ask_outside(now);
        }
        self.add_up();
        for link in 0..self.regions[0].plane.network.links.len() as u32 {
            let region = &mut self.regions[self.map.of_link(link)];
            region.plane.network.links[link as usize].expire(now);
        }
        let (first, others) = self.regions.split_first_mut().expect("there is one");
        let Plane {
            network, observer, ..
        } = &mut first.plane;
        let mut regions = vec![(&*network.links, &*first.hosts)];
        regions.extend(
            others
                .iter()
                .map(|region| (&*region.plane.network.links, &*region.hosts)),
        );
        observer.sample(now, Sample::new(&regions, &self.map));
    }
}
