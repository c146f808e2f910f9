//! Web traffic: each file has its own connection.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use skywave_sim::Results;

use crate::support::{run_verified, table};

/// Runs two web sources over 10 Mbps with a round-trip time of 100 ms, with physics and wire
/// verified.
fn browse(transport: &str, web: &str, link: &str, stop: &str) -> Results {
    let text = format!(
        r#"
        name = "web"
        duration = "60 s"
        verify_wire = true
        nodes = ["a", "b"]

        [[links]]
        from = "a"
        to = "b"
        rate = "10 Mbps"
        delay = "50 ms"
        {link}

        [[flows]]
        name = "one"
        from = "a"
        to = "b"
        {stop}
        transport = {transport}
        source = {{ web = {{ {web} }} }}

        [[flows]]
        name = "two"
        from = "a"
        to = "b"
        {stop}
        transport = {transport}
        source = {{ web = {{ {web} }} }}
        "#
    );
    run_verified(&text)
}

/// Start, finish, size and arrived bytes of each finished file.
fn files(results: &Results) -> Vec<(f64, f64, u64, u64)> {
    let transfers = table(results, "transfers");
    let column = |name| transfers.column_by_name(name).unwrap();
    let start = column("start_s").as_primitive::<Float64Type>();
    let finish = column("finish_s").as_primitive::<Float64Type>();
    let bytes = column("bytes").as_primitive::<UInt64Type>();
    let arrived = column("arrived_bytes").as_primitive::<UInt64Type>();
    (0..transfers.num_rows())
        .filter(|&row| !finish.is_null(row))
        .map(|row| {
            assert!(!arrived.is_null(row));
            let times = (start.value(row), finish.value(row));
            (times.0, times.1, bytes.value(row), arrived.value(row))
        })
        .collect()
}

const TCP: &str = "{ tcp = {} }";
const DCCP: &str = "{ dccp = {} }";
/// Files of almost exactly 20,000 B, with a pause of almost exactly 1 s.
const EVEN: &str = "think = [{ probability = 1.0, median = \"1 s\", shape = 1e9 }], \
    size = { median = \"20 kB\", shape = 1e9 }";

#[test]
fn all_files_arrive() {
    for transport in [TCP, DCCP] {
        let results = browse(transport, "", "", "");
        let files = files(&results);
        assert!(files.len() > 20, "{}", files.len());
        for &(start, finish, bytes, arrived) in &files {
            assert!(finish > start + 0.1, "shorter than a round trip");
            assert_eq!(arrived, bytes);
        }
        let arrived: u64 = files.iter().map(|file| file.3).sum();
        let delivered: u64 = results
            .summary
            .flows
            .iter()
            .map(|flow| flow.delivered_bytes)
            .sum();
        assert!(delivered >= arrived, "past connections still count");
    }
}

/// Each connection starts with a handshake and slow start, so every file takes the same time. After
/// the handshake TCP sends 4, 8 and 8 segments. CCID 2 sends 4, 6, 9 and 1, and closes after the
/// acknowledgement of the last, which its receiver delays.
#[test]
fn each_file_begins_anew() {
    for (transport, round_trips, varies) in [(TCP, 4.0, 0.02), (DCCP, 6.0, 0.22)] {
        let files = files(&browse(transport, EVEN, "", ""));
        assert!(files.len() >= 60, "{}", files.len());
        let (start, finish, ..) = files[0];
        let first = finish - start;
        assert!(
            (round_trips..round_trips + 1.0).contains(&(first / 0.1)),
            "{transport}: {first}"
        );
        for (start, finish, bytes, _) in files {
            assert!((19_999..=20_001).contains(&bytes), "{bytes}");
            // The other flow may delay a file by a few packets, and the receiver its last
            // acknowledgement by 200 ms.
            assert!(
                (finish - start - first).abs() < varies,
                "{} {first}",
                finish - start
            );
        }
    }
}

#[test]
fn lost_data_arrive_over_tcp_and_do_not_over_dccp() {
    let lossy = "loss = { bernoulli = { probability = 0.05 } }";
    let (tcp, dccp) = (
        files(&browse(TCP, EVEN, lossy, "")),
        files(&browse(DCCP, EVEN, lossy, "")),
    );
    assert!(tcp.iter().all(|file| file.2 == file.3));
    assert!(dccp.iter().any(|file| file.3 < file.2));
    assert!(
        dccp.len() > 20,
        "the Close is retransmitted until it is answered"
    );
}

/// Every file has 20 segments and a connection of its own, so no connection has counted as much as
/// all of them together. A window of four segments makes each wait for three round trips or more.
#[test]
fn the_counts_of_past_connections_are_kept() {
    let lossy = "loss = { bernoulli = { probability = 0.1 } }";
    let results = browse("{ tcp = { receive_window = 4 } }", EVEN, lossy, "");
    for flow in &results.summary.flows {
        assert!(flow.packets_sent > 200, "{flow:?}");
        assert!(flow.bytes_sent > 200_000, "{flow:?}");
        assert!(flow.retransmissions > 20, "{flow:?}");
        assert!(flow.timeouts > 10, "{flow:?}");
        assert!(flow.receive_window_limited_s > 2.0, "{flow:?}");
        assert!(flow.delivered_packets > 200, "{flow:?}");
        assert!(flow.delivered_bytes > 200_000, "{flow:?}");
    }
}

#[test]
fn no_file_is_begun_after_the_stop() {
    for transport in [TCP, DCCP] {
        let results = browse(transport, EVEN, "", "stop = \"10.5 s\"");
        let files = files(&results);
        assert!(files.iter().all(|file| file.0 < 10.5));
        assert_eq!(files.len(), table(&results, "transfers").num_rows());
        assert!(files.len() >= 10, "{}", files.len());
    }
}

#[test]
fn a_source_has_a_stream_of_its_own() {
    let start_of = |results: &Results| files(results)[0].0;
    let (one, again) = (browse(TCP, "", "", ""), browse(DCCP, "", "", ""));
    assert!((start_of(&one) - start_of(&again)).abs() < f64::EPSILON);
}
