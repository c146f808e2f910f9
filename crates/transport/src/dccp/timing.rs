//! Times as options write them (RFC 4340 section 13): hundredths of milliseconds.

use skywave_units::{Duration, Instant};
use skywave_wire::dccp::{DccpOption, ElapsedTime};

/// Nanoseconds in one unit.
const UNIT: u64 = 10_000;

/// A received Timestamp that waits for the next packet (section 13.3).
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingEcho {
    /// The Timestamp's value.
    pub(crate) value: u32,
    /// When it arrived.
    pub(crate) arrived: Instant,
}

impl PendingEcho {
    /// The Timestamp Echo option for a packet that leaves at `now`.
    pub(crate) fn option(self, now: Instant) -> DccpOption {
        let elapsed = now - self.arrived;
        let elapsed = (elapsed.as_nanos() >= UNIT).then(|| elapsed_time(elapsed));
        DccpOption::TimestampEcho {
            echo: self.value,
            elapsed,
        }
    }
}

/// A duration in the form that section 13.2 asks for: rounded down, because it is a lower bound;
/// short below half a second; 4294967295 for anything too long.
pub(crate) fn elapsed_time(duration: Duration) -> ElapsedTime {
    let units = duration.as_nanos() / UNIT;
    if units < 50_000 {
        ElapsedTime::Short(units as u16)
    } else {
        ElapsedTime::Long(u32::try_from(units).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D13-2.
    #[test]
    fn elapsed_times() {
        for (nanos, written) in [
            (0, ElapsedTime::Short(0)),
            (9_999, ElapsedTime::Short(0)),
            (10_000, ElapsedTime::Short(1)),
            (499_999_999, ElapsedTime::Short(49_999)),
            (500_000_000, ElapsedTime::Long(50_000)),
            (655_360_000, ElapsedTime::Long(65_536)),
            (42_949_672_940_000, ElapsedTime::Long(4_294_967_294)),
            (42_949_672_960_000, ElapsedTime::Long(u32::MAX)),
            (u64::MAX, ElapsedTime::Long(u32::MAX)),
        ] {
            assert_eq!(
                elapsed_time(Duration::from_nanos(nanos)),
                written,
                "{nanos} ns"
            );
        }
    }

    /// D13-1: no Elapsed Time where there is none to tell.
    #[test]
    fn echo() {
        let pending = PendingEcho {
            value: 7,
            arrived: Instant::ZERO,
        };
        let at = |nanos| pending.option(Instant::from_nanos(nanos));
        assert_eq!(
            at(0),
            DccpOption::TimestampEcho {
                echo: 7,
                elapsed: None
            }
        );
        let elapsed = Some(ElapsedTime::Short(100));
        assert_eq!(
            at(1_000_000),
            DccpOption::TimestampEcho { echo: 7, elapsed }
        );
    }
}
