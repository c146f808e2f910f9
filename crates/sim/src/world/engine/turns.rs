//! Rounds: in each one, every element of a region has a turn, in which it executes what no other element
//! can affect any more.

use std::slice;

use skywave_units::Instant;

use super::border::Inlet;
use super::log::Log;
use super::merge::Merge;
use super::region::Region;
use super::rounds::{Input, Verdict, Work};
use super::{EVENTS_PER_REPORT, INSTANT, Simulator, Stop, World};
use crate::world::elements::{Division, Elements, Members};
use crate::world::observe::{Chronicle, Observer};
use crate::world::schedule::Actor;

/// About the most events of a round. It bounds the number of packets that wait for the turns of other
/// elements.
const EVENTS_PER_ROUND: u64 = EVENTS_PER_REPORT << 5;

/// The number of events that a turn is allowed even so.
const LEAST_EVENTS: u64 = 16;

/// How many times as many events as before a network executes before it is divided again.
const PATIENCE: u64 = 4;

impl<O: Observer + Chronicle, W: World> Simulator<O, W> {
    /// Executes everything up to and including `end`. If `progress` returns false, stops, with some
    /// elements ahead of others.
    pub(super) fn run_rounds(
        &mut self,
        end: Instant,
        progress: &mut impl FnMut(Instant) -> bool,
    ) -> Result<(), Stop> {
        let horizon = end + INSTANT;
        while self.until < horizon {
            // No region should run far ahead of others that it has no news from.
            let limit = if self.regions.len() > 1 {
                horizon.min(self.until + Division::LONGEST_STRIDE)
            } else {
                horizon
            };
            if self.advance_regions(limit) == 0 {
                self.skip_idle_time(horizon);
            }
            self.exchange();
            let reached = self.regions.iter().map(|region| region.rounds.until);
            self.until = reached.min().unwrap_or(horizon);
            self.keep_chronicle(false);
            for region in 0..self.regions.len() {
                self.adapt(region);
            }
            if self.events() - self.reported >= EVENTS_PER_REPORT {
                self.reported = self.events();
                self.look_outside(self.until.min(end), progress)?;
            }
        }
        Ok(())
    }

    /// Moves all elements to the next event of any of them.
    fn skip_idle_time(&mut self, end: Instant) {
        let regions = self.regions.iter_mut();
        let next = regions.map(|region| region.next_event(end)).min();
        let next = next.unwrap_or(end);
        for region in &mut self.regions {
            region.rounds.skip_to(next.min(region.rounds.end(end)));
        }
    }

    /// Divides a region, or joins its elements, if that pays.
    fn adapt(&mut self, region: usize) {
        let rounds = &mut self.regions[region].rounds;
        match rounds.judge() {
            Verdict::Keep => {}
            Verdict::Divide => self.divide(region),
            Verdict::Join => {
                rounds.patience = rounds.patience.saturating_mul(PATIENCE);
                rounds.joins_at = Some(rounds.furthest() + INSTANT);
            }
        }
        let rounds = &self.regions[region].rounds;
        if rounds.joins_at.is_some_and(|at| at <= rounds.until) {
            self.join(region);
        }
    }

    /// Divides a region, which is one element, from here on.
    #[cold]
    #[inline(never)]
    pub(super) fn divide(&mut self, region: usize) {
        let region = &mut self.regions[region];
        let elements = region.divide();
        if elements > 1 && O::IS_KEPT {
            match &mut region.plane.log {
                Some(log) => log.divide(elements),
                None => {
                    region.plane.log = Some(Log::new(elements));
                    let sent = region.plane.bodies.stored();
                    self.merge = Some(Merge::new(region.rounds.until, sent));
                }
            }
        }
    }

    /// Makes a region one element from here on. Its elements have reached the same time.
    #[cold]
    #[inline(never)]
    fn join(&mut self, region: usize) {
        if self.regions.len() == 1 {
            self.end_log();
        } else if let Some(log) = &mut self.regions[region].plane.log {
            log.join();
        }
        self.regions[region].join();
    }
}

