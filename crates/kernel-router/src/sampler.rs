//! The times at which counts and the queue are read, and the input of the meter.

use skywave_mpcp::load::{Meter, MeterConfig};
use skywave_units::{Duration, Instant, Rate};

/// Passes to a [`Meter`] what a loop reads from the kernel.
///
/// The loop should read whenever a sample is due or an interval ends. A late reading counts as if
/// it had been taken on time. If the loop missed several readings, the bytes that have arrived are
/// distributed evenly over the time, so that a late loop never creates an overload.
#[derive(Clone, Debug)]
pub struct Sampler {
    meter: Meter,
    config: MeterConfig,
    /// The time up to which the meter knows everything.
    known: Instant,
    /// All bytes that have arrived by then.
    bytes: u64,
}

impl Sampler {
    /// Creates a sampler for a link of `rate`, on which `bytes` have arrived before time zero.
    pub fn new(config: MeterConfig, rate: Rate, bytes: u64) -> Self {
        Self {
            meter: Meter::new(config, rate),
            config,
            known: Instant::ZERO,
            bytes,
        }
    }

    /// Returns when to read next.
    pub fn next(&self) -> Instant {
        self.tick_after(self.known)
    }

    /// Takes what was read at `now`: all `bytes` that have arrived, and the bytes that are queued.
    /// Returns the load factor.
    pub fn sample(&mut self, now: Instant, bytes: u64, queued: u64) -> f64 {
        let last = self.last_tick(now);
        let span = (last - self.known.min(last)).as_nanos();
        let arrived = bytes.saturating_sub(self.bytes);
        let start = self.known;
        let mut told = 0;
        while self.known < last {
            let next = self.tick_after(self.known);
            let part = u128::from(arrived) * u128::from((next - start).as_nanos());
            let until = (part / u128::from(span)) as u64;
            // What is reported at a tick comes after that tick, and before the next one.
            self.arrived(until - told);
            self.meter.on_queue(self.known, queued);
            told = until;
            self.known = next;
        }
        self.bytes += told;
        self.meter.load(self.known)
    }

    fn arrived(&mut self, mut bytes: u64) {
        while bytes > 0 {
            let part = bytes.min(u32::MAX.into());
            self.meter.on_arrival(self.known, part as u32);
            bytes -= part;
        }
    }

    /// Returns the first tick after `at`. Ticks are the times of samples and the ends of intervals.
    fn tick_after(&self, at: Instant) -> Instant {
        self.periods()
            .map(|period| last_multiple(period, at) + period)
            .into_iter()
            .fold(Instant::MAX, Instant::min)
    }

    /// Returns the last tick up to `now`.
    fn last_tick(&self, now: Instant) -> Instant {
        let ticks = self.periods().map(|period| last_multiple(period, now));
        ticks.into_iter().fold(Instant::ZERO, Instant::max)
    }

    const fn periods(&self) -> [Duration; 2] {
        [self.config.sampling, self.config.interval]
    }
}

fn last_multiple(period: Duration, at: Instant) -> Instant {
    let elapsed = at - Instant::ZERO;
    Instant::ZERO + period * (elapsed.as_nanos() / period.as_nanos())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RATE: Rate = Rate::from_bps(8_000_000);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    proptest! {
        /// A loop that is never late measures what a meter measures that sees every packet.
        #[test]
        fn the_load_is_that_of_a_meter_which_sees_every_packet(
            arrivals in proptest::collection::vec((0..2000_u64, 40..1500_u32), 0..300),
            sampling in 1..60_u64, interval in 60..250_u64,
        ) {
            let config = MeterConfig {
                sampling: Duration::from_millis(sampling),
                interval: Duration::from_millis(interval),
                ..MeterConfig::default()
            };
            let mut arrivals = arrivals;
            arrivals.sort_unstable();
            let mut sampler = Sampler::new(config, RATE, 7);
            let mut meter = Meter::new(config, RATE);
            let (mut waiting, mut bytes, mut queued) = (arrivals.as_slice(), 7, 0);
            while sampler.next() < at(2000) {
                let now = sampler.next();
                // A packet that arrives at a tick comes after it.
                while let Some((&(ms, size), rest)) = waiting.split_first()
                    && at(ms) < now
                {
                    waiting = rest;
                    bytes += u64::from(size);
                    queued = ms * 3;
                    meter.on_arrival(at(ms), size);
                    meter.on_queue(at(ms), queued);
                }
                let load = sampler.sample(now, bytes, queued);
                prop_assert_eq!(load, meter.load(now));
            }
        }

        /// However late it is, it neither loses bytes nor counts them twice.
        #[test]
        fn a_late_loop_distributes_what_has_arrived(
            wakes in proptest::collection::vec(1..900_u64, 1..30),
        ) {
            // 490 bytes in a millisecond are half of the target.
            let mut sampler = Sampler::new(MeterConfig::default(), RATE, 0);
            let mut now = 0;
            for wake in wakes {
                now += wake;
                let load = sampler.sample(at(now), 490 * now, 0);
                // The largest error is that of reading late, by less than the time between samples.
                prop_assert!(now < 200 || (load - 0.5).abs() < 0.5 * 10.0 / 200.0, "{load}");
            }
        }
    }

    #[test]
    fn reading_early_changes_nothing() {
        let mut sampler = Sampler::new(MeterConfig::default(), RATE, 0);
        assert_eq!(sampler.next(), at(10));
        sampler.sample(at(9), 1000, 0);
        assert_eq!(sampler.next(), at(10));
        sampler.sample(at(15), 1000, 0);
        assert_eq!(sampler.next(), at(20));
    }
}
