//! Cases of ProbeBW.

use skywave_units::Duration;

use super::{RTT, State, assert_within, is, path, wide};
use crate::testing::flow::Application;

/// "Exiting PROBE_UP on Bandwidth Plateau".
#[test]
fn exiting_probe_up_on_bandwidth_plateau() {
    let mut path = wide();
    path.reach(is(State::ProbeBwUp));
    assert!(!path.flow.control.full.is_now);
    path.reach(|bbr| bbr.state != State::ProbeBwUp);
    assert_eq!(path.flow.control.state, State::ProbeBwDown);
    assert_eq!(path.flow.control.full.count, 3);
    assert!(path.flow.control.full.is_now);
    assert_eq!(path.flow.lost, 0);
}

/// "Exiting PROBE_UP on Loss When Application-Limited". HandleInflightTooHigh leaves
/// BBR.inflight_longterm alone for packets sent while the application was the limit.
#[test]
fn exiting_probe_up_on_loss_when_application_limited() {
    let mut path = wide();
    path.reach(is(State::ProbeBwUp));
    path.flow.application = Application::Rate(0.5 * path.link.rate);
    path.run_for(RTT * 4);
    assert_eq!(path.flow.control.state, State::ProbeBwUp);
    assert!(path.flow.control.rs.is_app_limited);
    path.link.lose_every = Some(10);
    path.reach(|bbr| bbr.state != State::ProbeBwUp);
    // With so little in flight, ProbeBW_DOWN ends at the same acknowledgement.
    assert!([State::ProbeBwDown, State::ProbeBwCruise].contains(&path.flow.control.state));
    assert_eq!(path.flow.control.probe_bw.cycle_stamp, path.now);
    assert_eq!(path.flow.control.undo.state, Some(State::ProbeBwUp));
    assert!(path.flow.control.probe_bw.was_too_high);
    assert!(path.flow.control.inflight_longterm.is_infinite());
}

/// "Never Exiting PROBE_UP (or STARTUP) When Application-Limited With No Loss", in ProbeBW_UP.
#[test]
fn never_exiting_probe_up_when_application_limited_with_no_loss() {
    let mut path = wide();
    path.reach(is(State::ProbeBwUp));
    path.flow.application = Application::Rate(0.5 * path.link.rate);
    path.run_for(RTT);
    let round = path.flow.control.rounds.count;
    for _ in 0..60 {
        // A recent sample, so that ProbeRTT, which ends in ProbeBW_CRUISE, does not come first.
        path.flow.control.probe_rtt.min_stamp = path.now;
        let left = path.run_until(Duration::from_secs(1), |bbr| bbr.state != State::ProbeBwUp);
        assert!(!left, "{:?}", path.flow.control.state);
    }
    assert!(path.flow.control.rounds.count > round + 500);
}

/// "Exiting PROBE_DOWN on Inflight".
#[test]
fn exiting_probe_down_on_inflight() {
    let mut path = wide();
    path.reach(is(State::ProbeBwUp));
    path.reach(is(State::ProbeBwDown));
    assert_eq!(path.flow.control.state.pacing_gain(), 0.9);
    path.reach(|bbr| bbr.state != State::ProbeBwDown);
    let bbr = &path.flow.control;
    assert_eq!(bbr.state, State::ProbeBwCruise);
    assert!(bbr.log.in_flight <= bbr.inflight_with_headroom());
    assert!(bbr.log.in_flight <= bbr.inflight(bbr.max_bw, 1.0));
}

/// "Exiting PROBE_DOWN After Max Time".
#[test]
fn exiting_probe_down_after_max_time() {
    let mut path = path(50.0, Duration::from_millis(100), 10.0);
    path.reach(is(State::ProbeBwUp));
    path.reach(is(State::ProbeBwDown));
    path.change_rate(0.9);
    // A recent sample, so that ProbeRTT does not come first.
    path.flow.control.probe_rtt.min_stamp = path.now;
    let (start, wait) = (path.now, path.flow.control.probe_bw.wait);
    assert!((2.0..3.0).contains(&wait.as_secs_f64()));
    path.reach(|bbr| bbr.state != State::ProbeBwDown);
    assert_eq!(path.flow.control.state, State::ProbeBwRefill);
    // Reno's pace, whose bound is the number of packets in a BDP, would take longer.
    assert!(path.now - start > wait);
    assert!(path.now - start < wait + RTT);
}

/// "Handling Loss During PROBE_UP After inflight_longterm is Set".
#[test]
fn handling_loss_during_probe_up_after_inflight_longterm_is_set() {
    let mut path = path(10.0, RTT, 0.5);
    path.reach(|bbr| bbr.inflight_longterm.is_finite() && bbr.state == State::ProbeBwCruise);
    path.link.buffer *= 10.0;
    path.reach(|bbr| bbr.state == State::ProbeBwUp && !bbr.probe_bw.was_too_high);
    let before = path.flow.control.inflight_longterm;
    let target = path.flow.control.target_inflight();
    path.link.lose_every = Some(5);
    path.reach(|bbr| bbr.state != State::ProbeBwUp);
    let bbr = &path.flow.control;
    assert_eq!(bbr.state, State::ProbeBwDown);
    assert!(bbr.probe_bw.was_too_high);
    assert!(bbr.full.count < 3);
    assert!(bbr.inflight_longterm <= before + bbr.smss);
    assert!(bbr.inflight_longterm >= 0.7 * target);
}

/// "Handling Application-Limited Sending During PROBE_REFILL".
#[test]
fn handling_application_limited_sending_during_probe_refill() {
    let mut path = wide();
    path.reach(is(State::ProbeBwRefill));
    let before = path.flow.control.max_bw;
    path.flow.application = Application::Paused;
    path.run_for(RTT);
    path.flow.application = Application::Rate(0.2 * path.link.rate);
    path.reach(|bbr| bbr.state != State::ProbeBwRefill);
    assert_eq!(path.flow.control.state, State::ProbeBwUp);
    path.run_for(RTT * 3);
    assert!(path.flow.control.rs.is_app_limited);
    assert!(path.flow.control.rs.delivery_rate.unwrap() < before);
    assert_eq!(path.flow.control.max_bw, before);
    path.flow.application = Application::Greedy;
    path.reach(is(State::ProbeBwCruise));
    assert_within(path.flow.control.max_bw, path.link.rate, 0.03);
}
