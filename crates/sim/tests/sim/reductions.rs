//! No response to congestion raises cwnd, whatever the control, the recovery and the queue.

use crate::support::{floats, run_verified, table};

const DROP_TAIL: &str = "drop-tail = { packets = 50 }";
/// Queues that mark if `ECN` in their specification stands for `true`.
const MANAGED: [&str; 4] = [
    "codel = { packets = 1000, ecn = ECN }",
    "fq-codel = { ecn = ECN }",
    "pie = { packets = 1000, ecn = ECN }",
    "red = { packets = 300, mean_packet = \"1500 B\", ecn = ECN }",
];
const CONTROLS: [&str; 9] = [
    "aimd", "cubic", "dctcp", "htcp", "hybla", "illinois", "reno", "vegas", "westwood",
];
const RECOVERIES: [&str; 5] = ["tahoe", "reno", "newreno", "sack", "vegas"];
/// The least ssthresh of RFC 5681, equation 4.
const LEAST_SSTHRESH: f64 = 2.0;

/// All queues, dropping.
fn queues() -> impl Iterator<Item = String> {
    let managed = MANAGED.map(|queue| queue.replace("ECN", "false"));
    managed.into_iter().chain([DROP_TAIL.to_owned()])
}

/// Runs a flow alone on a path of 10 Mbps and 60 ms, and checks each change of ssthresh.
fn only_reduces(queue: &str, transport: &str) {
    let results = run_verified(&format!(
        "name = \"reductions\"\nduration = \"20 s\"\nseed = 1\nprobes = {{ windows = true }}\n\
         [dumbbell]\npairs = 1\nrate = \"10 Mbps\"\ndelay = \"28 ms\"\nqueue = {{ {queue} }}\n\
         access_rate = \"1 Gbps\"\naccess_delays = [\"1 ms\"]\n\
         [[flows]]\nname = \"flow\"\nfrom = \"s1\"\nto = \"d1\"\ntransport = {transport}\n\
         source = {{ ftp = {{}} }}\n"
    ));
    let windows = table(&results, "windows");
    let (cwnd, ssthresh) = (
        floats(windows, "cwnd_packets"),
        floats(windows, "ssthresh_packets"),
    );
    let time = floats(windows, "time_s");
    for row in 1..windows.num_rows() {
        let [before, after] = [cwnd[row - 1], cwnd[row]];
        assert!(
            ssthresh[row] == ssthresh[row - 1] || after <= before.max(LEAST_SSTHRESH),
            "{transport} behind {queue} at {} s: {before} to {after} packets",
            time[row]
        );
    }
}

#[test]
fn tcp_never_raises_cwnd_on_a_loss() {
    for queue in queues() {
        for control in CONTROLS {
            for recovery in RECOVERIES {
                only_reduces(
                    &queue,
                    &format!(
                        "{{ tcp = {{ control = \"{control}\", recovery = \"{recovery}\" }} }}"
                    ),
                );
            }
        }
    }
}

#[test]
fn marks_never_raise_cwnd() {
    for queue in MANAGED {
        for control in CONTROLS {
            only_reduces(
                &queue.replace("ECN", "true"),
                &format!("{{ tcp = {{ control = \"{control}\", ecn = true }} }}"),
            );
        }
    }
}

/// CCID 2, whose spurious losses are undone, is left out: it halves cwnd itself (RFC 4341).
#[test]
fn controls_of_dccp_never_raise_cwnd() {
    for queue in queues() {
        for control in CONTROLS {
            only_reduces(
                &queue,
                &format!("{{ dccp = {{ ccid = 251, control = \"{control}\" }} }}"),
            );
        }
    }
}
