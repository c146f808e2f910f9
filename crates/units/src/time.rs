//! Instants and durations in whole nanoseconds.

use core::fmt;
use core::num::NonZeroU64;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use core::str::FromStr;

use crate::parse::{self, ParseQuantityError, Unit};

const NANOS_PER_SEC: u64 = 1_000_000_000;

pub(crate) const UNITS: &[Unit] = &[
    Unit {
        name: "ns",
        factor: 1,
    },
    Unit {
        name: "us",
        factor: 1_000,
    },
    Unit {
        name: "µs",
        factor: 1_000,
    },
    Unit {
        name: "ms",
        factor: 1_000_000,
    },
    Unit {
        name: "s",
        factor: NANOS_PER_SEC,
    },
    Unit {
        name: "min",
        factor: 60 * NANOS_PER_SEC,
    },
    Unit {
        name: "h",
        factor: 3600 * NANOS_PER_SEC,
    },
];

/// A length of time in nanoseconds, never negative, at most about 584 years.
///
/// Addition and multiplication saturate at [`Duration::MAX`], subtraction at zero: a timer too far
/// in the future to be represented never fires.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Duration {
    /// The zero duration.
    pub const ZERO: Self = Self(0);
    /// The longest duration.
    pub const MAX: Self = Self(u64::MAX);

    /// Creates a duration of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Creates a duration of `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// Creates a duration of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Creates a duration of `secs` seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(NANOS_PER_SEC))
    }

    /// Creates a duration of `secs` seconds, rounded to the nearest nanosecond; negative values and
    /// NaN become zero.
    pub fn from_secs_f64(secs: f64) -> Self {
        Self((secs * NANOS_PER_SEC as f64).round() as u64)
    }

    /// Creates a duration of `secs` seconds, rounded to the nearest nanosecond. Returns `None` if
    /// `secs` is negative, NaN or too large.
    pub fn try_from_secs_f64(secs: f64) -> Option<Self> {
        (0.0..Self::MAX.as_secs_f64())
            .contains(&secs)
            .then(|| Self::from_secs_f64(secs))
    }

    /// Returns the whole nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the whole microseconds, rounded down.
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Returns the whole milliseconds, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Returns the seconds as a floating-point number.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// Returns whether this is the zero duration.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Returns `self - other`, or zero if that would be negative.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns the absolute difference.
    pub const fn abs_diff(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }

    /// Returns `self` rounded up to a multiple of `step`; unchanged if `step` is zero.
    pub const fn round_up_to(self, step: Self) -> Self {
        if step.0 == 0 {
            return self;
        }
        Self(self.0.div_ceil(step.0).saturating_mul(step.0))
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

impl SubAssign for Duration {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Duration {
    type Output = Self;
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PRINTED: &[Unit] = &[
            Unit {
                name: "ns",
                factor: 1,
            },
            Unit {
                name: "us",
                factor: 1_000,
            },
            Unit {
                name: "ms",
                factor: 1_000_000,
            },
            Unit {
                name: "s",
                factor: NANOS_PER_SEC,
            },
        ];
        if self.is_zero() {
            return f.write_str("0 s");
        }
        parse::print(f, self.0, PRINTED)
    }
}

/// Prints the duration as [`core::time::Duration`] does: `222.386µs`.
impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        core::time::Duration::from_nanos(self.0).fmt(f)
    }
}

impl FromStr for Duration {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse::parse(text, "a duration", "300 ms", UNITS).map(Self)
    }
}

/// A point in time: nanoseconds since an epoch chosen by the driver.
///
/// It is stored as one more than the nanoseconds, so that an `Option<Instant>`, of which an idle
/// connection has many, takes no more memory than an `Instant`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(NonZeroU64);

impl Instant {
    /// The epoch.
    pub const ZERO: Self = Self(NonZeroU64::MIN);
    /// The last instant; used for "never".
    pub const MAX: Self = Self(NonZeroU64::MAX);

    /// Returns the instant `nanos` nanoseconds after the epoch, or [`Instant::MAX`] if that is
    /// earlier.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(NonZeroU64::MIN.saturating_add(nanos))
    }

    /// Returns the nanoseconds since the epoch.
    pub const fn as_nanos(self) -> u64 {
        self.0.get() - 1
    }

    /// Returns the seconds since the epoch, as a floating-point number.
    pub fn as_secs_f64(self) -> f64 {
        self.since_epoch().as_secs_f64()
    }

    /// Returns the time since the epoch.
    pub const fn since_epoch(self) -> Duration {
        Duration(self.as_nanos())
    }

    /// Returns the time from `earlier` to `self`, or zero if `earlier` is later.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration(self.0.get().saturating_sub(earlier.0.get()))
    }
}

