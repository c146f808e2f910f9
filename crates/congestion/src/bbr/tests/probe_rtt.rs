//! Cases of ProbeRTT.

use skywave_units::Duration;

use super::{State, is, is_probe_bw, wide};
use crate::testing::flow::Application;

/// "Entering and Exiting PROBE_RTT".
#[test]
fn entering_and_exiting_probe_rtt() {
    let mut path = wide();
    path.reach(is_probe_bw);
    let stamp = path.flow.control.probe_rtt.min_stamp;
    path.reach(is(State::ProbeRtt));
    assert!(path.now - stamp > Duration::from_secs(5));
    assert_eq!(path.flow.control.state.cwnd_gain(), 0.5);
    let (start, round) = (path.now, path.flow.control.rounds.count);
    path.reach(|bbr| bbr.state != State::ProbeRtt);
    assert!(path.now - start >= Duration::from_millis(200));
    assert!(path.flow.control.rounds.count > round);
    assert_eq!(path.flow.control.state, State::ProbeBwCruise);
    let acked = path.flow.acked;
    path.run_for(Duration::from_secs(1));
    assert!(
        path.flow.acked - acked > 1100,
        "{}",
        path.flow.acked - acked
    );
}

/// "Skipping PROBE_RTT Due to Application-Limited Sending".
#[test]
fn skipping_probe_rtt_due_to_application_limited_sending() {
    let mut path = wide();
    path.reach(is(State::ProbeBwCruise));
    path.flow.application = Application::Paused;
    path.run_for(Duration::from_secs(6));
    assert_eq!(path.flow.in_flight(), 0);
    path.flow.application = Application::Greedy;
    path.reach(|bbr| bbr.idle_restart);
    assert!(path.flow.control.state.is_probe_bw());
    let state = path.flow.control.state;
    path.reach(|bbr| !bbr.idle_restart);
    assert!(path.flow.control.probe_rtt.is_expired);
    let probes = path.run_until(Duration::from_secs(4), is(State::ProbeRtt));
    assert!(!probes, "after {state:?}");
}

/// "Entering and Exiting PROBE_RTT During STARTUP".
#[test]
fn entering_and_exiting_probe_rtt_during_startup() {
    let mut path = wide();
    path.flow.application = Application::Rate(0.3 * path.link.rate);
    path.run_for(Duration::from_secs(1));
    // A longer path, so that no sample is as low as those before.
    path.link.rtt = path.link.rtt * 2;
    path.reach(is(State::ProbeRtt));
    assert!(!path.flow.control.full.is_reached);
    path.reach(|bbr| bbr.state != State::ProbeRtt);
    assert_eq!(path.flow.control.state, State::Startup);
    path.flow.application = Application::Greedy;
    path.reach(is_probe_bw);
    assert!(path.flow.control.max_bw > 0.95 * path.link.rate);
}
