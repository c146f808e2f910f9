//! The event schedule: one entry for each actor, not one for each packet.

use std::hint::select_unpredictable;

use skywave_units::Instant;

/// When an actor is due, and after which others at the same instant: time in the high half, order
/// of scheduling in the low half, so that one comparison decides.
type Key = u128;

/// The key of an actor that has no event.
const NEVER: Key = Key::MAX;

/// Who has events, at most one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Actor {
    /// A link: its next arrival.
    Link(u32),
    /// A host: the timer of its endpoint.
    Host(u32),
    /// The application of a flow: its next datagram.
    Application(u32),
    /// The sampling clock.
    Sampler,
}

/// Pending events.
///
/// Events at the same instant happen in the order in which they were scheduled.
///
/// There are two tournaments, because there are two kinds of actors: a few whose events come and
/// go with every packet, and many that are rarely touched.
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
    /// A schedule without events for so many actors of each kind, and for a sampling clock.
    pub(crate) fn new(links: u32, hosts: u32, applications: u32) -> Self {
        Self {
            links: Tournament::new(links as usize),
            timers: Tournament::new((hosts + applications + 1) as usize),
            hosts,
            applications,
            sequence: 0,
        }
    }

    /// The next event: when, and whose. It stays until its actor is set anew or cancelled.
    pub(crate) fn peek(&self) -> Option<(Instant, Actor)> {
        let ((link, key), (timer, timer_key)) = (self.links.root, self.timers.root);
        if key < timer_key {
            Some((due(key), Actor::Link(link)))
        } else {
            (timer_key != NEVER).then(|| (due(timer_key), self.actor_of(timer)))
        }
    }

    /// Sets the actor's event to `at`, whatever it was before.
    pub(crate) fn set(&mut self, actor: Actor, at: Instant) {
        let key = (Key::from(at.as_nanos()) << 64) | Key::from(self.sequence);
        self.sequence += 1;
        let (tournament, entrant) = self.tournament(actor);
        tournament.replay(entrant, key);
    }

    /// Makes sure that the actor is woken at `at` or earlier. An earlier event is left standing:
    /// timers mostly move away from the present, and an early wake-up that finds nothing due costs
    /// less than moving the entry each time.
    pub(crate) fn wake_by(&mut self, actor: Actor, at: Instant) {
        let (tournament, entrant) = self.tournament(actor);
        if at < due(tournament.keys[entrant]) {
            self.set(actor, at);
        }
    }

    /// Takes the actor's event away.
    pub(crate) fn cancel(&mut self, actor: Actor) {
        let (tournament, entrant) = self.tournament(actor);
        tournament.replay(entrant, NEVER);
    }

    fn tournament(&mut self, actor: Actor) -> (&mut Tournament, usize) {
        let timer = match actor {
            Actor::Link(link) => return (&mut self.links, link as usize),
            Actor::Host(host) => host,
            Actor::Application(flow) => self.hosts + flow,
            Actor::Sampler => self.hosts + self.applications,
        };
        (&mut self.timers, timer as usize)
    }

    const fn actor_of(&self, timer: u32) -> Actor {
        if timer < self.hosts {
            Actor::Host(timer)
        } else if timer < self.hosts + self.applications {
            Actor::Application(timer - self.hosts)
        } else {
            Actor::Sampler
        }
    }
}

/// A tournament tree: entrants are its leaves, and each inner node holds the earlier of its two
/// children. A change replays the matches on the way from a leaf to the root, which is a fixed
/// number of comparisons that need no branch prediction.
#[derive(Debug)]
struct Tournament {
    /// Each entrant's key; padded to a power of two with [`NEVER`].
    keys: Vec<Key>,
    /// The winners: node 1 is the root (kept in `root`), node `n` has children `2 n` and
    /// `2 n + 1`; nodes from `keys.len()` on would be the leaves and are not stored.
    winners: Vec<u32>,
    /// The winner of all, and its key: looked at before every event.
    root: (u32, Key),
}

impl Tournament {
    fn new(entrants: usize) -> Self {
        let leaves = entrants.next_power_of_two().max(2);
        let mut winners = vec![0; leaves];
        for node in (1..leaves).rev() {
            let child = 2 * node;
            winners[node] = if child < leaves {
                winners[child]
            } else {
                (child - leaves) as u32
            };
        }
        Self {
            keys: vec![NEVER; leaves],
            winners,
            root: (0, NEVER),
        }
    }

    /// Gives the entrant a new key and plays its matches again.
    fn replay(&mut self, entrant: usize, key: Key) {
        let (keys, winners) = (&mut self.keys[..], &mut self.winners[..]);
        self.root = match keys.len() {
            64 => play(&mut keys[..64], &mut winners[..64], entrant, key),
            _ => play(keys, winners, entrant, key),
        };
    }
}

#[inline(always)]
fn play(keys: &mut [Key], winners: &mut [u32], entrant: usize, key: Key) -> (u32, Key) {
    keys[entrant] = key;
    let (mut winner, mut best) = (entrant as u32, key);
    let mut node = keys.len() + entrant;
    let mut rival = entrant as u32 ^ 1;
    for _round in 1..keys.len().ilog2() {
        let other = keys[rival as usize & (keys.len() - 1)];
        let wins = other < best;
        winner = if wins { rival } else { winner };
        best = if wins { other } else { best };
        node /= 2;
        winners[node] = winner;
        rival = winners[node ^ 1];
    }
    let other = keys[rival as usize & (keys.len() - 1)];
    let wins = other < best;
    winner = select_unpredictable(wins, rival, winner);
    best = select_unpredictable(wins, other, best);
    (winner, best)
}

const fn due(key: Key) -> Instant {
    Instant::from_nanos((key >> 64) as u64)
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
        let (link, host, application) = (Actor::Link(0), Actor::Host(0), Actor::Application(0));
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
        let host = Actor::Host(0);
        schedule.wake_by(host, at(5));
        schedule.wake_by(host, at(9));
        assert_eq!(schedule.peek(), Some((at(5), host)));
        schedule.wake_by(host, at(3));
        assert_eq!(schedule.peek(), Some((at(3), host)));
    }

    fn actors() -> impl Strategy<Value = Actor> {
        prop_oneof![
            (0u32..13).prop_map(Actor::Link),
            (0u32..20).prop_map(Actor::Host),
            (0u32..6).prop_map(Actor::Application),
            Just(Actor::Sampler),
        ]
    }

    proptest! {
        /// The trees against a sorted map of (time, order of scheduling).
        #[test]
        fn agrees_with_a_sorted_map(
            operations in prop::collection::vec((actors(), 0u64..50, 0u8..4), 0..400),
        ) {
            let mut schedule = Schedule::new(13, 20, 6);
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
