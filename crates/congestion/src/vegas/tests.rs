use skywave_wire::Ecn;

use super::*;
use crate::testing::{loss, mark, sent};

fn window(cwnd: f64, ssthresh: f64) -> Vegas {
    Vegas::new(VegasConfig {
        initial_ssthresh: ssthresh,
        ..VegasConfig::new(cwnd)
    })
}

/// Simulates a round in which every packet of a full window is acknowledged after `rtt_ms` and
/// replaced.
fn round(window: &mut Vegas, now: &mut Instant, rtt_ms: u64) {
    let rtt = Duration::from_millis(rtt_ms);
    let sent_at = *now;
    *now += rtt;
    for _ in 0..window.cwnd() as u32 {
        window.on_sent(&sent(sent_at, 1));
        window.on_packet_acked(&AckedPacket {
            number: 0,
            sent_at,
            transmissions: 1,
            ecn: Ecn::NotEct,
        });
        window.on_ack(&Ack {
            rtt: Some(rtt),
            ..Ack::new(*now, 1, window.cwnd() as u32 - 1)
        });
    }
}

fn rounds(window: &mut Vegas, rtts_ms: &[u64]) -> Vec<f64> {
    let mut now = Instant::ZERO;
    let each = |&rtt: &u64| {
        round(window, &mut now, rtt);
        window.cwnd()
    };
    rtts_ms.iter().map(each).collect()
}

#[test]
fn slow_start_doubles_every_other_round() {
    let mut window = window(2.0, f64::INFINITY);
    let cwnds = rounds(&mut window, &[100; 6]);
    assert!(cwnds[5] >= 3.5 * cwnds[1], "{cwnds:?}");
    assert!(cwnds.windows(2).any(|pair| pair[0] == pair[1]), "{cwnds:?}");
}

#[test]
fn slow_start_ends_when_packets_wait_in_queues() {
    let mut window = window(2.0, f64::INFINITY);
    rounds(&mut window, &[100, 100, 100, 100, 100, 100, 130, 130, 130]);
    assert_eq!(window.ssthresh(), 2.0);
}

#[test]
fn congestion_avoidance_keeps_between_alpha_and_beta_packets_in_queues() {
    // Ten packets, of which rtt / base - 1 tenths are queued: none, two, five.
    for (rtt, grows, shrinks) in [(100, true, false), (125, false, false), (200, false, true)] {
        let mut window = window(10.0, 2.0);
        let cwnds = rounds(&mut window, &[100]);
        let before = cwnds[0];
        let cwnds = rounds(&mut window, &[rtt; 4]);
        assert_eq!(cwnds[3] > before + 1.5, grows, "{rtt} ms: {cwnds:?}");
        assert_eq!(cwnds[3] < before, shrinks, "{rtt} ms: {cwnds:?}");
    }
}

#[test]
fn a_loss_takes_a_quarter_and_a_repeated_one_a_half() {
    let now = Instant::ZERO;
    let mut vegas = window(10.0, f64::INFINITY);
    vegas.on_loss(&loss(now, 10));
    assert_eq!((vegas.cwnd(), vegas.ssthresh()), (8.0, 2.0));
    vegas.on_loss(&Loss {
        is_repeated: true,
        ..loss(now, 10)
    });
    assert_eq!(vegas.cwnd(), 4.0);
    vegas.on_loss(&loss(now, 3));
    assert_eq!(vegas.cwnd(), 2.0);
    let mut vegas = window(10.0, f64::INFINITY);
    vegas.on_timeout(now, 10);
    assert_eq!((vegas.cwnd(), vegas.ssthresh()), (2.0, 5.0));
}

