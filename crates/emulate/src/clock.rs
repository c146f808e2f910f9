//! The real clock.

use std::time;

use skywave_units::{Duration, Instant};

/// The monotonic clock, counted from a start. Steps of the wall clock do not move it.
#[derive(Clone, Copy, Debug)]
pub struct Clock(time::Instant);

impl Clock {
    /// Starts at zero.
    pub fn start() -> Self {
        Self(time::Instant::now())
    }

    /// Returns the time since the start.
    pub fn now(self) -> Instant {
        let nanoseconds = self.0.elapsed().as_nanos();
        // It runs out after 584 years.
        Instant::ZERO + Duration::from_nanos(nanoseconds as u64)
    }
}
