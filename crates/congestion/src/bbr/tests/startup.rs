//! Cases of Startup and Drain.

use skywave_units::Duration;

use super::{RTT, State, assert_within, is, is_probe_bw, path, wide};
use crate::testing::flow::Application;

/// "Exiting STARTUP on Bandwidth Plateau".
#[test]
fn exiting_startup_on_bandwidth_plateau() {
    let mut path = wide();
    path.reach(|bbr| bbr.full.count == 2);
    assert_eq!(path.flow.control.state, State::Startup);
    assert!(!path.flow.control.full.is_reached && !path.flow.control.full.is_now);
    path.reach(|bbr| bbr.full.count == 3);
    assert!(path.flow.control.full.is_reached && path.flow.control.full.is_now);
    assert_eq!(path.flow.control.state, State::Drain);
    assert_within(path.flow.control.max_bw, path.link.rate, 0.02);
}

/// "Exiting STARTUP on Loss When Application-Limited".
#[test]
fn exiting_startup_on_loss_when_application_limited() {
    let mut path = wide();
    path.flow.application = Application::Rate(0.6 * path.link.rate);
    path.run_for(Duration::from_secs(1));
    assert_eq!(path.flow.control.state, State::Startup);
    assert!(path.flow.control.rs.is_app_limited);
    // About 30 packets per round trip, so more than six ranges.
    path.link.lose_every = Some(4);
    path.reach(|bbr| bbr.state != State::Startup);
    // With so little in flight, Drain ends at the same acknowledgement.
    assert!(is_probe_bw(&path.flow.control));
    assert_eq!(
        path.flow.control.drain_start_round,
        path.flow.control.rounds.count
    );
    assert_eq!(path.flow.control.undo.state, Some(State::Startup));
    assert!(path.flow.control.rs.is_app_limited);
    assert!(path.flow.control.full.is_now && path.flow.control.full.is_reached);
    assert!(path.flow.control.full.count < 3);
    assert!(path.flow.control.inflight_longterm.is_finite());
}

/// "Exiting DRAIN Based on Inflight".
#[test]
fn exiting_drain_based_on_inflight() {
    let mut path = wide();
    path.reach(is(State::Drain));
    assert_eq!(path.flow.control.state.pacing_gain(), 0.5);
    let start = path.flow.control.rounds.count;
    path.reach(|bbr| bbr.state != State::Drain);
    let bbr = &path.flow.control;
    assert!(is_probe_bw(bbr));
    assert!(bbr.log.in_flight <= bbr.inflight(bbr.bw, 1.0));
    assert!(bbr.rounds.count <= start + 3);
}

/// "Exiting DRAIN Based on Time". A tenth less bandwidth does not keep a flow that paces at half of
/// it from draining its queue within three rounds, so here the bandwidth falls to a third.
#[test]
fn exiting_drain_based_on_time() {
    let mut path = wide();
    path.reach(is(State::Drain));
    path.change_rate(0.3);
    let start = path.flow.control.drain_start_round;
    assert_eq!(path.flow.control.rounds.count, start);
    path.reach(|bbr| bbr.state != State::Drain);
    let bbr = &path.flow.control;
    assert!(is_probe_bw(bbr));
    assert_eq!(bbr.rounds.count, start + 4);
    assert!(bbr.log.in_flight > bbr.inflight(bbr.bw, 1.0));
}

/// "Never Exiting PROBE_UP (or STARTUP) When Application-Limited With No Loss", in Startup.
#[test]
fn never_exiting_startup_when_application_limited_with_no_loss() {
    let mut path = wide();
    path.flow.application = Application::Rate(0.3 * path.link.rate);
    let left = path.run_until(Duration::from_secs(60), |bbr| {
        bbr.state != State::Startup && bbr.state != State::ProbeRtt
    });
    assert!(!left, "{:?}", path.flow.control.state);
    assert!(path.flow.control.rounds.count > 500);
}

/// "Correctly Managing Sub-Packet BDPs".
#[test]
fn correctly_managing_sub_packet_bdps() {
    // A packet takes 100 ms, ten round-trip times.
    let mut path = path(0.08, Duration::from_millis(10), 30.0);
    assert!(path.link.bdp() < 1000.0);
    path.reach(is_probe_bw);
    path.run_for(Duration::from_secs(10));
    let acked = path.flow.acked;
    let low = path.run_until(Duration::from_secs(60), |bbr| bbr.cwnd < 4000.0);
    assert!(!low, "cwnd {}", path.flow.control.cwnd);
    assert_within(path.flow.control.max_bw, path.link.rate, 0.02);
    assert_within((path.flow.acked - acked) as f64, 600.0, 0.1);
    assert!(path.flow.control.pacing_rate <= 1.25 * path.link.rate);
}

/// A restart without losses in between probes at the initial rate again, not below it.
#[test]
fn the_first_round_trip_time_sets_the_pacing_rate() {
    let mut path = wide();
    assert_eq!(path.flow.control.pacing_rate, 2.77 * 10_000.0 / 1e-3);
    path.reach(|bbr| bbr.has_rtt);
    assert_within(
        path.flow.control.pacing_rate,
        2.77 * 10_000.0 / RTT.as_secs_f64(),
        0.1,
    );
}
