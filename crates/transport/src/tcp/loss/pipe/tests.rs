use std::collections::BTreeSet;

use proptest::prelude::*;
use skywave_units::Instant;
use skywave_wire::tcp::SackBlock;

use super::*;
use crate::tcp::loss::{IsLost, LossRecovery, OnDuplicate, OnProgress};
use crate::tcp::sent_log::Keeps;
use crate::tcp::sequence::SequenceSpace;

type Sack = LossRecovery<IsLost, Pipe>;

const SMSS: u64 = 1000;
const SPACE: SequenceSpace = SequenceSpace::new(u32::MAX - 5000);
/// No new data may be sent.
const NO_FRESH: Range = Range { start: 0, end: 0 };

const fn at(una: u64, max: u64) -> Position {
    Position {
        una,
        max,
        smss: SMSS,
    }
}

/// Returns the byte range of segments `first..=last`, counted from 1.
const fn segments(first: u64, last: u64) -> Range {
    Range {
        start: (first - 1) * SMSS + 1,
        end: last * SMSS + 1,
    }
}

const FAST_RETRANSMIT: OnDuplicate = OnDuplicate::Loss {
    begin: Begin::Retransmit,
    is_repeated: false,
};

const fn partial(retransmit: bool) -> OnProgress {
    OnProgress::Recovery(Phase::Partial {
        retransmit,
        restart_timer: true,
    })
}

const FULL: OnProgress = OnProgress::Recovery(Phase::Full);

fn new(keeps_sacks: bool) -> Sack {
    let keeps = Keeps {
        sacks: true,
        ..Keeps::default()
    };
    LossRecovery::from_parts(IsLost::default(), Pipe::new(keeps_sacks), keeps)
}

fn sack(sack: &mut Sack, blocks: &[Range], at: Position) {
    let blocks: Vec<_> = blocks
        .iter()
        .map(|range| SackBlock {
            left: SPACE.wire(range.start),
            right: SPACE.wire(range.end),
        })
        .collect();
    sack.on_sack(Instant::ZERO, &blocks, SPACE, at);
}

fn on_duplicate(recovery: &mut Sack, at: Position) -> OnDuplicate {
    recovery.on_duplicate(Instant::ZERO, at)
}

fn on_progress(recovery: &mut Sack, at: Position) -> OnProgress {
    recovery.on_progress(Instant::ZERO, at, 0, None)
}

/// Handles a duplicate acknowledgement that SACKs `blocks`, with ten segments outstanding.
fn duplicate(recovery: &mut Sack, blocks: &[Range]) -> OnDuplicate {
    sack(recovery, blocks, at(1, 10_001));
    on_duplicate(recovery, at(1, 10_001))
}

#[test]
fn rfc6675_5_step_1_the_third_duplicate_with_news_is_a_loss() {
    let mut recovery = new(true);
    let tiny = |start| Range {
        start,
        end: start + 1,
    };
    assert_eq!(duplicate(&mut recovery, &[tiny(2001)]), OnDuplicate::Wait);
    assert_eq!(
        duplicate(&mut recovery, &[tiny(2001)]),
        OnDuplicate::Wait,
        "no news"
    );
    assert_eq!(duplicate(&mut recovery, &[tiny(2002)]), OnDuplicate::Wait);
    assert_eq!(recovery.limited_transmit(), 2);
    assert_eq!(duplicate(&mut recovery, &[tiny(2003)]), FAST_RETRANSMIT);
    // None is certainly lost: everything not SACKed counts, and segment 1 twice.
    assert_eq!(recovery.recovery.pipe, 10_000 - 3 + 1000);
}

#[test]
fn rfc6675_5_step_2_three_segments_above_are_a_loss_at_once() {
    let mut recovery = new(true);
    assert_eq!(duplicate(&mut recovery, &[segments(2, 4)]), FAST_RETRANSMIT);
    // Segment 1 is lost and retransmitted.
    assert_eq!(recovery.recovery.pipe, 7000);
    assert_eq!(recovery.next_segment(at(1, 10_001), 7999, NO_FRESH), None);
}

