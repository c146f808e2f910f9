//! Measures how long something has limited a sender.

use skywave_units::{Duration, Instant};

/// Adds up the time during which a condition holds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LimitedTime {
    since: Option<Instant>,
    total: Duration,
}

impl LimitedTime {
    /// Records whether the condition holds from `now` on.
    #[inline(always)]
    pub(super) fn note(&mut self, now: Instant, holds: bool) {
        if holds || self.since.is_some() {
            self.change(now, holds);
        }
    }

    #[inline(never)]
    fn change(&mut self, now: Instant, holds: bool) {
        if let Some(since) = self.since {
            self.total += now - since;
        }
        self.since = holds.then_some(now);
    }

    /// Returns the total time up to the last note.
    pub(super) const fn total(&self) -> Duration {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up_the_time_while_it_holds() {
        let mut limited = LimitedTime::default();
        for (second, holds) in [
            (1, false),
            (2, true),
            (3, true),
            (5, false),
            (9, true),
            (10, false),
        ] {
            limited.note(Instant::ZERO + Duration::from_secs(second), holds);
        }
        assert_eq!(limited.total(), Duration::from_secs(4));
    }
}
