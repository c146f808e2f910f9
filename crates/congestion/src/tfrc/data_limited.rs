//! Whether the application, not the allowed rate, has been the limit (RFC 5348 section 8.2.1).

use skywave_units::{Duration, Instant};

/// Remembers two times at which the sender was *not* data-limited.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataLimited {
    not_limited_1: Option<Instant>,
    not_limited_2: Option<Instant>,
    /// When the newest packet that was reported left.
    t_new: Option<Instant>,
    /// When that was reported.
    t_next: Option<Instant>,
}

impl DataLimited {
    pub(super) const fn new() -> Self {
        Self {
            not_limited_1: None,
            not_limited_2: None,
            t_new: None,
            t_next: None,
        }
    }

    /// The sender has sent all that it is allowed to send.
    pub(super) fn on_all_sent(&mut self, now: Instant) {
        if self.not_limited_1 <= self.t_new {
            self.not_limited_1 = Some(now);
        } else if self.not_limited_2 <= self.t_next {
            self.not_limited_2 = Some(now);
        }
    }

    /// A report came on packets up to one that left at `t_new`: whether the sender was data-limited
    /// over the whole interval that it covers.
    pub(super) fn on_feedback(&mut self, now: Instant, t_new: Instant, rtt: Duration) -> bool {
        self.t_new = Some(t_new);
        self.t_next = Some(now);
        let is_within =
            |time: Option<Instant>| time.is_some_and(|at| at <= t_new && t_new - at < rtt);
        let limited = !is_within(self.not_limited_1) && !is_within(self.not_limited_2);
        if self.not_limited_1 <= self.t_new && self.not_limited_2 > self.t_new {
            self.not_limited_1 = self.not_limited_2;
        }
        limited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// T-5: one moment without unused permission makes an interval not data-limited.
    #[test]
    fn t_5_data_limited_intervals() {
        let mut limited = DataLimited::new();
        limited.on_all_sent(at(0));
        assert!(!limited.on_feedback(at(100), at(0), RTT));
        assert!(limited.on_feedback(at(200), at(100), RTT), "0 is too old");
        for millis in [250, 260, 350] {
            limited.on_all_sent(at(millis));
        }
        // The first time after t_new = 100, and the first one after t_next = 200, which is the same
        // here: 250, then 260.
        assert!(!limited.on_feedback(at(360), at(255), RTT));
        // 260 has become the first one.
        assert!(!limited.on_feedback(at(400), at(300), RTT));
        assert!(limited.on_feedback(at(460), at(360), RTT), "260 is too old");
    }
}
