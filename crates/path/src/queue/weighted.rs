//! Sub-queues that share a link by weight.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::{MemberFailure, ParameterError};
use skywave_units::{Instant, Rate};

use super::kernel_spec::KERNEL;
use super::{AnyQueue, Checked, Conduct, Dropped, Head, Keeps, QueueKind, QueueSpec, Queues};
use crate::{CLASSES, Packet};

/// The bytes that a sub-queue with the smallest weight may send per round: the packet of a full
/// Ethernet frame.
const QUANTUM: i64 = 1500;

/// The largest weight. The smallest sub-queue may have to wait for this many packets of the others.
const MOST_WEIGHT: u32 = 1000;

/// Several disciplines on one link, each for a traffic class. For example, a discipline whose
/// routers write their own codes can run next to TCP under RED; the two cannot share a queue (Chen,
/// Yang and Hong 2010, section 4.4).
///
/// While all have packets waiting, each gets a share of the link in proportion to its weight. The
/// unused part of a share goes to the others. The scheduler is deficit round robin (Shreedhar and
/// Varghese 1996), except that a sub-queue may overdraw its credit by one packet, because a
/// discipline does not announce the size of its next packet.
pub struct Weighted<P> {
    queues: Vec<SubQueue<P>>,
    /// The sub-queue whose turn it is.
    turn: usize,
}

struct SubQueue<P> {
    queue: Box<dyn Keeps<P> + Send>,
    /// The bytes it may send per round.
    quantum: i64,
    credits: i64,
}

impl<P: Packet + Send + 'static> Weighted<P> {
    /// Creates a discipline that serves `queues`, each with a weight of at least 1. Packets of
    /// traffic class `c` go to the queue with that index; packets of higher classes go to the last
    /// one.
    ///
    /// Returns `None` if there is no queue, or if a weight is 0.
    pub fn new(queues: Vec<(u32, AnyQueue<P>)>) -> Option<Self> {
        let least = queues.iter().map(|&(weight, _)| weight).min()?;
        if least == 0 {
            return None;
        }
        let sub_queue = |(weight, queue): (u32, AnyQueue<P>)| SubQueue {
            queue: queue.into_keeps(),
            quantum: QUANTUM * i64::from(weight) / i64::from(least),
            credits: 0,
        };
        Some(Self {
            queues: queues.into_iter().map(sub_queue).collect(),
            turn: 0,
        })
    }
}

/// Returns the index, out of `count`, of the sub-queue that serves a class.
fn index_of(class: u8, count: usize) -> usize {
    usize::from(class).min(count - 1)
}

#[deny(clippy::missing_trait_methods)]
impl<P: Packet> Keeps<P> for Weighted<P> {
    fn enqueue(&mut self, now: Instant, packet: P) -> Result<(), Dropped<P>> {
        let index = index_of(packet.class(), self.queues.len());
        self.queues[index].queue.enqueue(now, packet)
    }

    fn dequeue(&mut self, now: Instant) -> Option<P> {
        let mut found_empty = 0;
        while found_empty < self.queues.len() {
            let sub = &mut self.queues[self.turn];
            if sub.credits > 0 {
                if let Some(packet) = sub.queue.dequeue(now) {
                    sub.credits -= i64::from(packet.size());
                    return Some(packet);
                }
                // Unused credit is not carried over.
                sub.credits = 0;
            }
            found_empty = if sub.queue.packets() == 0 {
                found_empty + 1
            } else {
                0
            };
            self.turn = (self.turn + 1) % self.queues.len();
            let next = &mut self.queues[self.turn];
            next.credits += next.quantum;
        }
        None
    }

    fn dropped(&mut self) -> Option<Dropped<P>> {
        self.queues.iter_mut().find_map(|sub| sub.queue.dropped())
    }

    fn packets(&self) -> usize {
        self.queues.iter().map(|sub| sub.queue.packets()).sum()
    }

    fn bytes(&self) -> u64 {
        self.queues.iter().map(|sub| sub.queue.bytes()).sum()
    }

