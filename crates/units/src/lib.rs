//! Time, rate and size: what they are, how they are read and how they are printed.
//!
//! Every quantity is an integer in a fixed unit, so that arithmetic is exact and the same on
//! every machine: [`Instant`] and [`Duration`] count nanoseconds, [`Rate`] counts bits per second.
//! An [`Instant`] is a distance from an epoch which the driver chooses (the start of a simulation,
//! the start of a process); no clock is read here.
//!
//! In files and on the command line a quantity is written with its unit (`"300 ms"`, `"2 Mbps"`),
//! and a number without a unit is an error.

mod parse;
mod rate;
#[cfg(feature = "serde")]
mod serde;
mod size;
mod time;

pub use parse::ParseQuantityError;
pub use rate::Rate;
pub use size::Bytes;
pub use time::{Duration, Instant};
