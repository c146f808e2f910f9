//! Features that ns-2's traces do not cover: marks, limits, shared links. (`tests/path/ns2_red.rs` has
//! the rest.)

use proptest::prelude::*;
use rand::SeedableRng;
use skywave_wire::Ecn;

use super::*;
use crate::Limit;
use crate::contract::Parcel;
use crate::{HandsOn, Keeps, Kept, Packet};

const RATE: Rate = Rate::from_bps(8_000_000);

fn red(config: RedConfig, seed: u64) -> Red {
    let random = Random::seed_from_u64(seed);
    Red::new(config, RATE, Duration::from_millis(10), random)
}

/// Returns a configuration whose average equals the queue, and whose drop probability between 5 and
/// 50 packets is at most 0.1.
fn prompt() -> RedConfig {
    RedConfig {
        min_threshold: Some(5.0),
        max_threshold: Some(50.0),
        weight: RedWeight::Fixed(1.0),
        ..RedConfig::new(Limit::Packets(60))
    }
}

/// Offers `count` packets to a busy link. Returns how many were dropped early, dropped because the
/// queue was full, and marked.
fn flood(red: Red, count: u32, ecn: Ecn) -> (u32, u32, u32) {
    let mut red = HandsOn::new(red);
    let (mut early, mut full, mut marked) = (0, 0, 0);
    for id in 0..count {
        let parcel = Parcel::new(id, 500).with_ecn(ecn);
        let busy_until = Instant::ZERO + Duration::from_secs(10);
        match red.enqueue(Instant::ZERO, busy_until, parcel) {
            Ok(sent) => marked += u32::from(sent.ecn() == Ecn::Ce),
            Err(dropped) if dropped.reason == DropReason::Early => early += 1,
            Err(_) => full += 1,
        }
    }
    (early, full, marked)
}

#[test]
fn marks_what_can_be_marked_and_drops_the_rest() {
    let ecn = RedConfig {
        ecn: true,
        ..prompt()
    };
    let (early, full, marked) = flood(red(ecn, 1), 50, Ecn::Ect0);
    assert_eq!((early, full), (0, 0));
    assert!(marked > 0);
    let (early, _, marked) = flood(red(ecn, 1), 50, Ecn::NotEct);
    assert!(early > 0 && marked == 0);
    let (early, _, marked) = flood(red(prompt(), 1), 50, Ecn::Ect0);
    assert!(early > 0 && marked == 0);
}

#[test]
fn drops_what_could_be_marked_where_drops_are_frequent() {
    let ecn = RedConfig {
        ecn: true,
        max_p: 0.5,
        ..prompt()
    };
    let (early, _, marked) = flood(red(ecn, 1), 60, Ecn::Ect0);
    assert!(marked > 0 && early > 0, "{marked} marked, {early} dropped");
}

#[test]
fn a_full_queue_drops_even_what_could_be_marked() {
    let config = RedConfig {
        ecn: true,
        min_threshold: Some(100.0),
        ..prompt()
    };
    let config = RedConfig {
        max_threshold: None,
        ..config
    };
    assert_eq!(flood(red(config, 1), 70, Ecn::Ect0), (0, 10, 0));
}

#[test]
fn on_a_shared_link_packets_are_kept_and_idle_time_is_seen() {
    let config = RedConfig {
        weight: RedWeight::Fixed(0.5),
        ..prompt()
    };
    let mut red = Kept::new(red(config, 1));
    for id in 0..4 {
        let kept = red.enqueue(Instant::ZERO, Parcel::new(id, 500));
        assert_eq!(kept, Ok(()));
    }
    let before = red.admission().average();
    assert!(before > 1.0);
    let left: Vec<u32> = std::iter::from_fn(|| red.dequeue(Instant::ZERO))
        .map(|parcel| parcel.id)
        .collect();
    assert_eq!(left, [0, 1, 2, 3]);
    // At 0.5 ms per packet, the idle time counts as three packets; the arrival is the fourth.
    let later = Instant::ZERO + Duration::from_micros(1600);
    assert_eq!(red.enqueue(later, Parcel::new(9, 500)), Ok(()));
    assert_eq!(red.admission().average(), before / 16.0);
}

/// Returns an adaptive queue with `length` packets waiting, after one more has arrived once `max_p`
/// may change.
fn adapted(max_p: f64, length: usize) -> f64 {
    let config = RedConfig {
        max_p,
        adaptive: Some(AdaptiveRed::default()),
        ..prompt()
    };
    let mut red = HandsOn::new(red(config, 1));
    let busy_until = Instant::ZERO + Duration::from_secs(10);
    while red.packets() < length {
        // Some are dropped early.
        let _ = red.enqueue(Instant::ZERO, busy_until, Parcel::new(0, 500));
    }
    let later = Instant::ZERO + AdaptiveRed::default().interval + Duration::from_nanos(1);
    let _ = red.enqueue(later, busy_until, Parcel::new(0, 500));
    red.admission().max_p()
}

/// Floyd, Gummadi and Shenker 2001, figure 3: the target range is from 40 % to 60 % of the way between
/// the thresholds, here from 23 to 32. Below it, `max_p` falls by a tenth, down to 0.01; above it,
/// `max_p` rises by the lesser of 0.01 and a quarter, up to 0.5.
#[test]
fn max_p_adapts_outside_the_target_range() {
    for length in [23, 24, 28, 31, 32] {
        assert_eq!(adapted(0.1, length), 0.1, "{length}");
    }
    for (max_p, length, expected) in [
        (0.1, 22, 0.1 * 0.9),
        (0.5, 22, 0.5 * 0.9),
        (0.01, 10, 0.01),
        (0.1, 33, 0.1 + 0.01),
        (0.02, 33, 0.02 + 0.02 / 4.0),
        (0.5, 40, 0.5),
    ] {
        assert_eq!(adapted(max_p, length), expected, "{max_p} at {length}");
    }
}

