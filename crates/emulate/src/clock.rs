//! The real clock.

use std::time;

use skywave_units::{Duration, Instant};

/// The monotonic clock since the start of an emulation. Steps of the wall clock do not move it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(time::Instant);

impl Clock {
    pub(crate) fn start() -> Self {
        Self(time::Instant::now())
    }

    pub(crate) fn now(self) -> Instant {
        let nanoseconds = self.0.elapsed().as_nanos();
        // It ends after 584 years.
        Instant::ZERO + Duration::from_nanos(nanoseconds as u64)
    }
}
