//! Which of the two queues sends next.

use skywave_units::Instant;

use super::DualPi2Scheduler;
use crate::{Backlog, Packet};

/// One of the two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queue {
    L4s,
    Classic,
}

/// A decision of the scheduler.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) queue: Queue,
    /// Whether the other queue had packets too.
    contends: bool,
}

/// The scheduler of RFC 9332 section 4.2.2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scheduler {
    kind: DualPi2Scheduler,
    mtu: u32,
    /// With WRR, the bytes that are due to the Classic queue, times the weight. It sends once they
    /// are not below zero.
    credit: i64,
}

impl Scheduler {
    pub(super) fn new(kind: DualPi2Scheduler, mtu: u32) -> Self {
        let mut scheduler = Self {
            kind,
            mtu,
            credit: 0,
        };
        scheduler.reset();
        scheduler
    }

    /// Lets the L4S queue go first, with its complete share of a round.
    fn reset(&mut self) {
        if let DualPi2Scheduler::Wrr { weight } = self.kind {
            self.credit = -i64::from(weight) * i64::from(self.mtu);
        }
    }

    /// Returns the queue that sends next, or `None` if both are empty.
    pub(super) fn turn<P: Packet>(
        &mut self,
        now: Instant,
        l4s: &Backlog<P>,
        classic: &Backlog<P>,
    ) -> Option<Turn> {
        let (has_l4s, has_classic) = (l4s.packets() > 0, classic.packets() > 0);
        if !has_l4s && !has_classic {
            self.reset();
            return None;
        }
        let contends = has_l4s && has_classic;
        let l4s_first = match self.kind {
            _ if !contends => has_l4s,
            DualPi2Scheduler::Wrr { .. } => self.credit < 0,
            // RFC 9332 Figure 10, `scheduler`.
            DualPi2Scheduler::TsFifo { tshift } => l4s.delay(now) + tshift >= classic.delay(now),
        };
        let queue = if l4s_first {
            Queue::L4s
        } else {
            Queue::Classic
        };
        Some(Turn { queue, contends })
    }

    /// Accounts for a packet that is sent. One that no other packet had to wait for is free, so that
    /// paced L4S traffic need not wait for Classic packets (RFC 9332 Appendix A.1); one that is
    /// dropped takes no time of the link.
    pub(super) fn sends(&mut self, turn: Turn, size: u32) {
        let DualPi2Scheduler::Wrr { weight } = self.kind else {
            return;
        };
        if turn.contends {
            let size = i64::from(size);
            self.credit += match turn.queue {
                Queue::L4s => size,
                Queue::Classic => -i64::from(weight) * size,
            };
        }
    }
}
