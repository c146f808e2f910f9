//! What each recovery algorithm sends, acknowledgement by acknowledgement.

use skywave_congestion::AimdConfig;
use skywave_transport::tcp::{
    EcnUse, LimitedTransmit, RecoveryAlgorithm, RecoveryExit, SenderConfig,
};
use skywave_wire::tcp::{Flags, TcpOptions};

use crate::script::{RTT, Script, duplicates, full, ten_in_flight, window};

fn config(recovery: RecoveryAlgorithm) -> SenderConfig {
    SenderConfig {
        segment_size: 1000,
        limited_transmit: LimitedTransmit::Off,
        ..SenderConfig::rfc(recovery)
    }
}

#[test]
fn tahoe_starts_over_with_the_first_unacknowledged_segment() {
    let mut script = ten_in_flight(config(RecoveryAlgorithm::Tahoe));
    assert!(duplicates(&mut script, 1, 2).is_empty());
    assert_eq!(duplicates(&mut script, 1, 7), [full(1)]);
    assert_eq!((script.stats().cwnd, script.stats().ssthresh), (1.0, 5.0));
    assert_eq!(script.stats().timeouts, 0);
    // Segments 2 and 4 were lost too: all of them are sent again.
    assert_eq!(script.ack(1001), [full(1001), full(2001)]);
    assert_eq!(script.ack(3001), [full(3001), full(4001), full(5001)]);
    // Duplicates of data that had arrived before do not indicate a loss.
    assert_eq!(duplicates(&mut script, 10_001, 1).len(), 4);
    assert!(duplicates(&mut script, 10_001, 5).is_empty());
    assert_eq!(script.stats().fast_retransmits, 1);
}

#[test]
fn rfc5681_3_2_reno_recovers_one_loss_and_halves_again_for_the_next() {
    let reno = RecoveryAlgorithm::Reno {
        once_per_window: false,
    };
    let mut script = ten_in_flight(config(reno));
    assert_eq!(duplicates(&mut script, 1, 3), [full(1)]);
    // 5 + 3 segments are inflated to 10 by two more; each further duplicate releases a segment.
    assert!(duplicates(&mut script, 1, 2).is_empty());
    assert_eq!(
        duplicates(&mut script, 1, 3),
        [full(10_001), full(11_001), full(12_001)]
    );
    assert_eq!(script.stats().cwnd, 5.0);
    // Segment 3 was lost too: the partial acknowledgement ends the recovery anyway.
    assert!(script.ack(2001).is_empty());
    assert_eq!(duplicates(&mut script, 2001, 3), [full(2001)]);
    assert_eq!(script.stats().fast_retransmits, 2);
    // Half of cwnd: eleven segments are outstanding, most of which have arrived.
    assert_eq!(script.stats().ssthresh, 2.5);
}

#[test]
fn reno_as_ns2_has_it_waits_for_the_timer() {
    let reno = RecoveryAlgorithm::Reno {
        once_per_window: true,
    };
    let mut script = ten_in_flight(config(reno));
    assert_eq!(duplicates(&mut script, 1, 3), [full(1)]);
    assert!(script.ack(2001).is_empty());
    assert!(duplicates(&mut script, 2001, 7).is_empty());
    let (_, sent) = script.wait_for_segment();
    assert_eq!(sent, [full(2001)]);
    assert_eq!(
        (script.stats().timeouts, script.stats().fast_retransmits),
        (1, 1)
    );
}

#[test]
fn rfc2018_2_sack_is_asked_for_and_newreno_stands_in_for_it() {
    for (recovery, asks) in [
        (RecoveryAlgorithm::Sack, true),
        (RecoveryAlgorithm::NewReno, false),
    ] {
        let mut script = Script::closed(config(recovery), window(4.0));
        script.apply(|sender| sender.write(500)).unwrap();
        assert_eq!(script.segments[0].options.sack_permitted, asks);
    }
    let mut script = Script::closed(config(RecoveryAlgorithm::Sack), window(10.0));
    script.apply(|sender| sender.write_unlimited()).unwrap();
    script.accept_with(TcpOptions {
        mss: Some(1460),
        ..TcpOptions::default()
    });
    assert_eq!(script.sent().len(), 10);
    assert_eq!(duplicates(&mut script, 1, 3), [full(1)]);
    assert_eq!(script.ack(2001), [full(2001)], "a partial acknowledgement");
}

