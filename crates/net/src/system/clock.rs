//! The monotonic clock, as `skywave_units::Instant`.

use skywave_units::Instant;

/// Monotonic time in nanoseconds since the clock was created.
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
