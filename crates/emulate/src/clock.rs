//! The real clock.

use std::time;

use skywave_units::{Duration, Instant};

/// The monotonic clock, counted from a start. Steps of the wall clock do not move it.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: time::Instant,
    /// The time shown, if only [`look`](Self::look) changes it.
    shown: Option<Instant>,
}

impl Clock {
    /// Starts at zero.
    pub fn start() -> Self {
        Self {
            start: time::Instant::now(),
            shown: None,
        }
    }

    /// Starts at zero a clock that shows the time of the last [`look`](Self::look). It is for guests
    /// on virtual time: there time passes only while a program waits, and reading the time takes
    /// longer than handling a packet.
    pub fn start_held() -> Self {
        Self {
            shown: Some(Instant::ZERO),
            ..Self::start()
        }
    }

    /// Updates the time shown. Call this after each wait.
    pub fn look(&mut self) {
        self.shown = self.shown.map(|_| self.read());
    }

    /// Returns the time since the start.
    pub fn now(self) -> Instant {
        self.shown.unwrap_or_else(|| self.read())
    }

    fn read(self) -> Instant {
        let nanoseconds = self.start.elapsed().as_nanos();
        // It runs out after 584 years.
        Instant::ZERO + Duration::from_nanos(nanoseconds as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_clock_moves_when_it_is_looked_at() {
        let mut clock = Clock::start_held();
        std::thread::sleep(time::Duration::from_millis(1));
        assert_eq!(clock.now(), Instant::ZERO);
        clock.look();
        let seen = clock.now();
        assert!(seen >= Instant::ZERO + Duration::from_millis(1));
        std::thread::sleep(time::Duration::from_millis(1));
        assert_eq!(clock.now(), seen);
    }
}