#[test]
fn rfc6675_4_next_seg_lost_holes_then_new_data_then_holes_then_a_rescue() {
    let mut recovery = new(true);
    duplicate(&mut recovery, &[segments(3, 3), segments(5, 8)]);
    let all = u64::MAX;
    let fresh = segments(11, 11);
    // Rule 1: segments 2 and 4 are lost; 1 was already retransmitted.
    let mut next = |fresh| recovery.next_segment(at(1, 10_001), all, fresh);
    assert_eq!(next(fresh), Some(segments(2, 2)));
    assert_eq!(next(fresh), Some(segments(4, 4)));
    // Rule 2.
    assert_eq!(next(fresh), Some(fresh));
    // Rule 3 does not apply, because nothing above segment 8 is SACKed. Rule 4 needs progress.
    assert_eq!(next(NO_FRESH), None);
    assert_eq!(on_progress(&mut recovery, at(1001, 11_001)), partial(false));
    let mut next = |fresh| recovery.next_segment(at(1001, 11_001), all, fresh);
    assert_eq!(next(NO_FRESH), None, "segment 1 is what was sent again");
    assert_eq!(on_progress(&mut recovery, at(3001, 11_001)), partial(false));
    let mut next = |fresh| recovery.next_segment(at(3001, 11_001), all, fresh);
    assert_eq!(next(NO_FRESH), Some(segments(11, 11)), "the rescue");
    assert_eq!(next(NO_FRESH), None, "one per recovery");
    assert_eq!(on_progress(&mut recovery, at(10_001, 11_001)), FULL);
    assert!(!recovery.is_recovering());
}

#[test]
fn rfc6675_4_rule_3_a_hole_that_may_be_late_is_sent_when_nothing_else_can_be() {
    let mut recovery = new(true);
    duplicate(&mut recovery, &[segments(2, 4), segments(6, 6)]);
    let mut next = |fresh| recovery.next_segment(at(1, 10_001), u64::MAX, fresh);
    assert_eq!(next(segments(11, 11)), Some(segments(11, 11)));
    assert_eq!(next(NO_FRESH), Some(segments(5, 5)));
    assert_eq!(next(NO_FRESH), None);
}

#[test]
fn what_a_recovery_sent_again_above_its_end_the_next_does_not_repeat() {
    let mut recovery = new(true);
    duplicate(&mut recovery, &[segments(2, 10)]);
    // Segments 11 to 15 are sent during the recovery; 11 is lost, and sent again in it.
    let at_15 = |una| at(una, 15_001);
    sack(&mut recovery, &[segments(12, 14)], at_15(1));
    assert_eq!(on_duplicate(&mut recovery, at_15(1)), OnDuplicate::Wait);
    let next = recovery.next_segment(at_15(1), u64::MAX, NO_FRESH);
    assert_eq!(next, Some(segments(11, 11)));
    // The recovery ends with the data that was outstanding at its start.
    assert_eq!(on_progress(&mut recovery, at_15(10_001)), FULL);
    sack(&mut recovery, &[segments(15, 15)], at_15(10_001));
    assert_eq!(
        on_duplicate(&mut recovery, at_15(10_001)),
        OnDuplicate::Loss {
            begin: Begin::Wait,
            is_repeated: false
        }
    );
    let next = recovery.next_segment(at_15(10_001), u64::MAX, NO_FRESH);
    assert_eq!(next, None, "segment 11 is under way");
    assert_eq!(recovery.recovery.pipe, 1000);
    // A timeout forgets what was sent again.
    recovery.on_timeout(Instant::ZERO, at_15(10_001));
    assert_eq!(
        on_progress(&mut recovery, at_15(15_001)),
        OnProgress::Ordinary
    );
    sack(&mut recovery, &[segments(17, 19)], at(15_001, 20_001));
    assert_eq!(
        on_duplicate(&mut recovery, at(15_001, 20_001)),
        FAST_RETRANSMIT
    );
}

/// Returns the state after a timeout with segments 2 to 4 of 10 SACKed.
fn timed_out(keeps_sacks: bool) -> Sack {
    let mut recovery = new(keeps_sacks);
    duplicate(&mut recovery, &[segments(2, 4)]);
    recovery.on_timeout(Instant::ZERO, at(1, 10_001));
    assert!(!recovery.is_recovering());
    recovery
}

#[test]
fn rfc6675_5_1_after_a_timeout_no_recovery_begins_before_what_was_outstanding_has_arrived() {
    for keeps_sacks in [false, true] {
        let mut recovery = timed_out(keeps_sacks);
        assert_eq!(
            duplicate(&mut recovery, &[segments(3, 5)]),
            OnDuplicate::Wait
        );
        let ordinary = OnProgress::Ordinary;
        assert_eq!(on_progress(&mut recovery, at(10_001, 10_001)), ordinary);
        assert_eq!(recovery.inflation(10_001), 0);
        sack(&mut recovery, &[segments(12, 14)], at(10_001, 20_001));
        assert_eq!(
            on_duplicate(&mut recovery, at(10_001, 20_001)),
            FAST_RETRANSMIT
        );
    }
}

