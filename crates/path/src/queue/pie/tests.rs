//! The properties of RFC 8033.

use proptest::prelude::*;
use rand::SeedableRng;
use skywave_wire::Ecn;

use super::*;
use crate::contract::Parcel;

const MS: Duration = Duration::from_millis(1);

fn at(ms: u64) -> Instant {
    Instant::ZERO + MS * ms
}

fn pie(config: PieConfig) -> Pie<Parcel> {
    let random = Random::seed_from_u64(1);
    Pie::new(Limit::Unlimited, config, random)
}

/// Returns a queue with 100 packets, a drop probability of `probability` and no allowance left.
fn loaded(config: PieConfig, probability: f64) -> Pie<Parcel> {
    let mut pie = pie(config);
    for id in 0..100 {
        assert_eq!(pie.enqueue(at(0), Parcel::new(id, 1000)), Ok(()));
    }
    pie.drop_probability = probability;
    pie.delay = MS * 20;
    pie.old_delay = MS * 20;
    pie.burst_allowance = Duration::ZERO;
    pie
}

/// The first updates, computed by hand from the pseudocode of RFC 8033 section 4.2: the delay is
/// 30 ms for three updates, then zero.
#[test]
fn the_drop_probability_follows_the_pseudocode() {
    let mut pie = pie(PieConfig::default());
    let mut expected = 0.0;
    let cases = [
        (30, (0.125 * 0.015 + 1.25 * 0.030) / 2048.0, 1.0),
        // 1.9e-5 is below 1e-4, and so is 3.4e-5.
        (30, 0.125 * 0.015 / 128.0, 1.0),
        (30, 0.125 * 0.015 / 128.0, 1.0),
        (0, (-0.125 * 0.015 - 1.25 * 0.030) / 128.0, 1.0),
    ];
    for (update, (delay, step, decay)) in (1..).zip(cases) {
        pie.delay = MS * delay;
        pie.update(at(15 * update));
        expected = f64::max((expected + step) * decay, 0.0);
        let ours = pie.drop_probability();
        assert!(
            (ours - expected).abs() < 1e-15,
            "{update}: {ours}, {expected}"
        );
    }
    assert_eq!(pie.drop_probability(), 0.0);
}

/// Without congestion the probability decays by 2 % per update, in addition to the controller's own
/// decrease (RFC 8033 section 4.2).
#[test]
fn the_drop_probability_decays_exponentially() {
    let mut pie = pie(PieConfig::default());
    pie.drop_probability = 0.5;
    pie.update(at(15));
    assert_eq!(pie.drop_probability(), (0.5 - 0.125 * 0.015) * 0.98);
}

/// RFC 8033 section 4.4: a burst of 150 ms passes, whatever the delay.
#[test]
fn a_burst_goes_unpunished() {
    let mut pie = pie(PieConfig::default());
    let mut first_drop = None;
    for ms in 0..3000 {
        for _ in 0..4 {
            if pie.enqueue(at(ms), Parcel::new(0, 1000)).is_err() && first_drop.is_none() {
                first_drop = Some(ms);
            }
        }
        pie.dequeue(at(ms));
    }
    let first = first_drop.unwrap();
    assert!((150..1000).contains(&first), "first drop at {first} ms");
}

/// RFC 8033 section 4.1: no drop while a couple of packets wait or the delay was short.
#[test]
fn the_link_is_kept_busy() {
    let mut pie = loaded(PieConfig::default(), 1.0);
    assert!(pie.enqueue(at(0), Parcel::new(0, 1000)).is_err());
    pie.old_delay = MS * 7;
    pie.drop_probability = 0.19;
    for _ in 0..200 {
        assert!(pie.enqueue(at(0), Parcel::new(0, 1000)).is_ok());
    }
    let mut short = loaded(PieConfig::default(), 1.0);
    while short.packets() > 2 {
        short.waiting.pop(at(0));
    }
    assert!(short.enqueue(at(0), Parcel::new(0, 1000)).is_ok());
    assert!(short.enqueue(at(0), Parcel::new(0, 1000)).is_err());
}

