//! The random numbers of PickProbeWait ("A Dual-Time-Scale Approach for Coexistence").

/// Draws numbers that repeat if a run is repeated, but differ from flow to flow.
///
/// A control is given no seed. The draft asks for randomness so that the flows of a bottleneck do
/// not probe together, and their acknowledgements arrive at different times. So each draw mixes the
/// time in.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Random(u64);

impl Random {
    /// Mixes `entropy` in and returns 64 random bits (SplitMix64).
    pub(super) const fn next(&mut self, entropy: u64) -> u64 {
        self.0 = (self.0 ^ entropy).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Returns a number in [0, 1).
    pub(super) const fn fraction(&mut self, entropy: u64) -> f64 {
        (self.next(entropy) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
