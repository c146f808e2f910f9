//! What the judge knows of a link, and holds it to.

use std::collections::VecDeque;

use skywave_path::DropReason;
use skywave_units::Instant;
use skywave_wire::Ecn;

use super::timing::{Limits, Timing};
use crate::record::Record;
use crate::scenario::{Direction, LinkSpec, QueueSpec, Scenario};

/// What a router may write into the ECN field of packets that are not 00, the lesser things
/// included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Writes {
    Nothing,
    /// Congestion Experienced.
    Marks,
    /// A larger code: the three codes of a load factor grow with it.
    Codes,
    /// Another code: a digit of a level that is larger as a whole.
    Digits,
}

/// A directed link.
pub(super) struct Judged {
    pub(super) name: String,
    pub(super) from: String,
    pub(super) to: String,
    timing: Timing,
    lossy: bool,
    rules: Rules,
    /// Frames inside, in the order in which they entered.
    inside: VecDeque<Inside>,
    /// End of the transmission of the last frame that has arrived.
    sent_until: Instant,
    last_arrival: Instant,
    occupancy: Occupancy,
}

struct Inside {
    packet: u64,
    size: u32,
    entered: Instant,
}

/// What a link's queue may do.
struct Rules {
    most_packets: Option<usize>,
    most_bytes: Option<u64>,
    /// Whether what leaves leaves in the order in which it came.
    fifo: bool,
    /// Whether it drops what would fit.
    drops_early: bool,
    /// Whether it drops what it has taken in.
    drops_inside: bool,
    writes: Writes,
    /// Whether it is only full when all that it may hold waits.
    one_limit: bool,
}

impl Writes {
    const fn marks(if_ecn: bool) -> Self {
        if if_ecn { Self::Marks } else { Self::Nothing }
    }

    /// Whether `before` may have become `after`.
    pub(super) fn allows(self, before: Ecn, after: Ecn) -> bool {
        let is_raised = before.is_capable() && after.bits() > before.bits();
        match self {
            Self::Nothing => before == after,
            Self::Marks => before == after || (is_raised && after.is_ce()),
            Self::Codes => before == after || is_raised,
            Self::Digits => before.is_capable() == after.is_capable(),
        }
    }
}

impl Rules {
    fn of(queue: &QueueSpec) -> Self {
        let rules = |packets: Option<u32>, bytes: Option<u64>| Self {
            most_packets: packets.map(|packets| packets as usize),
            most_bytes: bytes,
            fifo: true,
            drops_early: false,
            drops_inside: false,
            writes: Writes::Nothing,
            one_limit: true,
        };
        match queue {
            QueueSpec::Unlimited => rules(None, None),
            QueueSpec::DropTail(spec) => rules(spec.packets, spec.bytes.map(|b| b.get())),
            QueueSpec::Red(spec) | QueueSpec::AdaptiveRed(spec) => Self {
                drops_early: true,
                writes: Writes::marks(spec.ecn),
                ..rules(spec.packets, spec.bytes.map(|b| b.get()))
            },
            QueueSpec::Pie(spec) => Self {
                drops_early: true,
                writes: Writes::marks(spec.ecn),
                ..rules(spec.packets, spec.bytes.map(|b| b.get()))
            },
            QueueSpec::CoDel(spec) => Self {
                drops_early: true,
                drops_inside: true,
                writes: Writes::marks(spec.ecn),
                ..rules(spec.packets, spec.bytes.map(|b| b.get()))
            },
            QueueSpec::Vcp(spec) => Self {
                writes: if spec.chain > 1 {
                    Writes::Digits
                } else {
                    Writes::Codes
                },
                ..rules(spec.packets, spec.bytes.map(|b| b.get()))
            },
            QueueSpec::FqCoDel(spec) => Self {
                fifo: false,
                drops_early: true,
                drops_inside: true,
                writes: Writes::marks(spec.ecn),
                ..rules(Some(spec.packets), None)
            },
            QueueSpec::Weighted(spec) => {
                let parts: Vec<Self> = spec.queues.iter().map(|sub| Self::of(&sub.queue)).collect();
                Self {
                    most_packets: parts.iter().map(|part| part.most_packets).sum(),
                    most_bytes: parts.iter().map(|part| part.most_bytes).sum(),
                    fifo: parts.len() == 1 && parts[0].fifo,
                    drops_early: parts.iter().any(|part| part.drops_early),
                    drops_inside: parts.iter().any(|part| part.drops_inside),
                    writes: parts
                        .iter()
                        .map(|part| part.writes)
                        .max()
                        .unwrap_or(Writes::Nothing),
                    one_limit: parts.len() == 1,
                }
            }
        }
    }

