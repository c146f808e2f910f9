//! Tournament trees: the earliest of many times, of which one changes at a time.

use std::hint::select_unpredictable;

/// The most rounds of a tournament that has its own code.
const MOST_ROUNDS: u32 = 11;

/// A tournament tree: entrants are the leaves, and each inner node holds the earlier of its two
/// children. A change replays the matches from a leaf to the root, with a fixed number of
/// comparisons that need no branch prediction.
#[derive(Debug)]
pub(crate) struct Tournament {
    /// The overall winner.
    pub(crate) first: Due,
    /// The number of leaves, and of matches from the lowest ones to the root.
    leaves: usize,
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
pub(crate) struct Due {
    pub(crate) at: u64,
    pub(crate) entrant: u64,
}

impl Tournament {
    /// Creates a tournament in which nobody has an event. At the same instant, the entrant with the
    /// smaller number wins.
    pub(crate) fn new(entrants: &[u32], never: u64) -> Self {
        let full = entrants.len().next_power_of_two();
        let rounds = full.ilog2();
        // Only small trees have their own code, which needs a power of two.
        let leaves = if rounds <= MOST_ROUNDS {
            full
        } else {
            entrants.len()
        };
        let mut tournament = Self {
            first: Due {
                at: never,
                entrant: 0,
            },
            leaves,
            rounds,
            never,
            nodes: vec![u64::MAX; 4 * leaves].into(),
        };
        // Places that nobody has count down from the end of the numbers.
        let absent = (0..).map(|place| u32::MAX - place);
        let all = entrants.iter().copied().chain(absent.skip(entrants.len()));
        for (place, entrant) in (0..leaves).zip(all) {
            tournament.cancel(place, entrant);
        }
        tournament
    }

    /// Removes the event of the entrant at a place.
    pub(crate) fn cancel(&mut self, place: usize, entrant: u32) {
        self.replay(place, self.never + u64::from(entrant), entrant);
    }

    /// Returns the time of the event of the entrant at a place.
    #[inline(always)]
    pub(crate) fn due(&self, place: usize) -> u64 {
        self.nodes[self.leaves + place]
    }

    /// Sets the time of an entrant's event and replays its matches.
    pub(crate) fn replay(&mut self, place: usize, at: u64, entrant: u32) {
        let nodes = &mut *self.nodes;
        let due = Due {
            at,
            entrant: entrant.into(),
        };
        self.first = match self.rounds {
            0 => play::<1>(nodes, place, due),
            1 => play::<2>(nodes, place, due),
            2 => play::<4>(nodes, place, due),
            3 => play::<8>(nodes, place, due),
            4 => play::<16>(nodes, place, due),
            5 => play::<32>(nodes, place, due),
            6 => play::<64>(nodes, place, due),
            7 => play::<128>(nodes, place, due),
            8 => play::<256>(nodes, place, due),
            9 => play::<512>(nodes, place, due),
            10 => play::<1024>(nodes, place, due),
            MOST_ROUNDS => play::<2048>(nodes, place, due),
            _ => play_on(nodes, self.leaves, self.leaves + place, due),
        };
    }
}

/// Returns the overall winner after replaying the matches from the leaf at `place`. The number of
/// leaves is known at compile time, so no branches or bounds checks are needed; that saves a
/// quarter of a busy simulation's time.
#[inline(always)]
fn play<const LEAVES: usize>(nodes: &mut [u64], place: usize, mut best: Due) -> Due {
    let (times, winners) = nodes[..4 * LEAVES].split_at_mut(2 * LEAVES);
    let mut node = LEAVES + place % LEAVES;
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
    if LEAVES == 1 {
        times[node] = best.at;
    }
    best
}

/// Replays the matches from `node` with events at the same instant: the smaller entrant wins.
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
