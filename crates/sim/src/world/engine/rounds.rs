//! Rounds: in each one, every element of the network has a turn, in which it executes what no other
//! element can affect any more.

use skywave_units::{Duration, Instant};

use super::log::Log;
use super::{EVENTS_PER_REPORT, INSTANT, Simulator, Stop, World};
use crate::world::elements::{Division, Elements, Members};
use crate::world::network::Network;
use crate::world::observe::{Chronicle, Observer};
use crate::world::schedule::Actor;

/// About the most events of a round. It bounds the number of packets that wait for the turns of other
/// elements.
const EVENTS_PER_ROUND: u64 = EVENTS_PER_REPORT << 5;

/// The number of events that a turn is allowed even so.
const LEAST_EVENTS: u64 = 16;

/// The number of events after which a network is divided for the first time. A shorter run would gain
/// nothing.
const FIRST: u64 = EVENTS_PER_REPORT;

/// The number of events and turns after which a division is judged.
const WORK: u64 = EVENTS_PER_REPORT;

/// The number of events that are worth a turn. With fewer, it costs more than the order of all
/// events that it saves.
const WORTH_A_TURN: u64 = 32;

/// How many times as many events as before a network executes before it is divided again.
const PATIENCE: u64 = 4;

/// The progress of elements.
pub(super) struct Rounds {
    elements: Vec<Element>,
    /// The time before which everything has happened.
    pub(super) until: Instant,
    /// How far the elements may advance in a round. It adapts so that a round has about as many
    /// events as there are between two reports: packets that wait for their receivers' turn should
    /// stay in a cache.
    stride: Duration,
    /// The number of events at the last report.
    reported: u64,
    /// How the network is divided if that pays.
    division: Division,
    /// How many events a single element executes before the network is divided.
    patience: u64,
    work: Work,
    /// When to join the elements.
    joins_at: Option<Instant>,
}

/// What a network has shown about its division.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Keep,
    Divide,
    Join,
}

/// What has been done since the division was last judged.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    turns: u64,
    events: u64,
}

/// The progress of an element.
struct Element {
    inputs: Vec<Input>,
    /// The link that ends in it, if that is one from another element and there are no others.
    only_link: Option<u32>,
    /// The time before which everything in it has happened.
    until: Instant,
}

/// A link that ends in an element and begins in another one.
struct Input {
    link: u32,
    /// The element in which it begins.
    from: u32,
    lookahead: Duration,
}

impl Work {
    const fn add(&mut self, turns: u64, events: u64) {
        self.turns += turns;
        self.events += events;
    }
}

impl Element {
    /// Returns the only element of a network.
    const fn whole(until: Instant) -> Self {
        Self {
            inputs: Vec::new(),
            only_link: None,
            until,
        }
    }

    /// Returns one of several elements. `begins` are those in which each link begins.
    fn of(members: &Members, begins: &[u32], network: &Network, until: Instant) -> Self {
        let input = |&link: &u32| Input {
            link,
            from: begins[link as usize],
            lookahead: network.links[link as usize].lookahead(),
        };
        Self {
            inputs: members.inputs.iter().map(input).collect(),
            only_link: match (&members.links[..], &members.inputs[..]) {
                ([link], [_]) => Some(*link),
                _ => None,
            },
            until,
        }
    }
}

impl Rounds {
    /// Creates the rounds of a network that is one element.
    pub(super) fn new(division: Division) -> Self {
        Self {
            elements: vec![Element::whole(Instant::ZERO)],
            until: Instant::ZERO,
            stride: division.stride(),
            reported: 0,
            division,
            patience: FIRST,
            work: Work::default(),
            joins_at: None,
        }
    }

    /// Returns the time that an element has reached and none has passed. It may be in the middle of
    /// the events at that instant.
    fn furthest(&self) -> Instant {
        let reached = self.elements.iter().map(|element| element.until);
        reached.max().unwrap_or(self.until)
    }

    /// Judges the division from time to time.
    fn judge(&mut self) -> Verdict {
        let Work { turns, events } = self.work;
        if !self.division.adapts() || self.joins_at.is_some() {
            return Verdict::Keep;
        }
        if self.elements.len() == 1 {
            return if events < self.patience {
                Verdict::Keep
            } else {
                Verdict::Divide
            };
        }
        if events + turns < WORK {
            return Verdict::Keep;
        }
        self.work = Work::default();
        if events < turns * WORTH_A_TURN {
            Verdict::Join
        } else {
            Verdict::Keep
        }
    }

    /// Returns the time before which an element knows everything that will arrive.
    fn horizon(&self, element: usize, end: Instant) -> Instant {
        let inputs = self.elements[element].inputs.iter();
        let known = inputs.map(|input| self.elements[input.from as usize].until + input.lookahead);
        known.fold(end, Instant::min)
    }
}

