//! Timestamps (RFC 7323 sections 3 to 5).

use skywave_units::{Duration, Instant};
use skywave_wire::tcp::Timestamps;

/// The period of the timestamp clock. RFC 7323 section 5.4 permits 1 ms to 1 s; this is Linux's.
pub(super) const TICK: Duration = Duration::from_millis(1);

/// How long TS.Recent is valid without an update (RFC 7323 section 5.5).
const OUTDATED: Duration = Duration::from_secs(24 * 24 * 3600);

/// Older echoes are no round-trip times: about the limit of Linux's `tcp_rtt_tsopt_us`.
const LONGEST_RTT: Duration = Duration::from_secs(36 * 60);

/// The bytes that the option takes of each segment (RFC 7323 appendix A).
pub(super) const LENGTH: u16 = 12;

/// One end's timestamp clock, and the other end's timestamp that it echoes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamps {
    /// What the clock shows at the epoch: random, so that it does not reveal how long the host has
    /// run (RFC 7323 section 7.1).
    offset: u32,
    /// TS.Recent.
    recent: u32,
    /// When it was last updated.
    updated: Option<Instant>,
}

impl Stamps {
    /// Starts the clock, before anything has arrived from the other end.
    pub(super) const fn new(offset: u32) -> Self {
        Self {
            offset,
            recent: 0,
            updated: None,
        }
    }

    /// Returns the same clock, without what has arrived from the other end.
    pub(super) const fn restarted(&self) -> Self {
        Self::new(self.offset)
    }

    /// Returns the clock, TSval.
    fn value(&self, now: Instant) -> u32 {
        let ticks = now.as_nanos() / TICK.as_nanos();
        self.offset.wrapping_add(ticks as u32)
    }

    /// Returns the option of a segment that leaves at `now`.
    pub(super) fn option(&self, now: Instant) -> Timestamps {
        Timestamps {
            value: self.value(now),
            echo: self.recent,
        }
    }

    /// Returns whether a segment with this TSval is an old duplicate: PAWS (RFC 7323 section 5.3,
    /// step R1).
    pub(super) fn is_old(&self, now: Instant, value: u32) -> bool {
        let is_valid = self.updated.is_some_and(|at| now - at < OUTDATED);
        is_valid && is_before(value, self.recent)
    }

    /// Stores a TSval to echo (RFC 7323 section 4.3, rule 2). The segment begins at or before the
    /// last acknowledgement sent.
    pub(super) fn on_value(&mut self, now: Instant, value: u32) {
        if !self.is_old(now, value) {
            self.recent = value;
            self.updated = Some(now);
        }
    }

    /// Returns the time since this end sent the timestamp `echo`, in whole ticks; `None` if it sent
    /// none, or if that is implausible.
    pub(super) fn since(&self, now: Instant, echo: u32) -> Option<Duration> {
        let ticks = self.value(now).wrapping_sub(echo);
        let age = TICK * u64::from(ticks);
        (echo != 0 && age <= LONGEST_RTT).then_some(age)
    }
}

/// Compares timestamps modulo 2^32 (RFC 7323 section 5.2).
const fn is_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn rfc7323_5_2_timestamps_wrap() {
        let mut stamps = Stamps::new(u32::MAX - 10);
        let sent = stamps.option(at(5)).value;
        assert_eq!(sent, u32::MAX - 5);
        assert_eq!(
            stamps.since(at(105), sent),
            Some(Duration::from_millis(100))
        );
        assert_eq!(stamps.since(at(4), sent), None, "sent later");
        assert_eq!(stamps.since(at(37 * 60_000), sent), None, "too long ago");
        assert_eq!(stamps.since(at(5), 0), None, "nothing to echo yet");
        stamps.on_value(at(105), u32::MAX);
        assert!(!stamps.is_old(at(105), 1));
        assert!(stamps.is_old(at(105), u32::MAX - 1));
        stamps.on_value(at(105), 1);
        stamps.on_value(at(105), u32::MAX);
        assert_eq!(stamps.option(at(105)).echo, 1, "never an older one");
    }

    /// Otherwise a connection could stall for half of the clock's period, 25 days.
    #[test]
    fn rfc7323_5_5_a_timestamp_is_outdated_after_24_days() {
        let mut stamps = Stamps::new(0);
        assert!(!stamps.is_old(at(0), u32::MAX), "nothing has arrived");
        stamps.on_value(at(0), 1000);
        let day = 24 * 3_600_000;
        assert!(stamps.is_old(at(24 * day - 1), 999));
        assert!(!stamps.is_old(at(24 * day), 999));
        stamps.on_value(at(24 * day), 999);
        assert_eq!(stamps.option(at(24 * day)).echo, 999);
    }
}
