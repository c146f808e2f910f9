//! The event schedule, with one entry per actor rather than per packet.

use std::{mem, slice};

use skywave_units::Instant;

use crate::world::elements::Members;
use crate::world::ids::{FlowId, HostId};
use crate::world::tournament::Tournament;

/// Times from here on mean no event: 292 years, longer than any run.
const NEVER: u64 = 1 << 63;

/// Links without an event have times from here on, after all timers without one.
const NEVER_OF_LINKS: u64 = NEVER + (1 << 32);

/// What has events, at most one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Actor {
    /// A link: its next arrival.
    Link(u32),
    /// A host: the timer of its endpoint.
    Host(HostId),
    /// The application of a flow: its next datagram.
    Application(FlowId),
}

/// Pending events, by element.
///
/// Events at the same instant occur in the order of their actors: links, hosts, applications, each
/// by index. Because an actor has at most one event, (time, kind, index) is a unique key. It depends
/// on the scenario alone, not on the order of scheduling, so the elements of a network can be
/// executed one after the other with the same results.
///
/// The order of kinds is that of causes. Packets arrive before a timer or a source at the same
/// instant acts, so a retransmission timer does not fire when its acknowledgement has already
/// arrived.
#[derive(Debug)]
pub(crate) struct Schedule {
    /// The events of the element whose turn it is.
    turn: Pending,
    /// The events of the other elements. Those of `element` are in `turn`.
    others: Vec<Pending>,
    element: usize,
    places: Places,
}

/// Where an actor's entry is in the tournament of its element.
#[derive(Debug)]
struct Places {
    /// For a link that ends in another element than the one in which it begins, or in none of these
    /// elements, [`CROSSES`] is added.
    links: Vec<u32>,
    hosts: Vec<u32>,
}

/// Marks a link that leads to another element.
const CROSSES: u32 = 1 << 31;

/// The pending events of an element, in two tournaments for two kinds of actors: a few whose events
/// change with every packet, and many that rarely change.
#[derive(Debug)]
struct Pending {
    links: Tournament,
    /// Hosts, senders first, then the applications of the senders in the same order.
    timers: Tournament,
    /// The number of hosts.
    hosts: u32,
}

impl Schedule {
    /// Creates a schedule without events for these elements of a network with so many links and
    /// hosts. The turn is the first element's.
    pub(crate) fn new(elements: &[Members], links: usize, hosts: usize) -> Self {
        let mut places = Places {
            links: vec![CROSSES; links],
            hosts: vec![0; hosts],
        };
        let mut others: Vec<_> = elements
            .iter()
            .map(|members| Pending::of(members, &mut places))
            .collect();
        let turn = mem::take(&mut others[0]);
        Self {
            turn,
            others,
            element: 0,
            places,
        }
    }

    /// Gives the turn to an element.
    pub(crate) fn begin(&mut self, element: usize) {
        mem::swap(&mut self.turn, &mut self.others[self.element]);
        mem::swap(&mut self.turn, &mut self.others[element]);
        self.element = element;
    }

    /// Divides what is one element. Timers stay, and arrivals have to be set again.
    pub(crate) fn divide(&mut self, elements: &[Members]) {
        let (links, hosts) = (self.places.links.len(), self.places.hosts.len());
        let mut divided = Self::new(elements, links, hosts);
        for (element, members) in elements.iter().enumerate() {
            divided.begin(element);
            for host in members.hosts.iter().map(|&host| HostId::new(host)) {
                let application = host.is_sender().then(|| Actor::Application(host.flow()));
                for actor in [Actor::Host(host)].into_iter().chain(application) {
                    let (tournament, place, _) = self.entry(actor);
                    let due = tournament.due(place);
                    if due < NEVER {
                        divided.set(actor, Instant::from_nanos(due));
                    }
                }
            }
        }
        *self = divided;
    }

    /// Joins all elements to one with these members. Timers stay, and arrivals have to be set again.
    pub(crate) fn join(&mut self, whole: &Members) {
        let (links, hosts) = (self.places.links.len(), self.places.hosts.len());
        let mut joined = Self::new(slice::from_ref(whole), links, hosts);
        for element in 0..self.others.len() {
            self.begin(element);
            while let Some(actor) = self.first_timer() {
                joined.set(actor, self.first_timer_at());
                self.cancel(actor);
            }
        }
        *self = joined;
    }

    /// Returns the time and the actor of the element's next event, which remains until the actor is
    /// set or cancelled.
    #[inline(always)]
    pub(crate) fn peek(&self) -> Option<(Instant, Actor)> {
        let (link, timer) = (self.turn.links.first, self.turn.timers.first);
        if link.at <= timer.at {
            let actor = Actor::Link(link.entrant as u32);
            return Some((Instant::from_nanos(link.at), actor));
        }
        let actor = self.first_timer()?;
        Some((Instant::from_nanos(timer.at), actor))
    }

