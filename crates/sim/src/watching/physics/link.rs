//! The verifier's model of a link.

use std::collections::VecDeque;

use skywave_path::{Conduct, DropReason, Writes};
use skywave_scenario::{Direction, LinkSpec, Scenario, ScenarioError};
use skywave_units::Instant;

use super::timing::{Arrival, Busy, Limits, Timing};
use crate::watching::backend::Registry;
use crate::watching::record::Record;

/// A directed link.
pub(super) struct Judged {
    pub(super) name: String,
    pub(super) from: String,
    pub(super) to: String,
    timing: Timing,
    lossy: bool,
    /// Whether packets may overtake each other in flight. If so, it is unknown when they left the
    /// queue.
    overtaking: bool,
    has_nat: bool,
    /// The declared conduct of its queue.
    conduct: Conduct,
    /// Frames inside, in order of arrival at the link.
    inside: VecDeque<Inside>,
    /// The transmissions of the frames that have left the link, the last one at the end.
    sent: Busy,
    last_arrival: Arrival,
    occupancy: Occupancy,
}

struct Inside {
    packet: u64,
    size: u32,
    entered: Instant,
}

/// The queue's content, as far as it is known when something happens.
enum Occupancy {
    /// The queue is FIFO and drops nothing inside, so transmissions can be replayed.
    Replayed {
        /// Frames whose transmission had not begun at the last update.
        waiting: VecDeque<u32>,
        bytes: u64,
        /// The transmissions that have begun.
        begun: Busy,
    },
    /// Which frame leaves is known only when it arrives, so the limit is checked at the end.
    Hindsight {
        /// When frames started and stopped waiting: changes in packets and bytes.
        changes: Vec<(Instant, i64, i64)>,
        /// Frames refused because the queue was full, and their sizes.
        refused: Vec<(Instant, u32)>,
    },
}

/// Returns the directed links of a scenario, in the order of their indices in records.
pub(super) fn links(
    scenario: &Scenario,
    registry: &Registry,
) -> Result<Vec<Judged>, ScenarioError> {
    let links = scenario.topology().1;
    let directions = links.iter().flat_map(LinkSpec::directions);
    directions
        .map(|direction| {
            let queue = direction.queue.read(&registry.queues)?;
            let trace = direction.trace(registry, scenario.seed)?;
            let timing = Timing::new(&direction, trace.as_ref(), scenario.duration);
            Ok(Judged::new(&direction, queue.conduct(), timing))
        })
        .collect()
}

impl Judged {
    fn new(direction: &Direction<'_>, conduct: Conduct, timing: Timing) -> Self {
        let occupancy = if conduct.fifo && !conduct.drops_inside {
            Occupancy::Replayed {
                waiting: VecDeque::new(),
                bytes: 0,
                begun: Busy::since(Instant::ZERO),
            }
        } else {
            Occupancy::Hindsight {
                changes: Vec::new(),
                refused: Vec::new(),
            }
        };
        Self {
            name: direction.name(),
            from: direction.from.to_owned(),
            to: direction.to.to_owned(),
            timing,
            lossy: direction.loss.is_some(),
            overtaking: direction.overtaking,
            has_nat: direction.nat.is_some(),
            conduct,
            inside: VecDeque::new(),
            sent: Busy::since(Instant::ZERO),
            last_arrival: Arrival::default(),
            occupancy,
        }
    }

    /// Returns what its queue may write into the ECN field.
    pub(super) const fn writes(&self) -> Writes {
        self.conduct.writes
    }

    /// Starts the transmissions that must have begun by `now`, to bring the replayed queue up to
    /// date.
    fn advance(&mut self, now: Instant) {
        loop {
            let Occupancy::Replayed {
                waiting,
                bytes,
                begun,
            } = &mut self.occupancy
            else {
                return;
            };
            if self.timing.end(*begun) > now {
                return;
            }
            let Some(size) = waiting.pop_front() else {
                return;
            };
            *bytes -= u64::from(size);
            // A frame at the head of a link that is down does not wait in the queue.
            *begun = begun.with(size);
        }
    }

