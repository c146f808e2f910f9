//! The properties of RFC 9332.

use super::*;
use crate::contract::Parcel;

const MS: Duration = Duration::from_millis(1);

fn at(ms: u64) -> Instant {
    Instant::ZERO + MS * ms
}

fn dualpi2(config: DualPi2Config) -> DualPi2<Parcel> {
    DualPi2::new(Limit::Unlimited, config)
}

fn offer(queue: &mut DualPi2<Parcel>, now: Instant, ecn: Ecn, count: u32) {
    for id in 0..count {
        let parcel = Parcel::new(id, 1000).with_ecn(ecn);
        assert_eq!(queue.enqueue(now, parcel), Ok(()));
    }
}

/// Returns how many of `count` packets that leave together are marked and dropped at this base
/// probability.
fn signals(config: DualPi2Config, probability: f64, ecn: Ecn, count: u32) -> (usize, usize) {
    let mut queue = dualpi2(config);
    offer(&mut queue, at(0), ecn, count);
    queue.base.probability = probability;
    let left = std::iter::from_fn(|| queue.dequeue(at(0)));
    let marked = left.filter(|parcel| parcel.ecn().is_ce()).count();
    let dropped = std::iter::from_fn(|| queue.dropped()).count();
    (marked, dropped)
}

/// RFC 9332 Figure 2 and Appendix A.1.
#[test]
fn defaults_are_those_of_the_rfc() {
    let config = DualPi2Config::default();
    assert_eq!((config.k, config.alpha, config.beta), (2.0, 0.16, 3.2));
    assert_eq!((config.target, config.t_update), (MS * 15, MS * 16));
    assert_eq!(config.p_c_max(), 0.25);
    assert_eq!(config.min_th, Duration::from_micros(800));
    assert_eq!(config.range, Duration::from_micros(400));
    assert_eq!(config.th_len, 1);
    assert_eq!(config.scheduler, DualPi2Scheduler::Wrr { weight: 15 });
}

/// RFC 9332 Figure 2, line 11: min(1/k^2, 1).
#[test]
fn the_classic_maximum_is_where_the_coupled_marks_saturate() {
    let p_c_max = |k| {
        let config = DualPi2Config::default();
        DualPi2Config { k, ..config }.p_c_max()
    };
    assert_eq!([4.0, 1.0, 0.5].map(p_c_max), [0.0625, 1.0, 1.0]);
}

/// RFC 9331 section 5.1: ECT(1) and CE go to the L4S queue.
#[test]
fn the_ecn_field_selects_the_queue() {
    for (ecn, l4s) in [
        (Ecn::NotEct, 0),
        (Ecn::Ect0, 0),
        (Ecn::Ect1, 1),
        (Ecn::Ce, 1),
    ] {
        let mut queue = dualpi2(DualPi2Config::default());
        offer(&mut queue, at(0), ecn, 1);
        let lengths = (queue.l4s.waiting.packets(), queue.classic.waiting.packets());
        assert_eq!(lengths, (l4s, 1 - l4s), "{ecn:?}");
    }
}

/// RFC 9332 Figure 8, computed by hand: the delays at the updates at 16, 32 and 48 ms are 16, 32 and
/// 0 ms.
#[test]
fn the_base_probability_follows_the_pseudocode() {
    let mut queue = dualpi2(DualPi2Config::default());
    offer(&mut queue, at(0), Ecn::NotEct, 1);
    queue.update(at(31));
    let first = 0.16 * 0.001 + 3.2 * 0.016;
    assert!((queue.base_probability() - first).abs() < 1e-15);
    assert!(queue.dequeue(at(32)).is_some());
    let second = first + 0.16 * 0.017 + 3.2 * 0.016;
    assert!((queue.base_probability() - second).abs() < 1e-15);
    queue.update(at(48));
    let third = second - 0.16 * 0.015 - 3.2 * 0.032;
    assert!((queue.base_probability() - third.max(0.0)).abs() < 1e-15);
}

/// RFC 9332 section 2.1: p_CL = k * p' and p_C = p'^2.
#[test]
fn l4s_is_marked_more_often_than_classic_is_dropped() {
    let config = DualPi2Config::default();
    let near = |found: usize, expected: usize| found.abs_diff(expected) <= 1;
    let (marked, dropped) = signals(config, 0.1, Ecn::Ect1, 1000);
    assert!(near(marked, 200) && dropped == 0, "{marked}, {dropped}");
    let (marked, dropped) = signals(config, 0.1, Ecn::NotEct, 1000);
    assert!(marked == 0 && near(dropped, 10), "{marked}, {dropped}");
    let (marked, dropped) = signals(config, 0.1, Ecn::Ect0, 1000);
    assert!(near(marked, 10) && dropped == 0, "{marked}, {dropped}");
}

