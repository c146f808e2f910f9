//! When the next packet may leave (RFC 5348 section 4.6).

use skywave_units::{Duration, Instant};

/// The nominal send times t_i.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacing {
    /// The nominal and the actual send time of the latest packet.
    last: Option<(Instant, Instant)>,
}

/// The current limits on packet spacing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// t_ipi: the interval between packets.
    pub(super) interval: Duration,
    /// T: how long unused send times are kept.
    pub(super) credit: Duration,
    /// The minimum spacing of two packets.
    pub(super) min_interval: Duration,
}

impl Pacing {
    pub(super) const fn new() -> Self {
        Self { last: None }
    }

    /// Returns when the next packet may leave; `now` or earlier means now.
    pub(super) fn next(&self, now: Instant, pace: Pace) -> Instant {
        let Some((_, sent)) = self.last else {
            return now;
        };
        self.nominal(now, pace).max(sent + pace.min_interval)
    }

    /// Returns t_(i+1), but no older than the credit permits.
    fn nominal(&self, now: Instant, pace: Pace) -> Instant {
        match self.last {
            None => now,
            Some((nominal, _)) => (nominal + pace.interval).max(now - pace.credit),
        }
    }

    /// Records that a packet leaves. Returns whether it may be the last one for now, that is, all
    /// permission is used.
    pub(super) fn on_sent(&mut self, now: Instant, pace: Pace) -> bool {
        self.last = Some((self.nominal(now, pace), now));
        self.next(now, pace) > now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const PACE: Pace = Pace {
        interval: Duration::from_millis(10),
        credit: Duration::from_millis(35),
        min_interval: Duration::ZERO,
    };

    fn at(millis: u64) -> Instant {
        Instant::ZERO + MS * millis
    }

    /// Returns how many packets leave at `now`.
    fn burst(pacing: &mut Pacing, now: Instant, pace: Pace) -> u32 {
        let mut count = 0;
        while pacing.next(now, pace) <= now {
            pacing.on_sent(now, pace);
            count += 1;
        }
        count
    }

    /// T-9: late timers do not lower the mean rate, and a burst is bounded by the credit.
    #[test]
    fn t_9_credit_is_bounded() {
        let mut pacing = Pacing::new();
        assert_eq!(
            burst(&mut pacing, at(1_000), PACE),
            1,
            "no credit from before"
        );
        assert_eq!(pacing.next(at(1_001), PACE), at(1_010));
        // Woken 3 ms late each time: the schedule does not slip.
        for step in 1..10 {
            assert_eq!(burst(&mut pacing, at(1_000 + 10 * step + 3), PACE), 1);
        }
        assert_eq!(pacing.next(at(1_094), PACE), at(1_100));
        // After a long pause: packets for the credit of 35 ms, and the one that is due.
        assert_eq!(burst(&mut pacing, at(9_000), PACE), 4);
        let none = Pace {
            credit: Duration::ZERO,
            ..PACE
        };
        assert_eq!(burst(&mut pacing, at(10_000), none), 1);
    }

    /// C4-3: at least 10 ms apart, whatever the rate and the credit.
    #[test]
    fn c4_3_min_interval() {
        let mut pacing = Pacing::new();
        let pace = Pace {
            interval: MS,
            min_interval: MS * 10,
            ..PACE
        };
        assert_eq!(burst(&mut pacing, at(0), pace), 1);
        assert_eq!(pacing.next(at(9), pace), at(10));
        assert_eq!(burst(&mut pacing, at(500), pace), 1);
    }

    /// A new rate applies immediately to a packet that is already waiting.
    #[test]
    fn a_faster_pace_holds_at_once() {
        let mut pacing = Pacing::new();
        let slow = Pace {
            interval: MS * 1_000,
            credit: Duration::ZERO,
            ..PACE
        };
        pacing.on_sent(at(0), slow);
        assert_eq!(pacing.next(at(100), slow), at(1_000));
        assert_eq!(
            pacing.next(at(100), PACE),
            at(65),
            "10 ms, and the credit's bound"
        );
    }
}