    pub(super) fn enter(&mut self, record: &Record) -> Result<(), String> {
        let Record {
            at, packet, size, ..
        } = *record;
        self.advance(at);
        self.inside.push_back(Inside {
            packet,
            size,
            entered: at,
        });
        let has_room = match &mut self.occupancy {
            Occupancy::Replayed {
                waiting,
                bytes,
                begun,
            } => {
                let has_room = self
                    .conduct
                    .has_room_for(size, waiting.len() as u64, *bytes);
                *begun = self.timing.for_frame(*begun, at);
                waiting.push_back(size);
                *bytes += u64::from(size);
                has_room
            }
            Occupancy::Hindsight { changes, .. } => {
                changes.push((at, 1, i64::from(size)));
                true
            }
        };
        self.advance(at);
        if has_room {
            Ok(())
        } else {
            Err(self.overfull())
        }
    }

    fn overfull(&self) -> String {
        format!("{} exceeds the limit of its queue", self.name)
    }

    /// Processes a frame that is refused.
    pub(super) fn refuse(&mut self, record: &Record, reason: DropReason) -> Result<(), String> {
        self.advance(record.at);
        match reason {
            DropReason::Full => {
                let has_room = match &mut self.occupancy {
                    Occupancy::Replayed { waiting, bytes, .. } => {
                        self.conduct
                            .has_room_for(record.size, waiting.len() as u64, *bytes)
                    }
                    Occupancy::Hindsight { refused, .. } => {
                        refused.push((record.at, record.size));
                        false
                    }
                };
                if has_room {
                    return Err(self.needless());
                }
            }
            DropReason::Early if !self.conduct.drops_early => {
                return Err(format!(
                    "{} drops it early, against its declaration",
                    self.name
                ));
            }
            DropReason::Loss if !self.lossy => {
                return Err(format!("{} loses it without a loss model", self.name));
            }
            DropReason::Nat if !self.has_nat => {
                return Err(format!("{} has no NAT that refuses it", self.name));
            }
            DropReason::Early | DropReason::Loss | DropReason::Nat => {}
        }
        Ok(())
    }

    fn needless(&self) -> String {
        format!("{} drops it although the queue has room", self.name)
    }

    /// Processes the drop of a frame that is inside.
    pub(super) fn lose(&mut self, record: &Record, reason: DropReason) -> Result<(), String> {
        if !self.conduct.permits_drop_inside(reason) {
            let reason = reason.name();
            return Err(format!(
                "{} drops it after accepting it ({reason}), against its declaration",
                self.name
            ));
        }
        let position = self
            .inside
            .iter()
            .position(|inside| inside.packet == record.packet);
        let Some(inside) = position.and_then(|position| self.inside.remove(position)) else {
            return Err(format!("{} drops it without holding it", self.name));
        };
        if let Occupancy::Hindsight { changes, .. } = &mut self.occupancy {
            changes.push((record.at, -1, -i64::from(inside.size)));
        }
        Ok(())
    }

    /// Returns when a frame of `size` bytes that arrived at `entered` may leave the link if it is
    /// sent next. A link does not idle while something waits.
    fn limits(&self, entered: Instant, size: u32) -> Limits {
        let sent = self.timing.for_frame(self.sent, entered);
        self.timing.limits(sent, size, self.last_arrival)
    }

    /// Returns a frame that is still inside at `end` although it should have left.
    pub(super) fn overdue(&self, end: Instant) -> Option<u64> {
        if self.overtaking {
            return None;
        }
        let first = self.inside.front()?;
        let size = if self.conduct.fifo {
            first.size
        } else {
            self.inside.iter().map(|inside| inside.size).max()?
        };
        let overdue = self.limits(first.entered, size).latest <= end;
        overdue.then_some(first.packet)
    }

