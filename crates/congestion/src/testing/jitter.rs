//! Random delays.

use skywave_units::rand_core::{Rng, SeedableRng};
use skywave_units::{Duration, Random};

/// The jitter of a Wi-Fi network (draft-huitema-ccwg-c4-test section 2.3). Packets stay in order.
pub(crate) struct Jitter {
    /// x: the fraction of packets that collide and are retransmitted.
    colliding: f64,
    random: Random,
}

impl Jitter {
    /// Jitter of `average_ms` on average.
    pub(crate) fn new(average_ms: f64, seed: u64) -> Self {
        Self {
            colliding: ((average_ms - 1.0) / 90.0).clamp(0.0, 1.0),
            random: Random::seed_from_u64(seed),
        }
    }

    fn fraction(&mut self) -> f64 {
        (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn poisson(&mut self, mean: f64) -> f64 {
        let (mut count, mut product) = (0.0, self.fraction());
        while product > (-mean).exp() {
            count += 1.0;
            product *= self.fraction();
        }
        count
    }

    pub(super) fn draw(&mut self) -> Duration {
        let deferrals = self.poisson(1.0);
        let collides = self.fraction() < self.colliding;
        let retransmissions = if collides { self.poisson(12.0) } else { 0.0 };
        let avoided = if deferrals >= 1.0 {
            self.fraction()
        } else {
            0.0
        };
        Duration::from_secs_f64((deferrals - avoided + 7.5 * retransmissions) * 1e-3)
    }
}
