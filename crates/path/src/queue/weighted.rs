//! Sub-queues that share a link by weight.

use skywave_units::Instant;

use super::{Dropped, Queue};
use crate::Packet;

/// Bytes that a sub-queue of the smallest weight may send in one round: a full Ethernet frame's
/// packet.
const QUANTUM: i64 = 1500;

/// Several disciplines on one link, each for a class of traffic: VCP beside TCP under RED, say,
/// which cannot share a queue (Chen, Yang and Hong 2010, section 4.4).
///
/// Where all have packets waiting, each gets the link in proportion to its weight; what one leaves
/// over, the others get. Deficit round robin (Shreedhar and Varghese 1996) that lets a sub-queue
/// overdraw by a packet, since a discipline does not say in advance how large its next one is.
#[derive(Clone, Debug)]
pub struct Weighted<Q> {
    queues: Vec<SubQueue<Q>>,
    /// Whose turn it is.
    turn: usize,
}

#[derive(Clone, Debug)]
struct SubQueue<Q> {
    queue: Q,
    /// Bytes that it may send in one round.
    quantum: i64,
    credits: i64,
}

impl<Q> Weighted<Q> {
    /// Serves `queues`, each with its weight, which is at least 1. Packets of traffic class `c` go to
    /// the queue of that index, and those of higher classes to the last.
    ///
    /// `None` where there is no queue or a weight is 0.
    pub fn new(queues: Vec<(u32, Q)>) -> Option<Self> {
        let least = queues.iter().map(|&(weight, _)| weight).min()?;
        if least == 0 {
            return None;
        }
        let sub_queue = |(weight, queue)| SubQueue {
            queue,
            quantum: QUANTUM * i64::from(weight) / i64::from(least),
            credits: 0,
        };
        Some(Self {
            queues: queues.into_iter().map(sub_queue).collect(),
            turn: 0,
        })
    }

    /// The sub-queue of a class.
    pub fn queue_of(&self, class: u8) -> &Q {
        &self.queues[self.index_of(class)].queue
    }

    fn index_of(&self, class: u8) -> usize {
        usize::from(class).min(self.queues.len() - 1)
    }

    /// The sub-queues, in the order of their classes.
    pub fn queues(&self) -> impl Iterator<Item = &Q> {
        self.queues.iter().map(|sub| &sub.queue)
    }
}

impl<P: Packet, Q: Queue<P>> Queue<P> for Weighted<Q> {
    fn enqueue(
        &mut self,
        now: Instant,
        _free: Option<Instant>,
        packet: P,
    ) -> Result<Option<P>, Dropped<P>> {
        let index = self.index_of(packet.class());
        self.queues[index].queue.enqueue(now, None, packet)
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
                // What it leaves over is not saved up.
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

    fn expire(&mut self, now: Instant) {
        for sub in &mut self.queues {
            sub.queue.expire(now);
        }
    }

    fn packets(&self) -> usize {
        self.queues.iter().map(|sub| sub.queue.packets()).sum()
    }

    fn bytes(&self) -> u64 {
        self.queues.iter().map(|sub| sub.queue.bytes()).sum()
    }
}

#[cfg(test)]
mod tests;
