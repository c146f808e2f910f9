//! Regions: sharing a network out among threads.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::{iter, mem, slice};

use serde::Serialize;
use skywave_units::Instant;

use super::border::borders;
use super::log::Log;
use super::merge::Merge;
use super::plane::Plane;
use super::region::Region;
use super::rounds::Rounds;
use super::{Simulator, World};
use crate::world::application::Application;
use crate::world::bodies::Bodies;
use crate::world::elements::{Division, Elements, Place};
use crate::world::host::Host;
use crate::world::ids::{FlowId, HostId};
use crate::world::observe::{Chronicle, Observer};
use crate::world::packet::SimLink;
use crate::world::schedule::Schedule;

/// The least number of events in a round for which it is worth waking the other threads. After one with
/// fewer, the calling thread executes the next round alone.
const WORTH_WAKING: u64 = if cfg!(test) { 1 << 4 } else { 1 << 12 };

/// How a run used the threads that [`RunOptions::threads`](crate::RunOptions::threads) asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Threads {
    /// How many had a part of the network.
    pub used: usize,
    /// The fraction of events that happened while all of them were at work. In rounds with few
    /// events, one thread executes all parts.
    pub shared: f64,
    /// Why threads did not help, if several were asked for and they did not.
    pub obstacle: Option<&'static str>,
}

/// The reasons why a run does not gain from threads.
const IN_ORDER: &str =
    "a table, capture, log, check or observer of this run has to see all packets in order of time";
const ONE_PART: &str = "the whole network has to be executed in order of time: links without delay, with a \
     trace, or with a queue that keeps packets (such as CoDel) cannot separate parts, nor can links between \
     members that share state";
const REFUSED: &str = "the operating system could not start the threads";
const TOO_LITTLE: &str =
    "too few events happen within the time that packets take between parts of the network";

/// The threads that execute all regions but the first.
pub(super) struct Pool {
    threads: rayon::ThreadPool,
    /// Whether the last round had enough events.
    is_busy: bool,
    /// The number of events in rounds that several threads executed.
    events: u64,
}

impl<O: Observer + Chronicle, W: World> Simulator<O, W> {
    /// Shares the network out among up to `threads` threads, before anything happens.
    ///
    /// # Errors
    /// Why it could not. The network is one region then.
    pub(super) fn partition(&mut self, threads: usize) -> Result<(), &'static str> {
        let whole = &self.regions[0];
        let plane = &whole.plane;
        let division = whole.rounds.division();
        if division == Division::Whole {
            return Err(IN_ORDER);
        }
        let (network, ports) = (&plane.network, &plane.ports);
        let divided =
            |division| Elements::new(division, network, ports, &whole.hosts, &whole.sharing);
        let divided_at = |least| divided(division.coarser(least));
        // Members in Python stay on the thread that has started the run.
        let sharing_host = whole.sharing.first().map(|flow| flow.sender().get());
        let sharing_link = network.sharing.first().copied();
        let first = sharing_host
            .map(Place::Host)
            .or(sharing_link.map(Place::Begin));
        let (plans, map) = divided(division).regions(threads, network, ports, first, divided_at);
        if plans.len() < 2 {
            return Err(ONE_PART);
        }
        let others: Option<Vec<_>> = (1..plans.len())
            .map(|_| plane.observer.of_region().zip(plane.world.of_region()))
            .collect();
        let others = others.ok_or(IN_ORDER)?;
        // The calling thread has the first region.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(plans.len() - 1);
        let threads = pool.build().map_err(|_| REFUSED)?;
        let borders = borders(&plans, &map, network);
        let Region {
            mut hosts,
            mut applications,
            plane,
            ..
        } = self.regions.remove(0);
        let Plane {
            mut network,
            ports,
            transports,
            observer,
            world,
            verify_wire,
            ..
        } = plane;
        let watching = iter::once((observer, world)).chain(others);
        let plans = plans.into_iter().zip(borders);
        for (index, ((plan, mut border), (observer, world))) in plans.zip(watching).enumerate() {
            let is_sender_here = |flow| map.of_host(FlowId::new(flow).sender()) == index;
            let links = take(&mut network.links, SimLink::stand_in, |link| {
                map.of_link(link) == index
            });
            let (link_count, host_count) = (links.len(), hosts.len());
            let schedule = Schedule::new(slice::from_ref(&plan.whole), link_count, host_count);
            let plane = Plane {
                network: network.with_links(links),
                ports: Arc::clone(&ports),
                transports: Arc::clone(&transports),
                bodies: Bodies::default(),
                options: BTreeMap::new(),
                schedule,
                observer,
                log: O::IS_KEPT.then(|| Log::new(1)),
                verify_wire,
                mismatch: None,
                world,
            };
            let mut region = Region {
                hosts: take(
                    &mut hosts,
                    || Host::Elsewhere,
                    |host| map.of_host(HostId::new(host)) == index,
                ),
                applications: take(&mut applications, Application::elsewhere, is_sender_here),
                plane,
                sharing: Vec::new(),
                rounds: Rounds::of_region(division, plan, &network, &mut border),
                border,
                events: 0,
            };
            region.set_applications();
            self.regions.push(region);
        }
        self.map = map;
        self.merge = O::IS_KEPT.then(|| Merge::new(Instant::ZERO, 0));
        self.pool = Some(Pool {
            threads,
            is_busy: true,
            events: 0,
        });
        Ok(())
    }

    /// Returns how threads have been used so far.
    pub(crate) fn threads(&self) -> Threads {
        let events = self.pool.as_ref().map_or(0, |pool| pool.events);
        let shared = events as f64 / self.events().max(1) as f64;
        let has_gained = self.pool.is_none() || shared >= 0.5;
        Threads {
            used: self.regions.len(),
            shared,
            obstacle: self.obstacle.or((!has_gained).then_some(TOO_LITTLE)),
        }
    }

    /// Executes a round in each region. Returns the number of events.
    pub(super) fn advance_regions(&mut self, end: Instant) -> u64 {
        let before = self.events();
        match &self.pool {
            Some(pool) if pool.is_busy => {
                let (first, others) = self.regions.split_first_mut().expect("there is one");
                // Never contended: it lets each thread take its region out of a shared slice.
                let others: Vec<_> = others.iter_mut().map(Mutex::new).collect();
                pool.threads.in_place_scope(|scope| {
                    // A thread always has the same region, parts of which stay in its cache.
                    scope.spawn_broadcast(|_, thread| {
                        let other = others[thread.index()].lock();
                        other.expect("a panic ends the run").round(end);
                    });
                    first.round(end);
                });
            }
            _ => self.regions.iter_mut().for_each(|region| region.round(end)),
        }
        let executed = self.events() - before;
        if let Some(pool) = &mut self.pool {
            pool.events += if pool.is_busy { executed } else { 0 };
            pool.is_busy = executed >= WORTH_WAKING;
        }
        executed
    }
}

/// Takes the items with these indices, and leaves stand-ins. Returns them with stand-ins for the
/// others.
fn take<T>(all: &mut [T], stand_in: impl Fn() -> T, is_taken: impl Fn(u32) -> bool) -> Vec<T> {
    let all = (0..).zip(all);
    let taken = all.map(|(index, item)| match is_taken(index) {
        true => mem::replace(item, stand_in()),
        false => stand_in(),
    });
    taken.collect()
}
