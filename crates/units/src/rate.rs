//! Rates in whole bits per second.

use core::fmt;
use core::str::FromStr;

use crate::Duration;
use crate::parse::{self, ParseQuantityError, Unit};

pub(crate) const UNITS: &[Unit] = &[
    Unit {
        name: "bps",
        factor: 1,
    },
    Unit {
        name: "kbps",
        factor: 1_000,
    },
    Unit {
        name: "Mbps",
        factor: 1_000_000,
    },
    Unit {
        name: "Gbps",
        factor: 1_000_000_000,
    },
];

/// A rate in bits per second.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// Creates a rate of `bits` bits per second.
    pub const fn from_bps(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Returns the time that `bytes` bytes take at this rate, rounded to the nearest nanosecond;
    /// [`Duration::MAX`] at rate zero.
    pub const fn transmission_time(self, bytes: u64) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        // Packets fit 64 bits; a 128-bit division costs more than the rest of a packet's work on a
        // link.
        if let Some(scaled) = bytes.checked_mul(8_000_000_000)
            && let Some(rounded) = scaled.checked_add(self.0 / 2)
        {
            return Duration::from_nanos(rounded / self.0);
        }
        let nanos = (bytes as u128 * 8_000_000_000 + self.0 as u128 / 2) / self.0 as u128;
        if nanos > u64::MAX as u128 {
            return Duration::MAX;
        }
        Duration::from_nanos(nanos as u64)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        parse::print(f, self.0, UNITS)
    }
}

/// Prints the unit, as [`Display`](fmt::Display) does.
impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Rate {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse::parse(text, "a rate", "2 Mbps", UNITS).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints() {
        assert_eq!("2 Mbps".parse(), Ok(Rate::from_bps(2_000_000)));
        assert_eq!("0.25Mbps".parse(), Ok(Rate::from_bps(250_000)));
        assert_eq!(Rate::from_bps(250_000).to_string(), "250 kbps");
        assert_eq!(Rate::from_bps(1_500_000).to_string(), "1.5 Mbps");
    }

    #[test]
    fn a_byte_unit_is_refused_with_the_units_that_are_known() {
        let error = "2 MB".parse::<Rate>().unwrap_err().to_string();
        assert!(error.contains("Mbps"), "{error}");
    }

    #[test]
    fn transmission_time_is_exact() {
        let two_megabit = Rate::from_bps(2_000_000);
        assert_eq!(
            two_megabit.transmission_time(532),
            Duration::from_nanos(2_128_000)
        );
        assert_eq!(Rate::from_bps(0).transmission_time(1), Duration::MAX);
        assert_eq!(Rate::from_bps(1).transmission_time(u64::MAX), Duration::MAX);
        assert_eq!(
            Rate::from_bps(u64::MAX).transmission_time(u64::MAX / 8_000_000_000),
            Duration::from_nanos(1)
        );
        let large = 5_000_000_000;
        assert_eq!(
            Rate::from_bps(8_000_000_000).transmission_time(large),
            Duration::from_secs(5)
        );
    }
}
