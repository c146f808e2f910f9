//! How late packets leave.

use hdrhistogram::Histogram;
use serde::Serialize;
use skywave_units::{Duration, Instant};

/// Packets later than this are counted. With less lateness, an emulated link is
/// indistinguishable from a real one.
pub const LATE: Duration = Duration::from_millis(1);

/// Values are exact to one in a thousand.
const DIGITS: u8 = 3;
/// A minute; anything later counts as this.
const LONGEST_NS: u64 = 60_000_000_000;

/// How late packets leave, relative to the time at which the links delivered them.
#[derive(Debug)]
pub struct Lateness {
    nanoseconds: Histogram<u64>,
    late: u64,
}

/// How late packets left, relative to the time at which the links delivered them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LatenessSummary {
    /// The packets that left.
    pub packets: u64,
    /// The median, in seconds.
    pub median_s: f64,
    /// The 99th percentile, in seconds.
    pub p99_s: f64,
    /// The largest, in seconds.
    pub max_s: f64,
    /// The fraction of packets that were later than [`LATE`], 1 ms.
    pub beyond_1_ms: f64,
}

impl Default for Lateness {
    fn default() -> Self {
        Self::new()
    }
}

impl Lateness {
    /// Creates a record without packets.
    pub fn new() -> Self {
        let histogram = Histogram::new_with_max(LONGEST_NS, DIGITS);
        Self {
            nanoseconds: histogram.expect("a minute has three digits"),
            late: 0,
        }
    }

    /// Records a packet that left at `now` and should have left at `ideal`.
    pub fn record(&mut self, ideal: Instant, now: Instant) {
        let lateness = now.saturating_since(ideal);
        self.late += u64::from(lateness > LATE);
        self.nanoseconds.saturating_record(lateness.as_nanos());
    }

    /// Summarises all packets so far. Returns `None` if there are none.
    pub fn summary(&self) -> Option<LatenessSummary> {
        let packets = self.nanoseconds.len();
        let seconds = |nanoseconds: u64| nanoseconds as f64 / 1e9;
        (packets > 0).then(|| LatenessSummary {
            packets,
            median_s: seconds(self.nanoseconds.value_at_quantile(0.5)),
            p99_s: seconds(self.nanoseconds.value_at_quantile(0.99)),
            max_s: seconds(self.nanoseconds.max()),
            beyond_1_ms: self.late as f64 / packets as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_has_percentiles_and_the_share_of_late_packets() {
        let mut lateness = Lateness::new();
        assert_eq!(lateness.summary(), None);
        let ideal = Instant::ZERO + Duration::from_secs(1);
        for packet in 1..=100 {
            lateness.record(ideal, ideal + Duration::from_micros(20 * packet));
        }
        // Never early: a clock that is read before the send cannot be behind its deadline.
        lateness.record(ideal, Instant::ZERO);
        let summary = lateness.summary().unwrap();
        assert_eq!(summary.packets, 101);
        assert!((summary.median_s - 1e-3).abs() < 2e-6, "{summary:?}");
        assert!((summary.p99_s - 1.98e-3).abs() < 3e-6, "{summary:?}");
        assert!((summary.max_s - 2e-3).abs() < 3e-6, "{summary:?}");
        assert!((summary.beyond_1_ms - 50.0 / 101.0).abs() < 1e-9);
    }
}
