//! The requirements of RFC 9331 section 4.3 on a path whose queue marks above a step.

use skywave_units::Duration;

use super::{Prague, PragueConfig, SMSS, STEP, l4s_path, prague};
use crate::testing::bottleneck::Bottleneck;
use crate::testing::competition::Competition;
use crate::testing::path::Path;
use crate::{Aimd, AimdConfig, AnyControl, Control};

const SECOND: Duration = Duration::from_secs(1);

/// "Motivation": a short queue and a full link.
#[test]
fn the_queue_is_short_and_the_link_is_full() {
    for rtt_ms in [10, 40] {
        let mut path = l4s_path(50.0, Duration::from_millis(rtt_ms));
        path.run_for(SECOND * 20);
        let acked = path.flow.acked;
        path.run_for(SECOND * 5);
        let used = (path.flow.acked - acked) as f64 * f64::from(SMSS) / (5.0 * path.link.rate);
        assert!(used > 0.98, "{used} at {rtt_ms} ms");
        let queue = path.flow.control.srtt.unwrap() - path.link.rtt.as_secs_f64();
        assert!(queue < 2e-3, "{queue} s at {rtt_ms} ms");
        assert_eq!(path.flow.lost, 0);
    }
}

/// The condition of a scalable control: the number of marks per round trip does not depend on the
/// rate. "DCTCP and Prague are designed to induce an average of 2 congestion marks per RTT in steady
/// state", where cwnd is "proportional to (1-p)/p".
#[test]
fn two_marks_per_round_trip_keep_any_window() {
    for every in [10, 40, 160] {
        let mut path = l4s_path(1000.0, Duration::from_millis(30));
        path.link.mark_every = Some(every);
        path.run_for(SECOND * 20);
        let p = 1.0 / every as f64;
        let expected = 2.0 * (1.0 - p) / p;
        // The CWR state ends between two marks, so a decrease comes a little later than a round.
        let ratio = path.flow.control.window / expected;
        assert!((0.95..1.4).contains(&ratio), "{ratio} with p = {p}");
    }
}

/// Requirement 4, behind a step, which synchronizes flows and so favours short round-trip times
/// ("Further Reduced RTT-Dependence").
#[test]
fn a_step_favours_short_round_trip_times_a_little() {
    let ratio = |transition_rounds| {
        let mut link = Bottleneck::new(40.0, Duration::from_millis(5), 20.0);
        link.marks_above = Some(STEP);
        let control = || {
            AnyControl::new(Prague::new(PragueConfig {
                transition_rounds,
                ..PragueConfig::new(SMSS, 10.0)
            }))
        };
        let mut both = Competition::new(link);
        both.add(Duration::ZERO, control());
        both.add(Duration::ZERO, control());
        both.flows[1].1.extra_rtt = Duration::from_millis(20);
        both.run_for(SECOND * 20);
        let before = [0, 1].map(|index| both.flows[index].1.acked);
        both.run_for(SECOND * 20);
        let acked = [0, 1].map(|index| both.flows[index].1.acked - before[index]);
        acked[0] as f64 / acked[1] as f64
    };
    let (dependent, independent) = (ratio(u32::MAX), ratio(0));
    assert!(dependent > 5.0, "{dependent}");
    assert!((0.5..2.5).contains(&independent), "{independent}");
}

/// Requirement 4: flows that see the same marks have the same rate, if their round-trip times are at
/// most 25 ms. Those of other controls differ as much as their round-trip times.
#[test]
fn rates_do_not_depend_on_short_round_trip_times() {
    let rate = |rtt_ms, transition_rounds| {
        let control = Prague::new(PragueConfig {
            transition_rounds,
            ..PragueConfig::new(SMSS, 10.0)
        });
        let mut path = Path::new(control, 1000.0, Duration::from_millis(rtt_ms), 1.0);
        path.link.mark_every = Some(40);
        path.run_for(SECOND * 20);
        let acked = path.flow.acked;
        path.run_for(SECOND * 20);
        (path.flow.acked - acked) as f64
    };
    for (transition_rounds, least, most) in [(0, 0.8, 1.25), (u32::MAX, 4.5, 5.5)] {
        let ratio = rate(5, transition_rounds) / rate(25, transition_rounds);
        assert!((least..most).contains(&ratio), "{ratio}");
    }
}

/// Requirement 2: losses are responded to as Reno does. Both share a queue that only drops.
#[test]
fn it_coexists_with_reno_where_nothing_marks() {
    let mut both = Competition::new(Bottleneck::new(10.0, Duration::from_millis(40), 1.0));
    both.add(Duration::ZERO, AnyControl::new(prague()));
    both.add(Duration::ZERO, Aimd::new(AimdConfig::rfc5681(SMSS)).into());
    both.run_for(SECOND * 60);
    let acked = [0, 1].map(|index| both.flows[index].1.acked as f64);
    let ratio = acked[0] / acked[1];
    assert!((0.5..2.0).contains(&ratio), "{ratio}");
}

/// "Scaling Down to Fractional Windows": when every packet is marked, pacing alone reduces the rate,
/// to 100 kbps.
#[test]
fn a_window_below_a_packet_paces() {
    let mut path = l4s_path(10.0, Duration::from_millis(20));
    path.link.mark_every = Some(1);
    path.run_for(SECOND * 10);
    assert_eq!(path.flow.control.cwnd(), 2.0);
    let window = path.flow.control.window;
    assert!((0.2..0.4).contains(&window), "{window}");
    let acked = path.flow.acked;
    path.run_for(SECOND * 10);
    let rate = (path.flow.acked - acked) as f64 * 800.0;
    assert!((95e3..115e3).contains(&rate), "{rate}");
}
