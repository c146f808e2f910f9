use proptest::prelude::*;
use skywave_wire::Ecn;
use skywave_wire::dccp::OptionList;

use super::*;

/// Records a packet. Returns whether it showed congestion.
fn observe(ratio: &mut AckRatio, number: u64, data: bool, ecn: Ecn, ndp: Option<u64>) -> bool {
    let options = OptionList::new();
    ratio.observe(&ReceivedPacket {
        seq: SeqNo::new(number),
        is_new: true,
        ack: Some(SeqNo::new(1)),
        data: data.then_some(100),
        is_corrupted: false,
        ccval: 0,
        ecn,
        ndp_count: ndp,
        options: &options,
    });
    core::mem::take(&mut ratio.is_congested)
}

/// Whether each of these packets without data shows a loss.
fn lost(numbers: &[u64]) -> Vec<bool> {
    let mut ratio = adaptive(2);
    numbers
        .iter()
        .map(|&number| observe(&mut ratio, number, false, Ecn::Ect0, None))
        .collect()
}

/// RFC 4341's rule to the letter.
const fn rfc4341(minimum: u16) -> AckRatioRule {
    AckRatioRule::Adaptive(AckRatioBounds {
        minimum,
        ..AckRatioBounds::RFC4341
    })
}

fn adaptive(minimum: u16) -> AckRatio {
    AckRatio::new(rfc4341(minimum), 2)
}

/// Handles an acknowledgement of packet `ack` after `ack` + cwnd packets were sent.
fn on_ack(ratio: &mut AckRatio, ack: u64, newly_acked: u32, congested: bool, cwnd: f64) {
    let next = SeqNo::new(ack + cwnd as u64);
    ratio.is_congested = congested;
    ratio.on_ack(SeqNo::new(ack), newly_acked, cwnd, next);
}

/// Data packets that arrived together.
fn train(first: u64, count: u64, ecn: Ecn) -> ReceivedTrain {
    ReceivedTrain {
        first: SeqNo::new(first),
        count,
        data: 100,
        ccval: 0,
        ecn,
    }
}

// C2-11, section 6.1.1: as with data, three packets later.
#[test]
fn a_hole_is_a_loss_after_three_packets() {
    assert_eq!(lost(&[10, 11, 13, 14]), [false; 4]);
    assert_eq!(
        lost(&[10, 11, 13, 14, 15]),
        [false, false, false, false, true]
    );
    assert_eq!(
        lost(&[10, 11, 13, 14, 12, 15, 16]),
        [false; 7],
        "12 was only late"
    );
    assert_eq!(
        lost(&[10, 12, 12, 12, 12, 13]),
        [false; 6],
        "duplicates do not count"
    );
    assert_eq!(
        lost(&[10, 12, 13, 14, 11, 15, 16]),
        [false, false, false, true, false, false, false]
    );
}

// C2-11: marks on packets without data count, those on data do not.
#[test]
fn only_marks_on_packets_without_data_count() {
    let mut ratio = adaptive(2);
    assert!(observe(&mut ratio, 10, false, Ecn::Ce, None));
    assert!(!observe(&mut ratio, 11, true, Ecn::Ce, None));
    assert!(!observe(&mut ratio, 12, false, Ecn::Ect1, None));
}

// C2-12
#[test]
fn a_lost_packet_had_no_data_unless_ndp_counts_tell() {
    for (ndp, is_lost) in [(None, true), (Some(1), true)] {
        let mut ratio = adaptive(2);
        for number in [10, 11] {
            observe(&mut ratio, number, true, Ecn::Ect0, None);
        }
        observe(&mut ratio, 13, true, Ecn::Ect0, ndp);
        observe(&mut ratio, 14, true, Ecn::Ect0, None);
        assert_eq!(observe(&mut ratio, 15, true, Ecn::Ect0, None), is_lost);
    }
    // The peer sends counts, and packet 13 says that 12 carried data.
    let mut ratio = adaptive(2);
    observe(&mut ratio, 10, false, Ecn::Ect0, None);
    observe(&mut ratio, 11, true, Ecn::Ect0, Some(1));
    for number in [13, 14] {
        observe(&mut ratio, number, true, Ecn::Ect0, None);
    }
    assert!(!observe(&mut ratio, 15, true, Ecn::Ect0, None));
    // Of two lost packets, the first may have carried no data.
    for number in [18, 19] {
        assert!(!observe(&mut ratio, number, true, Ecn::Ect0, None));
    }
    assert!(observe(&mut ratio, 20, true, Ecn::Ect0, None));
}

