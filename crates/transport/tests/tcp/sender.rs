//! The RFCs' requirements on a sender.

use skywave_congestion::AimdConfig;
use skywave_transport::tcp::{
    Event, LimitedTransmit, Receiver, RecoveryAlgorithm, RecoveryExit, Sender, SenderConfig,
};
use skywave_units::Duration;
use skywave_wire::tcp::{Flags, TcpOptions};

use crate::script::{RTT, Script, Sent, config, duplicates, full, ten_in_flight, window};

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn without_limited_transmit() -> SenderConfig {
    SenderConfig {
        limited_transmit: LimitedTransmit::Off,
        ..config()
    }
}

// The handshake.

#[test]
fn rfc9293_3_5_the_syn_announces_and_the_first_data_complete_the_handshake() {
    let mut script = Script::closed(config(), window(4.0));
    script.apply(|sender| sender.write(500)).unwrap();
    let syn = script.segments[0].clone();
    assert_eq!((syn.flags, syn.payload.len()), (Flags::SYN, 0));
    assert_eq!(
        (syn.options.mss, syn.options.window_scale),
        (Some(1000), Some(10)),
        "the scale of the largest window that this end could announce"
    );
    script.accept();
    assert_eq!(script.segments.len(), 1);
    assert!(script.segments[0].flags.contains(Flags::ACK));
    assert_eq!(script.segments[0].ack, 4_000_000_001);
    assert_eq!(
        script.sent(),
        [Sent {
            offset: 1,
            length: 500
        }]
    );
    assert_eq!(script.events(), [Event::Connected]);
}

#[test]
fn rfc9293_3_5_with_nothing_to_send_the_handshake_ends_with_an_acknowledgement() {
    let mut script = Script::closed(config(), window(4.0));
    script.apply(Sender::connect);
    script.accept();
    assert_eq!(
        script.sent(),
        [Sent {
            offset: 1,
            length: 0
        }]
    );
    assert!(script.wait(secs(100)).is_empty());
    // The SYN-ACK again, because our acknowledgement was lost.
    script.receive(0, 1, Flags::SYN.union(Flags::ACK), TcpOptions::default());
    assert_eq!(
        script.sent(),
        [Sent {
            offset: 1,
            length: 0
        }]
    );
}

#[test]
fn rfc9293_3_7_1_the_peers_mss_is_kept_and_536_where_it_sends_none() {
    for (mss, expected) in [(Some(200), 200), (Some(1460), 1000), (None, 536)] {
        let mut script = Script::closed(config(), window(1.0));
        script.apply(|sender| sender.write_unlimited()).unwrap();
        script.accept_with(TcpOptions {
            mss,
            ..TcpOptions::default()
        });
        assert_eq!(
            script.sent(),
            [Sent {
                offset: 1,
                length: expected
            }]
        );
    }
}

#[test]
fn without_options_the_syn_is_bare_and_the_segment_size_stands() {
    let mut script = Script::closed(
        SenderConfig::ns2(RecoveryAlgorithm::NewReno),
        AimdConfig::ns2_tcp(20),
    );
    script.apply(|sender| sender.write_unlimited()).unwrap();
    assert_eq!(script.segments[0].options, TcpOptions::default());
    script.accept_with(TcpOptions::default());
    assert_eq!(script.sent(), [full(1), full(1001)]);
}

#[test]
fn rfc6298_5_5_and_5_7_a_lost_syn_backs_off_and_resets_the_rto_to_three_seconds() {
    let mut script = Script::closed(config(), window(4.0));
    script.apply(|sender| sender.write_unlimited()).unwrap();
    script.sent();
    assert_eq!(script.wait_for_segment().0, secs(1));
    assert_eq!(script.wait_for_segment().0, secs(2));
    let (waited, _) = script.wait_for_segment();
    assert_eq!(waited, secs(4));
    script.receive(
        0,
        1,
        Flags::SYN.union(Flags::ACK),
        TcpOptions {
            mss: Some(1460),
            ..TcpOptions::default()
        },
    );
    // RFC 5681 section 3.1: the initial window is then one segment. Karn: no sample.
    assert_eq!(script.sent(), [full(1)]);
    assert_eq!((script.stats().srtt, script.stats().rto), (None, secs(3)));
    assert_eq!(script.stats().timeouts, 3);
    assert_eq!(script.wait_for_segment(), (secs(3), vec![full(1)]));
}

