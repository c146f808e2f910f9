//! X_recv: how fast data has arrived (RFC 5348 section 6.2, RFC 4342 section 8.3).

use std::collections::VecDeque;

use skywave_units::{Duration, Instant};

/// Reports that are remembered. More than these within a round-trip time, and a rate covers a little
/// more than one.
const MARKS: usize = 16;

/// What had arrived at some time.
#[derive(Clone, Copy, Debug)]
struct Mark {
    at: Instant,
    bytes: u64,
    packets: u64,
}

/// A rate of arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rates {
    /// Bytes per second.
    pub(super) bytes: f64,
    /// Packets per second.
    pub(super) packets: f64,
}

/// Measures the rate at which data arrives.
#[derive(Clone, Debug, Default)]
pub(super) struct ReceiveRate {
    bytes: u64,
    packets: u64,
    /// What had arrived when reports were sent, oldest first; the first one is the start.
    marks: VecDeque<Mark>,
}

impl ReceiveRate {
    /// A data packet has arrived.
    pub(super) fn on_arrival(&mut self, now: Instant, bytes: u32) {
        if self.marks.is_empty() {
            self.mark(now);
        }
        self.bytes = self.bytes.saturating_add(bytes.into());
        self.packets += 1;
    }

    /// The rate over the time since the latest report that is at least a round-trip time ago; zero
    /// before there is anything to measure.
    pub(super) fn rates(&self, now: Instant, rtt: Duration) -> Rates {
        let covers = |mark: &&Mark| now - mark.at >= rtt;
        let Some(mark) = self
            .marks
            .iter()
            .rev()
            .find(covers)
            .or_else(|| self.marks.front())
        else {
            return Rates::default();
        };
        let time = (now - mark.at).max(rtt).as_secs_f64();
        Rates {
            bytes: (self.bytes - mark.bytes) as f64 / time,
            packets: (self.packets - mark.packets) as f64 / time,
        }
    }

    /// A report has left.
    pub(super) fn mark(&mut self, now: Instant) {
        if self.marks.len() == MARKS {
            // Not the oldest: there must be one that is a round-trip time ago.
            self.marks.remove(1);
        }
        self.marks.push_back(Mark {
            at: now,
            bytes: self.bytes,
            packets: self.packets,
        });
    }

    /// Drops what is older than any rate needs.
    pub(super) fn forget(&mut self, now: Instant, rtt: Duration) {
        while let [_, second, ..] = self.marks.make_contiguous()
            && now - second.at >= rtt
        {
            self.marks.pop_front();
        }
    }
}
