//! The cases of draft-huitema-ccwg-c4-test (19 October 2025) with two flows, sections 2.4 to 2.6.
//!
//! Each gives the time within which the main flow must end its download while another, that has
//! more to send, shares the bottleneck. Those over bad Wi-Fi are left out (see `cases`).

use skywave_units::Duration;

use super::{C4Rules, c4};
use crate::testing::bottleneck::Bottleneck;
use crate::testing::competition::Competition;
use crate::testing::path::SMSS;
use crate::{AnyControl, Bbr, BbrConfig, Cubic, CubicConfig};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn main_flow() -> AnyControl {
    AnyControl::new(c4(C4Rules::Specification))
}

fn cubic() -> AnyControl {
    AnyControl::new(Cubic::new(CubicConfig {
        initial_cwnd: 15.0,
        ..CubicConfig::rfc9438(SMSS)
    }))
}

fn bbr() -> AnyControl {
    AnyControl::new(Bbr::new(BbrConfig::new(SMSS, 15.0)))
}

/// Megabytes of the main flow, which starts after `main_delay`, and of the other.
struct Case {
    main: u64,
    other: u64,
    main_delay: Duration,
    other_delay: Duration,
}

const SHORT: Case = Case {
    main: 5,
    other: 10,
    main_delay: ms(0),
    other_delay: ms(0),
};
const LONG: Case = Case {
    main: 20,
    other: 30,
    main_delay: ms(0),
    other_delay: ms(0),
};
const LONG_LAST: Case = Case {
    main: 10,
    other: 15,
    main_delay: ms(0),
    other_delay: ms(1000),
};

#[track_caller]
fn assert_downloads(case: &Case, mbps: f64, rtt_ms: u64, other: AnyControl, most: Duration) {
    let link = Bottleneck::new(mbps, ms(rtt_ms), 1.0);
    let mut both = Competition::new(link);
    both.add(case.main_delay, main_flow());
    both.add(case.other_delay, other);
    let took = both.download(case.main, case.other);
    assert!(took < most, "{} MB take {took}, not {most}", case.main);
}

#[test]
fn two_short_c4_simultaneous_connections() {
    assert_downloads(&SHORT, 20.0, 80, main_flow(), ms(5750));
}

/// The draft's limit is 6.65 s.
#[test]
fn short_background_c4_connection_first() {
    let case = Case {
        main_delay: ms(500),
        ..SHORT
    };
    assert_downloads(&case, 20.0, 80, main_flow(), ms(7300));
}

#[test]
fn short_background_c4_connection_last() {
    let case = Case {
        main: 10,
        other: 20,
        other_delay: ms(500),
        ..SHORT
    };
    assert_downloads(&case, 50.0, 30, main_flow(), ms(3600));
}

#[test]
fn two_long_c4_connections() {
    assert_downloads(&LONG, 20.0, 80, main_flow(), ms(22_400));
}

#[test]
fn long_background_c4_connection_last() {
    assert_downloads(&LONG_LAST, 10.0, 70, main_flow(), ms(22_000));
}

/// The draft's limit is 6.7 s.
#[test]
fn two_short_c4_and_cubic_connections() {
    assert_downloads(&SHORT, 20.0, 80, cubic(), ms(7200));
}

#[test]
fn two_long_c4_and_cubic_connections() {
    assert_downloads(&LONG, 20.0, 80, cubic(), ms(22_200));
}

#[test]
fn long_cubic_background_connection_last() {
    assert_downloads(&LONG_LAST, 10.0, 70, cubic(), ms(22_000));
}

/// The draft's limit is 6.7 s.
#[test]
fn two_short_c4_and_bbr_connections() {
    assert_downloads(&SHORT, 20.0, 80, bbr(), ms(7100));
}

#[test]
fn two_long_c4_and_bbr_connections() {
    assert_downloads(&LONG, 20.0, 80, bbr(), ms(23_000));
}

#[test]
fn long_bbr_background_connection_last() {
    assert_downloads(&LONG_LAST, 10.0, 70, bbr(), ms(23_000));
}
