//! Probes of a closed window (RFC 9293 section 3.8.6).

use skywave_units::Duration;

use crate::script::{RTT, Script, Sent, config, full, secs, window};

#[test]
fn rfc9293_3_8_6_1_a_closed_window_is_probed_ever_more_slowly_until_it_opens() {
    let mut script = Script::closed(config(), window(4.0));
    script.window = 2000;
    script.apply(|sender| sender.write_unlimited()).unwrap();
    script.accept();
    script.sent();
    script.now += RTT;
    script.window = 0;
    assert!(script.ack(2001).is_empty());
    let cwnd = script.stats().cwnd;
    for waited in [1, 2, 4, 8, 16, 32, 60, 60] {
        let probe = vec![Sent {
            offset: 2001,
            length: 1,
        }];
        assert_eq!(script.wait_for_segment(), (secs(waited), probe));
        script.ack(2001);
    }
    assert_eq!(
        (script.stats().timeouts, script.stats().fast_retransmits),
        (0, 0)
    );
    assert_eq!(script.stats().cwnd, cwnd);
    script.window = 2000;
    assert_eq!(script.ack(2001), [full(2001), full(3001)]);
}

#[test]
fn rfc6298_5_what_a_window_update_lets_out_has_a_whole_rto() {
    // The window opens before the first probe, or between the first and the second.
    for (closed, rto) in [(900, 1), (2900, 2)] {
        let mut script = Script::closed(config(), window(4.0));
        script.window = 2000;
        script.apply(|sender| sender.write_unlimited()).unwrap();
        script.accept();
        script.sent();
        script.window = 0;
        script.ack(2001);
        script.wait(Duration::from_millis(closed));
        script.window = 2000;
        assert_eq!(script.ack(2001), [full(2001), full(3001)]);
        assert_eq!(script.wait_for_segment(), (secs(rto), vec![full(2001)]));
    }
}

#[test]
fn rfc9293_3_8_6_1_the_byte_of_a_probe_may_be_taken() {
    let mut script = Script::closed(config(), window(4.0));
    script.window = 0;
    script.apply(|sender| sender.write_unlimited()).unwrap();
    script.accept();
    assert_eq!(
        script.sent(),
        [Sent {
            offset: 1,
            length: 0
        }]
    );
    script.wait_for_segment();
    script.window = 3000;
    assert_eq!(script.ack(2), [full(2), full(1002), full(2002)]);
}

/// RFC 9293 section 3.8.6.1: an answer to a probe that leaves the window closed does not postpone the
/// next probe.
#[test]
fn rfc9293_3_8_6_1_an_answer_leaves_the_time_of_the_next_probe() {
    let mut script = Script::closed(config(), window(4.0));
    script.window = 1000;
    script.apply(|sender| sender.write_unlimited()).unwrap();
    script.accept();
    script.sent();
    script.window = 0;
    assert!(script.ack(1001).is_empty());
    script.wait_for_segment();
    let probed = script.now;
    script.wait(RTT);
    script.ack(1001);
    script.wait_for_segment();
    assert_eq!(script.now - probed, secs(2));
}

/// A window that opens while nothing is outstanding and nothing is to be sent starts no timer.
#[test]
fn a_window_that_opens_for_nothing_starts_no_timer() {
    let mut script = Script::closed(config(), window(4.0));
    script.apply(|sender| sender.write(1000)).unwrap();
    script.accept();
    script.sent();
    script.window = 0;
    script.ack(1001);
    script.window = 5000;
    script.ack(1001);
    let rto = script.stats().rto;
    assert!(script.wait(secs(100)).is_empty());
    assert_eq!(script.stats().rto, rto, "nothing has expired");
}

#[test]
fn rfc9293_3_8_6_2_1_a_window_smaller_than_a_segment_is_used_in_full() {
    let mut script = Script::closed(config(), window(4.0));
    script.window = 600;
    script.apply(|sender| sender.write(1000)).unwrap();
    script.accept();
    assert_eq!(
        script.sent(),
        [Sent {
            offset: 1,
            length: 600
        }]
    );
    assert_eq!(
        script.ack(601),
        [Sent {
            offset: 601,
            length: 400
        }]
    );
}
