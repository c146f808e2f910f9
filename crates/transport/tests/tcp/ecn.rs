//! RFC 3168's requirements on a sender.

use skywave_congestion::AimdConfig;
use skywave_transport::tcp::{EcnUse, LimitedTransmit, Sender, SenderConfig};
use skywave_units::Duration;
use skywave_wire::Ecn;
use skywave_wire::tcp::Flags;

use crate::script::{RTT, Script, Sent, config, full, window};

/// The first RTO: the minimum, because [`RTT`] gives less.
const RTO: Duration = Duration::from_secs(1);

fn ecn() -> SenderConfig {
    SenderConfig {
        ecn: EcnUse::Rfc3168,
        limited_transmit: LimitedTransmit::Off,
        ..config()
    }
}

/// The ECN bits of the last segment, and whether CWR is set.
fn last(script: &Script) -> (Ecn, bool) {
    let (ecn, flags) = script.last;
    (ecn, flags.contains(Flags::CWR))
}

/// Section 6.1.2: "SHOULD NOT increase the congestion window in response to the receipt of an
/// ECN-Echo ACK packet". The echo continues until CWR has arrived.
#[test]
fn rfc3168_6_1_2_an_ecn_echo_lets_cwnd_not_grow() {
    for (ssthresh, growth) in [(100.0, 1.0), (10.0, 0.2)] {
        let config = AimdConfig {
            initial_cwnd: 10.0,
            initial_ssthresh: ssthresh,
            ..AimdConfig::ns2_tcp(100)
        };
        let mut script = Script::streaming(ecn(), config);
        assert_eq!(script.sent().len(), 10);
        script.now += RTT;
        // Half of what was in flight before this acknowledgement.
        script.echo(1001);
        assert_eq!((script.stats().cwnd, script.stats().ssthresh), (5.0, 5.0));
        for acked in 2..10 {
            script.echo(1000 * acked + 1);
            assert_eq!(script.stats().cwnd, 5.0);
        }
        // The first new segment carried CWR, so there are no further echoes.
        script.ack(10_001);
        assert_eq!(script.stats().cwnd, 5.2);
        let mut unmarked = Script::streaming(ecn(), config);
        unmarked.now += RTT;
        unmarked.ack(1001);
        assert!(
            unmarked.stats().cwnd >= 10.0 + growth / 2.0,
            "it grows else"
        );
    }
}

/// Section 6.1.2: a mark is treated "just as a congestion loss", so it halves what was in flight,
/// regardless of how much the acknowledgement covers.
#[test]
fn rfc3168_6_1_2_a_mark_halves_what_was_in_flight() {
    for acked in [1, 2, 10] {
        let mut script = Script::streaming(ecn(), window(10.0));
        script.now += RTT;
        script.echo(1000 * acked + 1);
        assert_eq!((script.stats().cwnd, script.stats().ssthresh), (5.0, 5.0));
    }
}

/// Section 6.1.2: with a window of one segment the retransmission timer is reset, and a new segment
/// leaves only when it expires. That does not count as a timeout.
#[test]
fn rfc3168_6_1_2_a_mark_that_finds_one_segment_waits_for_the_timer() {
    // A timeout leaves one segment, and the echo of an earlier mark prevents growth.
    let mut script = Script::streaming(ecn(), window(4.0));
    assert_eq!(script.sent().len(), 4);
    assert_eq!(script.wait_for_segment(), (RTO, vec![full(1)]));
    script.now += RTT;
    assert_eq!(script.echo(4001), [full(4001)]);
    for acked in [5001, 6001, 7001] {
        script.now += RTT;
        assert!(script.echo(acked).is_empty());
        assert_eq!(script.stats().cwnd, 1.0);
        assert_eq!(script.wait_for_segment(), (RTO, vec![full(acked)]));
        assert_eq!(last(&script), (Ecn::Ect0, true));
    }
    let stats = script.stats();
    assert_eq!((stats.timeouts, stats.segments_retransmitted), (1, 1));
    // Without a mark slow start continues.
    script.now += RTT;
    assert_eq!(script.ack(8001), [full(8001), full(9001)]);
}

/// The same with data outstanding: if it is lost, it is retransmitted when the reset timer expires.
#[test]
fn rfc3168_6_1_2_a_mark_that_finds_one_segment_resets_the_timer() {
    let mut script = Script::closed(ecn(), window(1.0));
    script.apply(|sender| sender.write(500)).unwrap();
    script.accept();
    script.apply(|sender| sender.write(500)).unwrap();
    let halves = [1, 501].map(|offset| Sent {
        offset,
        length: 500,
    });
    assert_eq!(script.sent(), halves);
    script.apply(Sender::write_unlimited).unwrap();
    assert!(script.wait(RTO / 2).is_empty());
    assert!(script.echo(1).is_empty());
    assert!(script.wait(RTO * 3 / 4).is_empty());
    assert_eq!(script.stats().timeouts, 0);
    assert_eq!(script.wait_for_segment(), (RTO / 4, vec![full(1)]));
    assert_eq!(script.stats().timeouts, 1);
}

/// Section 6.1.6: "MUST NOT set either an ECT codepoint or the CWR bit on window probe packets".
#[test]
fn rfc3168_6_1_6_window_probes_are_not_ecn_capable() {
    let mut script = Script::closed(ecn(), window(4.0));
    script.window = 2000;
    script.apply(Sender::write_unlimited).unwrap();
    script.accept();
    assert_eq!(script.sent(), [full(1), full(1001)]);
    assert_eq!(last(&script), (Ecn::Ect0, false));
    script.now += RTT;
    script.window = 0;
    assert!(script.echo(2001).is_empty());
    for _ in 0..2 {
        let (_, probe) = script.wait_for_segment();
        assert_eq!((probe[0].offset, probe[0].length), (2001, 1));
        assert_eq!(last(&script), (Ecn::NotEct, false));
    }
    // The byte was accepted. The first new segment announces the reduction.
    script.window = 2000;
    script.ack(2002);
    assert_eq!(script.last.0, Ecn::Ect0);
}

/// A FIN into a closed window is a probe too.
#[test]
fn rfc3168_6_1_6_a_fin_that_probes_is_not_ecn_capable() {
    let mut script = Script::closed(ecn(), window(4.0));
    script.window = 1000;
    script.apply(|sender| {
        sender.write(1000).unwrap();
        sender.close();
    });
    script.accept();
    assert_eq!(script.sent(), [full(1)]);
    script.now += RTT;
    script.window = 0;
    assert_eq!(script.echo(1001).len(), 1);
    assert!(script.last.1.contains(Flags::FIN));
    assert_eq!(last(&script), (Ecn::NotEct, false));
}

/// Section 6.1.2: only a window of one segment waits for the timer; one of two is halved.
#[test]
fn rfc3168_6_1_2_a_mark_that_finds_two_segments_halves_them() {
    let mut script = Script::streaming(ecn(), window(2.0));
    assert_eq!(script.sent(), [full(1), full(1001)]);
    script.now += RTT;
    assert_eq!(script.echo(1001), []);
    assert_eq!(script.stats().cwnd, 1.0);
    assert_eq!(script.ack(2001)[0], full(2001));
}
