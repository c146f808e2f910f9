//! RACK-TLP and PRR: what they send, acknowledgement by acknowledgement.

use std::sync::{Arc, Mutex};

use skywave_congestion::{
    Ack, AckedPacket, Aimd, AimdConfig, AnyControl, Control, GrowthLaw, Interests, Loss,
};
use skywave_transport::tcp::{RecoveryAlgorithm, SenderConfig};
use skywave_units::{Duration, Instant};

use crate::script::{RTT, Script, Sent, full, window};

fn rack() -> SenderConfig {
    SenderConfig {
        segment_size: 1000,
        ..SenderConfig::rfc(RecoveryAlgorithm::Rack)
    }
}

/// A sender in congestion avoidance with `cwnd` full segments in flight.
fn in_flight(cwnd: u32) -> Script {
    let config = AimdConfig {
        initial_ssthresh: f64::from(cwnd),
        ..window(f64::from(cwnd))
    };
    let mut script = Script::with_control(rack(), Aimd::new(config));
    script.apply(|sender| sender.write_unlimited().unwrap());
    script.accept();
    assert_eq!(script.sent().len(), cwnd as usize);
    script.now += RTT;
    script
}

/// The segment with this number, counted from 0.
const fn segment(number: u32) -> Sent {
    full(number * 1000 + 1)
}

/// SACKs segments `first..=last`, the newest of all; everything before segment `una` is acknowledged.
fn sack(script: &mut Script, una: u32, first: u32, last: u32) -> Vec<Sent> {
    script.sack(una * 1000 + 1, &[(first * 1000 + 1, last * 1000 + 1001)])
}

/// RFC 6937 section 3.1, second example: the first 15 of 20 segments are lost. As SND.UNA does not
/// advance, PRR-CRB applies.
#[test]
fn rfc6937_3_1_prr_crb_retransmits_a_segment_per_acknowledgement() {
    let mut script = in_flight(20);
    assert_eq!(sack(&mut script, 0, 15, 15), [segment(20)]);
    assert_eq!(sack(&mut script, 0, 15, 16), [segment(21)]);
    for (last, again) in [(17, 0), (18, 1), (19, 2)] {
        assert_eq!(sack(&mut script, 0, 15, last), [segment(again)]);
    }
    assert_eq!(script.stats().ssthresh, 10.0);
    // The first retransmission arrives: PRR-SSRB adds a segment.
    script.now += RTT;
    assert_eq!(
        sack(&mut script, 1, 15, 19),
        [segment(3), segment(4)],
        "SafeACK"
    );
    assert_eq!(script.stats().fast_retransmits, 1);
}

/// RFC 6937 section 3.1, first example: a single loss. New data leave all through the round trip,
/// about one segment for two delivered.
#[test]
fn rfc6937_3_1_one_loss_halves_the_rate_for_a_round_trip() {
    let mut script = in_flight(20);
    let sent: Vec<_> = (1..20).map(|last| sack(&mut script, 0, 1, last)).collect();
    assert_eq!(sent[0], [segment(20)]);
    assert_eq!(sent[1], [segment(21)]);
    assert_eq!(sent[2], [segment(0)]);
    let later: Vec<_> = sent[3..].iter().map(Vec::len).collect();
    assert!(later.iter().all(|&count| count <= 1), "{later:?}");
    assert!(
        !later.windows(3).any(|three| three == [0, 0, 0]),
        "{later:?}"
    );
    let total: usize = later.iter().sum();
    assert!((7..=8).contains(&total), "{later:?}");
}

/// RFC 8985 section 9.1, first example: of three segments, the first and the last are lost.
#[test]
fn rfc8985_9_1_losses_at_the_end_of_a_flight_need_no_timeout() {
    let mut script = Script::with_control(rack(), Aimd::new(window(4.0)));
    script.apply(|sender| sender.write(3000)).unwrap();
    script.accept();
    assert_eq!(script.sent().len(), 3);
    script.now += RTT;
    // Too few are SACKed for a fast retransmit; a quarter of a round trip later it is a loss.
    assert!(sack(&mut script, 0, 1, 1).is_empty());
    let (waited, sent) = script.wait_for_segment();
    assert_eq!((waited, &sent[..1]), (RTT / 4, &[segment(0)][..]));
    script.now += RTT;
    // The retransmission arrives, and everything sent before it is lost.
    let sent = script.ack(2001);
    assert_eq!(sent[0], segment(2));
    assert_eq!(script.stats().timeouts, 0);
}

