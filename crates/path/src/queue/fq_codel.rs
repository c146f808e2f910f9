//! FQ-CoDel: a CoDel queue for each flow, served in turn (RFC 8290).

use std::collections::VecDeque;

use skywave_units::Instant;
use twox_hash::XxHash3_64;

use super::backlog::Backlog;
use super::codel::{Control, Line};
use super::{CoDelConfig, DropReason, Dropped, Queue};
use crate::Packet;

/// Packets that one overflow drops at most (RFC 8290 section 4.1).
const MOST_DROPPED: usize = 64;

/// What FQ-CoDel is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCoDelConfig {
    /// What each queue's CoDel is told.
    pub codel: CoDelConfig,
    /// Packets that all queues hold together.
    pub limit: u32,
    /// Queues into which flows are hashed; at least 1.
    pub flows: u32,
    /// Bytes that a queue may send in one round; at least 1.
    pub quantum: u32,
}

impl Default for FqCoDelConfig {
    /// Linux's values (RFC 8290 section 5.2), marks included.
    fn default() -> Self {
        Self {
            codel: CoDelConfig {
                ecn: true,
                ..CoDelConfig::default()
            },
            limit: 10_240,
            flows: 1024,
            quantum: 1514,
        }
    }
}

/// Queues that share a link by deficit round robin, each with a CoDel of its own.
#[derive(Clone, Debug)]
pub struct FqCoDel<P> {
    config: FqCoDelConfig,
    /// Keeps outsiders from choosing flows that fall into one queue.
    salt: u64,
    flows: Vec<Flow<P>>,
    /// Queues that have become active and have not had a whole round yet.
    new: VecDeque<u32>,
    /// The other active queues.
    old: VecDeque<u32>,
    packets: usize,
    bytes: u64,
    dropped: VecDeque<Dropped<P>>,
}

#[derive(Clone, Debug)]
struct Flow<P> {
    waiting: Backlog<P>,
    control: Control,
    credits: i64,
    active: bool,
}

impl<P: Packet> FqCoDel<P> {
    /// An empty queue; `salt` goes into the hash of flows.
    pub fn new(config: FqCoDelConfig, salt: u64) -> Self {
        let flow = || Flow {
            waiting: Backlog::new(),
            control: Control::new(),
            credits: 0,
            active: false,
        };
        Self {
            config,
            salt,
            flows: std::iter::repeat_with(flow)
                .take(config.flows as usize)
                .collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
            dropped: VecDeque::new(),
        }
    }

    /// The queue of a flow.
    fn bucket(&self, flow: u64) -> u32 {
        let hash = XxHash3_64::oneshot_with_seed(self.salt, &flow.to_le_bytes());
        (hash % u64::from(self.config.flows)) as u32
    }

    /// Makes room: half of the longest queue goes, oldest packets first (RFC 8290 section 4.1).
    #[cold]
    fn overflow(&mut self, now: Instant) {
        let Some(fattest) = self
            .flows
            .iter_mut()
            .max_by_key(|flow| flow.waiting.bytes())
        else {
            return;
        };
        let count = (fattest.waiting.packets() / 2).clamp(1, MOST_DROPPED);
        for _ in 0..count {
            let Some((_, packet)) = fattest.waiting.pop(now) else {
                break;
            };
            self.packets -= 1;
            self.bytes -= u64::from(packet.size());
            self.dropped.push_back(Dropped {
                packet,
                reason: DropReason::Full,
            });
        }
    }

    /// The queue whose turn it is, with credits to send; new ones come first (RFC 8290 section 4.2).
    fn turn(&mut self) -> Option<(u32, bool)> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let flow = &mut self.flows[index as usize];
            if flow.credits > 0 {
                return Some((index, is_new));
            }
            flow.credits += i64::from(self.config.quantum);
            list.pop_front();
            self.old.push_back(index);
        }
    }

    /// Takes a queue that has nothing left off the list whose head it is.
    fn deactivate(&mut self, index: u32, is_new: bool) {
        if is_new {
            // By way of the old queues, which are all served first. Otherwise a flow that comes back
            // just in time would starve them.
            self.new.pop_front();
            self.old.push_back(index);
        } else {
            self.old.pop_front();
            self.flows[index as usize].active = false;
        }
    }
}

impl<P: Packet> Queue<P> for FqCoDel<P> {
    fn enqueue(
        &mut self,
        now: Instant,
        _free: Option<Instant>,
        packet: P,
    ) -> Result<Option<P>, Dropped<P>> {
        let index = self.bucket(packet.flow());
        let flow = &mut self.flows[index as usize];
        self.packets += 1;
        self.bytes += u64::from(packet.size());
        flow.waiting.push(now, packet);
        if !flow.active {
            flow.active = true;
            flow.credits = i64::from(self.config.quantum);
            self.new.push_back(index);
        }
        if self.packets > self.config.limit as usize {
            self.overflow(now);
        }
        Ok(None)
    }

    fn dequeue(&mut self, now: Instant) -> Option<P> {
        while let Some((index, is_new)) = self.turn() {
            let flow = &mut self.flows[index as usize];
            let (packets, bytes) = (flow.waiting.packets(), flow.waiting.bytes());
            let mut line = Line {
                others: self.bytes - bytes,
                waiting: &mut flow.waiting,
                dropped: &mut self.dropped,
            };
            let packet = flow.control.dequeue(now, &self.config.codel, &mut line);
            self.packets -= packets - flow.waiting.packets();
            self.bytes -= bytes - flow.waiting.bytes();
            if let Some(packet) = packet {
                flow.credits -= i64::from(packet.size());
                return Some(packet);
            }
            self.deactivate(index, is_new);
        }
        None
    }

    fn dropped(&mut self) -> Option<Dropped<P>> {
        self.dropped.pop_front()
    }

    fn expire(&mut self, _now: Instant) {}

    fn packets(&self) -> usize {
        self.packets
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests;
