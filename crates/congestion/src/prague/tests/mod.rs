//! Prague alone and in company.

mod l4s;
mod laws;
mod windows;

use skywave_units::Duration;

use super::{Prague, PragueConfig};
use crate::testing::path::{Path, SMSS};

/// The step of an L4S queue (RFC 9331 section 5.2: "of the order of a millisecond").
const STEP: Duration = Duration::from_millis(1);

fn prague() -> Prague {
    Prague::new(PragueConfig::new(SMSS, 10.0))
}

/// A path with `mbps` megabits per second that marks what waits longer than [`STEP`].
fn l4s_path(mbps: f64, rtt: Duration) -> Path<Prague> {
    let mut path = Path::new(prague(), mbps, rtt, 10.0);
    path.link.marks_above = Some(STEP);
    path
}
