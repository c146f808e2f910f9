//! The queueing delays that TCP-Illinois measures.

use skywave_units::Duration;

/// The longest round-trip time that counts: 2^32 us / 1280, so that Linux's integers suffice.
const LONGEST_RTT: Duration = Duration::from_micros(3_355_443);

/// The round-trip times of a connection and of the current round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delays {
    /// The shortest and the longest one so far.
    bounds: Option<(Duration, Duration)>,
    /// The sum of this round trip's, in seconds.
    sum: f64,
    count: u32,
}

impl Delays {
    pub(super) fn add(&mut self, rtt: Duration) {
        let rtt = rtt.min(LONGEST_RTT);
        let (base, longest) = self.bounds.unwrap_or((rtt, rtt));
        self.bounds = Some((base.min(rtt), longest.max(rtt)));
        self.sum += rtt.as_secs_f64();
        self.count += 1;
    }

    /// Begins a round trip.
    pub(super) const fn restart(&mut self) {
        self.sum = 0.0;
        self.count = 0;
    }

    /// Returns d_a, this round trip's average queueing delay, and d_m, the largest one so far, in
    /// seconds; `None` before the first sample of the round trip.
    pub(super) fn average_and_largest(&self) -> Option<(f64, f64)> {
        let (base, largest) = self.base_and_largest()?;
        let average = (self.count > 0).then(|| self.sum / f64::from(self.count))?;
        // The average of equal times may be rounded to less than each.
        Some(((average - base).max(0.0), largest))
    }

    /// Returns the shortest round-trip time, and d_m.
    pub(super) fn base_and_largest(&self) -> Option<(f64, f64)> {
        let (base, longest) = self.bounds?;
        Some((base.as_secs_f64(), (longest - base).as_secs_f64()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_measured_from_the_shortest_round_trip_time() {
        let mut delays = Delays::default();
        assert_eq!(delays.average_and_largest(), None);
        for ms in [150, 100, 200] {
            delays.add(Duration::from_millis(ms));
        }
        let (average, largest) = delays.average_and_largest().unwrap();
        assert!((average - 0.05).abs() < 1e-9 && (largest - 0.1).abs() < 1e-9);
        delays.restart();
        assert_eq!(delays.average_and_largest(), None);
        delays.add(Duration::from_millis(100));
        let (average, largest) = delays.average_and_largest().unwrap();
        assert!(average == 0.0 && (largest - 0.1).abs() < 1e-9);
    }
}
