//! The event schedule, with one entry per actor rather than per packet.

use std::hint::select_unpredictable;

use skywave_units::Instant;

use crate::world::ids::{FlowId, HostId};

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
    /// The sampling clock.
    Sampler,
}

/// Pending events.
///
/// Events at the same instant occur in the order of their actors: links, hosts, applications, the
/// sampling clock, each by index. Because an actor has at most one event, (time, kind, index) is a
/// unique key. It depends on the scenario alone, not on the order of scheduling, so an engine that
/// handles events in batches or in parallel gives the same results.
///
/// The order of kinds is that of causes. Packets arrive before a timer or a source at the same
/// instant acts, so a retransmission timer does not fire when its acknowledgement has already
/// arrived. A sample sees the state after everything that happened at its instant.
///
/// There are two tournaments for two kinds of actors: a few whose events change with every packet,
/// and many that rarely change.
#[derive(Debug)]
pub(crate) struct Schedule {
    links: Tournament,
    /// Hosts, then applications, then the sampling clock.
    timers: Tournament,
    hosts: u32,
    applications: u32,
}

impl Schedule {
    /// Creates a schedule without events for these numbers of actors and a sampling clock.
    pub(crate) fn new(links: u32, hosts: u32, applications: u32) -> Self {
        Self {
            links: Tournament::new(links as usize, NEVER_OF_LINKS),
            timers: Tournament::new((hosts + applications + 1) as usize, NEVER),
            hosts,
            applications,
        }
    }

    /// Returns the time and the actor of the next event, which remains until the actor is set or
    /// cancelled.
    #[inline(always)]
    pub(crate) fn peek(&self) -> Option<(Instant, Actor)> {
        let (link, timer) = (self.links.first, self.timers.first);
        if link.at <= timer.at {
            let actor = Actor::Link(link.entrant as u32);
            return Some((Instant::from_nanos(link.at), actor));
        }
        let actor = self.first_timer()?;
        Some((Instant::from_nanos(timer.at), actor))
    }

    /// Returns the actor of the first timer, if one is set.
    #[cold]
    fn first_timer(&self) -> Option<Actor> {
        let timer = self.timers.first;
        (timer.at < NEVER).then(|| self.actor_of(timer.entrant as u32))
    }

    /// Sets the actor's event to `at`, replacing any earlier one.
    pub(crate) fn set(&mut self, actor: Actor, at: Instant) {
        let (tournament, entrant) = self.tournament(actor);
        tournament.replay(entrant, at.as_nanos().min(NEVER - 1));
    }

    /// Ensures that the actor is woken at `at` or earlier. An earlier event is kept: timers mostly
    /// move into the future, and an early wake-up that finds nothing due costs less than moving the
    /// entry each time.
    pub(crate) fn wake_by(&mut self, actor: Actor, at: Instant) {
        let (tournament, entrant) = self.tournament(actor);
        if at.as_nanos() < tournament.due(entrant) {
            self.set(actor, at);
        }
    }

    /// Removes the actor's event.
    pub(crate) fn cancel(&mut self, actor: Actor) {
        let (tournament, entrant) = self.tournament(actor);
        tournament.cancel(entrant);
    }

    fn tournament(&mut self, actor: Actor) -> (&mut Tournament, usize) {
        let timer = match actor {
            Actor::Link(link) => return (&mut self.links, link as usize),
            Actor::Host(host) => host.get(),
            Actor::Application(flow) => self.hosts + flow.get(),
            Actor::Sampler => self.hosts + self.applications,
        };
        (&mut self.timers, timer as usize)
    }

    const fn actor_of(&self, timer: u32) -> Actor {
        if timer < self.hosts {
            Actor::Host(HostId::new(timer))
        } else if timer < self.hosts + self.applications {
            Actor::Application(FlowId::new(timer - self.hosts))
        } else {
            Actor::Sampler
        }
    }
}

/// A tournament tree: entrants are the leaves, and each inner node holds the earlier of its two
/// children, the left one at the same instant. A change replays the matches from a leaf to the
/// root, with a fixed number of comparisons that need no branch prediction.
#[derive(Debug)]
struct Tournament {
    /// The overall winner.
    first: Due,
    /// The number of matches from a leaf to the root. The number of leaves is two to this power.
    rounds: u32,
    /// Entrant `n` without an event has the time `never + n`, so that only events at the same
    /// instant compare equal.
    never: u64,
    /// The time of each node's winner, then the winner of each node. Node 1 is the root, node `n`
    /// has children `2 n` and `2 n + 1`, and the second half are the leaves. Winners are separate
    /// from times, because a processor can address an eight-byte table entry directly.
    nodes: Box<[u64]>,
}

