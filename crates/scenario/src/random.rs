//! Streams of random numbers.

use rand::SeedableRng;
use skywave_units::Random;
use twox_hash::XxHash3_64;

/// Returns the random stream `name`, which is independent of all other streams of the scenario with
/// this seed.
pub fn stream(seed: u64, name: &str) -> Random {
    Random::seed_from_u64(XxHash3_64::oneshot_with_seed(seed, name.as_bytes()))
}
