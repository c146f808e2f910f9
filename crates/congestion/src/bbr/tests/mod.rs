//! The cases of the draft's appendix "BBR Example Test Cases", on a model of a path.

mod adaptation;
mod aggregation;
mod interface;
mod probe_bw;
mod probe_rtt;
mod spurious;
mod startup;
mod windows;

use skywave_units::Duration;

use super::state::State;
use super::{Bbr, BbrConfig};
use crate::testing::path::{Path, SMSS};

type BbrPath = Path<Bbr>;

const RTT: Duration = Duration::from_millis(40);

/// A path with `mbps` megabits per second and a buffer of `bdps` bandwidth-delay products.
fn path(mbps: f64, rtt: Duration, bdps: f64) -> BbrPath {
    Path::new(Bbr::new(BbrConfig::new(SMSS, 10.0)), mbps, rtt, bdps)
}

/// A path with 10 Mbit/s, 40 ms and a buffer that drops nothing.
fn wide() -> BbrPath {
    path(10.0, RTT, 10.0)
}

fn is(state: State) -> impl Fn(&Bbr) -> bool {
    move |bbr| bbr.state == state
}

fn is_probe_bw(bbr: &Bbr) -> bool {
    bbr.state.is_probe_bw()
}

#[track_caller]
fn assert_within(actual: f64, expected: f64, fraction: f64) {
    assert!(
        (actual - expected).abs() <= fraction * expected,
        "{actual}, not {expected}"
    );
}