    pub(super) fn leave(&mut self, record: &Record) -> Result<(), String> {
        let position = self
            .inside
            .iter()
            .position(|inside| inside.packet == record.packet);
        let Some(Inside { size, entered, .. }) =
            position.and_then(|position| self.inside.remove(position))
        else {
            return Err(format!("{} delivers it without having it", self.name));
        };
        if self.overtaking {
            return if record.at < entered {
                Err(format!("{} delivers it before it arrived", self.name))
            } else {
                Ok(())
            };
        }
        if self.conduct.fifo && position != Some(0) {
            let first = self.inside.front().map_or(0, |inside| inside.packet);
            return Err(format!(
                "{} is not FIFO: packet {first} was ahead of it",
                self.name
            ));
        }
        let limits = self.limits(entered, size);
        if record.at < limits.by_rate.at {
            return Err(format!(
                "{} delivers it faster than its rate allows",
                self.name
            ));
        }
        if record.at < limits.by_delay {
            return Err(format!(
                "{} delivers it faster than its delay allows",
                self.name
            ));
        }
        if record.at > limits.latest {
            return Err(format!(
                "{} delivers it later than its rate and delay allow",
                self.name
            ));
        }
        let sent = self.timing.for_frame(self.sent, entered);
        self.sent = sent.with(size);
        self.last_arrival = if record.at > limits.by_rate.at {
            Arrival {
                at: record.at,
                rest: self.timing.rest(self.sent),
            }
        } else {
            limits.by_rate
        };
        if let Occupancy::Hindsight { changes, .. } = &mut self.occupancy {
            let begun = self.timing.end(sent);
            changes.push((begun, -1, -i64::from(size)));
        }
        Ok(())
    }

    /// Checks at the end what could not be checked before: whether the queue exceeded its limit,
    /// and whether it refused a frame although it had room.
    pub(super) fn hindsight(&mut self) -> Vec<(Instant, String)> {
        let Occupancy::Hindsight { changes, refused } = &mut self.occupancy else {
            return Vec::new();
        };
        if self.overtaking {
            return Vec::new();
        }
        let (mut changes, refused) = (std::mem::take(changes), std::mem::take(refused));
        // The transmissions of frames still inside at the end of the run may have begun after this
        // time.
        let sent_until = self.timing.end(self.sent);
        changes.retain(|&(at, ..)| at < sent_until);
        // At the same instant, departures come first.
        changes.sort_unstable();
        let mut complaints = Vec::new();
        let (mut packets, mut bytes) = (0_i64, 0_i64);
        let mut refusals = refused.into_iter().peekable();
        let mut rest = changes.as_slice();
        while let Some(&(at, ..)) = rest.first() {
            let now = rest.partition_point(|&(then, ..)| then == at);
            let (changes_now, later) = rest.split_at(now);
            rest = later;
            // The maximum at this instant: all arrivals, no departures.
            let most = changes_now
                .iter()
                .filter(|change| change.1 > 0)
                .fold((packets, bytes), |(packets, bytes), &(_, packet, size)| {
                    (packets + packet, bytes + size)
                });
            while let Some((then, size)) = refusals.next_if(|&(then, _)| then <= at) {
                let (packets, bytes) = if then == at { most } else { (packets, bytes) };
                let has_room =
                    self.conduct
                        .has_room_for(size, packets.max(0) as u64, bytes.max(0) as u64);
                if self.conduct.one_limit && has_room {
                    complaints.push((then, self.needless()));
                }
            }
            for &(_, packet, size) in changes_now {
                packets += packet;
                bytes += size;
            }
            let over = self
                .conduct
                .most_packets
                .is_some_and(|most| packets > most as i64)
                || self
                    .conduct
                    .most_bytes
                    .is_some_and(|most| bytes > most as i64);
            if over {
                complaints.push((at, self.overfull()));
            }
        }
        complaints
    }
}