#[test]
fn rfc6675_5_two_losses_are_repaired_within_a_round_trip() {
    let mut script = ten_in_flight(SenderConfig {
        limited_transmit: LimitedTransmit::NewData,
        ..config(RecoveryAlgorithm::Sack)
    });
    // Segments 1 and 3 are lost. Limited transmit.
    assert_eq!(script.sack(1, &[(1001, 2001)]), [full(10_001)]);
    let blocks = |right| [(3001, right), (1001, 2001)];
    assert_eq!(script.sack(1, &blocks(4001)), [full(11_001)]);
    // The third: cwnd is half of ten, and 9 are in flight.
    assert_eq!(script.sack(1, &blocks(5001)), [full(1)]);
    assert_eq!(script.stats().cwnd, 5.0);
    for right in [6001, 7001, 8001] {
        assert!(script.sack(1, &blocks(right)).is_empty());
    }
    assert_eq!(script.sack(1, &blocks(9001)), [full(2001)]);
    assert!(script.sack(1, &blocks(9001)).is_empty(), "no news");
    assert_eq!(script.sack(1, &blocks(10_001)), [full(12_001)]);
    // The retransmission arrives.
    assert_eq!(script.sack(2001, &[(3001, 10_001)]), [full(13_001)]);
    assert_eq!(script.ack(10_001), [full(14_001)]);
    assert_eq!(script.ack(12_001), [full(15_001), full(16_001)]);
    let stats = script.stats();
    assert_eq!(
        (stats.cwnd, stats.fast_retransmits, stats.timeouts),
        (5.0, 1, 0)
    );
    assert_eq!(stats.segments_retransmitted, 2);
}

/// RFC 3168 section 6.1.2: one reduction per window, even if the acknowledgement that reveals a
/// loss also echoes a mark.
#[test]
fn rfc3168_6_1_2_a_mark_beside_a_loss_is_answered_with_it() {
    let config = SenderConfig {
        ecn: EcnUse::Rfc3168,
        ..config(RecoveryAlgorithm::NewReno)
    };
    // A decrease relative to cwnd, so that a second one would show.
    let avoiding = AimdConfig {
        initial_cwnd: 10.0,
        initial_ssthresh: 10.0,
        ..AimdConfig::ns2_tcp(1000)
    };
    let mut script = Script::streaming(config, avoiding);
    assert_eq!(script.sent().len(), 10);
    script.now += RTT;
    duplicates(&mut script, 1, 2);
    assert_eq!(script.echo(1), [full(1)]);
    assert_eq!(script.stats().cwnd, 5.0);
    // The mark is echoed until CWR arrives, which the first new segment carries.
    script.receive(
        1,
        10_001,
        Flags::ACK.union(Flags::ECE),
        TcpOptions::default(),
    );
    assert_eq!(script.stats().ssthresh, 5.0);
    assert!(script.segments[0].flags.contains(Flags::CWR));
}

/// RFC 6298 section 3 (Karn's rule): a segment first sent and then retransmitted in the same
/// recovery gives no sample.
#[test]
fn rfc6298_3_what_a_recovery_sends_twice_is_not_timed() {
    let mut script = ten_in_flight(config(RecoveryAlgorithm::Sack));
    let before = script.stats().srtt;
    // Segment 1 is lost, and so is its retransmission.
    let mut sent = Vec::new();
    for right in (2001..=10_001).step_by(1000) {
        sent.extend(script.sack(1, &[(1001, right)]));
    }
    assert_eq!(sent[0], full(1));
    let new: Vec<u32> = sent[1..].iter().map(|segment| segment.offset).collect();
    assert_eq!(new, [10_001, 11_001, 12_001, 13_001]);
    // Of the new segments the first is lost.
    script.now += RTT;
    let mut again = Vec::new();
    for right in [12_001, 13_001, 14_001] {
        again.extend(script.sack(1, &[(11_001, right), (1001, 10_001)]));
    }
    assert!(again.contains(&full(10_001)), "{again:?}");
    script.now += RTT * 3;
    script.ack(14_001);
    assert_eq!(script.stats().srtt, before);
}

#[test]
fn rfc6675_5_1_after_a_timeout_only_what_is_missing_is_sent() {
    let mut script = ten_in_flight(config(RecoveryAlgorithm::Sack));
    let (_, sent) = script.wait_for_segment();
    assert_eq!(sent, [full(1)]);
    // Segments 2, 3, 5 and 8 had arrived.
    let blocks = [(4001, 5001), (7001, 8001)];
    assert_eq!(script.sack(3001, &blocks), [full(3001), full(5001)]);
    assert_eq!(script.sack(5001, &blocks[1..]), [full(6001), full(8001)]);
    assert_eq!(script.stats().timeouts, 1);
}

/// RFC 6582 section 6: a limit to what one acknowledgement releases during a recovery. Without it,
/// the opening window would release everything that the duplicates have made room for.
#[test]
fn rfc6582_6_an_acknowledgement_in_a_recovery_releases_a_burst_at_most() {
    for (recovery_burst, released) in [(None, [4, 1]), (Some(2), [2, 2]), (Some(3), [3, 2])] {
        let mut script = ten_in_flight(SenderConfig {
            recovery_burst,
            ..config(RecoveryAlgorithm::NewReno)
        });
        script.window = 10_000;
        assert!(script.ack(1).is_empty());
        assert_eq!(duplicates(&mut script, 1, 3), [full(1)]);
        assert!(duplicates(&mut script, 1, 6).is_empty());
        script.window = u16::MAX;
        let found = [(); 2].map(|()| script.ack(1).len());
        assert_eq!(found, released, "{recovery_burst:?}");
    }
}

