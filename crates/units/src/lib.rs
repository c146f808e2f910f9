//! Time, rate and size: types, parsing and printing; and a random number generator.
//!
//! Every quantity is an integer in a fixed unit, so arithmetic is exact and the same on every
//! machine: [`Instant`] and [`Duration`] count nanoseconds, [`Rate`] counts bits per second,
//! [`Bytes`] counts bytes. An [`Instant`] is relative to an epoch chosen by the driver (such as the
//! start of a simulation or of a process); this crate reads no clock.
//!
//! In files and on the command line, quantities are written with a unit (`"300 ms"`, `"2 Mbps"`). A
//! number without a unit is an error.
//!
//! [`Random`] is the generator whose streams the crates draw from.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod parse;
mod random;
mod rate;
#[cfg(feature = "serde")]
mod serde;
mod size;
mod time;

pub use parse::ParseQuantityError;
pub use rand_xoshiro::rand_core;
pub use random::Random;
pub use rate::Rate;
pub use size::Bytes;
pub use time::{Duration, Instant};
