//! The properties of RFC 8033.

use std::convert::Infallible;

use proptest::prelude::*;
use rand::{SeedableRng, TryRng};
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
    load(pie(config), probability)
}

fn load<R: Rng>(mut pie: Pie<Parcel, R>, probability: f64) -> Pie<Parcel, R> {
    for id in 0..100 {
        assert_eq!(pie.enqueue(at(0), Parcel::new(id, 1000)), Ok(()));
    }
    pie.drop_probability = probability;
    pie.delay = MS * 20;
    pie.old_delay = MS * 20;
    pie.burst_allowance = Duration::ZERO;
    pie
}

/// Draws the same number again and again.
struct Constant(u64);

impl TryRng for Constant {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unreachable!("PIE draws floating-point numbers")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0)
    }

    fn try_fill_bytes(&mut self, _bytes: &mut [u8]) -> Result<(), Infallible> {
        unreachable!("PIE draws floating-point numbers")
    }
}

/// Draws zero, so that every packet that may be dropped is.
const UNLUCKY: Constant = Constant(0);
/// Draws almost one, so that only a packet that must be dropped is.
const LUCKY: Constant = Constant(u64::MAX);

/// Offers `count` packets, and returns which of them are dropped.
fn drops<R: Rng>(pie: &mut Pie<Parcel, R>, count: u32) -> Vec<u32> {
    (1..=count)
        .filter(|&id| pie.enqueue(at(0), Parcel::new(id, 1000)).is_err())
        .collect()
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

/// RFC 8033 section 4.1: "if ((PIE->qdelay_old_ < QDELAY_REF/2 && PIE->drop_prob_ < 0.2) [...]) then
/// return ENQUE".
#[test]
fn a_short_delay_and_a_low_probability_are_safe() {
    let config = PieConfig {
        target: MS * 16,
        ..PieConfig::default()
    };
    let is_dropped = |old_delay, probability| {
        let mut pie = load(Pie::new(Limit::Unlimited, config, UNLUCKY), probability);
        pie.old_delay = old_delay;
        !drops(&mut pie, 1).is_empty()
    };
    let below_half = MS * 8 - Duration::from_nanos(1);
    assert!(!is_dropped(below_half, 0.2_f64.next_down()));
    assert!(is_dropped(below_half, 0.2));
    assert!(is_dropped(MS * 8, 0.2_f64.next_down()));
    // "u < PIE->drop_prob_", where u may be zero.
    assert!(!is_dropped(MS * 20, 0.0));
}

/// RFC 8033 section 4.1: "if (PIE->drop_prob_ == 0 && current_qdelay < QDELAY_REF/2 &&
/// PIE->qdelay_old_ < QDELAY_REF/2) then PIE->burst_allowance_ = MAX_BURST".
#[test]
fn the_burst_allowance_returns_when_all_is_quiet() {
    for quiet in 0..8 {
        let is_quiet = |bit: u32| quiet >> bit & 1 == 1;
        let probability = if is_quiet(0) { 0.0 } else { 0.001 };
        let mut pie = loaded(PieConfig::default(), probability);
        if is_quiet(1) {
            pie.delay = MS * 7;
        }
        if is_quiet(2) {
            pie.old_delay = MS * 7;
        }
        let _ = pie.enqueue(at(0), Parcel::new(0, 1000));
        let is_back = pie.burst_allowance == PieConfig::default().max_burst;
        assert_eq!(is_back, quiet == 7, "{quiet:b}");
        assert!(is_back || pie.burst_allowance.is_zero());
    }
}

/// RFC 8033 section 4.2: each update takes T_UPDATE from the burst allowance, whether or not packets
/// leave.
#[test]
fn the_burst_allowance_runs_down_while_the_link_stands_still() {
    for ms in [0, 14, 15, 44, 45, 150, 1000] {
        let mut pie = pie(PieConfig::default());
        assert_eq!(pie.enqueue(at(0), Parcel::new(0, 1000)), Ok(()));
        pie.update(at(ms));
        let left = 150_u64.saturating_sub(ms / 15 * 15);
        assert_eq!(pie.burst_allowance, MS * left, "{ms} ms");
    }
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

/// RFC 8033 section 5.4: "if (PIE->accu_prob_ < 0.85) then return ENQUE; if (PIE->accu_prob_ >= 8.5)
/// then return DROP". In between, the draw decides.
#[test]
fn the_distance_between_drops_is_bounded() {
    let config = PieConfig {
        derandomise: true,
        ..PieConfig::default()
    };
    let every = |distance: u32| {
        (1..=100)
            .filter(|id| id % distance == 0)
            .collect::<Vec<_>>()
    };
    for (probability, least) in [(0.85, 1), (0.5, 2), (0.25, 4)] {
        let mut pie = load(Pie::new(Limit::Unlimited, config, UNLUCKY), probability);
        assert_eq!(drops(&mut pie, 100), every(least), "{probability}");
    }
    for (probability, greatest) in [(0.5, 17), (0.25, 34)] {
        let mut pie = load(Pie::new(Limit::Unlimited, config, LUCKY), probability);
        assert_eq!(drops(&mut pie, 100), every(greatest), "{probability}");
    }
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
