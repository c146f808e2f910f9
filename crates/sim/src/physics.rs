//! An independent judge of a run.
//!
//! It knows the scenario's links and the run's record, shares no code with the engine, the links
//! or the queues, and checks what must hold in any network:
//!
//! - packets are conserved: sent once, on one link at a time, received or dropped once, by the
//!   host at the other end of their flow; none is left standing at a node, or on a link beyond
//!   its time;
//! - links are FIFO;
//! - packets leave a link neither faster nor slower than its rate and its delay say;
//! - a queue never holds more than its limit, and drops only when it is full;
//! - only routers touch the ECN field, and a drop-tail queue does not.

use std::collections::{BTreeMap, VecDeque};

use skywave_path::DropReason;
use skywave_units::{Duration, Instant, Rate};
use skywave_wire::Ecn;

use crate::record::{Record, What};
use crate::scenario::{QueueSpec, Scenario};

/// Violations that are written out; a broken run would give millions.
const MOST_VIOLATIONS: usize = 20;

/// What the judge knows of a directed link.
struct Judged {
    name: String,
    from: String,
    to: String,
    rate: Rate,
    delay: Duration,
    most_packets: Option<usize>,
    most_bytes: Option<u64>,
    lossy: bool,
    /// Frames inside, in order: packet, size, time of entry.
    inside: VecDeque<(u64, u32, Instant)>,
    /// Frames of `inside` whose transmission had not begun when last looked at.
    waiting: VecDeque<u32>,
    waiting_bytes: u64,
    /// End of the last transmission that has begun.
    busy_until: Instant,
    last_arrival: Instant,
}

/// Where a packet is.
#[derive(Clone, PartialEq, Eq)]
enum Place {
    Node(String),
    Link(u32),
}

struct Traveller {
    place: Place,
    size: u32,
    ecn: Ecn,
    receiver: u32,
}

/// Checks the record of a run of `scenario`; the answer is empty where all is well.
pub fn verify(scenario: &Scenario, records: &[Record]) -> Vec<String> {
    let mut judge = Judge {
        links: links(scenario),
        hosts: scenario
            .flows
            .iter()
            .flat_map(|flow| [flow.from.clone(), flow.to.clone()])
            .collect(),
        travellers: BTreeMap::new(),
        next_packet: 0,
        violations: Vec::new(),
    };
    let mut now = Instant::ZERO;
    for record in records {
        if record.at < now {
            judge.report(record, "happens before the record ahead of it".to_owned());
        }
        now = record.at;
        judge.check(record);
        if judge.violations.len() >= MOST_VIOLATIONS {
            return judge.violations;
        }
    }
    judge.check_end(Instant::ZERO + scenario.duration);
    judge.violations.truncate(MOST_VIOLATIONS);
    judge.violations
}

/// The directed links of a scenario, in the order in which records number them.
fn links(scenario: &Scenario) -> Vec<Judged> {
    let mut judged = Vec::new();
    for link in scenario.topology().1 {
        let (most_packets, most_bytes) = match &link.queue {
            QueueSpec::Unlimited => (None, None),
            QueueSpec::DropTail(spec) => (
                spec.packets.map(|packets| packets as usize),
                spec.bytes.map(|b| b.get()),
            ),
        };
        let direction = |from: &str, to: &str, lossy| Judged {
            name: format!("{from}->{to}"),
            from: from.to_owned(),
            to: to.to_owned(),
            rate: link.rate,
            delay: link.delay,
            most_packets,
            most_bytes,
            lossy,
            inside: VecDeque::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            busy_until: Instant::ZERO,
            last_arrival: Instant::ZERO,
        };
        judged.push(direction(&link.from, &link.to, link.loss.is_some()));
        if !link.one_way {
            judged.push(direction(&link.to, &link.from, false));
        }
    }
    judged
}

impl Judged {
    /// Nanoseconds to put `size` bytes on the link, rounded down.
    fn serialisation(&self, size: u32) -> Duration {
        let nanos = u128::from(size) * 8 * 1_000_000_000 / u128::from(self.rate.as_bps());
        Duration::from_nanos(nanos as u64)
    }

    /// Lets transmissions begin that must have begun by `now`, so that `waiting` is the queue.
    fn advance(&mut self, now: Instant) {
        while self.busy_until <= now
            && let Some(size) = self.waiting.pop_front()
        {
            self.waiting_bytes -= u64::from(size);
            // Rounded to the nearest nanosecond, as time is counted.
            let nanos = (u128::from(size) * 8 * 1_000_000_000 + u128::from(self.rate.as_bps()) / 2)
                / u128::from(self.rate.as_bps());
            self.busy_until += Duration::from_nanos(nanos as u64);
        }
    }

    fn has_room_for(&self, size: u32) -> bool {
        self.most_packets
            .is_none_or(|most| self.waiting.len() < most)
            && self
                .most_bytes
                .is_none_or(|most| self.waiting_bytes + u64::from(size) <= most)
    }