/// RFC 9332 Appendix A.2: at p_Cmax the Classic drop probability applies to all packets, and all
/// L4S packets that remain are marked.
#[test]
fn saturation_drops_from_both_queues() {
    let config = DualPi2Config::default();
    let below = signals(config, 0.5_f64.next_down(), Ecn::Ect0, 1000);
    assert!(below.0 >= 249 && below.1 == 0, "{below:?}");
    for ecn in [Ecn::Ect0, Ecn::NotEct] {
        let (marked, dropped) = signals(config, 0.5, ecn, 1000);
        assert_eq!((marked, dropped.abs_diff(250) <= 1), (0, true), "{ecn:?}");
    }
    for probability in [0.5, 0.8] {
        let expected = (probability * probability * 1000.0) as usize;
        let (marked, dropped) = signals(config, probability, Ecn::Ect1, 1000);
        assert_eq!(marked + dropped, 1000);
        assert!(dropped.abs_diff(expected) <= 1, "{dropped}");
    }
    let earlier = DualPi2Config {
        p_c_max: Some(0.04),
        ..config
    };
    assert_eq!(signals(earlier, 0.21, Ecn::Ect0, 1000), (0, 44));
}

/// RFC 9332 Figure 5 and Note c.
#[test]
fn the_native_aqm_is_a_ramp_or_a_step() {
    let ramp = DualPi2Config::default();
    let step = DualPi2Config {
        range: Duration::ZERO,
        ..ramp
    };
    for (micros, on_ramp, on_step) in [
        (0, 0.0, 0.0),
        (799, 0.0, 0.0),
        (800, 0.0, 1.0),
        (900, 0.25, 1.0),
        (1000, 0.5, 1.0),
        (1200, 1.0, 1.0),
        (9000, 1.0, 1.0),
    ] {
        let delay = Duration::from_micros(micros);
        let found = ramp.native_probability(delay);
        assert!((found - on_ramp).abs() < 1e-12, "{micros} us: {found}");
        assert_eq!(step.native_probability(delay), on_step, "{micros} us");
    }
}

/// RFC 9332 Appendix A.2: a queue of one packet is not marked, however slow the link is.
#[test]
fn a_packet_alone_is_not_marked_by_the_native_aqm() {
    for (th_len, waiting, marks) in [(1, 1, 0), (1, 9, 8), (0, 9, 9), (3, 9, 6)] {
        let mut queue = dualpi2(DualPi2Config {
            th_len,
            ..DualPi2Config::default()
        });
        queue.l4s.recur(f64::MIN_POSITIVE);
        queue.l4s.recur(0.5);
        offer(&mut queue, at(0), Ecn::Ect1, waiting);
        let left = std::iter::from_fn(|| queue.dequeue(at(2)));
        let marked = left.filter(|parcel| parcel.ecn().is_ce()).count();
        assert_eq!(marked, marks, "Th_len {th_len}, {waiting} packets");
    }
}

/// Returns which of the next packets are L4S.
fn served(queue: &mut DualPi2<Parcel>, now: Instant, count: usize) -> Vec<bool> {
    std::iter::from_fn(|| queue.dequeue(now))
        .take(count)
        .map(|parcel| is_l4s(parcel.ecn()))
        .collect()
}

/// RFC 9332 section 4.2.2: with weights of 15:1, a Classic packet waits for 15 L4S packets at most,
/// and an idle link resets the credit in favour of L4S (Appendix A.1).
#[test]
fn wrr_serves_classic_packets_once_per_round() {
    let mut queue = dualpi2(DualPi2Config {
        mtu: 1000,
        ..DualPi2Config::default()
    });
    for _ in 0..2 {
        offer(&mut queue, at(0), Ecn::Ect1, 50);
        offer(&mut queue, at(0), Ecn::NotEct, 50);
        let l4s = served(&mut queue, at(0), 40);
        let classic: Vec<_> = (0..40).filter(|&index| !l4s[index]).collect();
        assert_eq!(classic, [15, 31]);
        while queue.dequeue(at(0)).is_some() {}
    }
}

/// RFC 9332 Appendix A.1: "the 'credit' [...] is only changed if there are packets in both queues".
#[test]
fn a_queue_without_competition_uses_no_credit() {
    let mut queue = dualpi2(DualPi2Config {
        mtu: 1000,
        ..DualPi2Config::default()
    });
    offer(&mut queue, at(0), Ecn::Ect1, 100);
    assert_eq!(served(&mut queue, at(0), 50), [true; 50]);
    offer(&mut queue, at(0), Ecn::NotEct, 1);
    let l4s = served(&mut queue, at(0), 16);
    assert_eq!(l4s.iter().position(|&l4s| !l4s), Some(15));
}

