//! Cases of ProbeRTT.

use skywave_units::Duration;

use super::path::Application;
use super::{State, is, is_probe_bw, wide};

/// "Entering and Exiting PROBE_RTT".
#[test]
fn entering_and_exiting_probe_rtt() {
    let mut path = wide();
    path.reach(is_probe_bw);
    let stamp = path.bbr.probe_rtt.min_stamp;
    path.reach(is(State::ProbeRtt));
    assert!(path.now - stamp > Duration::from_secs(5));
    assert_eq!(path.bbr.state.cwnd_gain(), 0.5);
    let (start, round) = (path.now, path.bbr.rounds.count);
    path.reach(|bbr| bbr.state != State::ProbeRtt);
    assert!(path.now - start >= Duration::from_millis(200));
    assert!(path.bbr.rounds.count > round);
    assert_eq!(path.bbr.state, State::ProbeBwCruise);
    let acked = path.acked;
    path.run_for(Duration::from_secs(1));
    assert!(path.acked - acked > 1100, "{}", path.acked - acked);
}

/// "Skipping PROBE_RTT Due to Application-Limited Sending".
#[test]
fn skipping_probe_rtt_due_to_application_limited_sending() {
    let mut path = wide();
    path.reach(is(State::ProbeBwCruise));
    path.application = Application::Paused;
    path.run_for(Duration::from_secs(6));
    assert_eq!(path.in_flight(), 0);
    path.application = Application::Greedy;
    path.reach(|bbr| bbr.idle_restart);
    assert!(path.bbr.state.is_probe_bw());
    let state = path.bbr.state;
    path.reach(|bbr| !bbr.idle_restart);
    assert!(path.bbr.probe_rtt.is_expired);
    let probes = path.run_until(Duration::from_secs(4), is(State::ProbeRtt));
    assert!(!probes, "after {state:?}");
}

/// "Entering and Exiting PROBE_RTT During STARTUP".
#[test]
fn entering_and_exiting_probe_rtt_during_startup() {
    let mut path = wide();
    path.application = Application::Rate(0.3 * path.rate);
    path.run_for(Duration::from_secs(1));
    // A longer path, so that no sample is as low as those before.
    path.rtt = path.rtt * 2;
    path.reach(is(State::ProbeRtt));
    assert!(!path.bbr.full.is_reached);
    path.reach(|bbr| bbr.state != State::ProbeRtt);
    assert_eq!(path.bbr.state, State::Startup);
    path.application = Application::Greedy;
    path.reach(is_probe_bw);
    assert!(path.bbr.max_bw > 0.95 * path.rate);
}