    fn enter(&mut self, record: &Record) -> Result<(), String> {
        self.advance(record.at);
        let has_room = self.has_room_for(record.size);
        if self.busy_until < record.at {
            self.busy_until = record.at;
        }
        self.inside
            .push_back((record.packet, record.size, record.at));
        self.waiting.push_back(record.size);
        self.waiting_bytes += u64::from(record.size);
        self.advance(record.at);
        if has_room {
            Ok(())
        } else {
            Err(format!("{} takes more than it holds", self.name))
        }
    }

    /// The time by which the first of the frames inside must arrive: a link does not idle while
    /// something waits.
    fn latest_arrival(&self) -> Option<Instant> {
        let &(_, size, entered) = self.inside.front()?;
        let begun = entered.max(self.last_arrival - self.delay);
        // One nanosecond more, for what serialisation rounds away.
        Some(begun + self.serialisation(size) + Duration::from_nanos(1) + self.delay)
    }

    fn leave(&mut self, record: &Record) -> Result<(), String> {
        let latest = self.latest_arrival();
        let Some((packet, size, entered)) = self.inside.pop_front() else {
            return Err(format!("{} gives out what it never took in", self.name));
        };
        if packet != record.packet {
            return Err(format!(
                "{} is not FIFO: packet {packet} was first",
                self.name
            ));
        }
        let serialisation = self.serialisation(size);
        if record.at < entered + serialisation + self.delay {
            return Err(format!("{} is faster than its delay allows", self.name));
        }
        if record.at < self.last_arrival + serialisation {
            return Err(format!("{} is faster than its rate", self.name));
        }
        if latest.is_some_and(|latest| record.at > latest) {
            return Err(format!("{} is slower than its rate and delay", self.name));
        }
        self.last_arrival = record.at;
        Ok(())
    }
}

struct Judge {
    links: Vec<Judged>,
    /// The node of each host.
    hosts: Vec<String>,
    travellers: BTreeMap<u64, Traveller>,
    next_packet: u64,
    violations: Vec<String>,
}

impl Judge {
    fn report(&mut self, record: &Record, complaint: String) {
        self.violations.push(format!(
            "{}: packet {}: {complaint}",
            record.at, record.packet
        ));
    }

    fn check(&mut self, record: &Record) {
        let verdict = match record.what {
            What::Sent { host } => self.sent(record, host),
            What::Enqueued { link } => self.enqueued(record, link),
            What::Dropped { link, reason } => self.dropped(record, link, reason),
            What::Arrived { link } => self.arrived(record, link),
            What::Received { host } => self.received(record, host),
        };
        if let Err(complaint) = verdict {
            self.report(record, complaint);
        }
    }

    /// What must hold when time is up: packets are on links, and none there is overdue.
    fn check_end(&mut self, end: Instant) {
        for (packet, traveller) in &self.travellers {
            if let Place::Node(node) = &traveller.place {
                self.violations.push(format!(
                    "{end}: packet {packet}: it is left standing at {node}"
                ));
            }
        }
        for link in &self.links {
            if let Some((packet, ..)) = link.inside.front()
                && link.latest_arrival().is_some_and(|latest| latest <= end)
            {
                self.violations
                    .push(format!("{end}: packet {packet}: {} keeps it", link.name));
            }
        }
    }

    fn sent(&mut self, record: &Record, host: u32) -> Result<(), String> {
        if record.packet != self.next_packet {
            return Err(format!("packet {} was to be sent next", self.next_packet));
        }
        self.next_packet += 1;
        let Record { size, ecn, .. } = *record;
        let place = Place::Node(self.hosts[host as usize].clone());
        let traveller = Traveller {
            place,
            size,
            ecn,
            receiver: host ^ 1,
        };
        self.travellers.insert(record.packet, traveller);
        Ok(())
    }

    /// The traveller of a record, which must be at `place` and be as it was.
    fn traveller(&mut self, record: &Record, place: &Place) -> Result<&mut Traveller, String> {
        let Some(traveller) = self.travellers.get_mut(&record.packet) else {
            return Err("it is not on its way".to_owned());
        };
        if traveller.place != *place {
            return Err("it is somewhere else".to_owned());
        }
        if traveller.size != record.size {
            return Err(format!(
                "it had {} B and has {} B",
                traveller.size, record.size
            ));
        }
        if traveller.ecn != record.ecn {
            return Err(format!(
                "its ECN field was {:?}, is {:?}",
                traveller.ecn, record.ecn
            ));
        }
        Ok(traveller)
    }

    /// The node at the sending end of a link.
    fn entrance(&self, link: u32) -> Place {
        Place::Node(self.links[link as usize].from.clone())
    }

    fn enqueued(&mut self, record: &Record, link: u32) -> Result<(), String> {
        let entrance = self.entrance(link);
        self.traveller(record, &entrance)?.place = Place::Link(link);
        self.links[link as usize].enter(record)
    }