/// The third duplicate makes Tahoe start over with one segment, so it takes back what limited
/// transmit has lent, even if that may send old data.
#[test]
fn tahoe_takes_back_what_the_first_duplicates_lent() {
    let mut script = ten_in_flight(SenderConfig {
        limited_transmit: LimitedTransmit::Any,
        ..config(RecoveryAlgorithm::Tahoe)
    });
    assert_eq!(duplicates(&mut script, 1, 2), [full(10_001), full(11_001)]);
    assert_eq!(duplicates(&mut script, 1, 9), [full(1)]);
}

/// ns-2's Sack1 retransmits a hole of several segments one by one.
#[test]
fn sack1_fills_a_hole_segment_by_segment() {
    let mut script = ten_in_flight(SenderConfig {
        syn_options: true,
        limited_transmit: LimitedTransmit::Off,
        ..SenderConfig::ns2(RecoveryAlgorithm::Sack1)
    });
    // Segments 1 to 4 are lost.
    let mut sent = Vec::new();
    for right in (5001..=10_001).step_by(1000) {
        sent.extend(script.sack(1, &[(4001, right)]));
    }
    sent.extend(script.sack(1001, &[(4001, 10_001)]));
    sent.extend(script.sack(2001, &[(4001, 10_001)]));
    assert_eq!(sent[..4], [1, 1001, 2001, 3001].map(full), "{sent:?}");
}

/// RFC 6675 section 5, step C: as many segments as cwnd has room for leave at once.
#[test]
fn rfc6675_5_c_one_acknowledgement_may_release_several_segments() {
    let mut script = ten_in_flight(config(RecoveryAlgorithm::Sack));
    // Segments 1 to 3 are lost: nothing is in flight any more, and cwnd is half of ten.
    let sent = script.sack(1, &[(3001, 10_001)]);
    assert_eq!(sent, [1, 1001, 2001, 10_001, 11_001].map(full));
}

/// RFC 6675 section 5.1: what was outstanding at a timeout is sent again anyway, so duplicates of it
/// are no new loss.
#[test]
fn rfc6675_5_1_after_a_timeout_duplicates_of_older_data_are_no_new_loss() {
    let mut script = ten_in_flight(config(RecoveryAlgorithm::Sack));
    let (_, sent) = script.wait_for_segment();
    assert_eq!(sent, [full(1)]);
    let ssthresh = script.stats().ssthresh;
    for right in [2001, 3001, 4001, 5001, 6001] {
        script.sack(1, &[(1001, right)]);
    }
    let stats = script.stats();
    assert_eq!((stats.fast_retransmits, stats.ssthresh), (0, ssthresh));
}

/// A recovery repeats what the recovery before it has retransmitted only once enough of what was sent
/// later has arrived: here, more than two segments. Each recovery reduces the window once.
#[test]
fn a_lost_retransmission_of_an_earlier_recovery_is_repeated() {
    let mut script = ten_in_flight(config(RecoveryAlgorithm::Sack));
    // Segment 1 is lost, and segment 11, which is sent in the recovery.
    for right in (2001..=10_001).step_by(1000) {
        script.sack(1, &[(1001, right)]);
    }
    script.now += RTT;
    for right in [12_001, 13_001] {
        script.sack(1, &[(11_001, right), (1001, 10_001)]);
    }
    let blocks = [(11_001, 14_001), (1001, 10_001)];
    assert_eq!(script.sack(1, &blocks), [full(10_001), full(16_001)]);
    script.now += RTT;
    assert!(script.sack(10_001, &[(11_001, 14_001)]).is_empty());
    assert_eq!(script.stats().fast_retransmits, 1);
    // What was sent from 16,001 on left after the retransmission.
    let mut repeated = Vec::new();
    for right in (15_001..=22_001).step_by(1000) {
        if script
            .sack(10_001, &[(11_001, right)])
            .contains(&full(10_001))
        {
            repeated.push(right);
        }
    }
    assert_eq!(repeated, [19_001]);
    let stats = script.stats();
    assert_eq!((stats.fast_retransmits, stats.ssthresh), (3, 2.5));
    assert_eq!(stats.timeouts, 0);
}

/// RFC 6582 section 3.2, step 3, recommends its first alternative; RFC 5681 and RFC 6675 have only the
/// second.
#[test]
fn rfc6582_3_2_step_3_newreno_deflates_to_what_is_in_flight() {
    let exit = |recovery| SenderConfig::rfc(recovery).recovery_exit;
    assert_eq!(exit(RecoveryAlgorithm::NewReno), RecoveryExit::FlightSize);
    assert_eq!(exit(RecoveryAlgorithm::Sack), RecoveryExit::Ssthresh);
}