/// RFC 8985 section 9.1, second example: a lost retransmission.
#[test]
fn rfc8985_9_1_a_lost_retransmission_is_found_by_the_next() {
    let mut script = in_flight(10);
    sack(&mut script, 0, 2, 2);
    sack(&mut script, 0, 2, 3);
    assert_eq!(sack(&mut script, 0, 2, 4)[0], segment(0));
    let mut sent = Vec::new();
    for last in 5..10 {
        script.now += Duration::from_millis(1);
        sent.extend(sack(&mut script, 0, 2, last));
    }
    assert_eq!(sent[0], segment(1));
    script.now += RTT;
    // The second retransmission arrives, the first does not.
    let sent = script.sack(1, &[(1001, 10_001)]);
    assert!(sent.contains(&segment(0)), "{sent:?}");
    assert_eq!(script.stats().timeouts, 0);
}

/// RFC 8985 section 7.2: two round trips after the last acknowledgement, one probe with new data or
/// with the last segment.
#[test]
fn rfc8985_7_a_probe_finds_the_loss_of_the_last_segments() {
    let mut script = Script::with_control(rack(), Aimd::new(window(10.0)));
    script.apply(|sender| sender.write(10_000)).unwrap();
    script.accept();
    assert_eq!(script.sent().len(), 10);
    script.now += RTT;
    assert!(script.ack(7001).is_empty());
    let (waited, sent) = script.wait_for_segment();
    assert_eq!((waited, sent), (RTT * 2, vec![segment(9)]));
    script.now += RTT;
    // The probe arrives, so the two segments before it are lost.
    assert_eq!(script.sack(7001, &[(9001, 10_001)]), [segment(7)]);
    script.now += RTT;
    assert_eq!(script.sack(8001, &[(9001, 10_001)]), [segment(8)]);
    let stats = script.stats();
    assert_eq!((stats.timeouts, stats.fast_retransmits), (0, 1));
}

#[test]
fn rfc8985_7_3_the_retransmission_timer_follows_the_probe() {
    let mut script = Script::with_control(rack(), Aimd::new(window(10.0)));
    script.apply(|sender| sender.write(2000)).unwrap();
    script.accept();
    assert_eq!(script.sent().len(), 2);
    let (_, probe) = script.wait_for_segment();
    assert_eq!(probe, [segment(1)]);
    let (_, sent) = script.wait_for_segment();
    assert_eq!(sent, [segment(0)]);
    assert_eq!(script.stats().timeouts, 1);
}

/// RFC 8985 section 7.4.2: a loss that the probe repairs is congestion all the same, unless a D-SACK
/// shows that nothing was lost.
#[test]
fn rfc8985_7_4_2_a_repaired_loss_reduces_the_window_once() {
    for (reports_duplicate, reductions) in [(false, true), (true, false)] {
        let mut script = Script::with_control(rack(), Aimd::new(window(10.0)));
        script.apply(|sender| sender.write(10_000)).unwrap();
        script.accept();
        script.sent();
        script.now += RTT;
        script.ack(9001);
        let (_, probe) = script.wait_for_segment();
        assert_eq!(probe, [segment(9)]);
        script.now += RTT;
        if reports_duplicate {
            script.sack(10_001, &[(9001, 10_001)]);
        } else {
            script.ack(10_001);
        }
        script.apply(|sender| sender.write(10_000)).unwrap();
        script.now += RTT;
        script.ack(15_001);
        assert_eq!(script.stats().ssthresh.is_finite(), reductions);
        assert_eq!(script.stats().fast_retransmits, 0);
    }
}

/// RFC 8985 section 6.3: a timeout sends the first segment again, and later only what is lost.
#[test]
fn rfc8985_6_3_a_timeout_retransmits_only_what_is_missing() {
    let mut script = in_flight(10);
    // The probe has no answer either.
    script.wait_for_segment();
    let (_, sent) = script.wait_for_segment();
    assert_eq!(sent, [segment(0)]);
    assert_eq!(script.stats().timeouts, 1);
    script.now += RTT;
    // Segments 3 to 9 and the probe had arrived.
    let sent = script.sack(1001, &[(3001, 11_001)]);
    assert_eq!(sent, [segment(1), segment(2)]);
    assert_eq!(script.ack(11_001)[0], segment(11));
}