/// RFC 8033 section 5.1: "if PIE->drop_prob_ < mark_ecnth && ecn_capable_packet == TRUE: mark packet;
/// else drop packet", where mark_ecnth "SHOULD be set to 0.1".
#[test]
fn marks_while_drops_are_rare() {
    let outcome = |mark_p, probability, ecn| {
        let config = PieConfig {
            ecn: true,
            mark_p,
            ..PieConfig::default()
        };
        let mut pie = loaded(config, probability);
        let offers = 2000;
        let refused = (0..offers)
            .filter(|&id| {
                let parcel = Parcel::new(id, 1000).with_ecn(ecn);
                pie.enqueue(at(0), parcel).is_err()
            })
            .count();
        let marked = std::iter::from_fn(|| pie.dequeue(at(0)))
            .filter(|parcel| parcel.ecn().is_ce())
            .count();
        (refused, marked)
    };
    assert_eq!(PieConfig::default().mark_p, 0.1);
    let (refused, marked) = outcome(0.1, 0.09, Ecn::Ect0);
    assert!(refused == 0 && (120..240).contains(&marked), "{marked}");
    let (refused, marked) = outcome(0.1, 0.09, Ecn::NotEct);
    assert!((120..240).contains(&refused) && marked == 0, "{refused}");
    for at_least in [0.1, 0.11] {
        let (refused, marked) = outcome(0.1, at_least, Ecn::Ect0);
        assert!((140..290).contains(&refused) && marked == 0, "{refused}");
    }
    let (refused, marked) = outcome(0.3, 0.29, Ecn::Ect0);
    assert!(refused == 0 && (480..680).contains(&marked), "{marked}");
    let (refused, marked) = outcome(0.3, 0.3, Ecn::Ect0);
    assert!((500..700).contains(&refused) && marked == 0, "{refused}");
}

/// RFC 8033 section 5.4: at least 0.85/p and at most 8.5/p packets from one drop to the next.
#[test]
fn drops_do_not_bunch() {
    let config = PieConfig {
        derandomise: true,
        ..PieConfig::default()
    };
    let mut pie = loaded(config, 0.05);
    let drops: Vec<u32> = (0..20_000)
        .filter(|&id| pie.enqueue(at(0), Parcel::new(id, 1000)).is_err())
        .collect();
    assert!(drops.len() > 100);
    let gaps: Vec<u32> = drops.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|gap| (17..=170).contains(gap)), "{gaps:?}");
}

/// RFC 8033 section 5.5.
#[test]
fn a_high_probability_rises_in_small_steps() {
    let step = |cap| {
        let mut pie = loaded(
            PieConfig {
                cap,
                ..PieConfig::default()
            },
            0.1,
        );
        pie.delay = MS * 200;
        pie.update(at(15));
        pie.drop_probability() - 0.1
    };
    assert!(step(false) > 0.2);
    assert!((step(true) - 0.02).abs() < 1e-12);
}

proptest! {
    /// One late call makes up exactly for all missed updates.
    #[test]
    fn updates_are_made_up_for(
        probability in 0.0..1.0_f64,
        delay in 0_u64..100,
        allowance in 0_u64..150,
        idle_ms in 0_u64..5000,
    ) {
        let mut called = pie(PieConfig::default());
        called.drop_probability = probability;
        called.delay = MS * delay;
        called.burst_allowance = MS * allowance;
        let mut left_alone = called.clone();
        for ms in 0..=idle_ms {
            called.update(at(ms));
        }
        left_alone.update(at(idle_ms));
        let state = |pie: &Pie<Parcel>| {
            (pie.drop_probability, pie.old_delay, pie.burst_allowance, pie.next_update)
        };
        prop_assert_eq!(state(&called), state(&left_alone));
    }
}