// C2-11: doubled once per window with losses.
#[test]
fn doubles_once_a_window() {
    let mut ratio = adaptive(2);
    on_ack(&mut ratio, 100, 2, true, 40.0);
    assert_eq!(ratio.get(), 4);
    on_ack(&mut ratio, 110, 2, true, 40.0);
    on_ack(&mut ratio, 139, 2, true, 40.0);
    assert_eq!(ratio.get(), 4);
    on_ack(&mut ratio, 140, 2, true, 40.0);
    assert_eq!(ratio.get(), 8);
}

// C2-11: K = cwnd / (R^2 - R) clean windows. With cwnd 40: R = 4 takes 4, R = 3 takes 7.
#[test]
fn shrinks_after_clean_windows() {
    let mut ratio = adaptive(2);
    on_ack(&mut ratio, 100, 2, true, 40.0);
    for (windows, expected) in [(3, 4), (1, 3), (6, 3), (1, 2), (100, 2)] {
        for _ in 0..windows {
            on_ack(&mut ratio, 1000, 40, false, 40.0);
        }
        assert_eq!(ratio.get(), expected);
    }
}

// C2-11: with cwnd 240: R = 4 takes 20 clean windows, R = 8 takes 5.
#[test]
fn clean_windows_are_counted_from_the_last_loss() {
    let mut ratio = adaptive(2);
    on_ack(&mut ratio, 1000, 2, true, 240.0);
    (0..19).for_each(|_| on_ack(&mut ratio, 2000, 240, false, 240.0));
    on_ack(&mut ratio, 2000, 2, true, 240.0);
    assert_eq!(ratio.get(), 8);
    (0..4).for_each(|_| on_ack(&mut ratio, 3000, 240, false, 240.0));
    assert_eq!(ratio.get(), 8);
    on_ack(&mut ratio, 3000, 240, false, 240.0);
    assert_eq!(ratio.get(), 7);
}

// C2-11, appendix A: one acknowledgement more per clean window. With cwnd 100, a ratio of 50 makes two.
#[test]
fn a_clean_window_adds_an_acknowledgement() {
    let mut ratio = AckRatio::new(rfc4341(2), 50);
    for most in [34, 26, 21, 18] {
        on_ack(&mut ratio, 100, 100, false, 100.0);
        assert!(ratio.get() <= most, "{} > {most}", ratio.get());
        assert!(ratio.get() >= most - 2, "{} is too low", ratio.get());
    }
}

#[test]
fn lost_acknowledgements_leave_the_least_number_per_window() {
    for (acks_per_window, maximum, expected) in [(2, u16::MAX, 50), (8, u16::MAX, 13), (8, 5, 5)] {
        let mut ratio = AckRatio::new(
            AckRatioRule::Adaptive(AckRatioBounds {
                acks_per_window,
                maximum,
                ..AckRatioBounds::RFC4341
            }),
            2,
        );
        for window in 1..10 {
            on_ack(&mut ratio, 100 * window, 100, true, 100.0);
        }
        assert_eq!(ratio.get(), expected);
    }
}

#[test]
fn a_minimum_of_one_is_for_small_windows() {
    let mut ratio = adaptive(1);
    (0..10).for_each(|_| on_ack(&mut ratio, 100, 3, false, 3.0));
    assert_eq!(ratio.get(), 1);
    on_ack(&mut ratio, 100, 1, false, 4.0);
    assert_eq!(ratio.get(), 2);
    ratio.on_timeout(1.0, SeqNo::new(200));
    assert_eq!(ratio.get(), 1);
}

// With R = 3, one clean window is cwnd / (R^2 - R) for a cwnd of 6.
#[test]
fn ns2_waits_for_one_more_window() {
    for (rule, after_one) in [(rfc4341(1), 2), (AckRatioRule::Ns2TcpLike, 3)] {
        let mut ratio = AckRatio::new(rule, 3);
        on_ack(&mut ratio, 100, 6, false, 6.0);
        assert_eq!(ratio.get(), after_one, "{rule:?}");
        on_ack(&mut ratio, 100, 6, false, 6.0);
        assert_eq!(ratio.get(), 2, "{rule:?}");
    }
}

