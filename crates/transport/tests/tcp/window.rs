//! How much may leave: cwnd, the receiver's window, and idle periods.

use skywave_congestion::AimdConfig;
use skywave_transport::tcp::SenderConfig;
use skywave_units::Duration;
use skywave_wire::tcp::{Flags, TcpOptions};

use crate::script::{
    RTT, Script, Sent, config, duplicates, full, secs, ten_in_flight, window,
    without_limited_transmit,
};

#[test]
fn rfc3390_the_initial_window_is_sent_at_once() {
    let mut script = Script::streaming(config(), AimdConfig::rfc5681(1000));
    assert_eq!(script.sent(), [full(1), full(1001), full(2001), full(3001)]);
    assert_eq!(script.stats().flight, 4000);
}

/// As Linux pushes the last of several segments that it hands to the device together.
#[test]
fn the_last_segment_of_a_burst_is_pushed() {
    let pushed = |script: &mut Script| -> Vec<bool> {
        let flags = script.segments.drain(..).map(|segment| segment.flags);
        flags.map(|flags| flags.contains(Flags::PSH)).collect()
    };
    for pushes_bursts in [false, true] {
        let config = SenderConfig {
            pushes_bursts,
            ..config()
        };
        let mut script = Script::streaming(config, window(4.0));
        let expected = [false, false, false, pushes_bursts];
        assert_eq!(pushed(&mut script), expected);
        // A segment alone, in congestion avoidance, is not.
        let avoiding = AimdConfig {
            initial_ssthresh: 4.0,
            ..window(4.0)
        };
        let mut script = Script::streaming(config, avoiding);
        script.segments.clear();
        script.now += RTT;
        script.receive(1, 1001, Flags::ACK, TcpOptions::default());
        assert_eq!(pushed(&mut script), [false]);
    }
}

#[test]
fn rfc5681_3_1_slow_start_adds_a_segment_for_each_acknowledgement() {
    let mut script = Script::streaming(config(), window(1.0));
    assert_eq!(script.sent(), [full(1)]);
    let mut una = 1;
    for round in 0..6 {
        script.now += RTT;
        let mut sent = 0;
        for _ in 0..1 << round {
            una += 1000;
            sent += script.ack(una).len();
        }
        assert_eq!(sent, 2 << round, "round {round}");
    }
    assert_eq!(script.stats().cwnd, 64.0);
}

#[test]
fn rfc5681_3_1_congestion_avoidance_adds_about_a_segment_for_each_window() {
    let mut script = ten_in_flight(config());
    for round in 1..5_u32 {
        let mut una = script.stats().bytes_acked as u32 + 1;
        for _ in 0..script.stats().flight / 1000 {
            una += 1000;
            script.ack(una);
        }
        script.now += RTT;
        let grown = script.stats().cwnd - 10.0;
        assert!(
            grown <= f64::from(round) && grown > 0.9 * f64::from(round),
            "{grown}"
        );
    }
}

#[test]
fn rfc5681_3_1_split_acknowledgements_do_not_speed_up_slow_start() {
    let mut script = Script::streaming(config(), window(4.0));
    for part in 1..=25 {
        script.ack(1 + 100 * part);
    }
    assert_eq!(script.stats().cwnd, 6.0);
}

#[test]
fn the_receivers_window_is_honoured_and_cwnd_does_not_outgrow_it() {
    let mut script = Script::closed(config(), window(4.0));
    script.window = 6500;
    script.apply(|sender| sender.write_unlimited()).unwrap();
    script.accept();
    let mut una = 1;
    for _ in 0..40 {
        una += 1000;
        script.ack(una);
        // RFC 9293 section 3.8.6.2.1: no small segment, though 500 bytes would fit.
        assert!(script.stats().flight <= 6000);
    }
    assert_eq!(script.stats().flight, 6000);
    assert_eq!(script.stats().cwnd, 7.0);
}

#[test]
fn rfc7323_2_windows_are_scaled_except_that_of_the_syn() {
    let mut script = Script::closed(config(), window(100.0));
    script.window = 3000;
    script.apply(|sender| sender.write_unlimited()).unwrap();
    script.accept_with(TcpOptions {
        mss: Some(1460),
        window_scale: Some(3),
        ..TcpOptions::default()
    });
    assert_eq!(script.sent().len(), 3);
    script.ack(1001);
    assert_eq!(script.stats().flight, 24_000);
}

#[test]
fn rfc5681_4_1_after_an_idle_rto_the_window_starts_afresh() {
    let mut script = Script::closed(config(), window(2.0));
    script.apply(|sender| sender.write(20_000)).unwrap();
    script.accept();
    let mut una = 1;
    while una < 20_001 {
        una += 1000;
        script.ack(una);
    }
    assert!(script.stats().cwnd > 10.0);
    script.sent();
    script.wait(Duration::from_millis(900));
    script.apply(|sender| sender.write(1000)).unwrap();
    assert!(script.stats().cwnd > 10.0, "not idle for an RTO yet");
    script.ack(21_001);
    script.wait(Duration::from_millis(1100));
    script.sent();
    script.apply(|sender| sender.write(50_000)).unwrap();
    assert_eq!(script.sent(), [full(21_001), full(22_001)]);
}

