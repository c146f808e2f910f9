//! Cases of paths whose bandwidth changes or is policed.

use skywave_units::Duration;

use super::super::state::AckPhase;
use super::{RTT, State, assert_within, is, is_probe_bw, path};
use crate::testing::bottleneck::Policer;

/// "Increasing Bandwidth 10x and Ensuring Full Bandwidth is Reached".
#[test]
fn increasing_bandwidth_10x_and_ensuring_full_bandwidth_is_reached() {
    let mut path = path(10.0, RTT, 1.0);
    path.reach(is(State::ProbeBwCruise));
    path.flow.control.inflight_longterm = path
        .flow
        .control
        .inflight_longterm
        .min(1.25 * path.link.bdp());
    path.change_rate(10.0);
    path.reach(is(State::ProbeBwUp));
    let (start, rate) = (path.flow.control.rounds.count, path.link.rate);
    let mut limits = vec![path.flow.control.inflight_longterm];
    for _ in 0..5 {
        let slope = path.flow.control.probe_bw.up_rounds;
        path.reach(|bbr| bbr.probe_bw.up_rounds > slope);
        assert_eq!(path.flow.control.state, State::ProbeBwUp);
        limits.push(path.flow.control.inflight_longterm);
    }
    let steps: Vec<f64> = limits
        .windows(2)
        .map(|two| (two[1] - two[0]) / 1000.0)
        .collect();
    // An increase counts for the round in which enough has been acknowledged for all of it.
    for (step, expected) in steps.iter().zip([1.0, 2.0, 4.0, 8.0, 16.0]) {
        assert!((step - expected).abs() <= 1.0, "{steps:?}");
    }
    path.reach(|bbr| bbr.max_bw > 0.95 * rate);
    let rounds = path.flow.control.rounds.count - start;
    // O(log(BDP)): the BDP is 500 packets, about 2^9, and a raised limit shows in samples only a round
    // later.
    assert!(rounds <= 3 * 9, "{rounds} rounds");
}

/// "Decreasing Bandwidth 10x and Ensuring Max Bandwidth Adapts Down".
#[test]
fn decreasing_bandwidth_10x_and_ensuring_max_bandwidth_adapts_down() {
    let mut path = path(100.0, RTT, 1.0);
    // The cycle begins one round after ProbeBW_DOWN. Samples of the change belong to one cycle.
    path.reach(|bbr| bbr.state == State::ProbeBwCruise && bbr.probe_bw.ack_phase == AckPhase::Init);
    path.change_rate(0.1);
    let (rate, cycle) = (path.link.rate, path.flow.control.cycle_count);
    let quick = path.run_until(Duration::from_secs(2), |bbr| bbr.short_term.bw < 2.0 * rate);
    assert!(quick, "{}", path.flow.control.short_term.bw);
    assert!(path.flow.control.max_bw > 5.0 * path.link.rate);
    path.reach(|bbr| bbr.cycle_count >= cycle + 2);
    path.reach(|bbr| bbr.rounds.start);
    path.run_for(RTT * 4);
    assert_within(path.flow.control.max_bw, path.link.rate, 0.1);
}

/// "Handling Token Bucket Policers".
#[test]
fn handling_token_bucket_policers() {
    let mut path = path(100.0, RTT, 1.0);
    path.link.policer = Some(Policer::new(1.25e6, 1e6));
    path.reach(is_probe_bw);
    path.reach(|bbr| bbr.short_term.bw.is_finite() && bbr.short_term.inflight.is_finite());
    path.run_for(Duration::from_secs(20));
    let (acked, lost) = (path.flow.acked, path.flow.lost);
    path.run_for(Duration::from_secs(20));
    let (acked, lost) = (path.flow.acked - acked, path.flow.lost - lost);
    assert!(acked as f64 > 0.75 * 20.0 * 1250.0, "{acked}");
    assert!((lost as f64) < 0.05 * acked as f64, "{lost} of {acked}");
}