impl<O: Observer + Chronicle, W: World> Simulator<O, W> {
    /// Returns the time up to which everything has happened.
    pub(crate) fn now(&self) -> Instant {
        self.rounds.until - INSTANT
    }

    /// Executes everything up to and including `end`. If `progress` returns false, stops, with some
    /// elements ahead of others.
    pub(super) fn run_rounds(
        &mut self,
        end: Instant,
        progress: &mut impl FnMut(Instant) -> bool,
    ) -> Result<(), Stop> {
        let horizon = end + INSTANT;
        while self.rounds.until < horizon {
            self.round(self.rounds.joins_at.unwrap_or(horizon).min(horizon));
            match self.rounds.judge() {
                Verdict::Keep => {}
                Verdict::Divide => self.divide(),
                Verdict::Join => {
                    self.rounds.patience = self.rounds.patience.saturating_mul(PATIENCE);
                    self.rounds.joins_at = Some(self.rounds.furthest() + INSTANT);
                }
            }
            let joins_at = self.rounds.joins_at;
            if joins_at.is_some_and(|at| at <= self.rounds.until) {
                self.join_elements();
            }
            if self.events - self.rounds.reported >= EVENTS_PER_REPORT {
                self.rounds.reported = self.events;
                self.look_outside(self.rounds.until.min(end), progress)?;
            }
        }
        Ok(())
    }

    /// Divides the network, which is one element, from here on.
    #[cold]
    #[inline(never)]
    pub(super) fn divide(&mut self) {
        let plane = &mut self.plane;
        let (rounds, network) = (&mut self.rounds, &plane.network);
        let (hosts, ports) = (&self.hosts, &plane.ports);
        let elements = Elements::new(rounds.division, network, ports, hosts, &self.sharing);
        rounds.work = Work::default();
        if elements.members.len() == 1 {
            rounds.patience = u64::MAX;
            return;
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
        if O::IS_KEPT {
            let sent = plane.bodies.stored();
            plane.log = Some(Log::new(elements.members.len(), rounds.until, sent));
        }
        let until = rounds.until;
        let of = |members| Element::of(members, &elements.begins, network, until);
        rounds.elements = elements.members.iter().map(of).collect();
        rounds.stride = rounds.division.stride();
    }

    /// Makes the whole network one element from here on. All elements have reached the same time.
    #[cold]
    #[inline(never)]
    fn join_elements(&mut self) {
        let end = self.rounds.until;
        self.rounds.joins_at = None;
        self.rounds.work = Work::default();
        self.plane.end_log(end);
        let links = self.links().len();
        self.plane.schedule.join();
        for link in 0..links as u32 {
            if let Some(at) = self.plane.network.links[link as usize].deadline() {
                self.plane.schedule.set(Actor::Link(link), at);
            }
        }
        self.rounds.elements = vec![Element::whole(end)];
    }

    fn round(&mut self, end: Instant) {
        let (before, elements) = (self.events, self.rounds.elements.len());
        let mut turns = 0;
        let mut limit = if elements > 1 {
            end.min(self.rounds.until + self.rounds.stride)
        } else {
            end
        };
        for element in 0..elements {
            let horizon = self.rounds.horizon(element, limit);
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
        if executed == 0 {
            self.skip_idle_time(end);
        } else {
            self.rounds.work.add(turns, executed);
        }
        if executed > 2 * EVENTS_PER_REPORT {
            self.rounds.stride = (self.rounds.stride / 2).max(INSTANT);
        } else if executed < EVENTS_PER_REPORT / 2 {
            self.rounds.stride = (self.rounds.stride * 2).min(self.rounds.division.stride());
        }
        let reached = self.rounds.elements.iter().map(|element| element.until);
        self.rounds.until = reached.min().unwrap_or(end);
        self.plane.keep_chronicle(self.rounds.until, false);
    }

    /// Executes what happens in an element before `horizon`, up to `most` events.
    fn turn(&mut self, index: usize, horizon: Instant, most: u64) {
        let Self { plane, rounds, .. } = self;
        let element = &rounds.elements[index];
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
        self.rounds.elements[index].until = until;
    }

    /// Moves all elements to the next event of any of them.
    fn skip_idle_time(&mut self, end: Instant) {
        let mut next = end;
        for index in 0..self.rounds.elements.len() {
            self.plane.schedule.begin(index);
            next = next.min(self.plane.schedule.peek().map_or(end, |(at, _)| at));
            for input in &self.rounds.elements[index].inputs {
                let link = &self.plane.network.links[input.link as usize];
                next = next.min(link.deadline().unwrap_or(end));
            }
        }
        for element in &mut self.rounds.elements {
            element.until = element.until.max(next);
        }
    }
}