    /// Returns when the element's first timer is due; long after any run if none is set.
    pub(crate) const fn first_timer_at(&self) -> Instant {
        Instant::from_nanos(self.turn.timers.first.at)
    }

    /// Returns the instant after [`first_timer_at`](Self::first_timer_at).
    #[inline(always)]
    pub(crate) const fn after_first_timer(&self) -> Instant {
        Instant::from_nanos(self.turn.timers.first.at + 1)
    }

    /// Returns the actor of the first timer, if one is set.
    #[cold]
    pub(crate) fn first_timer(&self) -> Option<Actor> {
        let timer = self.turn.timers.first;
        (timer.at < NEVER).then(|| self.places.timer(timer.entrant as u32))
    }

    /// Sets the actor's event to `at`, replacing any earlier one.
    pub(crate) fn set(&mut self, actor: Actor, at: Instant) {
        let (tournament, place, entrant) = self.entry(actor);
        tournament.replay(place, at.as_nanos().min(NEVER - 1), entrant);
    }

    /// Sets the arrival of a packet that has just entered a link, if that is an event of the same
    /// element.
    #[inline(always)]
    pub(crate) fn set_arrival(&mut self, link: u32, at: Instant) {
        if self.places.links[link as usize] & CROSSES == 0 {
            self.set(Actor::Link(link), at);
        }
    }

    /// Ensures that the actor is woken at `at` or earlier. An earlier event is kept: timers mostly
    /// move into the future, and an early wake-up that finds nothing due costs less than moving the
    /// entry each time.
    pub(crate) fn wake_by(&mut self, actor: Actor, at: Instant) {
        let (tournament, place, entrant) = self.entry(actor);
        if at.as_nanos() < tournament.due(place) {
            tournament.replay(place, at.as_nanos(), entrant);
        }
    }

    /// Removes the actor's event.
    pub(crate) fn cancel(&mut self, actor: Actor) {
        let (tournament, place, entrant) = self.entry(actor);
        tournament.cancel(place, entrant);
    }

    /// Returns the place of an actor in the order of all actors.
    #[inline(always)]
    pub(crate) fn rank(&self, actor: Actor) -> u32 {
        let links = self.places.links.len() as u32;
        match actor {
            Actor::Link(link) => link,
            Actor::Host(host) => links + host.get(),
            Actor::Application(flow) => links + self.places.hosts.len() as u32 + flow.get(),
        }
    }

    #[inline(always)]
    fn entry(&mut self, actor: Actor) -> (&mut Tournament, usize, u32) {
        let Places { links, hosts } = &self.places;
        let turn = &mut self.turn;
        let (tournament, place, entrant) = match actor {
            Actor::Link(link) => (&mut turn.links, links[link as usize] & !CROSSES, link),
            Actor::Host(host) => (&mut turn.timers, hosts[host.index()], host.get()),
            Actor::Application(flow) => {
                let place = turn.hosts + hosts[flow.sender().index()];
                (&mut turn.timers, place, hosts.len() as u32 + flow.get())
            }
        };
        (tournament, place as usize, entrant)
    }
}

impl Places {
    fn timer(&self, timer: u32) -> Actor {
        match timer.checked_sub(self.hosts.len() as u32) {
            None => Actor::Host(HostId::new(timer)),
            Some(flow) => Actor::Application(FlowId::new(flow)),
        }
    }
}

impl Default for Pending {
    fn default() -> Self {
        Self {
            links: Tournament::new(&[], NEVER_OF_LINKS),
            timers: Tournament::new(&[], NEVER),
            hosts: 0,
        }
    }
}

