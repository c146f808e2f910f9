//! Regions: sharing a network out among threads, and carrying packets between them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::{iter, mem, slice};

use serde::Serialize;
use skywave_units::{Duration, Instant};
use skywave_wire::quick_start::QuickStart;

use super::log::{Log, Merge};
use super::plane::Plane;
use super::region::Region;
use super::rounds::Rounds;
use super::{Simulator, World};
use crate::world::application::Application;
use crate::world::bodies::{Abroad, Bodies, Label};
use crate::world::elements::{Division, Elements, Map, RegionPlan};
use crate::world::host::Host;
use crate::world::ids::{FlowId, HostId};
use crate::world::network::Network;
use crate::world::observe::{Chronicle, Observer};
use crate::world::packet::{Body, Frame, SimLink};
use crate::world::schedule::Schedule;

/// The number of events in a round that are worth waking other threads. A round with fewer is executed
/// by the calling thread.
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
    "a table, a capture, a log or a check of this run has to see all packets in order of time";
const ONE_PART: &str = "the network has no parts between which packets take time";
const REFUSED: &str = "the system starts no more threads";
const TOO_LITTLE: &str =
    "too little happens in the time that packets take between the parts of the network";

/// The threads that execute all regions but the first.
pub(super) struct Pool {
    threads: rayon::ThreadPool,
    /// Whether the last round had enough events.
    is_busy: bool,
    /// The number of events in rounds that several threads executed.
    events: u64,
}

/// The border of a region: the links that cross it.
#[derive(Default)]
pub(super) struct Border {
    /// Links that begin in another region, in ascending order.
    pub(super) inlets: Vec<Inlet>,
    /// Links that end in another region, in ascending order.
    pub(super) outlets: Vec<Outlet>,
    /// The region's own index.
    region: u32,
}

/// A link that begins in another region.
pub(super) struct Inlet {
    pub(super) link: u32,
    pub(super) lookahead: Duration,
    /// The time before which everything has happened in the element where it begins.
    pub(super) until: Instant,
    /// The region where it begins, and its place among the outlets there.
    region: usize,
    outlet: usize,
    /// What has arrived since the last turn of the element in which it ends.
    mail: Mail,
}

/// A link that ends in another region.
pub(super) struct Outlet {
    pub(super) link: u32,
    /// The element in which it begins.
    pub(super) element: u32,
    /// What has been sent in this round.
    mail: Mail,
}

/// Packets on a link that crosses a border.
#[derive(Default)]
struct Mail {
    packets: Vec<Crossing>,
    /// The Quick-Start options of some of these packets, by their place.
    options: Vec<(usize, QuickStart)>,
}

/// A packet on a link that crosses a border.
struct Crossing {
    arrival: Instant,
    frame: Frame,
    label: Label,
    body: Body,
}

