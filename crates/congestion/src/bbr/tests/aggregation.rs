//! Cases of links with aggregation.

use skywave_units::Duration;

use super::{RTT, State, assert_within, is, wide};

/// "Achieving Expected STARTUP Bandwidth on a Link With Aggregation".
#[test]
fn achieving_expected_startup_bandwidth_on_a_link_with_aggregation() {
    let mut path = wide();
    path.link.aggregation = Some(RTT);
    path.reach(|bbr| bbr.full.is_reached);
    let bbr = &path.flow.control;
    assert_within(bbr.max_bw, path.link.rate, 0.05);
    assert!(bbr.extra_acked.value > 0.0);
    assert!(bbr.extra_acked.value <= bbr.cwnd);
    assert!(bbr.cwnd > 2.0 * path.link.bdp(), "{}", bbr.cwnd);
}

/// "Achieving Expected Cruise Bandwidth on a Link With Aggregation".
#[test]
fn achieving_expected_cruise_bandwidth_on_a_link_with_aggregation() {
    let mut path = wide();
    path.reach(is(State::ProbeBwCruise));
    path.link.aggregation = Some(RTT);
    path.run_for(RTT * 12);
    let bbr = &path.flow.control;
    assert!(bbr.state.is_probe_bw());
    // What arrives together took the bottleneck one interval.
    let burst = path.link.rate * RTT.as_secs_f64();
    assert_within(bbr.extra_acked.value, burst, 0.3);
    assert!(bbr.cwnd > 2.0 * bbr.bdp(), "{} {}", bbr.cwnd, bbr.bdp());
    let acked = path.flow.acked;
    path.run_for(Duration::from_secs(2));
    assert_within((path.flow.acked - acked) as f64, 2500.0, 0.05);
}
