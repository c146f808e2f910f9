//! Fast retransmit and fast recovery (RFC 5681 section 3.2, RFC 6582).

use skywave_transport::tcp::{LimitedTransmit, RecoveryExit, SenderConfig};
use skywave_units::Duration;

use crate::script::{
    RTT, Script, config, duplicates, full, secs, ten_in_flight, window, without_limited_transmit,
};

#[test]
fn rfc5681_3_2_the_third_duplicate_retransmits_and_further_ones_inflate() {
    let mut script = ten_in_flight(without_limited_transmit());
    assert!(duplicates(&mut script, 1, 2).is_empty());
    assert_eq!(script.ack(1), [full(1)]);
    assert_eq!((script.stats().cwnd, script.stats().ssthresh), (5.0, 5.0));
    assert_eq!(script.stats().fast_retransmits, 1);
    // cwnd is 5 + 3 and ten segments are in flight, so the next two duplicates release nothing.
    assert!(duplicates(&mut script, 1, 2).is_empty());
    assert_eq!(
        duplicates(&mut script, 1, 4),
        [full(10_001), full(11_001), full(12_001), full(13_001)]
    );
    // Everything up to `recover`: the window deflates to ssthresh.
    assert_eq!(script.ack(10_001), [full(14_001)]);
    assert_eq!((script.stats().cwnd, script.stats().flight), (5.0, 5000));
    assert_eq!(script.stats().segments_retransmitted, 1);
}

#[test]
fn rfc5681_2_only_true_duplicates_count() {
    let mut script = ten_in_flight(without_limited_transmit());
    // A window update is not a duplicate.
    for window in [60_000, 50_000, 40_000, 30_000] {
        script.window = window;
        assert!(script.ack(1).is_empty());
    }
    // Old acknowledgements are not duplicates; progress starts the count again.
    script.ack(1);
    script.ack(1);
    script.ack(1001);
    for _ in 0..5 {
        assert!(script.ack(1).is_empty());
    }
    assert!(duplicates(&mut script, 1001, 2).is_empty());
    assert_eq!(script.stats().fast_retransmits, 0);
    assert_eq!(script.ack(1001), [full(1001)]);
}

/// RFC 5681 section 2: an acknowledgement is a duplicate only if "the receiver of the ACK has
/// outstanding data".
#[test]
fn rfc5681_2_with_nothing_outstanding_nothing_is_a_duplicate() {
    let mut script = Script::closed(config(), window(4.0));
    script.apply(|sender| sender.write(1000)).unwrap();
    script.accept();
    script.sent();
    script.ack(1001);
    let cwnd = script.stats().cwnd;
    assert!(duplicates(&mut script, 1001, 9).is_empty());
    assert_eq!(
        (script.stats().fast_retransmits, script.stats().cwnd),
        (0, cwnd)
    );
    assert!(script.wait(secs(100)).is_empty());
}

/// RFC 6298 section 3: what is retransmitted gives no sample, but a later segment that is timed does.
#[test]
fn rfc6298_3_a_retransmission_leaves_the_timing_of_later_segments() {
    let mut script = ten_in_flight(without_limited_transmit());
    let before = script.stats().srtt;
    // Segments 1 and 5 are lost. The duplicates release segment 11, which is timed.
    assert_eq!(duplicates(&mut script, 1, 6), [full(1), full(10_001)]);
    script.now += RTT * 2;
    assert_eq!(script.ack(4001)[0], full(4001));
    assert_eq!(script.stats().srtt, before);
    script.now += RTT;
    script.ack(11_001);
    assert!(script.stats().srtt > before, "{:?}", script.stats().srtt);
}

#[test]
fn rfc3042_the_first_two_duplicates_let_new_segments_out_which_do_not_count_for_ssthresh() {
    let mut script = ten_in_flight(config());
    assert_eq!(script.ack(1), [full(10_001)]);
    assert_eq!(script.ack(1), [full(11_001)]);
    assert_eq!(script.stats().cwnd, 10.0);
    assert_eq!(script.ack(1), [full(1)]);
    assert_eq!(script.stats().ssthresh, 5.0);
}

/// RFC 3042 section 2: limited transmit lets out at most two segments beyond cwnd, also where the
/// duplicates after a timeout show no loss.
#[test]
fn rfc3042_2_two_segments_beyond_cwnd_are_the_most() {
    let mut script = ten_in_flight(SenderConfig {
        limited_transmit: LimitedTransmit::Any,
        ..config()
    });
    assert_eq!(script.wait_for_segment().1, [full(1)]);
    assert_eq!(duplicates(&mut script, 1, 6), [full(1001), full(2001)]);
}

#[test]
fn rfc6582_3_2_step_3_a_partial_acknowledgement_retransmits_the_next_hole() {
    let mut script = ten_in_flight(without_limited_transmit());
    duplicates(&mut script, 1, 8);
    assert_eq!(script.stats().flight, 13_000);
    script.now += RTT;
    // 3001 was lost too. The window was 5 + 8; it loses 3 and gains 1: 11 from 3001 on.
    assert_eq!(script.ack(3001), [full(3001), full(13_001)]);
    script.now += RTT;
    // It loses 5 and gains 1: 7 from 8001 on.
    assert_eq!(script.ack(8001), [full(8001), full(14_001)]);
    assert_eq!(
        (script.stats().fast_retransmits, script.stats().ssthresh),
        (1, 5.0)
    );
    script.now += RTT;
    script.ack(10_001);
    assert_eq!(script.stats().cwnd, 5.0);
}

#[test]
fn rfc6582_3_2_step_3_the_first_partial_acknowledgement_alone_restarts_the_timer() {
    let mut script = ten_in_flight(without_limited_transmit());
    duplicates(&mut script, 1, 3);
    script.wait(Duration::from_millis(600));
    script.ack(2001);
    script.wait(Duration::from_millis(600));
    assert_eq!(script.stats().timeouts, 0);
    assert_eq!(script.ack(3001)[0], full(3001));
    // The timer was set at the first partial acknowledgement, 600 ms ago.
    let (waited, sent) = script.wait_for_segment();
    assert_eq!(
        (waited, sent),
        (Duration::from_millis(400), vec![full(3001)])
    );
    assert_eq!(script.stats().timeouts, 1);
}

#[test]
fn rfc6582_3_2_step_3_recovery_ends_without_a_burst() {
    let exits = [
        // min(ssthresh, max(FlightSize, SMSS) + SMSS): nothing is in flight.
        (RecoveryExit::FlightSize, 2.0),
        (RecoveryExit::Ssthresh, 5.0),
        // And the acknowledgement, which covers a window, adds a segment.
        (RecoveryExit::Deflated, 6.0),
    ];
    for (recovery_exit, cwnd) in exits {
        let mut script = ten_in_flight(SenderConfig {
            recovery_exit,
            ..without_limited_transmit()
        });
        duplicates(&mut script, 1, 3);
        let sent = script.ack(10_001).len();
        assert_eq!(
            (script.stats().cwnd, sent),
            (cwnd, cwnd as usize),
            "{recovery_exit:?}"
        );
    }
}

#[test]
fn rfc6582_3_2_step_2_a_lost_first_segment_is_retransmitted_fast() {
    let mut script = Script::streaming(without_limited_transmit(), window(4.0));
    script.sent();
    assert_eq!(duplicates(&mut script, 1, 3), [full(1), full(4001)]);
}
