//! The cases of the draft's appendix "BBR Example Test Cases", on a path of [`path`].

mod adaptation;
mod aggregation;
mod interface;
mod path;
mod probe_bw;
mod probe_rtt;
mod spurious;
mod startup;
mod windows;

use skywave_units::Duration;

use self::path::Path;
use super::Bbr;
use super::state::State;

const RTT: Duration = Duration::from_millis(40);

/// A path with 10 Mbit/s, 40 ms and a buffer that drops nothing.
fn wide() -> Path {
    Path::new(10.0, RTT, 10.0)
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
