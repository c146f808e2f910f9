//! The event schedule, with one entry per actor rather than per packet.

use std::hint::select_unpredictable;

use skywave_units::Instant;

use crate::ids::{FlowId, HostId};

/// Times from here on mean no event: 292 years, longer than any run.
const NEVER: u64 = 1 << 63;

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
/// Events at the same instant occur in the order in which they were scheduled.
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
    sequence: u64,
}

impl Schedule {
    /// Creates a schedule without events for these numbers of actors and a sampling clock.
    pub(crate) fn new(links: u32, hosts: u32, applications: u32) -> Self {
        Self {
            links: Tournament::new(links as usize),
            timers: Tournament::new((hosts + applications + 1) as usize),
            hosts,
            applications,
            sequence: 0,
        }
    }

    /// Returns the time and the actor of the next event, which remains until the actor is set or
    /// cancelled.
    #[inline(always)]
    pub(crate) fn peek(&self) -> Option<(Instant, Actor)> {
        let (link, timer) = (self.links.first, self.timers.first);
        if link.at < timer.at {
            let actor = Actor::Link(link.entrant as u32);
            return Some((Instant::from_nanos(link.at), actor));
        }
        let actor = self.first_timer()?;
        Some((Instant::from_nanos(timer.at), actor))
    }

    /// Returns the actor of the next event if no link's event is before every timer.
    #[cold]
    fn first_timer(&self) -> Option<Actor> {
        let (link, timer) = (self.links.first, self.timers.first);
        if timer.at >= NEVER {
            return None;
        }
        let link_is_older = || self.links.order(link.entrant) < self.timers.order(timer.entrant);
        if link.at == timer.at && link_is_older() {
            return Some(Actor::Link(link.entrant as u32));
        }
        Some(self.actor_of(timer.entrant as u32))
    }

    /// Sets the actor's event to `at`, replacing any earlier one.
    pub(crate) fn set(&mut self, actor: Actor, at: Instant) {
        let order = self.sequence;
        self.sequence += 1;
        let (tournament, entrant) = self.tournament(actor);
        tournament.replay(entrant, at.as_nanos().min(NEVER - 1), order);
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
        tournament.replay(entrant, NEVER + entrant as u64, 0);
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
/// children. A change replays the matches from a leaf to the root, with a fixed number of
/// comparisons that need no branch prediction.
#[derive(Debug)]
struct Tournament {
    /// The overall winner.
    first: Due,
    /// The number of matches from a leaf to the root. The number of leaves is two to this power.
    rounds: u32,
    /// All of its [`Tables`], in sequence, behind one pointer.
    tables: Box<[u64]>,
}

/// An entrant and the time of its event, in nanoseconds. Without an event it has a unique time from
/// [`NEVER`] on, so that only events at the same instant compare equal.
#[derive(Clone, Copy, Debug)]
struct Due {
    at: u64,
    entrant: u64,
}

/// Node 1 is the root, node `n` has children `2 n` and `2 n + 1`, and the second half are the
/// leaves.
struct Tables<'a> {
    /// The time of each node's winner.
    times: &'a mut [u64],
    /// The winner of each node. Separate from its time, because a processor can address an
    /// eight-byte table entry directly.
    winners: &'a mut [u64],
    /// The order in which entrants were scheduled, which decides between events at the same
    /// instant.
    orders: &'a mut [u64],
}

impl Tournament {
    fn new(entrants: usize) -> Self {
        let leaves = entrants.next_power_of_two().max(16);
        let mut tournament = Self {
            first: Due {
                at: NEVER,
                entrant: 0,
            },
            rounds: leaves.ilog2(),
            tables: vec![0; Tables::size(leaves)].into(),
        };
        for entrant in 0..leaves {
            tournament.replay(entrant, NEVER + entrant as u64, 0);
        }
        tournament
    }

    /// Returns the time of the entrant's event.
    #[inline(always)]
    fn due(&self, entrant: usize) -> u64 {
        self.tables[(1 << self.rounds) + entrant]
    }

    /// Returns when the entrant was scheduled.
    fn order(&self, entrant: u64) -> u64 {
        self.tables[Tables::orders_at(1 << self.rounds) + entrant as usize]
    }

