//! The merge: puts what is in the logs of all elements into order of time.

use std::{iter, mem};

use skywave_units::{Duration, Instant};

use super::log::NEVER;
use super::plane::Plane;
use super::{Simulator, World};
use crate::world::bodies::{Bodies, RemoteSlot};
use crate::world::observe::{Chronicle, Entry, Observer};
use crate::world::tournament::Tournament;
use crate::world::view::{Event, PacketView};

/// The number of lines that are worth a merge. They should stay in a cache.
const WORTH_A_MERGE: usize = 1 << 12;

/// The time after which to merge in any case. With the longest stride, it fits 32 bits.
const LONGEST: Duration = Duration::from_secs(1);

/// The order of the lines of all logs.
pub(super) struct Merge {
    /// The time up to which everything is in the chronicle.
    merged: Instant,
    /// The number of packets sent up to then.
    sent: u64,
    /// Has an entrant for each element of each region.
    tournament: Tournament,
    /// The number of elements.
    elements: usize,
}

/// What a merge reads of an element: the lines from `next` to `end`.
struct Part {
    region: usize,
    element: usize,
    next: usize,
    end: usize,
}

impl Merge {
    /// Creates the order from a time on before which everything is in the chronicle. So far, `sent`
    /// packets have been sent.
    pub(super) fn new(merged: Instant, sent: u64) -> Self {
        Self {
            merged,
            sent,
            tournament: Tournament::new(&[], NEVER),
            elements: 0,
        }
    }
}

impl<O: Observer + Chronicle, W: World> Simulator<O, W> {
    /// Passes what has happened before all elements' time to the chronicle, if it is worth a merge or
    /// `everything` is wanted.
    pub(super) fn keep_chronicle(&mut self, everything: bool) {
        let Some(merge) = &self.merge else {
            return;
        };
        let logs = self
            .regions
            .iter()
            .filter_map(|region| region.plane.log.as_ref());
        let waiting: usize = logs.map(|log| log.waiting).sum();
        if everything || waiting >= WORTH_A_MERGE || self.until - merge.merged > LONGEST {
            self.merge_logs();
        }
    }

    /// Ends the log of the only region at a time before which everything has happened.
    pub(super) fn end_log(&mut self) {
        self.merge_logs();
        self.merge = None;
        let log = self.regions[0].plane.log.take();
        debug_assert!(log.is_none_or(|log| log.waiting == 0), "lines are left");
    }

    fn merge_logs(&mut self) {
        let until = self.until;
        let Some(merge) = &mut self.merge else {
            return;
        };
        let mut logs: Vec<_> = self
            .regions
            .iter_mut()
            .filter_map(|region| region.plane.log.take())
            .collect();
        let merged = mem::replace(&mut merge.merged, until);
        let fits = |entry: &Entry| (entry.at - merged).as_nanos() >> 32 == 0;
        let mut parts = Vec::new();
        for (region, log) in logs.iter().enumerate() {
            for (element, lines) in log.elements.iter().enumerate() {
                let end = lines.lines.partition_point(|(_, entry)| entry.at < until);
                debug_assert!(
                    lines.lines[..end]
                        .last()
                        .is_none_or(|(_, entry)| fits(entry))
                );
                parts.push(Part {
                    region,
                    element,
                    next: 0,
                    end,
                });
            }
        }
        if merge.elements != parts.len() {
            let ids: Vec<_> = (0..parts.len() as u32).collect();
            merge.elements = parts.len();
            merge.tournament = Tournament::new(&ids, NEVER);
        }
        let tournament = &mut merge.tournament;
        for (place, part) in parts.iter().enumerate() {
            let lines = &logs[part.region].elements[part.element];
            if let Some(key) = lines.key(part.next, part.end, merged) {
                tournament.replay(place, key, place as u32);
            }
        }
        let (first, others) = self.regions.split_first_mut().expect("there is one");
        let Plane {
            observer, bodies, ..
        } = &mut first.plane;
        let mut bodies: Vec<&mut Bodies> = iter::once(bodies)
            .chain(others.iter_mut().map(|region| &mut region.plane.bodies))
            .collect();
        while tournament.first.at < NEVER {
            let (event, place) = (tournament.first.at, tournament.first.entrant as usize);
            let part = &mut parts[place];
            let (lines, here) = (&logs[part.region].elements[part.element], part.region);
            // What an event causes has its key.
            let next = loop {
                let (_, entry) = &lines.lines[part.next];
                part.next += 1;
                let slot = entry.frame.body();
                let is_sent = entry.event == Event::Send;
                if is_sent {
                    bodies[here].renumber(slot, merge.sent);
                } else if let Some(sent) = RemoteSlot::of(bodies[here].label(slot).number) {
                    let [region, there] = [sent.region, sent.slot].map(|index| index as usize);
                    let number = bodies[region].label(there).number;
                    bodies[region].release(there);
                    bodies[here].renumber(slot, number);
                }
                merge.sent += u64::from(is_sent);
                let packet = PacketView::new(&entry.frame, bodies[here]);
                observer.enter(entry, packet);
                if !is_sent {
                    match entry.event {
                        Event::Drop { .. } => bodies[here].free(slot),
                        _ => bodies[here].release(slot),
                    }
                }
                let next = lines.key(part.next, part.end, merged);
                if next != Some(event) {
                    break next;
                }
            };
            let next = next.unwrap_or(NEVER + place as u64);
            tournament.replay(place, next, place as u32);
        }
        for part in parts {
            let log = &mut logs[part.region];
            log.waiting -= part.next;
            log.elements[part.element].lines.drain(..part.next);
        }
        for (region, log) in self.regions.iter_mut().zip(logs) {
            region.plane.log = Some(log);
        }
    }
}