/// RFC 9332 Figure 10: L4S goes first until a Classic packet has waited longer by more than tshift.
#[test]
fn the_fifo_is_shifted() {
    let mut queue = dualpi2(DualPi2Config {
        scheduler: DualPi2Scheduler::TsFifo { tshift: MS * 5 },
        ..DualPi2Config::default()
    });
    offer(&mut queue, at(0), Ecn::NotEct, 1);
    offer(&mut queue, at(5), Ecn::Ect1, 1);
    offer(&mut queue, at(6), Ecn::Ect1, 1);
    assert_eq!(served(&mut queue, at(7), 3), [true, false, true]);
}

/// RFC 9332 Appendix A.1: "1 MTU of space is always allowed, and the limit is deliberately tested
/// before enqueue". A larger packet needs its own size.
#[test]
fn every_packet_needs_room_for_an_mtu() {
    let mut queue = DualPi2::new(Limit::Bytes(3000), DualPi2Config::default());
    assert!(queue.enqueue(at(0), Parcel::new(0, 3001)).is_err());
    assert!(queue.enqueue(at(0), Parcel::new(1, 1500)).is_ok());
    assert!(queue.enqueue(at(0), Parcel::new(2, 40)).is_ok());
    let refused = queue.enqueue(at(0), Parcel::new(3, 40)).unwrap_err();
    assert_eq!(refused.reason, DropReason::Full);
}

/// The course of the second half of 20 s, in which packets of these codes arrive every millisecond
/// at a link that sends one.
#[derive(Debug, Default)]
struct Course {
    left: u32,
    marked: u32,
    /// Drops from the L4S and the Classic queue.
    dropped: [u32; 2],
    /// The mean sojourn times of both queues in milliseconds, times the packets that left.
    delays: [f64; 2],
}

fn overload(codes: &[Ecn]) -> Course {
    let mut queue = dualpi2(DualPi2Config::default());
    let mut course = Course::default();
    for ms in 0..20_000 {
        for &ecn in codes {
            offer(&mut queue, at(ms), ecn, 1);
        }
        let left = queue.dequeue(at(ms));
        let is_late = ms >= 10_000;
        if let Some(parcel) = left.filter(|_| is_late) {
            course.left += 1;
            course.marked += u32::from(parcel.ecn().is_ce());
            course.delays[0] += queue.l4s.delay.as_secs_f64() * 1e3;
            course.delays[1] += queue.classic.delay.as_secs_f64() * 1e3;
        }
        for dropped in std::iter::from_fn(|| queue.dropped()).filter(|_| is_late) {
            assert_eq!(dropped.reason, DropReason::Early);
            course.dropped[usize::from(!is_l4s(dropped.packet.ecn()))] += 1;
        }
    }
    course
}

/// RFC 9332 Appendix A.2: without Classic traffic, the Base AQM keeps an L4S queue of unresponsive
/// senders at the Classic target by shedding L4S packets.
#[test]
fn an_overload_of_l4s_is_kept_at_the_classic_target() {
    let course = overload(&[Ecn::Ect1, Ecn::Ect1]);
    let share = f64::from(course.dropped[0]) / 20_000.0;
    let delay = course.delays[0] / f64::from(course.left);
    assert!((share - 0.5).abs() < 0.01, "{course:?}");
    assert!((10.0..20.0).contains(&delay), "{delay} ms");
    assert_eq!(course.marked, course.left);
}

/// RFC 9332 section 4.2.3.1: in overload, "it introduces probabilistic drop to both queues equally",
/// and an unresponsive flow gains nothing from ECT(0) or ECT(1).
#[test]
fn an_overload_of_both_queues_is_dropped_from_both_alike() {
    for classic in [Ecn::NotEct, Ecn::Ect0] {
        let course = overload(&[Ecn::Ect1, classic]);
        let [l4s, other] = course.dropped.map(|dropped| f64::from(dropped) / 10_000.0);
        assert!((l4s - 0.5).abs() < 0.02, "{classic:?}: {course:?}");
        assert!((other - 0.5).abs() < 0.02, "{classic:?}: {course:?}");
        let delay = course.delays[1] / f64::from(course.left);
        assert!((10.0..20.0).contains(&delay), "{classic:?}: {delay} ms");
    }
}

/// One late call makes up exactly for all missed updates, whether or not packets wait.
#[test]
fn updates_are_made_up_for() {
    for packets in [0, 1] {
        let mut called = dualpi2(DualPi2Config::default());
        offer(&mut called, at(0), Ecn::Ect1, packets);
        called.base.probability = 0.7;
        let mut left_alone = called.clone();
        for ms in 0..=10_000 {
            called.update(at(ms));
        }
        left_alone.update(at(10_000));
        assert_eq!(called.base_probability(), left_alone.base_probability());
        assert_eq!(called.base_probability(), f64::from(packets));
    }
}
