//! What the draft leaves to the transport, and the contract of [`Control`].

use super::{RTT, State, assert_within, is, wide};
use crate::testing::flow::Application;
use crate::{Control, Mark};

/// Only acknowledgements may raise cwnd, so a timeout found spurious restores it at the next one.
#[test]
fn a_spurious_timeout_restores_cwnd_with_the_next_acknowledgement() {
    let mut path = wide();
    path.reach(is(State::ProbeBwCruise));
    let (before, now) = (path.flow.control.cwnd(), path.now);
    path.flow.control.on_timeout(now, 50);
    assert_eq!(path.flow.control.cwnd(), 1.0);
    path.flow.control.on_spurious_loss(now);
    assert_eq!(path.flow.control.cwnd(), 1.0);
    let cwnd = path.flow.control.cwnd;
    path.reach(|bbr| bbr.cwnd > cwnd);
    assert_within(path.flow.control.cwnd(), before, 0.05);
}

/// Without an undo, cwnd grows by what is acknowledged, and is restored when the recovery ends.
#[test]
fn cwnd_is_restored_when_a_recovery_ends() {
    let mut path = wide();
    path.reach(is(State::ProbeBwCruise));
    let before = path.flow.control.cwnd();
    path.link.lose_every = Some(1);
    path.reach(|bbr| bbr.cwnd() == 1.0);
    path.link.lose_every = None;
    path.reach(|bbr| bbr.recovery.is_none());
    path.reach(|bbr| bbr.short_term.inflight.is_infinite());
    path.run_for(RTT * 2);
    assert!(
        path.flow.control.cwnd() > 0.7 * before,
        "{} {before}",
        path.flow.control.cwnd()
    );
}

/// "The congestion controller response MUST treat any CE marks as congestion" ("ECN").
#[test]
fn marks_end_startup_and_probes() {
    let mut path = wide();
    path.run_for(RTT * 3);
    assert_eq!(path.flow.control.state, State::Startup);
    let mark = Mark::new(path.now, path.flow.in_flight() as u32, 1);
    path.flow.control.on_mark(&mark);
    path.reach(|bbr| bbr.state != State::Startup);
    assert!(path.flow.control.inflight_longterm.is_finite());
    path.reach(is(State::ProbeBwUp));
    let mark = Mark::new(path.now, path.flow.in_flight() as u32, 1);
    path.flow.control.on_mark(&mark);
    assert_eq!(path.flow.control.state, State::ProbeBwDown);
    assert!(path.flow.control.probe_bw.was_too_high);
}

#[test]
fn an_overloaded_receiver_takes_off_what_it_dropped() {
    let mut path = wide();
    path.run_for(RTT * 3);
    let (before, now) = (path.flow.control.cwnd(), path.now);
    path.flow.control.on_receiver_overload(now, 3);
    assert_eq!(path.flow.control.cwnd(), before - 3.0);
    path.reach(|bbr| bbr.state != State::Startup);
    path.flow.control.on_receiver_overload(now, u32::MAX);
    assert_eq!(path.flow.control.cwnd(), 1.0);
}

/// ProbeRTT may end while the connection is idle: its next packet leaves from ProbeBW.
#[test]
fn a_restart_from_idle_ends_a_probe_rtt_that_is_over() {
    let mut path = wide();
    path.reach(|bbr| bbr.state == State::ProbeRtt && bbr.probe_rtt.done_stamp.is_some());
    path.flow.application = Application::Paused;
    path.run_for(RTT * 2);
    assert_eq!(
        (path.flow.control.state, path.flow.in_flight()),
        (State::ProbeRtt, 0)
    );
    path.run_for(RTT * 10);
    path.flow.application = Application::Greedy;
    let cwnd = path.flow.control.cwnd;
    path.reach(|bbr| bbr.state != State::ProbeRtt);
    assert_eq!(path.flow.control.state, State::ProbeBwCruise);
    assert_eq!(path.flow.control.cwnd, cwnd);
    path.reach(|bbr| bbr.cwnd > 1.5 * cwnd);
}

#[test]
fn inner_values_have_units() {
    let mut path = wide();
    path.reach(is(State::ProbeBwCruise));
    let mut values = vec![];
    path.flow
        .control
        .inner_values(&mut |name, value| values.push((name, value)));
    let value = |name| values.iter().find(|(found, _)| *found == name).unwrap().1;
    assert_within(value("max_bw_bps"), 1e7, 0.02);
    assert_within(value("min_rtt_s"), 0.0408, 0.02);
    assert_eq!(value("phase"), 3.0);
    let names = values.iter().map(|(name, _)| *name);
    assert!(
        !names
            .into_iter()
            .any(|name| name == "inflight_longterm_packets")
    );
}
