use proptest::prelude::*;

use super::*;

const RATE: Rate = Rate::from_bps(8_000_000);

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// 8 Mbit/s for 200 ms are 200,000 bytes, of which 98 % are 196,000.
#[test]
fn arrivals_of_the_target_rate_make_a_load_of_one() {
    let mut meter = Meter::new(MeterConfig::default(), RATE);
    for millis in 0..200 {
        meter.on_arrival(at(millis), 980);
        assert_eq!(meter.load(at(millis)), 0.0, "no interval is complete");
    }
    assert!((meter.load(at(200)) - 1.0).abs() < 1e-12);
    // It holds until the end of the next interval, in which nothing arrives.
    assert!((meter.load(at(399)) - 1.0).abs() < 1e-12);
    assert_eq!(meter.load(at(400)), 0.0);
}

/// Equation A2 by hand: after n samples of a queue Q, q is Q (1 - 0.875^n); half of it is load.
#[test]
fn the_persistent_queue_follows_equation_a2() {
    let mut meter = Meter::new(MeterConfig::default(), RATE);
    meter.on_queue(at(5), 98_000);
    let expected = 0.5 * 98_000.0 * (1.0 - 0.875_f64.powi(20)) / 196_000.0;
    assert!((meter.load(at(200)) - expected).abs() < 1e-12);
}

#[test]
fn means_of_intervals_weigh_a_quarter() {
    let config = MeterConfig {
        average: QueueAverage::Means,
        ..MeterConfig::default()
    };
    let mut meter = Meter::new(config, RATE);
    // Ten of twenty samples see it.
    meter.on_queue(at(105), 98_000);
    let expected = 0.5 * 0.25 * 49_000.0 / 196_000.0;
    assert!((meter.load(at(200)) - expected).abs() < 1e-12);
}

/// A reference implementation with a timer for each sample and each interval.
fn by_timers(config: MeterConfig, changes: &[(u64, u32, u64)], end: u64) -> f64 {
    let (mut q, mut load, mut arrived, mut waiting) = (0.0, 0.0, 0u64, 0u64);
    let (mut sum, mut count) = (0.0, 0);
    let mut changes = changes.iter().peekable();
    for millis in 0..=end {
        if millis > 0 && millis % 10 == 0 {
            match config.average {
                QueueAverage::Samples => q = 0.875 * q + 0.125 * waiting as f64,
                QueueAverage::Means => (sum, count) = (sum + waiting as f64, count + 1),
            }
        }
        if millis > 0 && millis % 200 == 0 {
            if count > 0 {
                q = 0.75 * q + 0.25 * sum / f64::from(count);
                (sum, count) = (0.0, 0);
            }
            load = (arrived as f64 + 0.5 * q) / 196_000.0;
            arrived = 0;
        }
        while let Some((_, bytes, queue)) = changes.next_if(|change| change.0 == millis) {
            arrived += u64::from(*bytes);
            waiting = *queue;
        }
    }
    load
}

proptest! {
    /// The load does not depend on how often it is read, and equals that of the reference.
    #[test]
    fn lazy_is_the_same_as_timers(
        mut changes in prop::collection::vec((0u64..5000, 0u32..2000, 0u64..200_000), 0..40),
        end in 5000u64..9000,
        means: bool,
    ) {
        changes.sort_by_key(|change| change.0);
        let average = if means { QueueAverage::Means } else { QueueAverage::Samples };
        let config = MeterConfig { average, ..MeterConfig::default() };
        let mut meter = Meter::new(config, RATE);
        for &(millis, bytes, queue) in &changes {
            meter.on_arrival(at(millis), bytes);
            meter.on_queue(at(millis), queue);
        }
        let expected = by_timers(config, &changes, end);
        prop_assert!((meter.load(at(end)) - expected).abs() < 1e-9);
    }
}
