//! C4 alone on a path, compared with `windows.txt`.
//!
//! A change of behaviour shows as a difference from that table. To accept it, replace the file with
//! the output of the failing test.

use skywave_units::Duration;

use super::{C4Rules, c4};
use crate::Control;
use crate::testing::path::Path;

const STEP: Duration = Duration::from_millis(500);
const COLUMNS: u64 = 16;

fn table() -> String {
    let mut text =
        String::from("cwnd in packets, every 500 ms, and packets acknowledged and lost\n");
    for (name, rules) in [
        ("spec", C4Rules::Specification),
        ("picoquic", C4Rules::Picoquic),
    ] {
        for (mbps, rtt_ms, bdps) in [
            (10.0, 20, 0.3),
            (10.0, 20, 2.0),
            (10.0, 100, 0.1),
            (10.0, 100, 1.0),
            (100.0, 40, 0.5),
        ] {
            let mut path = Path::new(c4(rules), mbps, Duration::from_millis(rtt_ms), bdps);
            let windows: String = (0..COLUMNS)
                .map(|_| {
                    path.run_for(STEP);
                    format!(" {:6.1}", path.flow.control.cwnd())
                })
                .collect();
            let (acked, lost) = (path.flow.acked, path.flow.lost);
            text += &format!(
                "{name:8} {mbps:>4} Mbit/s, {rtt_ms:>3} ms, buffer {bdps:.1} BDP{windows} {acked:6} {lost:6}\n"
            );
        }
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