/// After a timeout, an acknowledgement of retransmitted packets may follow the end of the round
/// within milliseconds. That is no round-trip time: Brakmo and Peterson's base is the smallest
/// *measured* one.
#[test]
fn a_round_without_samples_says_nothing() {
    let mut grown = Vec::new();
    for rules in [VegasRules::Published, VegasRules::Ns2] {
        let mut vegas = window(4.0, 2.0);
        vegas.config.rules = rules;
        let mut now = Instant::ZERO;
        for _ in 0..3 {
            round(&mut vegas, &mut now, 1200);
        }
        vegas.on_timeout(now, 4);
        // Every packet was retransmitted, so none gives a sample.
        for (wait_ms, packets, in_flight) in [(1200, 1, 1), (8, 3, 0)] {
            now += Duration::from_millis(wait_ms);
            for _ in 0..packets {
                vegas.on_packet_acked(&AckedPacket {
                    number: 0,
                    sent_at: now,
                    transmissions: 2,
                    ecn: Ecn::NotEct,
                });
            }
            vegas.on_ack(&Ack::new(now, packets, in_flight));
        }
        for _ in 0..20 {
            round(&mut vegas, &mut now, 1200);
        }
        grown.push(vegas.cwnd() > 8.0);
    }
    assert_eq!(grown, [true, false], "ns-2 takes 8 ms as the base");
}

#[test]
fn ns2_begins_with_one_packet() {
    let mut window = Vegas::new(VegasConfig {
        rules: VegasRules::Ns2,
        ..VegasConfig::new(2.0)
    });
    assert_eq!(window.cwnd(), 1.0);
    assert_eq!(rounds(&mut window, &[100]), [3.0]);
}

#[test]
fn ns2_forgets_an_inflation_that_nothing_ends() {
    let now = Instant::ZERO;
    let mut vegas = window(10.0, 20.0);
    vegas.config.rules = VegasRules::Ns2;
    vegas.on_loss(&loss(now, 20));
    vegas.inflate(3);
    assert_eq!((vegas.cwnd(), vegas.ssthresh()), (11.0, 20.0));
    // The next loss finds all of it.
    vegas.on_loss(&loss(now, 20));
    vegas.inflate(4);
    assert_eq!(vegas.cwnd(), 13.0);
    vegas.deflate();
    assert_eq!((vegas.cwnd(), vegas.ssthresh()), (9.0, 2.0));
    // After a timeout nothing is left.
    vegas.on_timeout(now, 10);
    vegas.inflate(1);
    vegas.deflate();
    assert_eq!(vegas.cwnd(), 0.0);
}

#[test]
fn published_rules_keep_inflation_out_of_cwnd() {
    let mut vegas = window(10.0, 20.0);
    vegas.on_loss(&loss(Instant::ZERO, 10));
    vegas.inflate(3);
    assert_eq!(vegas.cwnd(), 8.0);
    vegas.on_timeout(Instant::ZERO, 8);
    vegas.deflate();
    assert_eq!(vegas.cwnd(), 2.0);
}

/// A mark reduces the window by as much as a loss does, but possibly to one packet, where a loss
/// leaves at least two.
#[test]
fn a_mark_takes_a_quarter_and_may_leave_one_packet() {
    let now = Instant::ZERO;
    for (used, left) in [(10, 8.0), (4, 3.0), (3, 2.0), (2, 1.0), (1, 1.0)] {
        let mut vegas = window(10.0, f64::INFINITY);
        vegas.on_mark(&mark(now, used));
        assert_eq!(vegas.cwnd(), left, "of {used}");
    }
    let mut ns2 = Vegas::new(VegasConfig {
        rules: VegasRules::Ns2,
        ..VegasConfig::new(10.0)
    });
    ns2.on_mark(&mark(now, 2));
    assert_eq!(ns2.cwnd(), 2.0, "ns-2 leaves two packets");
}

/// As in ns-2, the number of queued packets is rounded, and half a packet counts as one.
#[test]
fn half_a_queued_packet_counts_as_one() {
    // Most of these are no binary fractions of a second, so the half is not exact.
    for base in [100, 130, 170, 190, 230, 290] {
        let mut window = window(3.0, 2.0);
        let cwnds = rounds(&mut window, &[base, 2 * base, 2 * base]);
        assert_eq!(cwnds, [4.0, 5.0, 5.0], "{base} ms");
        let mut queued = None;
        window.inner_values(&mut |name, value| {
            if name == "queued_packets" {
                queued = Some(value);
            }
        });
        // 5 (1 - 1 / 2) = 2.5.
        assert_eq!(queued, Some(3.0), "{base} ms");
    }
}