/// Short segments make room for short segments.
#[test]
fn losses_of_short_segments_need_no_timeout() {
    let mut script = Script::with_control(rack(), Aimd::new(window(10.0)));
    script.apply(|sender| sender.write(100)).unwrap();
    script.accept();
    for _ in 1..8 {
        script.apply(|sender| sender.write(100)).unwrap();
    }
    assert_eq!(script.sent().len(), 8);
    script.now += RTT;
    let mut sent = Vec::new();
    for last in 4..8 {
        script.now += Duration::from_millis(1);
        sent.extend(script.sack(1, &[(401, last * 100 + 101)]));
    }
    let offsets: Vec<_> = sent.iter().map(|sent| sent.offset).collect();
    assert_eq!(offsets, [1, 101, 201, 301]);
    script.now += RTT;
    assert!(script.ack(801).is_empty());
    assert_eq!(script.stats().timeouts, 0);
}

/// A sender that has sent these numbers of bytes, each in a segment.
fn writing(lengths: &[u64]) -> Script {
    let mut script = Script::with_control(rack(), Aimd::new(window(10.0)));
    script.apply(|sender| sender.connect());
    script.accept();
    script.sent();
    for &length in lengths {
        script.apply(|sender| sender.write(length)).unwrap();
    }
    assert_eq!(script.sent().len(), lengths.len());
    script.now += RTT;
    script
}

/// With nothing in flight, a lost retransmission does not wait until as much has been delivered.
#[test]
fn a_long_lost_segment_among_short_ones_needs_no_timeout() {
    let mut script = writing(&[1000, 100, 100, 100, 100]);
    script.sack(1, &[(1001, 1101)]);
    script.sack(1, &[(1001, 1201)]);
    assert_eq!(script.sack(1, &[(1001, 1301)]), [segment(0)]);
    script.now += Duration::from_millis(1);
    script.apply(|sender| sender.write(100)).unwrap();
    let short = Sent {
        offset: 1401,
        length: 100,
    };
    assert_eq!(script.sack(1, &[(1001, 1401)]), [short]);
    script.now += RTT;
    assert_eq!(script.sack(1, &[(1001, 1501)]), [segment(0)]);
}

/// A timeout sends whole segments again: one that left only in part would count as sent.
#[test]
fn rfc8985_6_3_a_timeout_retransmits_whole_segments() {
    let mut script = writing(&[300, 300, 300, 300]);
    let short = |offset| Sent {
        offset,
        length: 300,
    };
    assert_eq!(script.wait_for_segment().1, [short(901)], "the probe");
    // A cwnd of 1000 B has room for three.
    let sent = script.wait_for_segment().1;
    assert_eq!(sent, [short(1), short(301), short(601)]);
    script.now += RTT;
    assert_eq!(script.ack(901), [short(901)]);
    assert_eq!(script.stats().timeouts, 1);
}

/// RFC 8985 section 9.3: losses in two successive windows of data are two reasons to reduce the
/// window, even if the acknowledgement that ends the first recovery shows the second loss.
#[test]
fn rfc8985_9_3_a_loss_seen_at_the_end_of_a_recovery_begins_the_next() {
    let mut script = in_flight(10);
    for last in 1..4 {
        sack(&mut script, 0, 1, last);
    }
    let mut sent = Vec::new();
    for last in 4..12 {
        script.now += Duration::from_millis(30);
        sent.extend(sack(&mut script, 0, 1, last));
    }
    assert_eq!(sent[0], segment(12));
    let last = sent.last().unwrap().offset / 1000;
    assert!(last > 13);
    let before = script.stats();
    script.now += RTT;
    let sent = sack(&mut script, 12, last, last);
    assert_eq!(sent[0], segment(12));
    let after = script.stats();
    assert_eq!(after.fast_retransmits, before.fast_retransmits + 1);
    assert!(after.ssthresh < before.ssthresh);
}

/// The calls of a control: the number of each packet acknowledged, and of each acknowledgement the
/// segments that it reports, those then in flight, and whether a recovery is in progress.
#[derive(Default)]
struct Calls {
    packets: Vec<u64>,
    acks: Vec<(u32, u32, bool)>,
}

/// A constant window that decides in a recovery too.
struct EveryAck(Arc<Mutex<Calls>>);

impl Control for EveryAck {
    fn interests(&self) -> Interests {
        Interests {
            every_ack: true,
            packets: true,
            ..Interests::default()
        }
    }
    fn on_ack(&mut self, ack: &Ack) {
        let seen = (ack.newly_acked, ack.in_flight, ack.recovering);
        self.0.lock().unwrap().acks.push(seen);
    }
    fn on_packet_acked(&mut self, packet: &AckedPacket) {
        self.0.lock().unwrap().packets.push(packet.number);
    }
    fn on_loss(&mut self, _loss: &Loss) {}
    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {}
    fn limit_cwnd(&mut self, _limit: f64) {}
    fn cwnd(&self) -> f64 {
        10.0
    }
}

