use skywave_units::Instant;

use super::*;
use crate::law::Governed;
use crate::testing::{linux, loss};
use crate::{Control, ControlKind, VegasParameters};

/// 100 ms.
const BASE_RTT: u64 = 100_001;

fn control(cwnd: f64, ssthresh: f64) -> Governed<LinuxVegas> {
    Governed::new(&linux(cwnd, ssthresh), LinuxVegas::new((2.0, 4.0, 1.0)))
}

fn ack(rtt_ms: u64, in_flight: u32) -> Ack {
    Ack {
        rtt: (rtt_ms > 0).then(|| Duration::from_millis(rtt_ms)),
        ..Ack::new(Instant::ZERO, 1, in_flight)
    }
}

/// Acknowledges a window, packet by packet, each after `rtt_ms` and replaced.
fn round(vegas: &mut impl Control, rtt_ms: u64) -> f64 {
    let cwnd = vegas.cwnd() as u32;
    for _ in 0..cwnd {
        vegas.on_ack(&ack(rtt_ms, cwnd - 1));
    }
    vegas.cwnd()
}

/// Each acknowledgement adds a packet, unlike the paper's every other round.
#[test]
fn slow_start_doubles_the_window_every_round() {
    let mut vegas = control(10.0, f64::INFINITY);
    let cwnds = [(); 4].map(|()| round(&mut vegas, 100));
    assert_eq!(cwnds, [20.0, 40.0, 80.0, 160.0]);
}

/// cwnd becomes what fits the path, plus one: 20 * 100 / 111 is 18.0, and 2 packets are queued.
#[test]
fn slow_start_ends_above_gamma_queued_packets() {
    for (rtt_ms, is_over) in [(109, false), (111, true)] {
        let mut vegas = control(20.0, 1000.0);
        vegas.on_ack(&ack(100, 19));
        vegas.limit_cwnd(20.0);
        for _ in 0..19 {
            vegas.on_ack(&ack(rtt_ms, 19));
        }
        vegas.limit_cwnd(20.0);
        vegas.on_ack(&ack(rtt_ms, 19));
        assert_eq!(vegas.ssthresh() < 1000.0, is_over, "{rtt_ms} ms");
        if is_over {
            assert_eq!((vegas.cwnd(), vegas.ssthresh()), (19.0, 19.0));
        }
    }
}

/// Ten packets; rtt / base - 1 tenths of them are queued. In the row of 151 ms, ssthresh follows
/// cwnd, and in every row it is at least three quarters of it.
#[test]
fn congestion_avoidance_keeps_between_alpha_and_beta_packets_queued() {
    for (rtt_ms, expected) in [
        (100, 11.0),
        (119, 11.0),
        (121, 10.0),
        (149, 10.0),
        (151, 9.0),
    ] {
        let mut vegas = control(10.0, 2.0);
        vegas.law.base_rtt = BASE_RTT;
        vegas.law.round.left = 3;
        for _ in 0..4 {
            vegas.on_ack(&ack(rtt_ms, 9));
        }
        assert_eq!(vegas.cwnd(), expected, "{rtt_ms} ms");
        assert_eq!(vegas.ssthresh(), (0.75 * expected).floor(), "{rtt_ms} ms");
    }
}

/// Two may both be those of delayed acknowledgements.
#[test]
fn a_round_with_fewer_than_three_samples_grows_as_reno() {
    for (samples, expected) in [(2, 10.0), (3, 9.0)] {
        let mut vegas = control(10.0, 2.0);
        vegas.law.base_rtt = BASE_RTT;
        vegas.law.round.left = 3;
        for number in 0..4 {
            vegas.on_ack(&ack(if number < samples { 200 } else { 0 }, 9));
        }
        assert_eq!(vegas.cwnd(), expected, "{samples} samples");
    }
}

/// What was measured before and during the recovery does not count.
#[test]
fn a_loss_halves_the_window_and_begins_a_round() {
    let mut vegas = control(20.0, 20.0);
    vegas.law.base_rtt = BASE_RTT;
    vegas.on_loss(&loss(Instant::ZERO, 20));
    assert_eq!((vegas.cwnd(), vegas.ssthresh()), (10.0, 10.0));
    vegas.on_ack(&ack(500, 9));
    assert_eq!((vegas.law.round.samples, vegas.law.round.left), (0, 9));
    assert_eq!(vegas.law.base_rtt, BASE_RTT);
    vegas.on_timeout(Instant::ZERO, 9);
    assert_eq!(vegas.law.base_rtt, u64::MAX);
}

#[test]
fn the_shortest_round_trip_time_is_forgotten_when_nothing_is_in_flight() {
    let mut vegas = control(10.0, 2.0);
    vegas.on_ack(&ack(100, 1));
    assert_eq!(vegas.law.base_rtt, BASE_RTT);
    vegas.on_ack(&ack(120, 0));
    assert_eq!(vegas.law.base_rtt, u64::MAX);
}

/// Absent parameters are Linux's in its profile; a given one stays.
#[test]
fn the_profile_decides_on_absent_parameters() {
    let queued = |beta, cwnd: f64| {
        let parameters = VegasParameters {
            beta,
            ..VegasParameters::default()
        };
        let mut vegas = parameters.build(&linux(cwnd, 2.0));
        vegas.on_ack(&ack(100, cwnd as u32 - 1));
        round(&mut vegas, 145)
    };
    assert_eq!(queued(None, 10.0), 10.0);
    assert_eq!(queued(Some(3.0), 10.0), 9.0);
}
