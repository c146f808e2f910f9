//! Detects data-limited intervals, in which the application, not the allowed rate, was the
//! bottleneck (RFC 5348 section 8.2.1).

use std::collections::VecDeque;

use skywave_units::{Duration, Instant};

/// How many points in time are remembered per round-trip time, and in total. The RFC remembers two,
/// and suggests more for accuracy: with two, most intervals would count as data-limited if there
/// are several reports per round-trip time.
const PER_ROUND_TRIP: u64 = 8;
const TIMES: usize = 64;

/// Remembers when the sender was *not* data-limited.
#[derive(Clone, Debug)]
pub(super) struct DataLimited {
    /// Oldest first.
    not_limited: VecDeque<Instant>,
}

impl DataLimited {
    pub(super) const fn new() -> Self {
        Self {
            not_limited: VecDeque::new(),
        }
    }

    /// Records that the sender used all its permission to send.
    pub(super) fn on_all_sent(&mut self, now: Instant, rtt: Duration) {
        let spacing = rtt / PER_ROUND_TRIP;
        if self
            .not_limited
            .back()
            .is_some_and(|&last| now - last < spacing)
        {
            return;
        }
        if self.not_limited.len() == TIMES {
            self.not_limited.pop_front();
        }
        self.not_limited.push_back(now);
    }

    /// Handles a report on packets up to one sent at `t_new`. Returns whether the sender was
    /// data-limited during the whole interval covered by the report: the round-trip time before
    /// `t_new`.
    pub(super) fn on_feedback(&mut self, t_new: Instant, rtt: Duration) -> bool {
        while self
            .not_limited
            .front()
            .is_some_and(|&at| at + rtt <= t_new)
        {
            self.not_limited.pop_front();
        }
        self.not_limited.front().is_none_or(|&at| at > t_new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// T-5: an interval is not data-limited if the sender used its whole rate once in it.
    #[test]
    fn t_5_data_limited_intervals() {
        let mut limited = DataLimited::new();
        limited.on_all_sent(at(0), RTT);
        assert!(!limited.on_feedback(at(0), RTT));
        assert!(limited.on_feedback(at(100), RTT), "0 is too old");
        for millis in [250, 260, 350] {
            limited.on_all_sent(at(millis), RTT);
        }
        assert!(limited.on_feedback(at(249), RTT));
        assert!(!limited.on_feedback(at(255), RTT));
        assert!(!limited.on_feedback(at(300), RTT));
        assert!(!limited.on_feedback(at(360), RTT));
        assert!(limited.on_feedback(at(460), RTT), "350 is too old");
    }

    /// A sender that always uses its whole rate is never data-limited, whatever the number and
    /// delay of reports, and memory stays small.
    #[test]
    fn any_number_of_reports() {
        for gap in [1, 10, 100, 350] {
            let mut limited = DataLimited::new();
            for millis in 0..5_000 {
                limited.on_all_sent(at(millis), RTT);
                assert!(limited.not_limited.len() <= TIMES);
                if millis >= 400 && millis % gap == 0 {
                    assert!(!limited.on_feedback(at(millis - 400), RTT), "{millis}");
                }
            }
        }
    }
}
