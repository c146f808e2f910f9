//! The random numbers of PickProbeWait ("A Dual-Time-Scale Approach for Coexistence").

use skywave_units::Random;
use skywave_units::rand_core::{Rng, SeedableRng};

/// Draws numbers that repeat if a run is repeated, but differ from flow to flow.
///
/// A control is given no seed. The draft asks for randomness so that the flows of a bottleneck do
/// not probe together, and their acknowledgements arrive at different times. So each draw mixes the
/// time in.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeDraws(u64);

impl ProbeDraws {
    /// Mixes `entropy` in and returns 64 random bits.
    pub(super) fn next(&mut self, entropy: u64) -> u64 {
        self.0 = Random::seed_from_u64(self.0 ^ entropy).next_u64();
        self.0
    }

    /// Returns a number in [0, 1).
    pub(super) fn fraction(&mut self, entropy: u64) -> f64 {
        (self.next(entropy) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