/// RFC 9293 section 3.10.7.3: an acknowledgement of something else than our SYN does not complete the
/// handshake, nor does a SYN without one.
#[test]
fn rfc9293_3_10_7_3_only_an_acknowledgement_of_our_syn_completes_the_handshake() {
    let syn_ack = Flags::SYN.union(Flags::ACK);
    for (ack, flags, connects) in [
        (1, syn_ack, true),
        (0, syn_ack, false),
        (2, syn_ack, false),
        (1, Flags::SYN, false),
        (1, Flags::ACK, false),
    ] {
        let mut script = Script::closed(config(), window(4.0));
        script.apply(|sender| sender.write(500)).unwrap();
        script.sent();
        script.receive(0, ack, flags, TcpOptions::default());
        let expected = if connects {
            vec![Event::Connected]
        } else {
            vec![]
        };
        assert_eq!(script.events(), expected, "{ack} {flags:?}");
    }
}

// The window.

#[test]
fn rfc3390_the_initial_window_is_sent_at_once() {
    let mut script = Script::streaming(config(), AimdConfig::rfc5681(1000));
    assert_eq!(script.sent(), [full(1), full(1001), full(2001), full(3001)]);
    assert_eq!(script.stats().flight, 4000);
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

// Fast retransmit and fast recovery.

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

// The retransmission timer.

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

// The closed window.

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

// The application, and the end.

#[test]
fn a_file_is_reported_when_its_last_byte_is_acknowledged() {
    let mut script = Script::closed(config(), window(4.0));
    script.apply(|sender| sender.write(2500)).unwrap();
    script.accept();
    assert_eq!(
        script.sent(),
        [
            full(1),
            full(1001),
            Sent {
                offset: 2001,
                length: 500
            }
        ]
    );
    script.ack(2001);
    assert_eq!(script.events(), [Event::Connected]);
    script.ack(2501);
    assert_eq!(script.events(), [Event::AllAcknowledged]);
    assert_eq!(script.stats().bytes_acked, 2500);
    script.apply(|sender| sender.write(10)).unwrap();
    script.ack(2511);
    assert_eq!(script.events(), [Event::AllAcknowledged]);
}

#[test]
fn rfc9293_3_6_a_fin_follows_the_data_and_is_sent_again_when_lost() {
    let mut script = Script::closed(config(), window(4.0));
    script.apply(|sender| {
        sender.write(1500).unwrap();
        sender.close();
        assert!(sender.write(1).is_err());
    });
    script.accept();
    assert!(!script.segments[0].flags.contains(Flags::FIN));
    assert!(script.segments[1].flags.contains(Flags::FIN));
    script.sent();
    script.ack(1501);
    assert_eq!(script.events(), [Event::Connected, Event::AllAcknowledged]);
    assert_eq!(
        script.wait_for_segment(),
        (
            secs(1),
            vec![Sent {
                offset: 1501,
                length: 0
            }]
        )
    );
    script.ack(1502);
    assert_eq!(script.events(), [Event::Closed]);
    assert_eq!(script.stats().bytes_acked, 1500);
    assert!(script.wait(secs(100)).is_empty());
}

#[test]
fn rfc9293_3_4_a_fin_takes_room_in_the_window_and_probes_a_closed_one() {
    let mut script = Script::closed(config(), window(4.0));
    script.window = 1000;
    script.apply(|sender| {
        sender.write(1000).unwrap();
        sender.close();
    });
    script.accept();
    assert!(!script.segments[0].flags.contains(Flags::FIN));
    assert_eq!(script.sent(), [full(1)]);
    script.window = 0;
    let fin = vec![Sent {
        offset: 1001,
        length: 0,
    }];
    assert_eq!(script.ack(1001), fin);
    assert_eq!(script.wait_for_segment(), (secs(1), fin.clone()));
    assert_eq!(script.wait_for_segment(), (secs(2), fin));
    script.ack(1002);
    assert!(script.events().contains(&Event::Closed));
}

#[test]
fn rfc9293_3_6_a_connection_that_is_idle_closes_with_a_fin_alone() {
    let mut script = Script::closed(config(), window(4.0));
    script.apply(|sender| sender.write(1000)).unwrap();
    script.accept();
    script.ack(1001);
    script.sent();
    script.apply(Sender::close);
    assert!(script.segments[0].flags.contains(Flags::FIN));
    assert_eq!(
        script.sent(),
        [Sent {
            offset: 1001,
            length: 0
        }]
    );
    script.ack(1002);
    assert!(script.events().contains(&Event::Closed));
}

#[test]
fn rfc9293_3_10_7_4_a_reset_ends_the_connection_and_a_forged_one_does_not() {
    let mut script = ten_in_flight(config());
    script.receive(77, 1, Flags::RST, TcpOptions::default());
    assert_eq!(script.events(), [Event::Connected]);
    script.receive(1, 1, Flags::RST, TcpOptions::default());
    assert_eq!(script.events(), [Event::Reset]);
    assert!(script.wait(secs(100)).is_empty());
}

#[test]
fn rfc9293_3_10_7_4_an_acknowledgement_of_unsent_data_is_answered_and_ignored() {
    let mut script = ten_in_flight(config());
    assert_eq!(
        script.ack(10_002),
        [Sent {
            offset: 10_001,
            length: 0
        }]
    );
    assert_eq!(script.stats().bytes_acked, 0);
}

/// RFC 9293 section 3.4: a FIN takes a sequence number, so it waits for the window, also later in the
/// connection.
#[test]
fn rfc9293_3_4_a_fin_beyond_a_full_window_waits() {
    let closed_late = |window_now| {
        let mut script = Script::closed(config(), window(4.0));
        script.apply(|sender| sender.write(1000)).unwrap();
        script.accept();
        script.sent();
        script.window = window_now;
        script.ack(1001);
        script.apply(|sender| sender.write(1000)).unwrap();
        assert_eq!(script.sent(), [full(1001)]);
        script.apply(Sender::close);
        script.sent().len()
    };
    assert_eq!((closed_late(1000), closed_late(1001)), (0, 1));

    // The same with the data of the last segment.
    for (window_now, is_alone) in [(1000, true), (1001, false)] {
        let mut script = Script::closed(config(), window(4.0));
        script.apply(|sender| sender.write(1000)).unwrap();
        script.accept();
        script.sent();
        script.window = window_now;
        script.ack(1001);
        script.apply(|sender| {
            sender.write(1000).unwrap();
            sender.close();
        });
        assert_eq!(script.segments.len(), 1);
        let has_fin = script.segments[0].flags.contains(Flags::FIN);
        assert_eq!(has_fin, !is_alone, "{window_now}");
    }
}

/// The FIN of a last segment that is retransmitted is not counted as data.
#[test]
fn rfc6582_3_2_step_3_a_last_segment_is_retransmitted_with_its_fin() {
    let mut script = Script::closed(without_limited_transmit(), window(10.0));
    script.apply(|sender| {
        sender.write(4500).unwrap();
        sender.close();
    });
    script.accept();
    script.sent();
    // The first and the last segment are lost.
    assert_eq!(duplicates(&mut script, 1, 3), [full(1)]);
    script.receive(1, 4001, Flags::ACK, TcpOptions::default());
    assert!(script.segments[0].flags.contains(Flags::FIN));
    assert_eq!(
        script.sent(),
        [Sent {
            offset: 4001,
            length: 500
        }]
    );
}

/// RFC 9293 section 3.9.1.2: PSH goes with the last data that there is to send.
#[test]
fn rfc9293_3_9_1_2_the_last_segment_is_pushed() {
    let mut script = Script::closed(config(), window(4.0));
    script.apply(|sender| sender.write(2500)).unwrap();
    script.accept();
    let pushed: Vec<bool> = script
        .segments
        .iter()
        .map(|segment| segment.flags.contains(Flags::PSH))
        .collect();
    assert_eq!(pushed, [false, false, true]);
}

#[test]
fn a_connection_is_over_when_its_fin_is_acknowledged_or_it_is_reset() {
    let mut script = Script::closed(config(), window(4.0));
    assert!(!script.sender.get().is_over());
    script.apply(|sender| {
        sender.write(1000).unwrap();
        sender.close();
    });
    script.accept();
    script.ack(1001);
    assert!(!script.sender.get().is_over());
    script.ack(1002);
    assert!(script.sender.get().is_over());

    let mut script = ten_in_flight(config());
    script.receive(1, 1, Flags::RST, TcpOptions::default());
    assert!(script.sender.get().is_over());
}

#[test]
fn the_segment_size_is_what_the_ends_agree_on() {
    let mut script = Script::closed(config(), window(4.0));
    assert_eq!(script.sender.get().segment_size(), 1000);
    script.apply(Sender::connect);
    script.accept_with(TcpOptions {
        mss: Some(700),
        ..TcpOptions::default()
    });
    assert_eq!(script.sender.get().segment_size(), 700);
}

#[test]
fn a_thousand_flows_fit_in_little_memory() {
    // Neither allocates in steady state, so the types' sizes are the whole memory.
    assert!(size_of::<Sender>() + size_of::<Receiver>() < 1024);
}

// ns-2's overhead_.

const JITTER: Duration = Duration::from_millis(50);

/// A stream whose first window of ten segments has left, delayed and all at once.
fn ten_in_flight_with_jitter(config: SenderConfig) -> Script {
    let config = SenderConfig {
        send_jitter: JITTER,
        ..config
    };
    let mut script = Script::streaming(config, window(10.0));
    script.sent();
    let (waited, sent) = script.wait_for_segment();
    assert!(waited <= JITTER, "{waited:?}");
    assert_eq!(sent.len(), 10);
    script
}

#[test]
fn send_jitter_keeps_back_what_the_window_lets_go_and_lets_it_go_at_once() {
    let mut script = ten_in_flight_with_jitter(without_limited_transmit());
    // Two acknowledgements in slow start release four segments, which are delayed together.
    assert!(script.ack(1001).is_empty());
    assert!(script.ack(2001).is_empty());
    let (waited, sent) = script.wait_for_segment();
    assert!(waited <= JITTER, "{waited:?}");
    assert_eq!(sent, [10_001, 11_001, 12_001, 13_001].map(full));
    // A fast retransmit is not delayed.
    assert!(duplicates(&mut script, 2001, 2).is_empty());
    assert_eq!(script.ack(2001), [full(2001)]);
}

#[test]
fn rfc3042_limited_transmit_does_not_wait_for_jitter() {
    let mut script = ten_in_flight_with_jitter(config());
    assert_eq!(script.ack(1), [full(10_001)]);
    assert_eq!(script.ack(1), [full(11_001)]);
    assert_eq!(script.ack(1), [full(1)]);
}

/// Further duplicates inflate the window, and what that releases is delayed like anything else.
#[test]
fn what_a_recovery_releases_waits_for_jitter() {
    for limited_transmit in [LimitedTransmit::Off, LimitedTransmit::NewData] {
        let mut script = ten_in_flight_with_jitter(SenderConfig {
            limited_transmit,
            ..config()
        });
        let new = match limited_transmit {
            LimitedTransmit::NewData => vec![full(10_001), full(11_001), full(1)],
            _ => vec![full(1)],
        };
        assert_eq!(duplicates(&mut script, 1, 3), new);
        assert!(duplicates(&mut script, 1, 7).is_empty());
        assert!(!script.wait_for_segment().1.is_empty());
    }
}