fn ack(rtt_ms: u64, in_flight: u32) -> Ack {
    let rtt = Duration::from_millis(rtt_ms);
    Ack {
        rtt: Some(rtt),
        ..Ack::new(Instant::ZERO + rtt, 1, in_flight)
    }
}

/// ns-2's Vegas leaves slow start when the inflation of a recovery ends, and only then.
#[test]
fn ns2_slow_start_ends_with_an_inflation() {
    let now = Instant::ZERO;
    let mut vegas = window(10.0, f64::INFINITY);
    vegas.config.rules = VegasRules::Ns2;
    vegas.cwnd = 10.0;
    vegas.on_loss(&loss(now, 10));
    assert_eq!(vegas.cwnd(), 8.0);
    vegas.deflate();
    assert_eq!((vegas.cwnd(), vegas.ssthresh()), (8.0, f64::INFINITY));
    vegas.inflate(3);
    assert_eq!(vegas.cwnd(), 11.0);
    vegas.deflate();
    assert_eq!((vegas.cwnd(), vegas.ssthresh()), (8.0, 2.0));
}

/// ns-2's Vegas starts with one packet, and grows to its initial window at the first
/// acknowledgement.
#[test]
fn ns2_has_its_initial_window_once() {
    let mut vegas = Vegas::new(VegasConfig {
        rules: VegasRules::Ns2,
        ..VegasConfig::new(3.0)
    });
    let acked = AckedPacket {
        number: 0,
        sent_at: Instant::ZERO,
        transmissions: 1,
        ecn: Ecn::NotEct,
    };
    assert_eq!(vegas.cwnd(), 1.0);
    vegas.on_packet_acked(&acked);
    assert_eq!(vegas.cwnd(), 3.0);
    vegas.limit_cwnd(2.0);
    vegas.on_packet_acked(&acked);
    assert_eq!(vegas.cwnd(), 2.0);
}

/// The window grows only while all but two of its packets are in flight.
#[test]
fn a_window_that_is_not_used_does_not_grow() {
    for (in_flight, grows) in [(9, true), (7, true), (6, false), (0, false)] {
        let mut vegas = window(10.0, 2.0);
        vegas.increment = 0.1;
        vegas.round.end = u64::MAX;
        vegas.on_ack(&ack(100, in_flight));
        assert_eq!(vegas.cwnd() > 10.0, grows, "{in_flight}");
    }
}

/// Marks may take cwnd below a packet, which waits while others are in flight.
#[test]
fn with_nothing_in_flight_a_packet_may_leave() {
    for (in_flight, cwnd) in [(1, 0.5), (0, 1.0)] {
        let mut vegas = window(2.0, 2.0);
        vegas.round.end = u64::MAX;
        vegas.cwnd = 0.5;
        vegas.on_ack(&ack(100, in_flight));
        assert_eq!(vegas.cwnd(), cwnd, "{in_flight}");
    }
}

/// RFC 5681 section 4.1: an idle connection restarts with at most the initial window.
#[test]
fn rfc5681_4_1_a_restart_uses_the_initial_window() {
    let mut vegas = window(4.0, 2.0);
    vegas.cwnd = 9.0;
    vegas.on_restart(Instant::ZERO);
    assert_eq!(vegas.cwnd(), 4.0);
    vegas.limit_cwnd(3.0);
    vegas.on_restart(Instant::ZERO);
    assert_eq!(vegas.cwnd(), 3.0);
}

#[test]
fn an_overloaded_receiver_takes_off_what_it_dropped() {
    let mut vegas = window(10.0, f64::INFINITY);
    vegas.on_receiver_overload(Instant::ZERO, 3);
    assert_eq!((vegas.cwnd(), vegas.ssthresh()), (7.0, 7.0));
    vegas.on_receiver_overload(Instant::ZERO, 9);
    assert_eq!((vegas.cwnd(), vegas.ssthresh()), (1.0, 2.0));
}
