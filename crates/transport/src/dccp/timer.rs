//! A connection's timers, in a small fixed table, and rate limits.

use skywave_units::{Duration, Instant};

/// What a timer is for. CCIDs keep their own timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// Retransmits the Request, PARTOPEN's acknowledgement, the CloseReq or the Close, or sends a
    /// Sync while data waits for the Sequence Window: one at a time, depending on the state.
    Retransmit,
    /// Gives up on the current state.
    GiveUp,
    /// Retransmits unanswered Change options (RFC 4340 section 6.6.3).
    Features,
    /// Ends TIMEWAIT.
    TimeWait,
    /// Discards what `close` has not managed to send, and stops waiting for acknowledgements.
    Linger,
    /// Checks whether the peer is still there, and whether the connection is used.
    Liveness,
}

impl Timer {
    const COUNT: usize = 6;
    const ALL: [Self; Self::COUNT] = [
        Self::Retransmit,
        Self::GiveUp,
        Self::Features,
        Self::TimeWait,
        Self::Linger,
        Self::Liveness,
    ];
}

/// When each timer fires.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimerTable([Instant; Timer::COUNT]);

impl TimerTable {
    /// Creates a table with no timer set.
    pub(crate) const fn new() -> Self {
        Self([Instant::MAX; Timer::COUNT])
    }

    /// Sets `timer` to fire at `at`, replacing any earlier setting.
    pub(crate) const fn set(&mut self, timer: Timer, at: Instant) {
        self.0[timer as usize] = at;
    }

    /// Sets `timer` to fire at `at`, unless it fires earlier.
    pub(crate) fn set_at_most(&mut self, timer: Timer, at: Instant) {
        let earlier = &mut self.0[timer as usize];
        *earlier = at.min(*earlier);
    }

    /// Stops `timer`.
    pub(crate) const fn stop(&mut self, timer: Timer) {
        self.0[timer as usize] = Instant::MAX;
    }

    /// Stops all timers.
    pub(crate) const fn stop_all(&mut self) {
        *self = Self::new();
    }

    /// Returns whether `timer` is set.
    pub(crate) fn is_set(&self, timer: Timer) -> bool {
        self.0[timer as usize] != Instant::MAX
    }

    /// Returns when the earliest timer fires, or [`Instant::MAX`] for never.
    pub(crate) fn earliest(&self) -> Instant {
        self.0.iter().copied().fold(Instant::MAX, Instant::min)
    }

    /// Takes one timer that is due at `now`.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<Timer> {
        let timer = Timer::ALL.into_iter().find(|&timer| {
            let at = self.0[timer as usize];
            at <= now && at != Instant::MAX
        })?;
        self.stop(timer);
        Some(timer)
    }
}

/// The shortest interval: with zero, time would not advance between two attempts.
pub(crate) const SHORTEST: Duration = Duration::from_millis(1);

/// An interval that doubles each time, up to a limit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Backoff(u8);

impl Backoff {
    /// Returns the interval before the next attempt, if the first was `first`: at most `limit` (or
    /// `first` if that is longer) and at least 1 ms.
    pub(crate) fn interval(self, first: Duration, limit: Duration) -> Duration {
        let first = first.max(SHORTEST);
        (first * (1u64 << self.0.min(32))).min(limit.max(first))
    }

    /// Records a failed attempt.
    pub(crate) const fn advance(&mut self) {
        self.0 = self.0.saturating_add(1);
    }

    /// Starts over.
    pub(crate) const fn reset(&mut self) {
        self.0 = 0;
    }
}

/// Allows a limited number of events per second.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateLimit {
    second: u64,
    count: u32,
}

impl RateLimit {
    /// Returns whether another event may happen at `now`, and counts it if so.
    pub const fn allows(&mut self, now: Instant, per_second: u32) -> bool {
        let second = now.as_nanos() / 1_000_000_000;
        if second != self.second {
            *self = Self { second, count: 0 };
        }
        if self.count >= per_second {
            return false;
        }
        self.count += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_fire_once_and_in_time() {
        let mut timers = TimerTable::new();
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        assert_eq!(timers.earliest(), Instant::MAX);
        timers.set(Timer::GiveUp, at(30));
        timers.set(Timer::Retransmit, at(20));
        assert_eq!(timers.earliest(), at(20));
        assert_eq!(timers.take_due(at(19)), None);
        assert_eq!(timers.take_due(at(30)), Some(Timer::Retransmit));
        assert_eq!(timers.take_due(at(30)), Some(Timer::GiveUp));
        assert_eq!(timers.take_due(at(30)), None);
        assert_eq!(timers.earliest(), Instant::MAX);
    }

    #[test]
    fn backoff_doubles_up_to_the_limit() {
        let mut backoff = Backoff::default();
        let (first, limit) = (Duration::from_secs(1), Duration::from_secs(64));
        let mut secs = Vec::new();
        for _ in 0..9 {
            secs.push(backoff.interval(first, limit).as_millis() / 1_000);
            backoff.advance();
        }
        assert_eq!(secs, [1, 2, 4, 8, 16, 32, 64, 64, 64]);
    }

    #[test]
    fn rate_limit_starts_afresh_each_second() {
        let mut limit = RateLimit::default();
        let mut allowed = 0;
        for tenth in 0..20 {
            let now = Instant::ZERO + Duration::from_millis(tenth * 100);
            allowed += u32::from(limit.allows(now, 8));
        }
        assert_eq!(allowed, 16);
    }
}
