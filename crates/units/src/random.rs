//! The random number generator.

use core::convert::Infallible;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{SeedableRng, TryRng};

/// A seeded random number generator, for simulations and for an endpoint's random choices. Not for
/// cryptographic keys.
///
/// The same seed gives the same numbers on every machine and in every version of this crate: results
/// of scenarios depend on them. The algorithm is xoshiro256++ of Blackman and Vigna ("Scrambled
/// Linear Pseudorandom Number Generators", 2021), and a seed of 64 bits is expanded by SplitMix64.
///
/// It implements the traits of [`rand_core`](crate::rand_core), with which `rand` draws from
/// distributions. What `rand` derives from the numbers may differ between its versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random(Xoshiro256PlusPlus);

impl SeedableRng for Random {
    type Seed = [u8; 32];

    #[inline]
    fn from_seed(seed: Self::Seed) -> Self {
        Self(Xoshiro256PlusPlus::from_seed(seed))
    }

    #[inline]
    fn seed_from_u64(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }
}

impl TryRng for Random {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    #[inline]
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::rand_core::Rng;

    use super::*;

    fn first<const N: usize>(mut random: Random) -> [u64; N] {
        core::array::from_fn(|_| random.next_u64())
    }

    // The first numbers of the authors' xoshiro256plusplus.c from the state 1, 2, 3, 4.
    #[test]
    fn a_seed_is_the_state_of_xoshiro256_plus_plus() {
        let mut seed = [0; 32];
        for (word, value) in seed.chunks_exact_mut(8).zip(1u8..) {
            word[0] = value;
        }
        let expected = [41_943_041, 58_720_359, 3_588_806_011_781_223];
        assert_eq!(first(Random::from_seed(seed)), expected);
    }

    // The state is the first four numbers of the author's splitmix64.c from the state 0.
    #[test]
    fn a_short_seed_is_expanded_by_split_mix_64() {
        let state: [u64; 4] = [
            0xe220_a839_7b1d_cdaf,
            0x6e78_9e6a_a1b9_65f4,
            0x06c4_5d18_8009_454f,
            0xf88b_b8a8_724c_81ec,
        ];
        let mut seed = [0; 32];
        for (word, value) in seed.chunks_exact_mut(8).zip(state) {
            word.copy_from_slice(&value.to_le_bytes());
        }
        assert_eq!(Random::seed_from_u64(0), Random::from_seed(seed));
    }

    // A draw of 32 bits takes the upper ones, and bytes are words in little-endian order.
    #[test]
    fn words_and_bytes_are_parts_of_the_numbers() {
        let whole = first::<2>(Random::seed_from_u64(7));
        let mut random = Random::seed_from_u64(7);
        assert_eq!(u64::from(random.next_u32()), whole[0] >> 32);
        let mut bytes = [0; 8];
        random.fill_bytes(&mut bytes);
        assert_eq!(u64::from_le_bytes(bytes), whole[1]);
    }
}