impl Pending {
    /// Creates the tournaments of an element, and notes where its members are.
    fn of(members: &Members, places: &mut Places) -> Self {
        let ends = || members.hosts.iter().map(|&host| HostId::new(host));
        let senders = || ends().filter(|host| host.is_sender());
        let receivers = ends().filter(|host| !host.is_sender());
        let mut timers = Vec::with_capacity(2 * members.hosts.len());
        timers.extend(senders().chain(receivers).map(HostId::get));
        for (place, &host) in (0..).zip(&timers) {
            places.hosts[host as usize] = place;
        }
        let applications = places.hosts.len() as u32;
        timers.extend(senders().map(|sender| applications + sender.flow().get()));
        for (place, &link) in (0..).zip(&members.links) {
            let crosses = members.inputs.binary_search(&link).is_ok();
            places.links[link as usize] = place | if crosses { CROSSES } else { 0 };
        }
        Self {
            links: Tournament::new(&members.links, NEVER_OF_LINKS),
            timers: Tournament::new(&timers, NEVER),
            hosts: members.hosts.len() as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;
    use rand::prelude::*;
    use skywave_units::Random;

    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    /// Returns the schedule of a single element with these numbers of links and hosts.
    fn schedule(links: u32, hosts: u32) -> Schedule {
        let whole = Members::whole(links as usize, hosts as usize);
        Schedule::new(&[whole], links as usize, hosts as usize)
    }

    /// Takes all events in their order.
    fn drain(schedule: &mut Schedule) -> Vec<(Instant, Actor)> {
        let mut events = Vec::new();
        while let Some(event) = schedule.peek() {
            events.push(event);
            schedule.cancel(event.1);
        }
        events
    }

    #[test]
    fn links_come_before_hosts_and_applications() {
        let mut schedule = schedule(2, 2);
        let expected = [
            Actor::Link(0),
            Actor::Link(1),
            Actor::Host(HostId::new(0)),
            Actor::Host(HostId::new(1)),
            Actor::Application(FlowId::new(0)),
        ];
        for actor in expected.into_iter().rev() {
            schedule.set(actor, at(5));
        }
        assert_eq!(drain(&mut schedule), expected.map(|actor| (at(5), actor)));
    }

    #[test]
    fn waking_earlier_moves_and_waking_later_does_not() {
        let mut schedule = schedule(0, 2);
        let host = Actor::Host(HostId::new(0));
        schedule.wake_by(host, at(5));
        schedule.wake_by(host, at(9));
        assert_eq!(schedule.peek(), Some((at(5), host)));
        schedule.wake_by(host, at(3));
        assert_eq!(schedule.peek(), Some((at(3), host)));
    }

    fn actors(links: u32) -> impl Strategy<Value = Actor> {
        prop_oneof![
            (0..links).prop_map(Actor::Link),
            (0u32..20).prop_map(|host| Actor::Host(HostId::new(host))),
            (0u32..6).prop_map(|flow| Actor::Application(FlowId::new(flow))),
        ]
    }

    /// Numbers of links for every size of tournament that has its own code, and one for the others.
    fn operations() -> impl Strategy<Value = (u32, Vec<(Actor, u64, u8)>)> {
        prop::sample::select(vec![3, 30, 60, 100, 200, 300, 2100]).prop_flat_map(|links| {
            let operation = (actors(links), 0u64..50, 0u8..4);
            (Just(links), prop::collection::vec(operation, 0..400))
        })
    }

    proptest! {
        /// Whatever the order in which events are scheduled and moved, they occur in the same
        /// order.
        #[test]
        fn the_order_of_scheduling_does_not_matter(
            (links, operations) in operations(),
            moved in prop::collection::vec((actors(3), 0u64..50), 0..50),
            seed in any::<u64>(),
        ) {
            let events: BTreeMap<Actor, u64> = operations
                .into_iter()
                .map(|(actor, time, _)| (actor, time))
                .collect();
            let mut in_order = schedule(links, 20);
            for (actor, time) in &events {
                in_order.set(*actor, at(*time));
            }
            let mut shuffled: Vec<_> = events.into_iter().collect();
            shuffled.shuffle(&mut Random::seed_from_u64(seed));
            let mut at_random = schedule(links, 20);
            for (actor, time) in moved {
                at_random.set(actor, at(time));
                at_random.cancel(actor);
            }
            for (actor, time) in shuffled {
                at_random.set(actor, at(time + 1));
                at_random.set(actor, at(time));
            }
            prop_assert_eq!(drain(&mut at_random), drain(&mut in_order));
        }

        /// The trees agree with a sorted map of (time, actor).
        #[test]
        fn agrees_with_a_sorted_map((links, operations) in operations()) {
            let mut schedule = schedule(links, 20);
            let mut model: BTreeSet<(u64, Actor)> = BTreeSet::new();
            for (actor, time, operation) in operations {
                match operation {
                    0 => {
                        model.retain(|(_, other)| *other != actor);
                        schedule.cancel(actor);
                    }
                    1 => {
                        let next = model.first().map(|(time, actor)| (at(*time), *actor));
                        prop_assert_eq!(schedule.peek(), next);
                        if let Some((_, actor)) = next {
                            model.pop_first();
                            schedule.cancel(actor);
                        }
                    }
                    _ => {
                        model.retain(|(_, other)| *other != actor);
                        model.insert((time, actor));
                        schedule.set(actor, at(time));
                    }
                }
            }
            while let Some((time, actor)) = model.pop_first() {
                prop_assert_eq!(schedule.peek(), Some((at(time), actor)));
                schedule.cancel(actor);
            }
            prop_assert_eq!(schedule.peek(), None);
        }
    }
}
