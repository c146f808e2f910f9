//! An independent verifier of a run.
//!
//! It uses only the scenario's links, the declared conduct of their queues, and the run's record.
//! It shares no code with the engine, the links or the queues, and reads the steps of a trace
//! itself, not from the link. It checks what holds in any network:
//!
//! - Packets are conserved: each is sent once, is on one link at a time, and is either dropped once
//!   or received once, by the host at the other end of its flow. None is left at a node, or on a
//!   link longer than possible.
//! - Links are FIFO if their queue is.
//! - Packets leave a link neither faster nor slower than its rate and delay permit, including
//!   changes by a trace and jitter.
//! - A queue never holds more than its limit. It drops packets only when it is full, or early if
//!   its discipline does so. (For sub-queues only the sum is known.)
//! - Only routers change the ECN field, and only as their discipline declares.

mod link;
mod timing;

use std::collections::BTreeMap;

use skywave_path::{DropReason, Writes};
use skywave_scenario::Scenario;
use skywave_units::Instant;
use skywave_wire::Ecn;

use self::link::{Judged, links};
use crate::watching::backend::Registry;
use crate::watching::record::{Record, What};
use crate::world::ids::HostId;

/// The most violations listed. A broken run may have millions.
const MOST_VIOLATIONS: usize = 20;

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
    receiver: HostId,
}

/// Checks the record of a run of `scenario` and returns the violations; empty if there are none.
pub fn verify(scenario: &Scenario, registry: &Registry, records: &[Record]) -> Vec<String> {
    let links = match links(scenario, registry) {
        Ok(links) => links,
        Err(error) => return vec![error.to_string()],
    };
    let mut judge = Judge {
        links,
        hosts: scenario
            .flows
            .iter()
            .flat_map(|flow| [flow.from.to_string(), flow.to.to_string()])
            .collect(),
        travellers: BTreeMap::new(),
        next_packet: 0,
        violations: Vec::new(),
    };
    let mut now = Instant::ZERO;
    for record in records {
        if record.at < now {
            judge.report(
                record,
                "its time is before that of the previous record".to_owned(),
            );
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

    /// Checks the end of the run: remaining packets are on links, and none is overdue.
    fn check_end(&mut self, end: Instant) {
        for (packet, traveller) in &self.travellers {
            if let Place::Node(node) = &traveller.place {
                self.violations.push(format!(
                    "{end}: packet {packet}: it was left at node {node}"
                ));
            }
        }
        for link in &mut self.links {
            if let Some(packet) = link.overdue(end) {
                self.violations.push(format!(
                    "{end}: packet {packet}: {} does not deliver it",
                    link.name
                ));
            }
            let complaints = link.hindsight().into_iter();
            self.violations
                .extend(complaints.map(|(at, complaint)| format!("{at}: {complaint}")));
        }
    }

    fn sent(&mut self, record: &Record, host: HostId) -> Result<(), String> {
        if record.packet != self.next_packet {
            return Err(format!(
                "the next packet sent should be {}",
                self.next_packet
            ));
        }
        self.next_packet += 1;
        let Record { size, ecn, .. } = *record;
        let place = Place::Node(self.hosts[host.index()].clone());
        let traveller = Traveller {
            place,
            size,
            ecn,
            receiver: host.peer(),
        };
        self.travellers.insert(record.packet, traveller);
        Ok(())
    }

    /// Returns the traveller of a record. It must be at `place` and unchanged, except for changes
    /// of the ECN field that `writes` permits.
    fn traveller(
        &mut self,
        record: &Record,
        place: &Place,
        writes: Writes,
    ) -> Result<&mut Traveller, String> {
        let Some(traveller) = self.travellers.get_mut(&record.packet) else {
            return Err("it is not in the network at this time".to_owned());
        };
        if traveller.place != *place {
            return Err("it is at another node or link at this time".to_owned());
        }
        if traveller.size != record.size {
            return Err(format!(
                "its size changed from {} B to {} B",
                traveller.size, record.size
            ));
        }
        if !writes.allows(traveller.ecn, record.ecn) {
            return Err(format!(
                "its ECN field changed from {:?} to {:?}",
                traveller.ecn, record.ecn
            ));
        }
        Ok(traveller)
    }

    /// Returns the node at the sending end of a link.
    fn entrance(&self, link: u32) -> Place {
        Place::Node(self.links[link as usize].from.clone())
    }

    fn enqueued(&mut self, record: &Record, link: u32) -> Result<(), String> {
        let entrance = self.entrance(link);
        self.traveller(record, &entrance, Writes::Nothing)?.place = Place::Link(link);
        self.links[link as usize].enter(record)
    }

    fn dropped(&mut self, record: &Record, link: u32, reason: DropReason) -> Result<(), String> {
        let is_inside = self
            .travellers
            .get(&record.packet)
            .is_some_and(|traveller| traveller.place == Place::Link(link));
        let place = if is_inside {
            Place::Link(link)
        } else {
            self.entrance(link)
        };
        self.traveller(record, &place, Writes::Nothing)?;
        self.travellers.remove(&record.packet);
        let link = &mut self.links[link as usize];
        if is_inside {
            link.lose(record, reason)
        } else {
            link.refuse(record, reason)
        }
    }

    fn arrived(&mut self, record: &Record, link: u32) -> Result<(), String> {
        let exit = Place::Node(self.links[link as usize].to.clone());
        let writes = self.links[link as usize].writes();
        let traveller = self.traveller(record, &Place::Link(link), writes)?;
        traveller.place = exit;
        traveller.ecn = record.ecn;
        self.links[link as usize].leave(record)
    }

    fn received(&mut self, record: &Record, host: HostId) -> Result<(), String> {
        let here = Place::Node(self.hosts[host.index()].clone());
        let receiver = self.traveller(record, &here, Writes::Nothing)?.receiver;
        self.travellers.remove(&record.packet);
        if receiver == host {
            Ok(())
        } else {
            let (host, receiver) = (host.get(), receiver.get());
            Err(format!(
                "host {host} received it instead of host {receiver}"
            ))
        }
    }
}

#[cfg(test)]
mod tests;