/// Unless it is gentle, RED drops everything from the maximum threshold on.
#[test]
fn drops_everything_at_the_maximum_threshold() {
    let config = RedConfig {
        gentle: false,
        ..prompt()
    };
    let busy_until = Instant::ZERO + Duration::from_secs(10);
    for seed in 0..50 {
        let mut red = HandsOn::new(red(config, seed));
        while red.packets() < 50 {
            let _ = red.enqueue(Instant::ZERO, busy_until, Parcel::new(0, 500));
        }
        for _ in 0..10 {
            let arrival = red.enqueue(Instant::ZERO, busy_until, Parcel::new(0, 500));
            assert_eq!(
                arrival.unwrap_err().reason,
                DropReason::Early,
                "seed {seed}"
            );
        }
    }
}

/// With packet sizes, a packet that is certain to be dropped is dropped regardless of its size, as
/// in ns-2.
#[test]
fn a_small_packet_does_not_escape_a_certain_drop() {
    let config = RedConfig {
        gentle: false,
        wait: false,
        drop_by_bytes: true,
        ..prompt()
    };
    let busy_until = Instant::ZERO + Duration::from_secs(10);
    for seed in 0..50 {
        let mut red = HandsOn::new(red(config, seed));
        while red.packets() < 50 {
            let _ = red.enqueue(Instant::ZERO, busy_until, Parcel::new(0, 500));
        }
        for _ in 0..10 {
            let arrival = red.enqueue(Instant::ZERO, busy_until, Parcel::new(0, 40));
            assert!(arrival.is_err(), "seed {seed}");
        }
    }
}

/// Floyd, Gummadi and Shenker 2001, section 4.1 and ns-2: the minimum threshold is half the packets
/// that the link sends in the target delay of 5 ms, at least 5.
#[test]
fn default_thresholds_follow_the_rate() {
    let config = RedConfig::new(Limit::Packets(100));
    // 500-byte packets: 400, 2000, 4000 and 20,000 per second.
    for (mbps, min) in [(1.6, 5.0), (8.0, 5.0), (16.0, 10.0), (80.0, 50.0)] {
        let packets_per_second = config.packets_per_second(Rate::from_bps((mbps * 1e6) as u64));
        let thresholds = config.thresholds(packets_per_second);
        assert_eq!(
            thresholds,
            RedThresholds {
                min,
                max: 3.0 * min
            },
            "{mbps} Mb/s"
        );
    }
}

/// ns-2's `q_weight_` of -1 is 1 - exp(-1 / (10 * rtt * ptc)), where rtt is the greater of 0.1 s and
/// 3 * (delay + 1 / ptc).
#[test]
fn default_weight_covers_ten_round_trip_times() {
    for (packets_per_second, delay_ms, packets) in [
        (100.0, 90, 300.0),
        (100.0, 490, 1500.0),
        (1000.0, 10, 1000.0),
    ] {
        let delay = Duration::from_millis(delay_ms);
        let weight = RedWeight::RoundTrips.resolve(packets_per_second, delay);
        let expected = 1.0 - f64::exp(-1.0 / packets);
        assert!(
            (weight / expected - 1.0).abs() < 1e-9,
            "{weight}, not {expected}"
        );
    }
}

/// 0.01, or one packet per window of 1000-byte packets that fills the link for 100 ms.
#[test]
fn the_least_max_p_falls_with_the_rate() {
    let adaptive = AdaptiveRed::default();
    for (mbps, least) in [(1, 0.01), (8, 0.01), (80, 0.001), (800, 0.0001)] {
        let found = adaptive.least_max_p(Rate::from_bps(mbps * 1_000_000));
        assert!((found / least - 1.0).abs() < 1e-9, "{found} at {mbps} Mb/s");
    }
}

proptest! {
    /// The limit holds, the average never exceeds the longest queue so far, and an empty queue
    /// counts as empty.
    #[test]
    fn holds_its_limit(
        seed: u64,
        weight in 0.001..1.0,
        gaps in prop::collection::vec((0_u64..3000, 40_u32..1500), 1..300),
        in_bytes: bool,
        gentle: bool,
    ) {
        let limit = Limit::Bytes(20_000);
        let config = RedConfig {
            limit,
            weight: RedWeight::Fixed(weight),
            queue_in_bytes: in_bytes,
            drop_by_bytes: in_bytes,
            gentle,
            ..prompt()
        };
        let mut red = HandsOn::new(red(config, seed));
        let (mut now, mut free) = (Instant::ZERO, Instant::ZERO);
        let mut most = 0;
        for (gap, size) in gaps {
            now += Duration::from_micros(gap);
            red.expire(now);
            most = most.max(if in_bytes { red.bytes() } else { red.packets() as u64 });
            if red.enqueue(now, free, Parcel::new(0, size)).is_ok() {
                free = free.max(now) + RATE.transmission_time(u64::from(size));
            }
            prop_assert!(red.bytes() <= 20_000);
            prop_assert!(red.admission().average() <= most as f64 + 1e-9);
        }
        red.expire(free);
        prop_assert_eq!((red.packets(), red.bytes()), (0, 0));
    }
}
