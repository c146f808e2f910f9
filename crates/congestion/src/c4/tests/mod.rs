//! C4 on a model of a path.

mod cases;
mod competition;
mod machine;
mod windows;

use skywave_units::Duration;

use super::state::State;
use super::{C4, C4Config, C4Rules};
use crate::testing::path::{Path, SMSS};

/// A window that begins with as much as 10 packets of 1500 bytes.
fn c4(rules: C4Rules) -> C4 {
    C4::new(C4Config {
        rules,
        ..C4Config::new(SMSS, 15.0)
    })
}

/// A path with `mbps` megabits per second and a buffer of one bandwidth-delay product.
fn path(rules: C4Rules, mbps: f64, rtt_ms: u64) -> Path<C4> {
    Path::new(c4(rules), mbps, Duration::from_millis(rtt_ms), 1.0)
}

fn is(state: State) -> impl Fn(&C4) -> bool {
    move |c4| c4.state == state
}