#[test]
fn rfc2018_5_a_timeout_forgets_sacks_if_so_configured() {
    let mut recovery = timed_out(false);
    assert_eq!(recovery.skip_received(1001), 1001);
    assert_eq!(recovery.inflation(4001), 0);
    // Only news counts.
    duplicate(&mut recovery, &[segments(3, 5)]);
    assert_eq!(recovery.skip_received(2001), 5001);
    assert_eq!(recovery.inflation(5001), 3000);
}

#[test]
fn rfc6675_5_1_a_timeout_keeps_sacks_and_skips_what_has_arrived() {
    let recovery = timed_out(true);
    assert_eq!(recovery.skip_received(1), 1, "the left edge is sent again");
    assert_eq!(recovery.skip_received(1001), 4001);
    assert_eq!(recovery.inflation(4001), 3000);
}

#[test]
fn rfc6675_5_1_sacks_of_a_receiver_that_has_reneged_are_forgotten() {
    let mut recovery = new(true);
    duplicate(&mut recovery, &[segments(2, 4), segments(6, 8)]);
    // Segment 1 arrives, but the receiver has discarded segments 2 to 4.
    on_progress(&mut recovery, at(1001, 10_001));
    recovery.on_timeout(Instant::ZERO, at(1001, 10_001));
    assert_eq!(recovery.skip_received(1001), 1001);
    assert_eq!(recovery.skip_received(5001), 5001, "nor is the rest kept");
}

proptest! {
    /// For acknowledgements in any order, retransmitted data lies between the acknowledged and the
    /// sent data, and was not SACKed.
    #[test]
    fn what_is_sent_again_has_not_been_sacked(
        steps in prop::collection::vec(
            (0_u64..40, 1_u64..4, any::<bool>(), 1_u64..12, any::<bool>()),
            1..60,
        ),
    ) {
        let mut recovery = new(true);
        let mut at = at(1, 10_001);
        let mut received = BTreeSet::new();
        for (first, count, is_progress, cwnd, has_fresh) in steps {
            let end = (first + count) * SMSS + 1;
            let start = first * SMSS + 1;
            if end > at.max || start <= at.una {
                continue;
            }
            received.extend(first..first + count);
            sack(&mut recovery, &[Range { start, end }], at);
            if is_progress {
                let una = at.una;
                let next = (una / SMSS + 1..).find(|segment| !received.contains(segment));
                at.una = next.unwrap_or(0) * SMSS + 1;
                prop_assert!(at.una > una);
                on_progress(&mut recovery, at);
            } else {
                on_duplicate(&mut recovery, at);
            }
            if !recovery.is_recovering() {
                continue;
            }
            let fresh = Range {
                start: at.max,
                end: if has_fresh { at.max + SMSS } else { at.max },
            };
            while let Some(segment) = recovery.next_segment(at, cwnd * SMSS, fresh) {
                prop_assert!(segment.start < segment.end && segment.end - segment.start <= SMSS);
                prop_assert!(segment.start >= at.una);
                if segment == fresh {
                    at.max = fresh.end;
                    break;
                }
                prop_assert!(segment.end <= at.max);
                let index = segment.start / SMSS;
                prop_assert!(!received.contains(&index), "segment {} was SACKed", index);
            }
        }
    }
}

/// Until every lost segment has been retransmitted, the application does not limit the sender.
#[test]
fn a_loss_is_pending_until_its_last_segment_is_sent_again() {
    let mut recovery = new(true);
    assert!(!recovery.has_unsent_loss(at(1, 10_001)));
    duplicate(&mut recovery, &[segments(3, 3), segments(5, 8)]);
    let position = at(1, 10_001);
    for lost in [2, 4] {
        assert!(recovery.has_unsent_loss(position));
        let next = recovery.next_segment(position, u64::MAX, NO_FRESH);
        assert_eq!(next, Some(segments(lost, lost)));
    }
    assert!(!recovery.has_unsent_loss(position));
    assert_eq!(on_progress(&mut recovery, at(10_001, 10_001)), FULL);
    assert!(!recovery.has_unsent_loss(at(10_001, 10_001)));
}
