//! The retransmission timer (RFC 6298).

use skywave_units::Duration;

use crate::script::{
    RTT, Script, config, duplicates, full, secs, ten_in_flight, window, without_limited_transmit,
};

#[test]
fn rfc6298_2_the_rto_follows_the_samples_and_is_at_least_a_second() {
    let mut script = Script::streaming(config(), window(1.0));
    assert_eq!(
        (script.stats().srtt, script.stats().rto),
        (Some(RTT), secs(1))
    );
    // R' = 1.1 s: RTTVAR = 3/4 50 + 1/4 1000 = 287.5 ms, SRTT = 7/8 100 + 1/8 1100 = 225 ms.
    script.now += Duration::from_millis(1100);
    script.ack(1001);
    assert_eq!(script.stats().srtt, Some(Duration::from_millis(225)));
    assert_eq!(script.stats().rto, Duration::from_millis(225 + 1150));
}

#[test]
fn rfc5681_3_1_and_rfc6298_5_a_timeout_goes_back_and_starts_slowly() {
    let mut script = ten_in_flight(without_limited_transmit());
    let (waited, sent) = script.wait_for_segment();
    assert_eq!((waited, sent), (Duration::from_millis(900), vec![full(1)]));
    assert_eq!((script.stats().cwnd, script.stats().ssthresh), (1.0, 5.0));
    // RFC 6298 step 5.5; RFC 5681 section 3.1: ssthresh is kept for the same segment.
    assert_eq!(script.wait_for_segment(), (secs(2), vec![full(1)]));
    assert_eq!(script.wait_for_segment(), (secs(4), vec![full(1)]));
    assert_eq!((script.stats().cwnd, script.stats().ssthresh), (1.0, 5.0));
    // Go-back-N in slow start, from the acknowledgement number on.
    assert_eq!(script.ack(1001), [full(1001), full(2001)]);
    assert_eq!(script.ack(2001), [full(3001), full(4001)]);
    // An acknowledgement beyond the retransmitted data is not an error.
    assert_eq!(script.ack(10_001).first(), Some(&full(10_001)));
}

#[test]
fn rfc6298_5_5_the_rto_doubles_up_to_a_minute() {
    let mut script = Script::streaming(config(), window(1.0));
    script.sent();
    let waits: Vec<_> = (0..9).map(|_| script.wait_for_segment().0).collect();
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60].map(secs));
}

#[test]
fn rfc6298_3_karn_a_retransmitted_segment_gives_no_sample_and_keeps_the_back_off() {
    let mut script = Script::streaming(config(), window(1.0));
    script.sent();
    script.wait(secs(1));
    assert_eq!(script.stats().rto, secs(2));
    script.now += RTT;
    script.ack(1001);
    assert_eq!(
        (script.stats().srtt, script.stats().rto),
        (Some(RTT), secs(2))
    );
    // A new segment, sent once, ends the back-off.
    script.now += RTT;
    script.ack(2001);
    assert_eq!(script.stats().rto, secs(1));
}

#[test]
fn rfc6298_3_karn_a_fast_retransmit_spoils_the_sample_of_its_segment() {
    let mut script = ten_in_flight(without_limited_transmit());
    duplicates(&mut script, 1, 3);
    script.now += Duration::from_millis(700);
    script.ack(10_001);
    assert_eq!(script.stats().srtt, Some(RTT));
}

#[test]
fn rfc6298_5_2_and_5_3_progress_restarts_the_timer_and_the_end_stops_it() {
    let mut script = Script::closed(config(), window(4.0));
    script.apply(|sender| sender.write(3000)).unwrap();
    script.accept();
    script.sent();
    for una in [1001, 2001] {
        assert!(script.wait(Duration::from_millis(900)).is_empty());
        script.ack(una);
    }
    assert!(script.wait(Duration::from_millis(900)).is_empty());
    script.ack(3001);
    assert!(script.wait(secs(1000)).is_empty());
    assert_eq!(script.stats().timeouts, 0);
}

#[test]
fn rfc6582_3_2_step_4_duplicates_caused_by_going_back_are_no_new_loss() {
    let mut script = ten_in_flight(config());
    script.wait(secs(1));
    script.ack(10_001);
    let ssthresh = script.stats().ssthresh;
    for _ in 0..8 {
        script.ack(10_001);
    }
    assert_eq!(
        (script.stats().ssthresh, script.stats().fast_retransmits),
        (ssthresh, 0)
    );
}
