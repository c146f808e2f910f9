use skywave_units::Instant;

use super::*;
use crate::testing::{context, linux};

const fn ack(newly_acked: u32) -> Ack {
    Ack::new(Instant::ZERO, newly_acked, 9)
}

/// Reports acknowledgements of a packet each, and returns their phases.
fn phases(window: &mut Window, count: u32) -> Vec<Phase> {
    (0..count).map(|_| window.on_ack(&ack(1))).collect()
}

#[test]
fn rfc5681_3_1_slow_start_grows_by_a_packet_per_acknowledgement_and_linux_by_all() {
    for (context, grown) in [
        (context(4.0, 10.0), [5.0, 6.0]),
        (linux(4.0, 10.0), [7.0, 10.0]),
    ] {
        let mut window = Window::new(&context);
        for cwnd in grown {
            window.grow_as_reno(&ack(3));
            assert_eq!(window.cwnd(), cwnd);
        }
    }
}

#[test]
fn rfc5681_3_1_congestion_avoidance_grows_by_a_packet_per_window() {
    for context in [context(4.0, 4.0), linux(4.0, 4.0)] {
        let mut window = Window::new(&context);
        let cwnds: Vec<_> = (0..9)
            .map(|_| {
                window.grow_as_reno(&ack(1));
                window.cwnd()
            })
            .collect();
        assert_eq!(cwnds, [4.0, 4.0, 4.0, 5.0, 5.0, 5.0, 5.0, 5.0, 6.0]);
    }
}

/// What slow start leaves of an acknowledgement counts towards congestion avoidance in Linux.
#[test]
fn the_rest_of_an_acknowledgement_counts_in_linux() {
    let mut window = Window::new(&linux(4.0, 6.0));
    window.grow_as_reno(&ack(7));
    assert_eq!(window.cwnd(), 6.0);
    window.grow_as_reno(&ack(1));
    assert_eq!(window.cwnd(), 7.0, "5 and 1 packets");
}

/// RFC 5681 section 3.1 takes the fraction from the flight, Linux from cwnd.
#[test]
fn congestion_takes_from_the_flight_or_from_cwnd() {
    let window = Window::new(&context(20.0, 20.0));
    assert_eq!((window.used(10), window.used(30)), (10.0, 20.0));
    let window = Window::new(&linux(20.0, 20.0));
    assert_eq!((window.used(10), window.used(30)), (20.0, 20.0));
}

#[test]
fn a_loss_leaves_two_packets_and_a_mark_one() {
    let mut window = Window::new(&context(5.0, 20.0));
    window.on_loss(2.5);
    assert_eq!((window.cwnd(), window.ssthresh()), (2.5, 2.5));
    window.on_loss(1.25);
    assert_eq!((window.cwnd(), window.ssthresh()), (2.0, 2.0));
    window.on_mark(0.5, 2);
    assert_eq!((window.cwnd(), window.ssthresh()), (1.0, 2.0));
    // Linux: whole packets, at least two.
    let mut window = Window::new(&linux(5.0, 20.0));
    window.on_mark(2.5, 5);
    assert_eq!((window.cwnd(), window.ssthresh()), (2.0, 2.0));
}

/// RFC 5681 section 3.1: the loss window is a segment, and a second timeout leaves ssthresh.
#[test]
fn rfc5681_3_1_two_timeouts_reduce_ssthresh_once() {
    let mut window = Window::new(&context(20.0, f64::INFINITY));
    window.on_timeout(10.0, 20);
    window.on_timeout(0.5, 1);
    assert_eq!((window.cwnd(), window.ssthresh()), (1.0, 10.0));
    window.on_ack(&ack(1));
    window.on_timeout(4.0, 1);
    assert_eq!(window.ssthresh(), 4.0);
}

/// Linux holds its state CWR until a packet sent after the mark is acknowledged.
#[test]
fn in_linux_the_window_is_frozen_for_a_round_trip_after_a_mark() {
    let mut window = Window::new(&linux(10.0, 5.0));
    window.on_mark(5.0, 3);
    let phases = phases(&mut window, 5);
    let grows: Vec<_> = phases
        .iter()
        .map(|&phase| window.may_grow(&ack(1), phase))
        .collect();
    assert_eq!(
        phases[2..],
        [Phase::Reducing, Phase::Recovered, Phase::Open]
    );
    assert_eq!(grows, [false, false, false, true, true]);
}

#[test]
fn in_linux_the_first_acknowledgement_after_a_loss_has_a_phase_of_its_own() {
    let mut window = Window::new(&linux(10.0, 5.0));
    window.on_loss(5.0);
    assert_eq!(window.on_ack(&ack(0)), Phase::Reducing);
    assert_eq!(phases(&mut window, 2), [Phase::Recovered, Phase::Open]);
    window.on_timeout(2.0, 2);
    assert_eq!(
        phases(&mut window, 3),
        [Phase::Repairing, Phase::Recovered, Phase::Open]
    );
    let mut window = Window::new(&context(10.0, 5.0));
    window.on_loss(5.0);
    assert_eq!(phases(&mut window, 1), [Phase::Open]);
}

#[test]
fn a_spurious_loss_is_undone_unless_more_has_happened() {
    let mut window = Window::new(&context(20.0, 30.0));
    window.on_loss(10.0);
    window.on_spurious_loss();
    assert_eq!((window.cwnd(), window.ssthresh()), (20.0, 30.0));
    window.on_loss(10.0);
    window.on_mark(5.0, 10);
    window.on_spurious_loss();
    assert_eq!((window.cwnd(), window.ssthresh()), (5.0, 5.0));
    window.on_loss(4.0);
    window.on_timeout(2.0, 4);
    window.on_timeout(2.0, 4);
    window.on_spurious_loss();
    assert_eq!((window.cwnd(), window.ssthresh()), (4.0, 4.0));
}

#[test]
fn rfc5681_4_1_a_restart_uses_the_initial_window() {
    let mut window = Window::new(&context(4.0, 2.0));
    window.grow_by(5.0);
    window.on_restart();
    assert_eq!(window.cwnd(), 4.0);
    window.limit_cwnd(0.5);
    window.on_restart();
    assert_eq!(window.cwnd(), 1.0);
}

#[test]
fn an_overloaded_receiver_takes_off_what_it_dropped() {
    let mut window = Window::new(&context(10.0, f64::INFINITY));
    window.on_receiver_overload(3);
    assert_eq!((window.cwnd(), window.ssthresh()), (7.0, 7.0));
    window.on_receiver_overload(9);
    assert_eq!((window.cwnd(), window.ssthresh()), (1.0, 2.0));
}

#[test]
fn nothing_grows_without_need_or_against_an_echo() {
    let window = Window::new(&context(10.0, 5.0));
    assert!(window.may_grow(&ack(1), Phase::Open));
    assert!(window.may_grow(&ack(1), Phase::Repairing));
    assert!(!window.may_grow(&ack(0), Phase::Open));
    let limited = Ack {
        application_limited: true,
        ..ack(1)
    };
    let echo = Ack {
        ecn_echo: true,
        ..ack(1)
    };
    assert!(!window.may_grow(&limited, Phase::Open));
    assert!(!window.may_grow(&echo, Phase::Open));
}