/// RFC 5681 section 4.1: "has not sent data in an interval exceeding the retransmission timeout".
#[test]
fn rfc5681_4_1_an_idle_period_of_just_an_rto_changes_nothing() {
    for (more, restarts) in [(0, false), (1, true)] {
        let mut script = Script::closed(config(), window(2.0));
        script.apply(|sender| sender.write(10_000)).unwrap();
        script.accept();
        for una in (1001..=10_001).step_by(1000) {
            script.ack(una);
        }
        let cwnd = script.stats().cwnd;
        assert!(cwnd > 2.0, "{cwnd}");
        script.wait(secs(1) + Duration::from_nanos(more));
        script.sent();
        script.apply(|sender| sender.write(50_000)).unwrap();
        assert_eq!(script.stats().cwnd < cwnd, restarts, "{more} ns");
    }
}

/// RFC 9293 section 3.8.6.2.1: a part of a segment is sent if it is at least half of the largest window
/// so far.
#[test]
fn rfc9293_3_8_6_2_1_half_of_the_largest_window_is_worth_a_segment() {
    for (window_now, length) in [(499, None), (500, Some(500)), (501, Some(501))] {
        let mut script = Script::closed(config(), window(4.0));
        script.window = 1000;
        script.apply(|sender| sender.write(5000)).unwrap();
        script.accept();
        assert_eq!(script.sent(), [full(1)]);
        script.window = window_now;
        let expected = length.map(|length| Sent {
            offset: 1001,
            length,
        });
        assert_eq!(script.ack(1001), Vec::from_iter(expected), "{window_now}");
    }
}

/// As Linux's `tcpi_rwnd_limited`: the time in which data waits for the receiver's window, and for
/// nothing else.
#[test]
fn the_time_that_data_waits_for_the_receivers_window_is_counted() {
    let limited = |receive_window: u16, cwnd: f64| {
        let mut script = Script::closed(config(), window(cwnd));
        script.window = receive_window;
        script.apply(|sender| sender.write_unlimited()).unwrap();
        script.accept();
        script.now += RTT;
        script.ack(1001);
        script.stats().receive_window_limited
    };
    assert_eq!(limited(2000, 10.0), RTT);
    assert_eq!(limited(20_000, 2.0), Duration::ZERO);
}

/// Each segment, and each byte of data, counts as often as it is sent.
#[test]
fn what_is_sent_and_sent_again_is_counted() {
    let mut script = ten_in_flight(without_limited_transmit());
    let stats = script.stats();
    assert_eq!(
        (stats.segments_sent, stats.bytes_sent),
        (11, 10_000),
        "a SYN too"
    );
    duplicates(&mut script, 1, 3);
    let stats = script.stats();
    assert_eq!((stats.segments_sent, stats.bytes_sent), (12, 11_000));
    assert_eq!(
        (stats.segments_retransmitted, stats.bytes_retransmitted),
        (1, 1000)
    );
    script.ack(10_001);
    script.wait_for_segment();
    let stats = script.stats();
    assert_eq!(
        (stats.segments_retransmitted, stats.bytes_retransmitted),
        (2, 2000)
    );
}

/// draft-ietf-ccwg-ratelimited-increase, appendix: four rounds of an application that does not use up
/// cwnd at first. Segments and windows are those of the example.
#[test]
fn ratelimited_increase_appendix_a_cwnd_grows_by_what_was_in_flight() {
    let config = SenderConfig {
        rate_limited_increase: true,
        ..config()
    };
    let mut script = Script::closed(config, window(10.0));
    script.apply(|sender| sender.connect());
    script.accept();
    script.sent();
    let mut acked = 1;
    for (packets, windows) in [
        (4, vec![11, 12, 13, 14]),
        (8, vec![15, 16, 17, 18, 19, 20, 20, 20]),
        (4, vec![20; 4]),
        (20, (21..=40).collect()),
    ] {
        script.apply(|sender| sender.write(1000 * packets)).unwrap();
        assert_eq!(script.sent().len(), packets as usize);
        script.now += RTT;
        for cwnd in windows {
            acked += 1000;
            script.ack(acked);
            assert_eq!(script.stats().cwnd, f64::from(cwnd), "{packets} {acked}");
        }
    }
}

/// RFC 9438 section 5.8: without it, cwnd does not grow unless it is used up.
#[test]
fn an_unused_cwnd_does_not_grow() {
    let mut script = Script::closed(config(), window(10.0));
    script.apply(|sender| sender.write(4000)).unwrap();
    script.accept();
    script.now += RTT;
    script.ack(4001);
    assert_eq!(script.stats().cwnd, 10.0);
}