    /// Sets the entrant's event and replays its matches.
    fn replay(&mut self, entrant: usize, at: u64, order: u64) {
        let tables = &mut *self.tables;
        let due = Due {
            at,
            entrant: entrant as u64,
        };
        self.first = match self.rounds {
            4 => play::<16>(tables, due, order),
            5 => play::<32>(tables, due, order),
            6 => play::<64>(tables, due, order),
            7 => play::<128>(tables, due, order),
            8 => play::<256>(tables, due, order),
            9 => play::<512>(tables, due, order),
            10 => play::<1024>(tables, due, order),
            11 => play::<2048>(tables, due, order),
            rounds => {
                let leaves = 1 << rounds;
                Tables::split(tables, leaves).orders[entrant] = order;
                play_on(tables, leaves, leaves + entrant, due)
            }
        };
    }
}

impl<'a> Tables<'a> {
    const fn size(leaves: usize) -> usize {
        Self::orders_at(leaves) + leaves
    }

    const fn orders_at(leaves: usize) -> usize {
        4 * leaves
    }

    #[inline(always)]
    fn split(tables: &'a mut [u64], leaves: usize) -> Self {
        let (times, rest) = tables[..Self::size(leaves)].split_at_mut(2 * leaves);
        let (winners, orders) = rest.split_at_mut(2 * leaves);
        Self {
            times,
            winners,
            orders,
        }
    }
}

/// Returns the overall winner after replaying the matches from the leaf of `best`. The number of
/// leaves is known at compile time, so no branches or bounds checks are needed; that saves a
/// quarter of a busy simulation's time.
#[inline(always)]
fn play<const LEAVES: usize>(tables: &mut [u64], mut best: Due, order: u64) -> Due {
    let Tables {
        times,
        winners,
        orders,
    } = Tables::split(tables, LEAVES);
    let entrant = best.entrant as usize % LEAVES;
    orders[entrant] = order;
    let mut node = LEAVES + entrant;
    for _round in 0..LEAVES.ilog2() {
        times[node] = best.at;
        winners[node] = best.entrant;
        let rival = times[node ^ 1];
        if rival == best.at {
            return play_on(tables, LEAVES, node, best);
        }
        let wins = rival < best.at;
        best.at = select_unpredictable(wins, rival, best.at);
        best.entrant = select_unpredictable(wins, winners[node ^ 1], best.entrant);
        node /= 2;
    }
    best
}

/// Replays the matches from `node` with events at the same instant. Separate, so that the usual
/// match is a single comparison.
#[cold]
#[inline(never)]
fn play_on(tables: &mut [u64], leaves: usize, mut node: usize, mut best: Due) -> Due {
    let Tables {
        times,
        winners,
        orders,
    } = Tables::split(tables, leaves);
    let key = |due: Due| (due.at, orders[due.entrant as usize]);
    while node > 1 {
        times[node] = best.at;
        winners[node] = best.entrant;
        let rival = Due {
            at: times[node ^ 1],
            entrant: winners[node ^ 1],
        };
        if key(rival) < key(best) {
            best = rival;
        }
        node /= 2;
    }
    best
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn ties_break_in_scheduling_order() {
        let mut schedule = Schedule::new(1, 1, 1);
        let (link, host, application) = (
            Actor::Link(0),
            Actor::Host(HostId::new(0)),
            Actor::Application(FlowId::new(0)),
        );
        for actor in [application, link, host, application] {
            schedule.set(actor, at(5));
        }
        let mut order = Vec::new();
        while let Some((_, actor)) = schedule.peek() {
            order.push(actor);
            schedule.cancel(actor);
        }
        assert_eq!(order, [link, host, application]);
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
        /// The trees agree with a sorted map of (time, order of scheduling).
        #[test]
        fn agrees_with_a_sorted_map((links, operations) in operations()) {
            let mut schedule = Schedule::new(links, 20, 6);
            let mut model: BTreeMap<(u64, usize), Actor> = BTreeMap::new();
            for (order, (actor, time, operation)) in operations.into_iter().enumerate() {
                match operation {
                    0 => {
                        model.retain(|_, other| *other != actor);
                        schedule.cancel(actor);
                    }
                    1 => {
                        let next = model.first_key_value().map(|(key, actor)| (at(key.0), *actor));
                        prop_assert_eq!(schedule.peek(), next);
                        if let Some((_, actor)) = next {
                            model.pop_first();
                            schedule.cancel(actor);
                        }
                    }
                    _ => {
                        model.retain(|_, other| *other != actor);
                        model.insert((time, order), actor);
                        schedule.set(actor, at(time));
                    }
                }
            }
            while let Some(((time, _), actor)) = model.pop_first() {
                prop_assert_eq!(schedule.peek(), Some((at(time), actor)));
                schedule.cancel(actor);
            }
            prop_assert_eq!(schedule.peek(), None);
        }
    }
}
