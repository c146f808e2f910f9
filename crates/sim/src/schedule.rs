//! The event schedule: one entry for each actor, not one for each packet.

use skywave_units::Instant;

/// When an actor is due, and after which others at the same instant: time in the high half, order
/// of scheduling in the low half, so that one comparison decides.
type Key = u128;

/// The key of an actor that has no event.
const NEVER: Key = Key::MAX;

/// Pending events, at most one for each actor: a link's next arrival, an endpoint's timer, a
/// source's next datagram.
///
/// Events at the same instant happen in the order in which they were scheduled.
///
/// There are two tournaments, because there are two kinds of actors: a few whose events come and
/// go with every packet, and many that are rarely touched.
#[derive(Debug)]
pub(crate) struct Schedule {
    busy: Tournament,
    calm: Tournament,
    /// Actors below this number are in `busy`.
    boundary: u32,
    sequence: u64,
}

impl Schedule {
    /// A schedule without events for actors `0..busy + calm`; those below `busy` are expected to
    /// have most of the events.
    pub(crate) fn new(busy: u32, calm: u32) -> Self {
        Self {
            busy: Tournament::new(busy as usize),
            calm: Tournament::new(calm as usize),
            boundary: busy,
            sequence: 0,
        }
    }

    /// The next event: when, and whose. It stays until its actor is set anew or cancelled.
    pub(crate) fn peek(&self) -> Option<(Instant, u32)> {
        let ((busy, key), (calm, calm_key)) = (self.busy.root, self.calm.root);
        if key < calm_key {
            Some((due(key), busy))
        } else {
            (calm_key != NEVER).then(|| (due(calm_key), self.boundary + calm))
        }
    }

    /// Sets the actor's event to `at`, whatever it was before.
    pub(crate) fn set(&mut self, actor: u32, at: Instant) {
        let key = (Key::from(at.as_nanos()) << 64) | Key::from(self.sequence);
        self.sequence += 1;
        let (tournament, actor) = self.tournament(actor);
        tournament.replay(actor, key);
    }

    /// Makes sure that the actor is woken at `at` or earlier. An earlier event is left standing:
    /// timers mostly move away from the present, and an early wake-up that finds nothing due costs
    /// less than moving the entry each time.
    pub(crate) fn wake_by(&mut self, actor: u32, at: Instant) {
        let (tournament, entrant) = self.tournament(actor);
        let key = tournament.keys[entrant];
        if key == NEVER || at < due(key) {
            self.set(actor, at);
        }
    }

    /// Takes the actor's event away.
    pub(crate) fn cancel(&mut self, actor: u32) {
        let (tournament, actor) = self.tournament(actor);
        tournament.replay(actor, NEVER);
    }

    fn tournament(&mut self, actor: u32) -> (&mut Tournament, usize) {
        match actor.checked_sub(self.boundary) {
            None => (&mut self.busy, actor as usize),
            Some(calm) => (&mut self.calm, calm as usize),
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
        self.keys[entrant] = key;
        let (mut winner, mut best) = (entrant as u32, key);
        let mut node = (self.keys.len() + entrant) / 2;
        let mut rival = entrant as u32 ^ 1;
        loop {
            let other = self.keys[rival as usize];
            let wins = other < best;
            winner = if wins { rival } else { winner };
            best = if wins { other } else { best };
            if node == 1 {
                self.root = (winner, best);
                return;
            }
            self.winners[node] = winner;
            rival = self.winners[node ^ 1];
            node /= 2;
        }
    }
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
        let mut schedule = Schedule::new(1, 2);
        for actor in [2, 0, 1] {
            schedule.set(actor, at(5));
        }
        schedule.set(2, at(5));
        let mut order = Vec::new();
        while let Some((_, actor)) = schedule.peek() {
            order.push(actor);
            schedule.cancel(actor);
        }
        assert_eq!(order, [0, 1, 2]);
    }

    #[test]
    fn waking_earlier_moves_and_waking_later_does_not() {
        let mut schedule = Schedule::new(0, 1);
        schedule.wake_by(0, at(5));
        schedule.wake_by(0, at(9));
        assert_eq!(schedule.peek(), Some((at(5), 0)));
        schedule.wake_by(0, at(3));
        assert_eq!(schedule.peek(), Some((at(3), 0)));
    }

    proptest! {
        /// The trees against a sorted map of (time, order of scheduling).
        #[test]
        fn agrees_with_a_sorted_map(
            operations in prop::collection::vec((0u32..40, 0u64..50, 0u8..4), 0..400),
        ) {
            let mut schedule = Schedule::new(13, 27);
            let mut model: BTreeMap<(u64, usize), u32> = BTreeMap::new();
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