#[test]
fn a_control_may_decide_on_cwnd_in_a_recovery() {
    let calls = Arc::default();
    let control = AnyControl::new(EveryAck(Arc::clone(&calls)));
    let mut script = Script::with_control(rack(), control);
    script.apply(|sender| sender.write_unlimited().unwrap());
    script.accept();
    assert_eq!(script.sent().len(), 10);
    script.now += RTT;
    assert_eq!(sack(&mut script, 0, 1, 1), [segment(10)]);
    assert_eq!(sack(&mut script, 0, 1, 2), [segment(11)]);
    // cwnd is not reduced, so the lost segment and what has arrived make room for two.
    assert_eq!(sack(&mut script, 0, 1, 3), [segment(0), segment(12)]);
    assert_eq!(script.ack(4001), [segment(13)]);
    script.ack(13_001);
    assert_eq!(
        calls.lock().unwrap().acks,
        [
            (1, 9, false),
            (1, 9, false),
            (1, 8, true),
            (1, 9, true),
            (9, 1, false)
        ]
    );
    // Each packet is reported when it arrives, and once.
    let arrived = [1001, 2001, 3001, 1]
        .into_iter()
        .chain((4001..13_001).step_by(1000));
    assert!(calls.lock().unwrap().packets.iter().copied().eq(arrived));
}

/// A constant window that only asks for every round-trip time, and what it sees: the segments
/// acknowledged, and the time.
struct EveryRtt(Arc<Mutex<Vec<Told>>>);

type Told = (u32, Option<Duration>);

impl Control for EveryRtt {
    fn interests(&self) -> Interests {
        Interests {
            every_rtt: true,
            ..Interests::default()
        }
    }
    fn on_ack(&mut self, ack: &Ack) {
        self.0.lock().unwrap().push((ack.newly_acked, ack.rtt));
    }
    fn on_loss(&mut self, _loss: &Loss) {}
    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {}
    fn limit_cwnd(&mut self, _limit: f64) {}
    fn cwnd(&self) -> f64 {
        10.0
    }
}

/// Those of SACKed segments, of those that end a gap, and of a retransmission, but not if it is
/// acknowledged sooner than any segment was.
#[test]
fn a_control_may_ask_for_the_round_trip_times_in_a_recovery() {
    let ms = Duration::from_millis;
    let took = |millis| (0, Some(RTT + ms(millis)));
    let later = |wait: Duration| {
        let seen = Arc::default();
        let control = AnyControl::new(EveryRtt(Arc::clone(&seen)));
        let mut script = Script::with_control(rack(), control);
        script.apply(|sender| sender.write_unlimited().unwrap());
        script.accept();
        assert_eq!(script.sent().len(), 10);
        script.now += RTT;
        sack(&mut script, 0, 1, 1);
        script.now += ms(1);
        sack(&mut script, 0, 1, 2);
        script.now += ms(1);
        sack(&mut script, 0, 1, 3);
        assert_eq!(script.stats().fast_retransmits, 1);
        script.now += wait;
        sack(&mut script, 0, 1, 3);
        assert_eq!(*seen.lock().unwrap(), [took(0), took(1), took(2)]);
        script.ack(1001);
        (script, seen)
    };
    let (mut script, seen) = later(ms(1));
    assert_eq!(seen.lock().unwrap().len(), 3);
    script.ack(5001);
    assert_eq!(seen.lock().unwrap()[3..], [took(3)]);

    let (_, seen) = later(RTT);
    assert_eq!(seen.lock().unwrap()[3..], [took(0)]);
}

/// Ten segments in flight whose timer has expired: the first has been sent again.
fn after_timeout(forward_rto: bool) -> Script {
    let config = SenderConfig {
        forward_rto,
        ..rack()
    };
    let mut script = Script::streaming(config, window(10.0));
    assert_eq!(script.sent().len(), 10);
    // A tail loss probe first.
    assert_eq!(script.wait_for_segment().1, [segment(10)]);
    assert_eq!(script.wait_for_segment().1, [segment(0)]);
    assert_eq!((script.stats().timeouts, script.stats().cwnd), (1, 1.0));
    script
}

