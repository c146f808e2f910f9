//! A clock that counts in ticks.

use skywave_registry::ParameterError;
use skywave_units::{Duration, Instant};

/// The tick of the kernel that runs on virtual time, User Mode Linux: 100 jiffies per second. Debian's
/// kernel has 250.
const LINUX_TICK: Duration = Duration::from_millis(10);

/// The longest tick that a parameter may ask for.
const LONGEST_TICK: Duration = Duration::from_secs(1);

/// Measures time in ticks, as modules of the Linux kernel do that read jiffies; exactly, if a tick
/// lasts no time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks(Duration);

impl Ticks {
    /// Returns a clock with this tick, or with the profile's: that of Linux, or none.
    pub(crate) fn new(tick: Option<Duration>, is_linux: bool) -> Self {
        let of_profile = if is_linux { LINUX_TICK } else { Duration::ZERO };
        Self(tick.unwrap_or(of_profile))
    }

    /// Checks the parameter `tick`.
    pub(crate) fn check(tick: Option<Duration>) -> Result<(), ParameterError> {
        let tick = tick.unwrap_or_default();
        ParameterError::unless(tick <= LONGEST_TICK, "tick", || {
            format!("{tick}: at most {LONGEST_TICK}")
        })
    }

    /// Returns the time that the clock shows: that of the last tick.
    pub(crate) fn read(self, now: Instant) -> Instant {
        Instant::ZERO + self.floor(now.since_epoch())
    }

    /// Returns the whole ticks of `time`.
    pub(crate) fn floor(self, time: Duration) -> Duration {
        let next = self.ceil(time);
        if next > time {
            next.saturating_sub(self.0)
        } else {
            next
        }
    }

    /// Returns `time` in whole ticks, rounded up, as Linux converts a measured time.
    pub(crate) const fn ceil(self, time: Duration) -> Duration {
        time.round_up_to(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_clock_shows_the_last_tick_and_times_are_rounded_up() {
        let ticks = Ticks::new(None, true);
        for (time, shown, rounded) in [(0, 0, 0), (9, 0, 10), (10, 10, 10), (11, 10, 20)] {
            assert_eq!(
                ticks.read(Instant::ZERO + ms(time)),
                Instant::ZERO + ms(shown)
            );
            assert_eq!(ticks.ceil(ms(time)), ms(rounded));
        }
    }

    #[test]
    fn without_ticks_time_is_exact() {
        for ticks in [Ticks::new(None, false), Ticks::new(Some(ms(0)), true)] {
            let now = Instant::from_nanos(1_234_567);
            assert_eq!(ticks.read(now), now);
            assert_eq!(ticks.ceil(ms(3)), ms(3));
        }
        assert_eq!(Ticks::new(Some(ms(4)), true).ceil(ms(9)), ms(12));
    }
}
