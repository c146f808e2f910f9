//! Timing: the initial round-trip time, and Timestamps to echo.

use skywave_units::{Duration, Instant};
use skywave_wire::dccp::{DccpOption, ElapsedTime, OptionList};

/// The round-trip time assumed before the first sample (RFC 4340 section 3.4).
pub(crate) const DEFAULT_RTT: Duration = Duration::from_millis(200);

/// A received Timestamp to be echoed in the next packet (section 13.3).
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingEcho {
    /// The Timestamp's value.
    pub(crate) value: u32,
    /// When it arrived.
    pub(crate) arrived: Instant,
}

impl PendingEcho {
    /// Returns the Timestamp Echo option for a packet that leaves at `now`.
    pub(crate) fn option(self, now: Instant) -> DccpOption {
        DccpOption::TimestampEcho {
            echo: self.value,
            elapsed: time_since(self.arrived, now),
        }
    }
}

/// Returns the Elapsed Time from `then` to `now` (section 13.2); `None` if it is less than one
/// unit.
pub(crate) fn time_since(then: Instant, now: Instant) -> Option<ElapsedTime> {
    Some(ElapsedTime::from_duration(now - then)).filter(|elapsed| elapsed.units() > 0)
}

/// Returns the peer's own report of how long it delayed an acknowledgement (RFC 4340 section 13.2).
pub(crate) fn elapsed(options: &OptionList) -> Duration {
    // Not the time in a Timestamp Echo, which counts from the packet with the Timestamp.
    let elapsed = options.iter().find_map(|option| match option {
        DccpOption::ElapsedTime(elapsed) => Some(elapsed.as_duration()),
        _ => None,
    });
    elapsed.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D13-1: no Elapsed Time if none has elapsed.
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