impl<O: Observer + Chronicle, W: World> Simulator<O, W> {
    /// Shares the network out among up to `threads` threads, before anything happens.
    ///
    /// # Errors
    /// Why it could not. The network is one region then.
    pub(super) fn spread(&mut self, threads: usize) -> Result<(), &'static str> {
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
        let (plans, map) = divided(division).regions(threads, network, ports, divided_at);
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
                let others: Vec<_> = others.iter_mut().map(Mutex::new).collect();
                pool.threads.in_place_scope(|scope| {
                    // A thread always has the same region, parts of which stay in its cache.
                    scope.spawn_broadcast(|_, thread| {
                        let other = others[thread.index()].lock();
                        other.expect("no other thread has it").round(end);
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

    /// Hands over what crosses borders: packets, and how far the elements are from which they come.
    pub(super) fn exchange(&mut self) {
        for to in 0..self.regions.len() {
            for inlet in 0..self.regions[to].border.inlets.len() {
                let from = self.regions[to].border.inlets[inlet].region;
                let both = self.regions.get_disjoint_mut([from, to]);
                let [from, to] = both.expect("a link that crosses a border has two regions");
                let inlet = &mut to.border.inlets[inlet];
                let outlet = &mut from.border.outlets[inlet.outlet];
                inlet.until = from.rounds.until_of(outlet.element);
                inlet.mail.receive(&mut outlet.mail);
            }
        }
    }
}

impl Mail {
    /// Takes what is in other mail, after what is in this.
    fn receive(&mut self, other: &mut Self) {
        if self.packets.is_empty() {
            // The memory goes back and forth.
            return mem::swap(self, other);
        }
        let before = self.packets.len();
        self.packets.append(&mut other.packets);
        let options = other.options.drain(..);
        self.options
            .extend(options.map(|(of, option)| (before + of, option)));
    }
}

impl<O: Observer + Chronicle, W: World> Plane<O, W> {
    /// Puts packets from another region on their link.
    pub(super) fn take_in(&mut self, inlet: &mut Inlet) {
        let link = &mut self.network.links[inlet.link as usize];
        let mut options = inlet.mail.options.drain(..).peekable();
        for (place, packet) in inlet.mail.packets.drain(..).enumerate() {
            let key = self.bodies.insert_labelled(packet.label, packet.body);
            if let Some((_, option)) = options.next_if(|&(of, _)| of == place) {
                self.options.insert(key as usize, option);
            }
            link.carry(packet.arrival, packet.frame.with_body(key));
        }
    }

    /// Takes packets to another region from their link.
    fn send_out(&mut self, outlet: &mut Outlet, region: u32) {
        let link = &mut self.network.links[outlet.link as usize];
        let mail = &mut outlet.mail;
        while let Some((arrival, frame)) = link.dequeue_before(Instant::MAX) {
            let slot = frame.body();
            let mut label = self.bodies.label(slot);
            let is_from_here = Abroad::of(label.number).is_none();
            let body = if self.log.is_some() && is_from_here {
                // The packet gets its number in this slot, which is not used again until then.
                let slot = slot as u32;
                label.number = Abroad { region, slot }.in_place_of_number();
                self.bodies.take(frame.body())
            } else {
                self.bodies.remove(slot)
            };
            if !self.options.is_empty()
                && let Some(option) = self.options.remove(&slot)
            {
                mail.options.push((mail.packets.len(), option));
            }
            mail.packets.push(Crossing {
                arrival,
                frame,
                label,
                body,
            });
        }
    }
}

impl Border {
    /// Sends out what is on links that begin in an element.
    pub(super) fn send_out<O: Observer + Chronicle, W: World>(
        &mut self,
        outlets: &[u32],
        plane: &mut Plane<O, W>,
    ) {
        for &outlet in outlets {
            plane.send_out(&mut self.outlets[outlet as usize], self.region);
        }
    }
}

impl Inlet {
    /// Returns when the first packet arrives that is not on its link yet.
    pub(super) fn first_arrival(&self) -> Option<Instant> {
        self.mail.packets.iter().map(|packet| packet.arrival).min()
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

/// Returns the border of each region.
fn borders(plans: &[RegionPlan], map: &Map, network: &Network) -> Vec<Border> {
    let border = |region| Border {
        region,
        ..Border::default()
    };
    let mut borders: Vec<_> = (0..plans.len() as u32).map(border).collect();
    for &link in plans.iter().flat_map(|plan| &plan.whole.inputs) {
        borders[map.of_link(link)].outlets.push(Outlet {
            link,
            element: 0,
            mail: Mail::default(),
        });
    }
    for border in &mut borders {
        border.outlets.sort_by_key(|outlet| outlet.link);
    }
    for (to, plan) in plans.iter().enumerate() {
        let inlet = |&link: &u32| {
            let region = map.of_link(link);
            let outlets = &borders[region].outlets;
            Inlet {
                link,
                lookahead: network.links[link as usize].lookahead(),
                until: Instant::ZERO,
                region,
                outlet: outlets.partition_point(|outlet| outlet.link < link),
                mail: Mail::default(),
            }
        };
        borders[to].inlets = plan.whole.inputs.iter().map(inlet).collect();
    }
    borders
}