    /// Passes the values of the sub-queues to `record`, with `queues[0].` and so on in front of
    /// their names.
    fn inner_values(&self, record: &mut dyn FnMut(&str, f64)) {
        for (index, sub) in self.queues.iter().enumerate() {
            sub.queue.inner_values(&mut |name, value| {
                record(&format!("queues[{index}].{name}"), value);
            });
        }
    }

    fn failure(&self) -> Option<MemberFailure> {
        self.queues.iter().find_map(|sub| sub.queue.failure())
    }
}

/// Sub-queues in order of the traffic classes they serve; flows set their `class`. The last
/// sub-queue also serves all higher classes.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Weighted")]
#[serde(deny_unknown_fields)]
pub struct WeightedSpec {
    /// The sub-queues.
    pub queues: Vec<SubQueueSpec>,
}

/// One sub-queue.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "SubQueue")]
#[serde(deny_unknown_fields)]
pub struct SubQueueSpec {
    /// Its share of the link while all have packets waiting, relative to the other weights.
    #[schemars(extend("x-unit" = "1"))]
    pub weight: u32,
    /// Its discipline.
    #[serde(default)]
    pub queue: QueueSpec,
}

/// The name of this discipline.
pub(super) const WEIGHTED: &str = "weighted";

impl WeightedSpec {
    /// Reads the sub-queues and completes their parameters.
    pub(super) fn kind<P: Packet + Send + 'static>(&mut self, known: &Queues<P>) -> Checked<P> {
        let count = self.queues.len();
        ParameterError::unless((1..=CLASSES).contains(&count), "queues", || {
            format!("{count} sub-queues: between 1 and {CLASSES}, one for each class")
        })?;
        let mut queues = Vec::with_capacity(count);
        for (index, sub) in self.queues.iter_mut().enumerate() {
            let kind = sub.kind(known);
            let kind = kind.map_err(|error| error.within(&format!("queues[{index}]")))?;
            queues.push((sub.weight, kind));
        }
        Ok(Arc::new(Kind { queues }))
    }
}

impl SubQueueSpec {
    fn kind<P>(&mut self, known: &Queues<P>) -> Checked<P> {
        let weight = self.weight;
        ParameterError::unless((1..=MOST_WEIGHT).contains(&weight), "weight", || {
            format!("{weight}: between 1 and {MOST_WEIGHT}")
        })?;
        ParameterError::unless(self.queue.name() != WEIGHTED, "queue", || {
            "a weighted queue has no weighted sub-queues: name all in the outer one".to_owned()
        })?;
        ParameterError::unless(self.queue.name() != KERNEL, "queue", || {
            "a sub-queue cannot be the kernel's: use it for a whole link".to_owned()
        })?;
        let kind = self.queue.complete(known);
        kind.map_err(|error| error.within("queue"))
    }
}

struct Kind<P> {
    queues: Vec<(u32, Arc<dyn QueueKind<P>>)>,
}

impl<P: Packet + Send + 'static> QueueKind<P> for Kind<P> {
    fn conduct(&self) -> Conduct {
        let parts: Vec<_> = self.queues.iter().map(|(_, kind)| kind.conduct()).collect();
        Conduct::of_sub_queues(&parts)
    }

    fn conduct_for(&self, class: u8) -> Conduct {
        self.queues[index_of(class, self.queues.len())]
            .1
            .conduct_for(class)
    }

    fn shares_state(&self) -> bool {
        self.queues.iter().any(|(_, kind)| kind.shares_state())
    }

    fn build(&self, head: &Head<'_>) -> AnyQueue<P> {
        let weights: u64 = self
            .queues
            .iter()
            .map(|&(weight, _)| u64::from(weight))
            .sum();
        let queues = self.queues.iter().enumerate();
        let queues = queues.map(|(index, (weight, kind))| {
            let bps = u128::from(head.rate.as_bps()) * u128::from(*weight);
            let share = Rate::from_bps((bps / u128::from(weights)) as u64);
            (*weight, kind.build(&head.sub_queue(index, share)))
        });
        AnyQueue::keeps(Weighted::new(queues.collect()).expect("weights have been checked"))
    }
}

#[cfg(test)]
mod tests;
