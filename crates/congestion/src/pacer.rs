//! Pacing: spreading packets over time.

use skywave_units::{Duration, Instant};

/// The speed at which packets may leave: `quantum` packets per `interval`.
///
/// The rate is quantum / interval. The quantum is the number of packets that may leave back to
/// back, for example in one system call; 1 spreads packets most evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// The time from one quantum to the next.
    pub interval: Duration,
    /// The number of packets that may leave together, at least 1.
    pub quantum: u32,
}

impl Pacing {
    /// The longest interval; with a longer one, a connection would practically stop.
    const LONGEST: f64 = 3600.0;

    /// Creates a pacing of `rate` packets per second, `quantum` packets at a time.
    pub fn at_rate(rate: f64, quantum: u32) -> Self {
        let quantum = quantum.max(1);
        let seconds = f64::from(quantum) / rate;
        // A rate of zero, or NaN, is the slowest.
        let seconds = if seconds >= 0.0 {
            seconds
        } else {
            f64::INFINITY
        };
        Self {
            interval: Duration::from_secs_f64(seconds.min(Self::LONGEST)),
            quantum,
        }
    }
}

/// Enforces a control's [`Pacing`]. A transport consults it before sending a packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pacer {
    /// When the next quantum may leave; `None` for now.
    release: Option<Instant>,
    /// Packets of the current quantum that have left, and the size of the quantum; zero without
    /// pacing.
    left: u32,
    quantum: u32,
}

impl Pacer {
    /// Reports that a packet left at `now`, and the control's current pacing.
    #[inline(always)]
    pub fn on_sent(&mut self, now: Instant, pacing: Option<Pacing>) {
        match pacing {
            None if self.quantum == 0 => {}
            pacing => self.count(now, pacing),
        }
    }

    #[cold]
    fn count(&mut self, now: Instant, pacing: Option<Pacing>) {
        let Some(Pacing { interval, quantum }) = pacing else {
            *self = Self::default();
            return;
        };
        self.quantum = quantum.max(1);
        self.left += 1;
        // What leaves although it should have waited does not shorten the wait of the others.
        let held_until = self.release.filter(|&at| at > now);
        self.release = held_until;
        if self.left >= self.quantum {
            self.left = 0;
            self.release = Some(held_until.unwrap_or(now) + interval);
        }
    }

    /// Returns the earliest time at which the next packet may leave, or `None` for now.
    #[inline(always)]
    pub const fn earliest_departure(&self) -> Option<Instant> {
        self.release
    }

    /// Returns the number of packets that may leave back to back at `now`, or `None` for any
    /// number.
    #[inline(always)]
    pub fn burst(&self, now: Instant) -> Option<u32> {
        if self.quantum == 0 {
            return None;
        }
        let is_held = self.release.is_some_and(|at| at > now);
        Some(if is_held { 0 } else { self.quantum - self.left })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn a_quantum_leaves_together_and_the_next_an_interval_later() {
        let pacing = Some(Pacing::at_rate(300.0, 3));
        let mut pacer = Pacer::default();
        assert_eq!(pacer.burst(ms(0)), None);
        pacer.on_sent(ms(0), pacing);
        assert_eq!(
            (pacer.earliest_departure(), pacer.burst(ms(0))),
            (None, Some(2))
        );
        pacer.on_sent(ms(0), pacing);
        pacer.on_sent(ms(0), pacing);
        assert_eq!(pacer.earliest_departure(), Some(ms(10)));
        assert_eq!(
            (pacer.burst(ms(9)), pacer.burst(ms(10))),
            (Some(0), Some(3))
        );
        pacer.on_sent(ms(10), None);
        assert_eq!(
            (pacer.earliest_departure(), pacer.burst(ms(10))),
            (None, None)
        );
    }

    #[test]
    fn what_leaves_too_early_is_made_up_for() {
        let pacing = Some(Pacing::at_rate(200.0, 2));
        let mut pacer = Pacer::default();
        pacer.on_sent(ms(0), pacing);
        pacer.on_sent(ms(0), pacing);
        assert_eq!(pacer.earliest_departure(), Some(ms(10)));
        pacer.on_sent(ms(1), pacing);
        assert_eq!(
            (pacer.earliest_departure(), pacer.burst(ms(1))),
            (Some(ms(10)), Some(0))
        );
        pacer.on_sent(ms(2), pacing);
        assert_eq!(pacer.earliest_departure(), Some(ms(20)));
    }

    #[test]
    fn a_rate_that_is_none_is_the_slowest() {
        let slowest = Duration::from_secs(3600);
        for rate in [0.0, -1.0, f64::NAN, 1e-300] {
            assert_eq!(Pacing::at_rate(rate, 0).interval, slowest, "{rate}");
        }
        assert_eq!(Pacing::at_rate(f64::INFINITY, 1).interval, Duration::ZERO);
    }
}