// A reduction of cwnd begins another window, but the clean windows before it count.
#[test]
fn a_reduction_starts_another_window() {
    let mut ratio = AckRatio::new(rfc4341(1), 3);
    on_ack(&mut ratio, 100, 5, false, 6.0);
    ratio.on_reduction();
    on_ack(&mut ratio, 100, 1, false, 6.0);
    assert_eq!(ratio.get(), 3);
    on_ack(&mut ratio, 100, 5, false, 6.0);
    assert_eq!(ratio.get(), 2);
}

#[test]
fn a_timeout_starts_a_new_window() {
    let mut ratio = adaptive(2);
    on_ack(&mut ratio, 100, 2, true, 40.0);
    (0..3).for_each(|_| on_ack(&mut ratio, 1000, 40, false, 40.0));
    ratio.on_timeout(40.0, SeqNo::new(1040));
    on_ack(&mut ratio, 1039, 2, true, 40.0);
    on_ack(&mut ratio, 1040, 40, false, 40.0);
    assert_eq!(ratio.get(), 4);
}

#[test]
fn a_fixed_ratio_stays() {
    let mut ratio = AckRatio::new(AckRatioRule::Fixed, 7);
    on_ack(&mut ratio, 100, 2, true, 40.0);
    ratio.on_timeout(1.0, SeqNo::new(200));
    assert_eq!(ratio.get(), 7);
    assert_eq!(
        AckRatio::new(AckRatioRule::Fixed, 0).get(),
        1,
        "zero is no ratio"
    );
}

proptest! {
    // C2-11: section 6.1.2's three constraints.
    #[test]
    fn stays_within_its_bounds(
        minimum in 1..3u16,
        maximum in 2..40u16,
        acks_per_window in 2..12u16,
        initial in any::<u16>(),
        steps in proptest::collection::vec((0..50u32, any::<bool>(), 1..300u32, 0..20u8), 1..100),
    ) {
        let rule = AckRatioRule::Adaptive(AckRatioBounds { minimum, maximum, acks_per_window });
        let mut ratio = AckRatio::new(rule, initial);
        let mut ack = 100;
        for (newly_acked, congested, cwnd, timeout) in steps {
            ack += u64::from(newly_acked);
            if timeout == 0 {
                ratio.on_timeout(1.0, SeqNo::new(ack));
                prop_assert!(ratio.get() <= 2);
            }
            on_ack(&mut ratio, ack, newly_acked, congested, cwnd.into());
            let now = u32::from(ratio.get());
            prop_assert!(now <= cwnd.div_ceil(2) || now <= 2);
            prop_assert!(now <= cwnd.div_ceil(acks_per_window.into()) || now <= 2);
            prop_assert!(now <= maximum.into());
            let least = if cwnd >= 4 { 2 } else { 1 };
            prop_assert!(now >= least);
        }
    }
}

// C2-12: if an Ack is lost before a burst of data, the loss is noticed at a packet that
// acknowledges nothing.
#[test]
fn a_loss_that_data_shows_is_answered_with_the_next_acknowledgement() {
    let mut ratio = adaptive(2);
    for number in [10, 11] {
        observe(&mut ratio, number, false, Ecn::Ect0, None);
    }
    ratio.observe_train(&train(13, 20, Ecn::Ect0));
    assert_eq!(ratio.get(), 2);
    ratio.on_ack(SeqNo::new(100), 2, 40.0, SeqNo::new(140));
    assert_eq!(ratio.get(), 4);
    ratio.on_ack(SeqNo::new(140), 2, 40.0, SeqNo::new(180));
    assert_eq!(ratio.get(), 4, "one loss doubles it once");
}

proptest! {
    /// Trains of any length, with or without holes before them.
    #[test]
    fn a_train_is_its_packets(trains in prop::collection::vec((0_u64..3, 1_u64..9, any::<bool>()), 1..8)) {
        let (mut together, mut one_by_one) = (adaptive(2), adaptive(2));
        let mut first = 10;
        for (hole, count, is_marked) in trains {
            let ecn = if is_marked { Ecn::Ce } else { Ecn::Ect0 };
            let train = train(first + hole, count, ecn);
            together.observe_train(&train);
            train.for_each(|packet| one_by_one.observe(packet));
            prop_assert_eq!(format!("{together:?}"), format!("{one_by_one:?}"));
            first += hole + count;
        }
    }
}
