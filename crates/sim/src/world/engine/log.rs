//! The log: what has happened to packets in the elements of a network, until it is in order of time.

use std::mem;

use skywave_units::{Duration, Instant};

use super::{Plane, World};
use crate::world::observe::{Chronicle, Entry, Observer};
use crate::world::tournament::Tournament;
use crate::world::view::{Event, PacketView};

/// The number of lines that are worth a merge. They should stay in a cache.
const WORTH_A_MERGE: usize = 1 << 12;

/// The time after which to merge in any case. With the length of a round, it fits 32 bits.
const LONGEST: Duration = Duration::from_secs(1);

/// Elements without lines have keys from here on.
const NEVER: u64 = u64::MAX << 33;

/// The entries of a [`Chronicle`] by element, each in order of time.
///
/// All entries of a packet are kept until they are in order, and until then its key is not used
/// again.
pub(super) struct Log {
    elements: Vec<Lines>,
    /// The element whose turn it is.
    turn: usize,
    /// The time up to which everything is in the chronicle.
    merged: Instant,
    /// The number of packets sent up to then.
    sent: u64,
    /// The number of lines.
    waiting: usize,
    tournament: Tournament,
}

/// The entries of an element.
#[derive(Default)]
struct Lines {
    lines: Vec<(u32, Entry)>,
    /// The time and the rank of the last event in the element.
    last: (Instant, u32),
}

/// What a merge reads of an element: the lines from `next` to `end`.
#[derive(Clone, Copy, Default)]
struct Part {
    next: usize,
    end: usize,
}

impl Log {
    /// Creates the log of a network that is divided at a time before which everything is in the
    /// chronicle. So far, `sent` packets have been sent.
    pub(super) fn new(elements: usize, merged: Instant, sent: u64) -> Self {
        let ids: Vec<_> = (0..elements as u32).collect();
        Self {
            elements: (0..elements).map(|_| Lines::default()).collect(),
            turn: 0,
            merged,
            sent,
            waiting: 0,
            tournament: Tournament::new(&ids, NEVER),
        }
    }

    /// Gives the turn to an element.
    pub(super) const fn turn(&mut self, element: usize) {
        self.turn = element;
    }

    /// Notes the event from which the next entries follow.
    ///
    /// An event can cause another one at the same instant that ranks before it. Whatever ranks
    /// before the cause has then already happened.
    #[inline(always)]
    pub(super) fn begin(&mut self, now: Instant, rank: u32) {
        let turn = &mut self.elements[self.turn];
        let (at, last) = turn.last;
        let rank = if at == now { rank.max(last) } else { rank };
        turn.last = (now, rank);
    }

    #[inline(always)]
    pub(super) fn push(&mut self, entry: &Entry) {
        let turn = &mut self.elements[self.turn];
        turn.lines.push((turn.last.1, *entry));
        self.waiting += 1;
    }
}

impl Lines {
    /// Returns the place of the next line among those of all elements, if there is one to read.
    #[inline(always)]
    fn key(&self, part: Part, merged: Instant) -> Option<u64> {
        let (rank, entry) = self.lines[..part.end].get(part.next)?;
        Some((entry.at - merged).as_nanos() << 32 | u64::from(*rank))
    }
}

impl<O: Observer + Chronicle, W: World> Plane<O, W> {
    /// Passes what has happened before `until` to the chronicle, if it is worth a merge or
    /// `everything` is wanted.
    pub(super) fn keep_chronicle(&mut self, until: Instant, everything: bool) {
        if let Some(log) = &self.log
            && (everything || log.waiting >= WORTH_A_MERGE || until - log.merged > LONGEST)
        {
            self.merge_log(until);
        }
    }

    /// Ends the log at a time before which everything has happened.
    pub(super) fn end_log(&mut self, until: Instant) {
        self.merge_log(until);
        let log = self.log.take();
        debug_assert!(log.is_none_or(|log| log.waiting == 0), "lines are left");
    }

    fn merge_log(&mut self, until: Instant) {
        let Some(log) = &mut self.log else {
            return;
        };
        let merged = mem::replace(&mut log.merged, until);
        let tournament = &mut log.tournament;
        let mut parts = vec![Part::default(); log.elements.len()];
        for (element, (lines, part)) in log.elements.iter().zip(&mut parts).enumerate() {
            part.end = lines.lines.partition_point(|(_, entry)| entry.at < until);
            if let Some(key) = lines.key(*part, merged) {
                tournament.replay(element, key, element as u32);
            }
        }
        while tournament.first.at < NEVER {
            let (event, element) = (tournament.first.at, tournament.first.entrant as usize);
            let (lines, part) = (&log.elements[element], &mut parts[element]);
            // What an event causes has its key.
            let next = loop {
                let (_, entry) = &lines.lines[part.next];
                part.next += 1;
                let slot = entry.frame.body();
                let is_sent = entry.event == Event::Send;
                if is_sent {
                    self.bodies.renumber(slot, log.sent);
                }
                log.sent += u64::from(is_sent);
                let packet = PacketView::new(&entry.frame, &self.bodies);
                self.observer.enter(entry, packet);
                if !is_sent {
                    match entry.event {
                        Event::Drop { .. } => self.bodies.free(slot),
                        _ => self.bodies.release(slot),
                    }
                }
                let next = lines.key(*part, merged);
                if next != Some(event) {
                    break next;
                }
            };
            let next = next.unwrap_or(NEVER + element as u64);
            tournament.replay(element, next, element as u32);
        }
        for (lines, part) in log.elements.iter_mut().zip(parts) {
            log.waiting -= part.next;
            lines.lines.drain(..part.next);
        }
    }
}