/// An entrant and the time of its event in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Due {
    at: u64,
    entrant: u64,
}

impl Tournament {
    fn new(entrants: usize, never: u64) -> Self {
        let leaves = entrants.next_power_of_two().max(16);
        let mut tournament = Self {
            first: Due {
                at: never,
                entrant: 0,
            },
            rounds: leaves.ilog2(),
            never,
            nodes: vec![u64::MAX; 4 * leaves].into(),
        };
        for entrant in 0..leaves {
            tournament.cancel(entrant);
        }
        tournament
    }

    /// Removes the entrant's event.
    fn cancel(&mut self, entrant: usize) {
        self.replay(entrant, self.never + entrant as u64);
    }

    /// Returns the time of the entrant's event.
    #[inline(always)]
    fn due(&self, entrant: usize) -> u64 {
        self.nodes[(1 << self.rounds) + entrant]
    }

    /// Sets the time of the entrant's event and replays its matches.
    fn replay(&mut self, entrant: usize, at: u64) {
        let nodes = &mut *self.nodes;
        let due = Due {
            at,
            entrant: entrant as u64,
        };
        self.first = match self.rounds {
            4 => play::<16>(nodes, due),
            5 => play::<32>(nodes, due),
            6 => play::<64>(nodes, due),
            7 => play::<128>(nodes, due),
            8 => play::<256>(nodes, due),
            9 => play::<512>(nodes, due),
            10 => play::<1024>(nodes, due),
            11 => play::<2048>(nodes, due),
            rounds => {
                let leaves = 1 << rounds;
                play_on(nodes, leaves, leaves + entrant, due)
            }
        };
    }
}

/// Returns the overall winner after replaying the matches from the leaf of `best`. The number of
/// leaves is known at compile time, so no branches or bounds checks are needed; that saves a
/// quarter of a busy simulation's time.
#[inline(always)]
fn play<const LEAVES: usize>(nodes: &mut [u64], mut best: Due) -> Due {
    let (times, winners) = nodes[..4 * LEAVES].split_at_mut(2 * LEAVES);
    let mut node = LEAVES + best.entrant as usize % LEAVES;
    for _round in 0..LEAVES.ilog2() {
        times[node] = best.at;
        winners[node] = best.entrant;
        let rival = times[node ^ 1];
        if rival == best.at {
            return play_on(nodes, LEAVES, node, best);
        }
        let wins = rival < best.at;
        best.at = select_unpredictable(wins, rival, best.at);
        best.entrant = select_unpredictable(wins, winners[node ^ 1], best.entrant);
        node /= 2;
    }
    best
}

/// Replays the matches from `node` with events at the same instant: the left child's wins.
/// Separate, so that the usual match is a single comparison.
#[cold]
#[inline(never)]
fn play_on(nodes: &mut [u64], leaves: usize, mut node: usize, mut best: Due) -> Due {
    let (times, winners) = nodes.split_at_mut(2 * leaves);
    while node > 1 {
        times[node] = best.at;
        winners[node] = best.entrant;
        let rival = Due {
            at: times[node ^ 1],
            entrant: winners[node ^ 1],
        };
        if (rival.at, rival.entrant) < (best.at, best.entrant) {
            best = rival;
        }
        node /= 2;
    }
    best
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
    fn links_come_before_hosts_applications_and_samples() {
        let mut schedule = Schedule::new(2, 2, 1);
        let expected = [
            Actor::Link(0),
            Actor::Link(1),
            Actor::Host(HostId::new(0)),
            Actor::Host(HostId::new(1)),
            Actor::Application(FlowId::new(0)),
            Actor::Sampler,
        ];
        for actor in expected.into_iter().rev() {
            schedule.set(actor, at(5));
        }
        assert_eq!(drain(&mut schedule), expected.map(|actor| (at(5), actor)));
    }

    #[test]
    fn waking_earlier_moves_and_waking_later_does_not() {
        let mut schedule = Schedule::new(0, 1, 0);
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
            Just(Actor::Sampler),
        ]
    }

    /// Numbers of links for every size of tournament that has its own code.
    fn operations() -> impl Strategy<Value = (u32, Vec<(Actor, u64, u8)>)> {
        prop::sample::select(vec![3, 30, 60, 100, 200, 300]).prop_flat_map(|links| {
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
            let mut in_order = Schedule::new(links, 20, 6);
            for (actor, time) in &events {
                in_order.set(*actor, at(*time));
            }
            let mut shuffled: Vec<_> = events.into_iter().collect();
            shuffled.shuffle(&mut Random::seed_from_u64(seed));
            let mut at_random = Schedule::new(links, 20, 6);
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
            let mut schedule = Schedule::new(links, 20, 6);
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