/// RFC 5682 section 3.1, steps 2b and 3b: the acknowledgements were merely late. After the first,
/// new data leaves, and the second shows that nothing was lost.
#[test]
fn rfc5682_3_1_a_spurious_timeout_is_undone() {
    let mut script = after_timeout(true);
    assert_eq!(script.ack(1001), [segment(11), segment(12)], "2b: new data");
    script.ack(2001);
    let stats = script.stats();
    assert!(stats.cwnd >= 10.0 && stats.ssthresh.is_infinite());
    assert_eq!(stats.segments_retransmitted, 1);
    assert_eq!(script.ack(3001).first(), Some(&segment(13)));
}

/// The same by SACK, where the first original is lost.
#[test]
fn rfc5682_3_1_a_sack_of_late_data_shows_a_spurious_timeout() {
    let mut script = after_timeout(true);
    script.ack(1001);
    script.sack(1001, &[(2001, 3001)]);
    assert!(script.stats().ssthresh.is_infinite());
}

/// Step 3a: an acknowledgement of the new data shows that the timeout was not spurious.
#[test]
fn rfc5682_3_1_a_timeout_with_losses_is_not_undone() {
    let mut script = after_timeout(true);
    assert_eq!(script.ack(1001), [segment(11), segment(12)]);
    let sent = sack(&mut script, 1, 11, 11);
    assert_eq!(sent.first(), Some(&segment(1)), "{sent:?}");
    assert!(script.stats().cwnd <= 3.0);
    assert_eq!(script.stats().ssthresh, 5.0);
}

/// Step 2a: an acknowledgement of everything shows nothing. Without F-RTO, the first partial
/// acknowledgement sends the next segment again.
#[test]
fn rfc5682_3_1_other_timeouts_are_recovered_from_as_usual() {
    let mut script = after_timeout(true);
    script.ack(11_001);
    assert!(script.stats().cwnd <= 3.0);
    script.ack(12_001);
    assert_eq!(script.stats().ssthresh, 5.0);
    let mut script = after_timeout(false);
    assert_eq!(script.ack(1001).first(), Some(&segment(1)));
}

/// Section 3.1, step 2b: without new data to send, the recovery is the usual one.
#[test]
fn rfc5682_3_1_without_new_data_nothing_is_concluded() {
    let config = SenderConfig {
        forward_rto: true,
        ..rack()
    };
    let mut script = Script::with_control(config, Aimd::new(window(10.0)));
    script.apply(|sender| sender.write(10_000)).unwrap();
    script.accept();
    assert_eq!(script.sent().len(), 10);
    script.wait_for_segment();
    assert_eq!(script.wait_for_segment().1, [segment(0)]);
    assert_eq!(script.ack(1001).first(), Some(&segment(1)));
    script.ack(2001);
    assert_eq!(script.stats().ssthresh, 5.0);
}

/// Section 3.1, step 2b: no more than two new segments, however much the acknowledgement covers.
#[test]
fn rfc5682_3_1_two_new_segments_leave_after_the_first_acknowledgement() {
    let config = SenderConfig {
        forward_rto: true,
        ..rack()
    };
    let all = AimdConfig {
        growth: GrowthLaw::PerPacket { limit: u32::MAX },
        ..window(20.0)
    };
    let mut script = Script::streaming(config, all);
    assert_eq!(script.sent().len(), 20);
    script.wait_for_segment();
    assert_eq!(script.wait_for_segment().1, [segment(0)]);
    assert_eq!(script.ack(8001), [segment(21), segment(22)]);
    assert!(script.stats().cwnd >= 9.0);
}

/// Linux lets the window grow by the acknowledgement that ends a recovery, unless that shows the next
/// loss: by what it delivers, not by what was SACKed before.
#[test]
fn linux_reports_the_acknowledgement_that_ends_a_recovery() {
    let told = |config: SenderConfig| {
        let seen = Arc::default();
        let control = AnyControl::new(EveryRtt(Arc::clone(&seen)));
        let config = SenderConfig {
            segment_size: 1000,
            ..config
        };
        let mut script = Script::with_control(config, control);
        script.apply(|sender| sender.write_unlimited().unwrap());
        script.accept();
        assert_eq!(script.sent().len(), 10);
        script.now += RTT;
        for last in 1..12 {
            sack(&mut script, 0, 1, last);
        }
        assert_eq!(script.stats().fast_retransmits, 1);
        seen.lock().unwrap().clear();
        script.now += RTT;
        script.ack(12_001);
        seen.lock().unwrap().clone()
    };
    let rfc = told(SenderConfig::rfc(RecoveryAlgorithm::Rack));
    assert_eq!(rfc, [(0, Some(RTT))]);
    let linux = told(SenderConfig::linux(RecoveryAlgorithm::Rack));
    assert_eq!(linux, [(1, Some(RTT))]);
}
