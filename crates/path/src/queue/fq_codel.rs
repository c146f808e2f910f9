//! FQ-CoDel: a CoDel queue per flow, served round robin (RFC 8290).

use std::collections::VecDeque;
use std::sync::Arc;

use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::{Bytes, Duration, Instant};
use twox_hash::XxHash3_64;

use super::codel::{Control, Lane, check_times};
use super::{
    AnyQueue, Backlog, Checked, CoDelConfig, Conduct, DropReason, Dropped, Head, Keeps, Limit,
    QueueKind, Writes,
};
use crate::Packet;

/// The largest configurable capacity, because a full queue holds that many packets in memory.
const MOST_PACKETS: u32 = 10_000_000;

/// The maximum number of queues that flows can be hashed into (also Linux's limit).
const MOST_FLOWS: u32 = 65_536;

/// The maximum number of packets that one overflow drops (RFC 8290 section 4.1).
const MOST_DROPPED: usize = 64;

/// Parameters of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCoDelConfig {
    /// Parameters of each queue's CoDel.
    pub codel: CoDelConfig,
    /// Capacity of all queues together, in packets.
    pub limit: u32,
    /// Number of queues that flows are hashed into; at least 1.
    pub flows: u32,
    /// Bytes that a queue may send per round; at least 1.
    pub quantum: u32,
}

impl Default for FqCoDelConfig {
    /// Returns Linux's values (RFC 8290 section 5.2), including marking.
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

/// Queues that share a link by deficit round robin, each with its own CoDel.
#[derive(Clone, Debug)]
pub struct FqCoDel<P> {
    config: FqCoDelConfig,
    /// Prevents outsiders from choosing flows that hash to the same queue.
    salt: u64,
    flows: Vec<Flow<P>>,
    /// Queues that have become active and have not had a full round yet.
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
    /// Creates an empty queue; `salt` is mixed into the hash of flows.
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

    /// Returns the queue of a flow.
    fn bucket(&self, flow: u64) -> u32 {
        let hash = XxHash3_64::oneshot_with_seed(self.salt, &flow.to_le_bytes());
        (hash % u64::from(self.config.flows)) as u32
    }

    /// Makes room by dropping half of the longest queue, oldest packets first (RFC 8290 section
    /// 4.1).
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

    /// Returns the queue whose turn it is and that has credit to send; new queues come first (RFC
    /// 8290 section 4.2).
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

    /// Removes an empty queue from the list that it heads.
    fn deactivate(&mut self, index: u32, is_new: bool) {
        if is_new {
            // Move it to the old queues, which are all served first. Otherwise a flow that returns
            // just in time would starve them.
            self.new.pop_front();
            self.old.push_back(index);
        } else {
            self.old.pop_front();
            self.flows[index as usize].active = false;
        }
    }
}

impl<P: Packet> Keeps<P> for FqCoDel<P> {
    fn enqueue(&mut self, now: Instant, packet: P) -> Result<(), Dropped<P>> {
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
        Ok(())
    }

    fn dequeue(&mut self, now: Instant) -> Option<P> {
        while let Some((index, is_new)) = self.turn() {
            let flow = &mut self.flows[index as usize];
            let (packets, bytes) = (flow.waiting.packets(), flow.waiting.bytes());
            let mut lane = Lane {
                others: self.bytes - bytes,
                waiting: &mut flow.waiting,
                dropped: &mut self.dropped,
            };
            let packet = flow.control.dequeue(now, &self.config.codel, &mut lane);
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

    fn packets(&self) -> usize {
        self.packets
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn inner_values(&self, record: &mut dyn FnMut(&str, f64)) {
        record("new_queues", self.new.len() as f64);
        record("old_queues", self.old.len() as f64);
    }
}

/// Parameters of FQ-CoDel, as written in a file.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "FqCoDel")]
#[serde(deny_unknown_fields, default)]
pub struct FqCoDelSpec {
    /// Capacity of all queues together, in packets.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets: u32,
    /// Number of queues that flows are hashed into.
    #[schemars(extend("x-unit" = "queues"))]
    pub flows: u32,
    /// Bytes that each queue may send per round.
    pub quantum: Bytes,
    /// The acceptable standing delay of each queue.
    pub target: Duration,
    /// How long the delay must exceed the target before anything is dropped.
    pub interval: Duration,
    /// Whether to mark packets instead of dropping them, if they can be marked.
    pub ecn: bool,
}

impl Default for FqCoDelSpec {
    fn default() -> Self {
        let FqCoDelConfig {
            codel,
            limit,
            flows,
            quantum,
        } = FqCoDelConfig::default();
        Self {
            packets: limit,
            flows,
            quantum: Bytes::new(u64::from(quantum)),
            target: codel.target,
            interval: codel.interval,
            ecn: codel.ecn,
        }
    }
}

impl FqCoDelSpec {
    pub(super) fn kind<P: Packet + Send + 'static>(self) -> Checked<P> {
        let Self { packets, flows, .. } = self;
        ParameterError::unless((1..=MOST_PACKETS).contains(&packets), "packets", || {
            format!("{packets} packets: between 1 and {MOST_PACKETS}")
        })?;
        ParameterError::unless((1..=MOST_FLOWS).contains(&flows), "flows", || {
            format!("{flows} queues: between 1 and {MOST_FLOWS}")
        })?;
        let is_quantum = (64..=1_000_000).contains(&self.quantum.get());
        ParameterError::unless(is_quantum, "quantum", || {
            format!("{}: between 64 B and 1 MB", self.quantum)
        })?;
        check_times(self.target, self.interval)?;
        Ok(Arc::new(FqCoDelConfig {
            codel: CoDelConfig {
                target: self.target,
                interval: self.interval,
                ecn: self.ecn,
            },
            limit: packets,
            flows,
            quantum: self.quantum.get() as u32,
        }))
    }
}

/// The complete parameters of an FQ-CoDel queue.
impl<P: Packet + Send + 'static> QueueKind<P> for FqCoDelConfig {
    fn conduct(&self) -> Conduct {
        Conduct {
            fifo: false,
            drops_early: true,
            drops_inside: true,
            writes: Writes::marks_if(self.codel.ecn),
            ..Conduct::fifo(Limit::Packets(self.limit))
        }
    }

    fn build(&self, head: &Head<'_>) -> AnyQueue<P> {
        AnyQueue::keeps(FqCoDel::new(*self, head.random().next_u64()))
    }
}

#[cfg(test)]
mod tests;
