//! Prague alone on a path, compared with `windows.txt`.
//!
//! A change of behaviour shows as a difference from that table. To accept it, replace the file with
//! the output of the failing test.

use skywave_units::Duration;

use super::{STEP, prague};
use crate::Control;
use crate::testing::path::Path;

const INTERVAL: Duration = Duration::from_millis(500);
const COLUMNS: u64 = 16;

fn table() -> String {
    let mut text =
        String::from("cwnd in packets, every 500 ms, and packets acknowledged, lost and marked\n");
    for (step, mbps, rtt_ms, bdps) in [
        (Some(STEP), 10.0, 5, 2.0),
        (Some(STEP), 10.0, 20, 2.0),
        (Some(STEP), 10.0, 100, 2.0),
        (Some(STEP), 100.0, 40, 2.0),
        (None, 10.0, 20, 0.3),
        (None, 10.0, 20, 2.0),
        (None, 10.0, 100, 1.0),
    ] {
        let mut path = Path::new(prague(), mbps, Duration::from_millis(rtt_ms), bdps);
        path.link.marks_above = step;
        let windows: String = (0..COLUMNS)
            .map(|_| {
                path.run_for(INTERVAL);
                format!(" {:6.1}", path.flow.control.cwnd())
            })
            .collect();
        let queue = if step.is_some() { "marks" } else { "drops" };
        let flow = &path.flow;
        text += &format!(
            "{queue} {mbps:>4} Mbit/s, {rtt_ms:>3} ms, buffer {bdps:.1} BDP{windows} {:6} {:6} {:6}\n",
            flow.acked, flow.lost, flow.marked
        );
    }
    text
}

#[test]
fn windows_are_those_of_the_table() {
    let actual = table();
    assert!(
        actual == include_str!("windows.txt"),
        "windows.txt should be:\n{actual}"
    );
}