impl Default for Instant {
    /// Returns the epoch.
    fn default() -> Self {
        Self::ZERO
    }
}

/// Prints the time since the epoch, as [`Duration`] does: `Instant(1.5s)`.
impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Instant").field(&self.since_epoch()).finish()
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration.0))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;
    fn sub(self, duration: Duration) -> Self {
        Self::from_nanos(self.as_nanos().saturating_sub(duration.0))
    }
}

impl Sub for Instant {
    type Output = Duration;
    fn sub(self, earlier: Self) -> Duration {
        self.saturating_since(earlier)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}.{:09} s",
            self.as_nanos() / NANOS_PER_SEC,
            self.as_nanos() % NANOS_PER_SEC
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_has_the_unit() {
        let srtt = Some(Duration::from_nanos(222_386));
        assert_eq!(format!("{srtt:?}"), "Some(222.386µs)");
        assert_eq!(format!("{:?}", Duration::MAX), "18446744073.709551615s");
        assert_eq!(
            format!("{:?}", Instant::from_nanos(1_500_000_000)),
            "Instant(1.5s)"
        );
        assert_eq!(format!("{:?}", crate::Rate::from_bps(2_000_000)), "2 Mbps");
        assert_eq!(format!("{:?}", crate::Bytes::new(500)), "500 B");
    }

    #[test]
    fn reads_every_unit() {
        for (text, nanos) in [
            ("0 s", 0),
            ("300 ms", 300_000_000),
            ("0.1ms", 100_000),
            ("1.5 s", 1_500_000_000),
            ("7 ns", 7),
            ("2 us", 2_000),
            ("2 min", 120 * NANOS_PER_SEC),
            ("1 h", 3600 * NANOS_PER_SEC),
        ] {
            assert_eq!(text.parse(), Ok(Duration::from_nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_not_a_duration() {
        for text in [
            "",
            "5",
            "-1 s",
            "1 Mbps",
            "s",
            "1e400 s",
            "nan s",
            "600 years",
        ] {
            assert!(text.parse::<Duration>().is_err(), "{text}");
        }
    }

    #[test]
    fn says_that_a_duration_is_negative() {
        let said = |text: &str| text.parse::<Duration>().map_err(|error| error.to_string());
        for text in ["-5 ms", "- 5 ms", "-0.5 s"] {
            let expected = format!("\"{text}\" is negative: a duration is 0 or more");
            assert_eq!(said(text), Err(expected));
        }
        assert!(said("-ms").is_err_and(|error| error.contains("write a number")));
    }

    #[test]
    fn prints_the_largest_unit_that_stays_exact() {
        assert_eq!(Duration::from_millis(300).to_string(), "300 ms");
        assert_eq!(Duration::from_micros(1500).to_string(), "1.5 ms");
        assert_eq!(Duration::ZERO.to_string(), "0 s");
        assert_eq!(Duration::from_secs(90).to_string(), "90 s");
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(
            Duration::from_secs(1) - Duration::from_secs(2),
            Duration::ZERO
        );
        assert_eq!(Duration::MAX + Duration::from_nanos(1), Duration::MAX);
        assert_eq!(Instant::ZERO - Instant::from_nanos(5), Duration::ZERO);
    }

    #[test]
    fn an_instant_that_may_be_absent_takes_no_more_memory() {
        assert_eq!(size_of::<Option<Instant>>(), size_of::<Instant>());
        for nanos in [0, 1, u64::MAX - 1] {
            assert_eq!(Instant::from_nanos(nanos).as_nanos(), nanos);
        }
        assert_eq!(Instant::from_nanos(u64::MAX), Instant::MAX);
        assert_eq!(
            Instant::from_nanos(5) - Duration::from_nanos(7),
            Instant::ZERO
        );
    }

    #[test]
    fn rounds_to_a_step() {
        let tick = Duration::from_millis(10);
        assert_eq!(
            Duration::from_millis(101).round_up_to(tick),
            Duration::from_millis(110)
        );
        assert_eq!(
            Duration::from_nanos(3).round_up_to(Duration::ZERO),
            Duration::from_nanos(3)
        );
    }
}