impl<O: Observer + Chronicle, W: World> Region<O, W> {
    /// Divides the region if it has several elements. Returns their number.
    fn divide(&mut self) -> usize {
        let Self { plane, rounds, .. } = self;
        let (network, ports) = (&plane.network, &plane.ports);
        let plan = rounds.plan.take();
        let of_whole;
        let elements = match &plan {
            Some(plan) => &plan.elements,
            None => {
                let (division, sharing) = (rounds.division, &self.sharing);
                of_whole = Elements::new(division, network, ports, &self.hosts, sharing);
                &of_whole
            }
        };
        rounds.work = Work::default();
        if elements.members.len() == 1 {
            rounds.patience = u64::MAX;
            rounds.plan = plan;
            return 1;
        }
        plane.schedule.divide(&elements.members);
        for (element, members) in elements.members.iter().enumerate() {
            plane.schedule.begin(element);
            for &link in &members.links {
                if let Some(at) = network.links[link as usize].deadline() {
                    plane.schedule.set_arrival(link, at);
                }
            }
        }
        let begins = |link| elements.begins[link as usize];
        rounds.set_elements(&elements.members, begins, network, &mut self.border);
        rounds.stride = rounds.division.stride();
        rounds.plan = plan;
        rounds.elements.len()
    }

    /// Makes the region one element.
    fn join(&mut self) {
        let Self { plane, rounds, .. } = self;
        rounds.joins_at = None;
        rounds.work = Work::default();
        let network = &plane.network;
        let whole = match &rounds.plan {
            Some(plan) => plan.whole.clone(),
            None => Members::whole(network.links.len(), self.hosts.len()),
        };
        rounds.set_elements(slice::from_ref(&whole), |_| 0, network, &mut self.border);
        plane.schedule.join(&whole);
        for &link in &whole.links {
            if let Some(at) = network.links[link as usize].deadline() {
                plane.schedule.set(Actor::Link(link), at);
            }
        }
    }

    /// Executes a round of the elements, up to `end` at most.
    pub(super) fn round(&mut self, end: Instant) {
        let end = self.rounds.end(end);
        let (before, elements) = (self.events, self.rounds.elements.len());
        let mut turns = 0;
        let mut limit = if elements > 1 {
            end.min(self.rounds.until + self.rounds.stride)
        } else {
            end
        };
        for element in 0..elements {
            let horizon = self.rounds.horizon(element, &self.border.inlets, limit);
            if self.rounds.elements[element].until < horizon {
                turns += 1;
                let left = EVENTS_PER_ROUND.saturating_sub(self.events - before);
                self.turn(
                    element,
                    horizon,
                    left.clamp(LEAST_EVENTS, EVENTS_PER_REPORT),
                );
                // There is no use in being ahead of an element that has used up its events.
                if self.rounds.elements[element].until < horizon {
                    limit = limit.min(self.rounds.elements[element].until);
                }
            }
        }
        let executed = self.events - before;
        if executed > 0 {
            self.rounds.work.add(turns, executed);
        }
        self.rounds.adapt_stride(executed);
        self.rounds.note_until();
    }

    /// Executes what happens in an element before `horizon`, up to `most` events.
    fn turn(&mut self, index: usize, horizon: Instant, most: u64) {
        let Self {
            plane,
            rounds,
            border,
            ..
        } = self;
        let element = &rounds.elements[index];
        for inlet in element.inputs.iter().filter_map(Input::inlet) {
            plane.take_in(&mut border.inlets[inlet]);
        }
        plane.schedule.begin(index);
        if let Some(log) = &mut plane.log {
            log.turn(index);
        }
        let until = match element.only_link {
            Some(link) => self.scan(link, horizon, most),
            None => {
                for input in &element.inputs {
                    if let Some(at) = plane.network.links[input.link as usize].deadline() {
                        plane.schedule.set(Actor::Link(input.link), at);
                    }
                }
                self.run_events(horizon, most)
            }
        };
        let element = &mut self.rounds.elements[index];
        element.until = until;
        self.border.send_out(&element.outlets, &mut self.plane);
    }

    /// Returns the time of the next event of any element, up to `end`.
    fn next_event(&mut self, end: Instant) -> Instant {
        let mut next = end;
        for (index, element) in self.rounds.elements.iter().enumerate() {
            self.plane.schedule.begin(index);
            next = next.min(self.plane.schedule.peek().map_or(end, |(at, _)| at));
            for input in &element.inputs {
                let link = &self.plane.network.links[input.link as usize];
                let inlet = input.inlet().map(|inlet| &self.border.inlets[inlet]);
                let mail = inlet.and_then(Inlet::first_arrival);
                next = next
                    .min(link.deadline().unwrap_or(end))
                    .min(mail.unwrap_or(end));
            }
        }
        next
    }
}
