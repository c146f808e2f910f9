//! The time between datagrams at a rate.

use skywave_registry::ParameterError;
use skywave_units::{Bytes, Duration, Rate};

use crate::check::check_datagram;

/// The time that a datagram takes at a rate, which need not be whole nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval {
    nanos: u64,
    /// The remainder, in nanoseconds times `rate`: less than `rate`.
    rest: u64,
    /// Bits per second, above zero.
    rate: u64,
}

impl Interval {
    /// Creates the interval between datagrams of this size at this rate: the parameters `datagram`
    /// and `rate`.
    pub(crate) fn new(rate: Rate, datagram: Bytes) -> Result<Self, ParameterError> {
        ParameterError::unless(rate > Rate::default(), "rate", || {
            "0 bps: give a rate above zero".to_owned()
        })?;
        check_datagram(datagram.get(), "datagram")?;
        let (bits, divisor) = (datagram.get() * 8_000_000_000, rate.as_bps());
        let interval = Self {
            nanos: bits / divisor,
            rest: bits % divisor,
            rate: divisor,
        };
        ParameterError::unless(interval.nanos > 0, "rate", || {
            format!("{rate} is more than one datagram of {datagram} a nanosecond")
        })?;
        Ok(interval)
    }

    pub(crate) fn as_secs_f64(self) -> f64 {
        (self.nanos as f64 + self.rest as f64 / self.rate as f64) / 1e9
    }
}

/// Equal intervals, one after the other. Each ends at the last whole nanosecond that is not after
/// its exact end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Intervals {
    interval: Interval,
    /// The time since the last end, in nanoseconds times the rate: less than the rate.
    past: u64,
}

impl Intervals {
    pub(crate) const fn new(interval: Interval) -> Self {
        Self { interval, past: 0 }
    }

    /// Returns the length of the next one.
    pub(crate) const fn advance(&mut self) -> Duration {
        let Interval { nanos, rest, rate } = self.interval;
        // Both are less than the rate, which may be all of 64 bits.
        let missing = rate - rest;
        if self.past < missing {
            self.past += rest;
            Duration::from_nanos(nanos)
        } else {
            self.past -= missing;
            Duration::from_nanos(nanos + 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The n-th interval ends at the last nanosecond that is not after n datagrams at the rate.
        #[test]
        fn intervals_add_up(
            rate in 1_u64..=400_000_000_000,
            datagram in 1_u64..=64_000,
            count in 1_u64..1_000,
        ) {
            let interval = Interval::new(Rate::from_bps(rate), Bytes::new(datagram));
            prop_assume!(interval.is_ok());
            let mut intervals = Intervals::new(interval.expect("it is"));
            let sum: u64 = (0..count).map(|_| intervals.advance().as_nanos()).sum();
            let exact = u128::from(count * datagram) * 8_000_000_000 / u128::from(rate);
            prop_assert_eq!(u128::from(sum), exact);
        }
    }
}
