//! The real clock, as the protocol wants to see it.

use skywave_units::Instant;

/// Monotonic time as nanoseconds since the clock was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    epoch: std::time::Instant,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self {
            epoch: std::time::Instant::now(),
        }
    }

    pub(crate) fn now(self) -> Instant {
        let since = self.epoch.elapsed().as_nanos();
        Instant::from_nanos(u64::try_from(since).unwrap_or(u64::MAX))
    }
}
