//! Sizes in whole bytes.

use core::fmt;
use core::str::FromStr;

use crate::parse::{self, ParseQuantityError, Unit};

pub(crate) const UNITS: &[Unit] = &[
    Unit {
        name: "B",
        factor: 1,
    },
    Unit {
        name: "kB",
        factor: 1_000,
    },
    Unit {
        name: "MB",
        factor: 1_000_000,
    },
    Unit {
        name: "GB",
        factor: 1_000_000_000,
    },
];

/// A number of bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// Creates a size of `count` bytes.
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// Returns the number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        parse::print(f, self.0, UNITS)
    }
}

/// Prints the unit, as [`Display`](fmt::Display) does.
impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Bytes {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse::parse(text, "a size", "500 B", UNITS).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints() {
        assert_eq!("500 B".parse(), Ok(Bytes::new(500)));
        assert_eq!("1.5 kB".parse(), Ok(Bytes::new(1500)));
        assert_eq!(Bytes::new(64_000).to_string(), "64 kB");
        assert!("0.5 B".parse::<Bytes>().is_err());
    }
}