    fn has_room_for(&self, size: u32, packets: usize, bytes: u64) -> bool {
        self.most_packets.is_none_or(|most| packets < most)
            && self
                .most_bytes
                .is_none_or(|most| bytes + u64::from(size) <= most)
    }
}

/// What waits, as far as it can be known when something happens.
enum Occupancy {
    /// First in, first out, and nothing is dropped inside: transmissions can be replayed.
    Replayed {
        /// Frames whose transmission had not begun when last looked at.
        waiting: VecDeque<u32>,
        bytes: u64,
        /// End of the last transmission that has begun.
        busy_until: Instant,
    },
    /// Which frame leaves is known only when it arrives, so the limit is judged in the end.
    Hindsight {
        /// When frames began and ceased to wait: packets and bytes more or less.
        changes: Vec<(Instant, i64, i64)>,
        /// Frames that found the queue full, and their sizes.
        refused: Vec<(Instant, u32)>,
    },
}

/// The directed links of a scenario, in the order in which records number them.
pub(super) fn links(scenario: &Scenario) -> Vec<Judged> {
    let links = scenario.topology().1;
    let directions = links.iter().flat_map(LinkSpec::directions);
    directions
        .map(|direction| Judged::new(&direction))
        .collect()
}

impl Judged {
    fn new(direction: &Direction<'_>) -> Self {
        let rules = Rules::of(direction.queue);
        let occupancy = if rules.fifo && !rules.drops_inside {
            Occupancy::Replayed {
                waiting: VecDeque::new(),
                bytes: 0,
                busy_until: Instant::ZERO,
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
            timing: Timing::new(direction),
            lossy: direction.loss.is_some(),
            rules,
            inside: VecDeque::new(),
            sent_until: Instant::ZERO,
            last_arrival: Instant::ZERO,
            occupancy,
        }
    }

    /// What its queue may write into the ECN field.
    pub(super) const fn writes(&self) -> Writes {
        self.rules.writes
    }

    /// Lets transmissions begin that must have begun by `now`, so that what is replayed is the queue.
    fn advance(&mut self, now: Instant) {
        loop {
            let Occupancy::Replayed {
                waiting,
                bytes,
                busy_until,
            } = &mut self.occupancy
            else {
                return;
            };
            if *busy_until > now {
                return;
            }
            let Some(size) = waiting.pop_front() else {
                return;
            };
            *bytes -= u64::from(size);
            // A frame at the head of a link that is out waits in no queue.
            (_, *busy_until) = self.timing.transmission(*busy_until, size);
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
                busy_until,
            } => {
                let has_room = self.rules.has_room_for(size, waiting.len(), *bytes);
                *busy_until = (*busy_until).max(at);
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
        format!("{} takes more than it holds", self.name)
    }

    /// A frame does not come in.
    pub(super) fn refuse(&mut self, record: &Record, reason: DropReason) -> Result<(), String> {
        self.advance(record.at);
        match reason {
            DropReason::Full => {
                let has_room = match &mut self.occupancy {
                    Occupancy::Replayed { waiting, bytes, .. } => {
                        self.rules.has_room_for(record.size, waiting.len(), *bytes)
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
            DropReason::Early if !self.rules.drops_early => {
                return Err(format!("{} drops nothing early", self.name));
            }
            DropReason::Loss if !self.lossy => {
                return Err(format!("{} loses it although it loses nothing", self.name));
            }
            DropReason::Early | DropReason::Loss => {}
        }
        Ok(())
    }

    fn needless(&self) -> String {
        format!("{} drops it although it has room", self.name)
    }

    /// A frame that is inside is dropped.
    pub(super) fn lose(&mut self, record: &Record, reason: DropReason) -> Result<(), String> {
        if !self.rules.drops_inside || reason == DropReason::Loss {
            return Err(format!("{} drops what it has taken in", self.name));
        }
        let position = self
            .inside
            .iter()
            .position(|inside| inside.packet == record.packet);
        let Some(inside) = position.and_then(|position| self.inside.remove(position)) else {
            return Err(format!("{} drops what it does not hold", self.name));
        };
        if let Occupancy::Hindsight { changes, .. } = &mut self.occupancy {
            changes.push((record.at, -1, -i64::from(inside.size)));
        }
        Ok(())
    }

    /// When a frame of `size` bytes may arrive that `entered` then, if it is the next to be sent: a
    /// link does not idle while something waits.
    fn limits(&self, entered: Instant, size: u32) -> Limits {
        let free = self.sent_until.max(entered);
        let (begun, _) = self.timing.transmission(free, size);
        self.timing.limits(begun, size, self.last_arrival)
    }

    /// A frame that is inside after the end of time, although it should have arrived.
    pub(super) fn overdue(&self, end: Instant) -> Option<u64> {
        let first = self.inside.front()?;
        let size = if self.rules.fifo {
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
            return Err(format!("{} gives out what it never took in", self.name));
        };
        if self.rules.fifo && position != Some(0) {
            let first = self.inside.front().map_or(0, |inside| inside.packet);
            return Err(format!(
                "{} is not FIFO: packet {first} was first",
                self.name
            ));
        }
        let limits = self.limits(entered, size);
        if record.at < limits.by_rate {
            return Err(format!("{} is faster than its rate", self.name));
        }
        if record.at < limits.by_delay {
            return Err(format!("{} is faster than its delay allows", self.name));
        }
        if record.at > limits.latest {
            return Err(format!("{} is slower than its rate and delay", self.name));
        }
        self.last_arrival = record.at;
        let (begun, end) = self.timing.transmission(self.sent_until.max(entered), size);
        self.sent_until = end;
        if let Occupancy::Hindsight { changes, .. } = &mut self.occupancy {
            changes.push((begun, -1, -i64::from(size)));
        }
        Ok(())
    }

    /// Judges in the end what could not be judged before: when the queue held more than its limit,
    /// and when it refused a frame although it had room.
    pub(super) fn hindsight(&mut self) -> Vec<(Instant, String)> {
        let Occupancy::Hindsight { changes, refused } = &mut self.occupancy else {
            return Vec::new();
        };
        let (mut changes, refused) = (std::mem::take(changes), std::mem::take(refused));
        // At one instant what leaves does so first.
        changes.sort_unstable();
        let mut complaints = Vec::new();
        let (mut packets, mut bytes) = (0_i64, 0_i64);
        let mut refusals = refused.into_iter().peekable();
        let mut rest = changes.as_slice();
        while let Some(&(at, ..)) = rest.first() {
            let now = rest.partition_point(|&(then, ..)| then == at);
            let (changes_now, later) = rest.split_at(now);
            rest = later;
            // What was there at most at this instant: all that came, and nothing gone.
            let most = changes_now
                .iter()
                .filter(|change| change.1 > 0)
                .fold((packets, bytes), |(packets, bytes), &(_, packet, size)| {
                    (packets + packet, bytes + size)
                });
            while let Some((then, size)) = refusals.next_if(|&(then, _)| then <= at) {
                let (packets, bytes) = if then == at { most } else { (packets, bytes) };
                let has_room =
                    self.rules
                        .has_room_for(size, packets.max(0) as usize, bytes.max(0) as u64);
                if self.rules.one_limit && has_room {
                    complaints.push((then, self.needless()));
                }
            }
            for &(_, packet, size) in changes_now {
                packets += packet;
                bytes += size;
            }
            let over = self
                .rules
                .most_packets
                .is_some_and(|most| packets > most as i64)
                || self
                    .rules
                    .most_bytes
                    .is_some_and(|most| bytes > most as i64);
            if over {
                complaints.push((at, self.overfull()));
            }
        }
        complaints
    }
}