    fn dropped(&mut self, record: &Record, link: u32, reason: DropReason) -> Result<(), String> {
        let entrance = self.entrance(link);
        self.traveller(record, &entrance)?;
        self.travellers.remove(&record.packet);
        let link = &mut self.links[link as usize];
        link.advance(record.at);
        match reason {
            DropReason::Full if link.has_room_for(record.size) => {
                Err(format!("{} drops it although it has room", link.name))
            }
            DropReason::Loss if !link.lossy => {
                Err(format!("{} loses it although it loses nothing", link.name))
            }
            DropReason::Full | DropReason::Loss => Ok(()),
        }
    }

    fn arrived(&mut self, record: &Record, link: u32) -> Result<(), String> {
        let exit = Place::Node(self.links[link as usize].to.clone());
        self.traveller(record, &Place::Link(link))?.place = exit;
        self.links[link as usize].leave(record)
    }

    fn received(&mut self, record: &Record, host: u32) -> Result<(), String> {
        let here = Place::Node(self.hosts[host as usize].clone());
        let receiver = self.traveller(record, &here)?.receiver;
        self.travellers.remove(&record.packet);
        if receiver == host {
            Ok(())
        } else {
            Err(format!("host {host} has it, but it is for host {receiver}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One link: 1000 B take 1 ms, propagation 10 ms, one packet may wait.
    fn scenario() -> Scenario {
        Scenario::from_toml(
            r#"
            name = "one link"
            duration = "1 s"
            nodes = ["a", "b"]

            [[links]]
            from = "a"
            to = "b"
            rate = "8 Mbps"
            delay = "10 ms"
            queue = { drop-tail = { packets = 1 } }

            [[flows]]
            name = "flow"
            from = "a"
            to = "b"
            transport = { tcp = {} }
            source = { ftp = {} }
            "#,
        )
        .unwrap()
    }

    fn record(at_ms: u64, packet: u64, what: What) -> Record {
        let at = Instant::ZERO + Duration::from_millis(at_ms);
        Record {
            at,
            packet,
            what,
            size: 1000,
            ecn: Ecn::NotEct,
        }
    }

    const SENT: What = What::Sent { host: 0 };
    const ENQUEUED: What = What::Enqueued { link: 0 };
    const ARRIVED: What = What::Arrived { link: 0 };
    const RECEIVED: What = What::Received { host: 1 };
    const FULL: What = What::Dropped {
        link: 0,
        reason: DropReason::Full,
    };

    /// Three packets at once: one leaves, one waits, one is dropped.
    fn good() -> Vec<Record> {
        vec![
            record(0, 0, SENT),
            record(0, 0, ENQUEUED),
            record(0, 1, SENT),
            record(0, 1, ENQUEUED),
            record(0, 2, SENT),
            record(0, 2, FULL),
            record(11, 0, ARRIVED),
            record(11, 0, RECEIVED),
            record(12, 1, ARRIVED),
            record(12, 1, RECEIVED),
        ]
    }

    /// The verdict on the good record after a change.
    fn verdict(change: impl FnOnce(&mut Vec<Record>)) -> String {
        let mut records = good();
        change(&mut records);
        verify(&scenario(), &records).join("\n")
    }

    #[test]
    fn has_nothing_to_say_of_a_good_run() {
        assert_eq!(verdict(|_| {}), "");
    }

    #[test]
    fn sees_each_kind_of_violation() {
        type Change = fn(&mut Vec<Record>);
        let cases: [(Change, &str); 16] = [
            (
                |records| records[5].what = ENQUEUED,
                "takes more than it holds",
            ),
            (|records| records[3].what = FULL, "although it has room"),
            (
                |records| {
                    records[5].what = What::Dropped {
                        link: 0,
                        reason: DropReason::Loss,
                    }
                },
                "although it loses nothing",
            ),
            (
                |records| records[6].at = records[6].at - Duration::from_nanos(1),
                "its delay allows",
            ),
            (
                |records| records[8].at = records[8].at - Duration::from_nanos(1),
                "than its rate",
            ),
            (
                |records| (records[6].packet, records[8].packet) = (1, 0),
                "not FIFO",
            ),
            (
                |records| records[7].what = What::Received { host: 0 },
                "somewhere else",
            ),
            (|records| records[9].packet = 0, "not on its way"),
            (|records| records[7].what = ENQUEUED, "somewhere else"),
            (|records| records[6].ecn = Ecn::Ce, "ECN field"),
            (|records| records[6].size = 999, "had 1000 B"),
            (|records| records[2].packet = 7, "was to be sent next"),
            (
                |records| {
                    records[8].at += Duration::from_millis(1);
                    records[9].at += Duration::from_millis(1);
                },
                "slower than its rate",
            ),
            (|records| records.truncate(8), "a->b keeps it"),
            (|records| records.truncate(9), "left standing at b"),
            (
                |records| {
                    records.remove(5);
                },
                "left standing at a",
            ),
        ];
        for (index, (change, complaint)) in cases.into_iter().enumerate() {
            let verdict = verdict(change);
            assert!(verdict.contains(complaint), "case {index}: {verdict}");
        }
    }

    #[test]
    fn sees_time_run_backwards() {
        assert!(verdict(|records| records.swap(7, 8)).contains("before the record ahead of it"));
    }
}
