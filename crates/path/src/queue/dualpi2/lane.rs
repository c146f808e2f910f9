//! One of the two queues, with the state of its AQM.

use skywave_units::{Duration, Instant};

use crate::{Backlog, Packet};

/// One of the two queues.
#[derive(Clone, Debug)]
pub(super) struct Lane<P> {
    pub(super) waiting: Backlog<P>,
    /// The sojourn time of the last packet that left; zero once the link has found it empty.
    pub(super) delay: Duration,
    /// The sum of the likelihoods that have not led to a mark or drop yet.
    count: f64,
}

impl<P: Packet> Lane<P> {
    pub(super) const fn new() -> Self {
        Self {
            waiting: Backlog::new(),
            delay: Duration::ZERO,
            count: 0.0,
        }
    }

    /// Removes the oldest packet.
    pub(super) fn pop(&mut self, now: Instant) -> Option<P> {
        let (delay, packet) = self.waiting.pop(now)?;
        self.delay = delay;
        Some(packet)
    }

    /// Returns true with a certain likelihood, at even distances (RFC 9332 Figure 4, `recur`).
    pub(super) fn recur(&mut self, likelihood: f64) -> bool {
        self.count += likelihood;
        let is_due = self.count > 1.0;
        if is_due {
            self.count -= 1.0;
        }
        is_due
    }
}
