//! What TCP achieves on paths where its rules matter: large segments, long recoveries, satellites.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use skywave_sim::{FlowSummary, Results};

use crate::support::{counts, floats, run_verified, table, words};

/// Runs a TCP alone on a link for `seconds`.
fn alone(rate: &str, delay: &str, packets: u32, tcp: &str, seconds: u32) -> Results {
    run_verified(&format!(
        "name = \"alone\"\nduration = \"{seconds} s\"\nnodes = [\"a\", \"b\"]\n\
         [[links]]\nfrom = \"a\"\nto = \"b\"\nrate = \"{rate}\"\ndelay = \"{delay}\"\n\
         queue = {{ drop-tail = {{ packets = {packets} }} }}\n\
         [[flows]]\nname = \"flow\"\nfrom = \"a\"\nto = \"b\"\ntransport = {{ tcp = {{ {tcp} }} }}\n\
         source = {{ ftp = {{}} }}\n"
    ))
}

fn flow(results: &Results) -> &FlowSummary {
    &results.summary.flows[0]
}

/// A window that was counted in segments and limited in bytes stayed at 64 KiB.
#[test]
fn the_autotuned_window_follows_segments_of_any_size() {
    for (rate, delay, least) in [("100 Mbps", "20 ms", 75e6), ("1 Gbps", "1 ms", 850e6)] {
        for segment in [1460, 6400, 6600, 8960, 16_000, 60_000, 64_495] {
            let tcp = format!("segment = \"{segment} B\"");
            let goodput = flow(&alone(rate, delay, 500, &tcp, 10)).goodput_bps;
            assert!(
                goodput > least,
                "{rate}, segments of {segment} B: {goodput} bps"
            );
        }
    }
}

/// CUBIC leaves a recovery with segments under way that it has retransmitted above RecoveryPoint.
#[test]
fn sack_sends_what_is_lost_again_once() {
    for control in ["cubic", "reno"] {
        for segment in [1000, 1460] {
            for (delay, packets) in [("50 ms", 1500), ("20 ms", 30)] {
                let tcp = format!(
                    "control = \"{control}\", recovery = \"sack\", segment = \"{segment} B\""
                );
                let results = alone("100 Mbps", delay, packets, &tcp, 12);
                let flow = flow(&results);
                assert_eq!(
                    (flow.retransmissions, flow.timeouts),
                    (flow.drops, 0),
                    "{control}, {delay}, segments of {segment} B"
                );
            }
        }
    }
}

/// After the overshoot of slow start and the timeout that follows, on a path of 600 ms.
#[test]
fn a_timeout_that_keeps_sacks_sends_again_only_what_is_missing() {
    let [kept, forgotten] = ["true", "false"].map(|keep| {
        let tcp = format!("control = \"cubic\", recovery = \"sack\", keep_sacks = {keep}");
        alone("20 Mbps", "300 ms", 1200, &tcp, 60)
    });
    let [again, again_forgotten] = [&kept, &forgotten].map(|run| flow(run).retransmissions);
    assert!(flow(&kept).timeouts > 0, "the test needs a timeout");
    assert!(again < again_forgotten, "{again}, {again_forgotten}");
    let slow = |results: &Results| {
        let goodput = floats(table(results, "flows"), "goodput_bps");
        goodput[5..].iter().filter(|&&bps| bps < 3e6).count()
    };
    assert!(slow(&kept) < slow(&forgotten));
}

/// RFC 3168 section 6.1.2: a window of two segments is halved too. Twelve flows whose windows are
/// pinned at two would fill the queue with 24 segments, or 0.67 s.
#[test]
fn marks_keep_the_queue_short_where_each_flow_has_a_segment() {
    for control in ["reno", "aimd", "vegas", "cubic"] {
        let flows: String = (1..=12)
            .map(|pair| {
                format!(
                    "[[flows]]\nname = \"flow{pair}\"\nfrom = \"s{pair}\"\nto = \"d{pair}\"\n\
                     transport = {{ tcp = {{ control = \"{control}\", ecn = true }} }}\n\
                     source = {{ ftp = {{}} }}\n"
                )
            })
            .collect();
        let results = run_verified(&format!(
            "name = \"marks\"\nduration = \"60 s\"\nseed = 1\n[dumbbell]\npairs = 12\nrate = \"300 kbps\"\ndelay = \"5 ms\"\n\
             queue = {{ codel = {{ packets = 1000, ecn = true }} }}\n\
             access_rate = \"100 Mbps\"\naccess_delays = [\"1 ms\"]\n{flows}"
        ));
        let links = table(&results, "links");
        let (names, bytes) = (words(links, "link"), counts(links, "queue_bytes"));
        let late: Vec<f64> = (0..links.num_rows())
            .filter(|&row| names[row] == "r1->r2")
            .map(|row| bytes[row] as f64 * 8.0 / 300e3)
            .skip(20)
            .collect();
        let mean = late.iter().sum::<f64>() / late.len() as f64;
        assert!(mean < 0.15, "{control}: {mean} s of queueing delay");
    }
}

/// Without a loss, nothing is in flight that the window does not permit, and slow start doubles it.
#[test]
fn the_window_of_samples_permits_what_is_in_flight() {
    let results = alone("10 Mbps", "50 ms", 500, "", 1);
    let samples = table(&results, "flows");
    let windows = floats(samples, "cwnd_packets");
    let pipes = samples.column_by_name("pipe_packets").unwrap();
    let pipes = pipes.as_primitive::<UInt32Type>().values();
    for (cwnd, &pipe) in windows.iter().zip(pipes) {
        assert!(f64::from(pipe) <= cwnd.ceil(), "{pipe} of {cwnd}");
    }
    assert!(windows.last().unwrap() > &20.0, "{windows:?}");
}

/// RFC 7661 section 1: "To not change the behaviour of a TCP sender that performs bulk transfers that
/// fully use the cwnd", in slow start and afterwards, with losses, for several growth laws.
#[test]
fn validation_of_cwnd_does_not_change_a_bulk_transfer() {
    for control in ["reno", "cubic", "westwood"] {
        for profile in ["rfc", "linux"] {
            for (delay, packets) in [("50 ms", 60), ("10 ms", 20)] {
                let [validated, other] = ["true", "false"].map(|validation| {
                    let tcp = format!(
                        "control = \"{control}\", profile = \"{profile}\", \
                         cwnd_validation = {validation}"
                    );
                    alone("20 Mbps", delay, packets, &tcp, 30)
                });
                assert!(flow(&other).drops > 0, "{control} {profile} {delay}");
                assert_eq!(
                    validated.fingerprint, other.fingerprint,
                    "{control} {profile} {delay}"
                );
            }
        }
    }
}
