//! Compares one flow with named drops (after Fall and Floyd, 1996) with ns-2.35's traces.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use skywave_sim::{Registry, RunOptions, Scenario, run};

use crate::ns2::path::{self, Flow};
use crate::support::{counts, floats, table, words};

/// A data packet that left its sender.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sent {
    time_s: f64,
    /// ns-2's number: for TCP the segment's (SYN is 0), for DCCP the ordinal of the data packet.
    number: u64,
}

/// The contents of a trace.
#[derive(Debug, Default)]
struct Trace {
    sent: Vec<Sent>,
    /// (time, cwnd in packets) at each change.
    cwnd: Vec<(f64, f64)>,
}

fn golden(name: &str) -> Trace {
    let mut trace = Trace::default();
    for (event, numbers) in path::golden(name) {
        match event {
            'S' => trace.sent.push(Sent {
                time_s: numbers[0],
                number: numbers[1] as u64,
            }),
            'C' => trace.cwnd.push((numbers[0], numbers[1])),
            _ => {}
        }
    }
    trace
}

fn scenario(transport: &str, source: &str, losses: &[u64]) -> Scenario {
    let flow = Flow {
        seconds: 8,
        transport,
        source,
        losses,
        probe: "windows",
    };
    flow.scenario()
}

/// Runs the scenario and returns its results as a trace. TCP's segments carry `segment` bytes.
fn ours(scenario: &Scenario, segment: u64) -> Trace {
    let results = run(
        scenario,
        &Registry::default(),
        RunOptions::default(),
        |_| true,
    )
    .unwrap();
    let packets = table(&results, "packets");
    let (events, places, kinds) = (
        words(packets, "event"),
        words(packets, "place"),
        words(packets, "kind"),
    );
    let times = floats(packets, "time_s");
    let seqs = counts(packets, "seq");
    let bytes = packets.column_by_name("bytes").unwrap();
    let bytes = bytes.as_primitive::<UInt32Type>();
    let mut trace = Trace::default();
    let mut isn = 0;
    let mut data_packets = 0;
    for row in 0..packets.num_rows() {
        if events[row] != "send" || places[row] != "flow sender" {
            continue;
        }
        let time_s = times[row];
        match kinds[row] {
            "TCP SYN" => {
                isn = seqs[row];
                trace.sent.push(Sent { time_s, number: 0 });
            }
            "TCP data" => {
                assert_eq!(u64::from(bytes.value(row)), segment + 40);
                let offset = seqs[row].wrapping_sub(isn + 1) & 0xffff_ffff;
                trace.sent.push(Sent {
                    time_s,
                    number: offset / segment + 1,
                });
            }
            "DCCP-Data" | "DCCP-DataAck" => {
                data_packets += 1;
                trace.sent.push(Sent {
                    time_s,
                    number: data_packets,
                });
            }
            _ => {}
        }
    }
    let windows = table(&results, "windows");
    let cwnd = floats(windows, "cwnd_packets").iter();
    trace.cwnd = floats(windows, "time_s")
        .iter()
        .copied()
        .zip(cwnd.copied())
        .collect();
    trace
}

/// Checks that both send the same packets in the same order, each at the same time within
/// `tolerance_s`.
#[track_caller]
fn assert_same_packets(ours: &Trace, golden: &Trace, tolerance_s: f64) {
    for (index, (our, their)) in ours.sent.iter().zip(&golden.sent).enumerate() {
        assert_eq!(
            our.number, their.number,
            "packet {index}: {our:?}, ns-2 {their:?}"
        );
        let difference = (our.time_s - their.time_s).abs();
        assert!(
            difference <= tolerance_s,
            "packet {index}: {our:?}, ns-2 {their:?}"
        );
    }
    assert_eq!(ours.sent.len(), golden.sent.len());
}

/// Checks that our cwnd equals ns-2's within `tolerance` at each of ns-2's changes. The times may
/// differ by `slack_s`.
#[track_caller]
fn assert_same_cwnd(ours: &Trace, golden: &Trace, slack_s: f64, tolerance: f64) {
    for (index, &(time, cwnd)) in golden.cwnd.iter().enumerate() {
        // Our probe records only the last of several changes by one acknowledgement.
        if golden
            .cwnd
            .get(index + 1)
            .is_some_and(|(next, _)| next - time < 1e-9)
        {
            continue;
        }
        let near = ours
            .cwnd
            .iter()
            .filter(|(at, _)| (at - time).abs() <= slack_s);
        let matches = near.clone().any(|(_, our)| (our - cwnd).abs() <= tolerance);
        assert!(
            matches,
            "at {time} s ns-2 has cwnd {cwnd}; ours {:?}",
            near.collect::<Vec<_>>()
        );
    }
}

/// The data packets dropped in each trace, by ns-2's numbers.
const DROPS: [&[u64]; 5] = [&[], &[14], &[14, 28], &[14, 26, 28], &[14, 24, 26, 28]];

/// Sets of traces: the folder, TCP's parameters for acknowledgements, and the end of the comparison
/// in seconds. With delayed acknowledgements, from 4.2 s on (long after the last loss) segments
/// arrive at the instant at which the delayed-ACK timer expires; rounding in ns-2 decides which
/// event comes first.
const SETS: [(&str, &str, f64); 2] = [
    ("canonical", "", 8.0),
    ("canonical_delack", "delayed_ack = \"100 ms\"", 4.0),
];

impl Trace {
    fn cut(&mut self, until_s: f64) {
        self.sent.retain(|sent| sent.time_s <= until_s);
        self.cwnd.retain(|&(time_s, _)| time_s <= until_s);
    }
}

/// ns-2's `boot_time_` in these runs, the second number that its generator draws.
const TICK_PHASE: &str = "5.558807 ms";

fn tcp(spec: &str, window: u32, tick_phase: &str, segment: u64, drops: &[u64]) -> Scenario {
    let transport = format!(
        "tcp = {{ profile = \"ns2\", segment = \"{segment} B\", receive_window = {window}, \
         initial_ssthresh = {window}, limited_transmit = false, tick_phase = \"{tick_phase}\", \
         {spec} }}"
    );
    // The SYN is the first packet to arrive at the bottleneck.
    let losses: Vec<u64> = drops.iter().map(|number| number + 1).collect();
    scenario(&transport, "ftp = {}", &losses)
}

/// Compares runs with 0 to 4 losses, with and without delayed acknowledgements. NewReno's traces
/// also serve where an agent would send the same: without losses, and for Reno with delayed
/// acknowledgements, where no partial acknowledgement occurs.
#[track_caller]
fn assert_tcp_sends_what_ns2_sends(spec: &str, agent: &str, tolerance_s: f64) {
    for (folder, acks, until_s) in SETS {
        for (index, drops) in DROPS.iter().enumerate() {
            let is_newreno = index == 0 || (agent == "Reno" && folder != "canonical");
            let agent = if is_newreno { "Newreno" } else { agent };
            let path = format!("{folder}/{agent}_drop{index}.csv");
            println!("{path}");
            let mut golden = golden(&path);
            let mut ours = ours(
                &tcp(&format!("{spec}, {acks}"), 28, TICK_PHASE, 1000, drops),
                1000,
            );
            golden.cut(until_s);
            ours.cut(until_s);
            assert_same_packets(&ours, &golden, tolerance_s);
            assert_same_cwnd(&ours, &golden, tolerance_s, 6e-4);
        }
    }
}

#[test]
fn tahoe_sends_what_ns2_sends() {
    assert_tcp_sends_what_ns2_sends("recovery = \"tahoe\"", "Tahoe", 2e-6);
}

#[test]
fn reno_sends_what_ns2_sends() {
    assert_tcp_sends_what_ns2_sends("recovery = \"reno\"", "Reno", 2e-6);
}

#[test]
fn newreno_sends_what_ns2_sends() {
    assert_tcp_sends_what_ns2_sends("recovery = \"newreno\"", "Newreno", 2e-6);
}

/// The tolerance is wider because ns-2 counts only the blocks of a SACK option: ours is 4 bytes
/// longer.
#[test]
fn sack_sends_what_ns2_sends() {
    assert_tcp_sends_what_ns2_sends("recovery = \"sack\"", "Sack1", 2e-4);
}

/// More traces of Vegas: name, receive window and drops. With a window of 4, no duplicate follows
/// the third one, so ns-2 never deflates cwnd. The many drops with a window of 20 exercise ns-2's
/// table of sending times, and segments that it sends before their turn.
const VEGAS: [(&str, u32, &[u64]); 4] = [
    ("window4_drop1", 4, &[14]),
    ("window4_drop2", 4, &[14, 28]),
    (
        "window20_drop12",
        20,
        &[30, 31, 60, 61, 62, 100, 130, 131, 132, 133, 134, 135],
    ),
    (
        "window20_drop13",
        20,
        &[40, 41, 42, 43, 90, 120, 121, 140, 180, 185, 190, 195, 200],
    ),
];

/// In ns-2's Vegas every packet has 1000 bytes including headers, even the SYN. Everything after
/// the SYN is therefore later by the transmission time of 960 bytes on both links.
#[track_caller]
fn assert_vegas_sends_what_ns2_sends(
    path: &str,
    acks: &str,
    window: u32,
    drops: &[u64],
    until_s: f64,
) {
    const SYN_LATER_S: f64 = 960.0 * 8.0 * (1.0 / 8e6 + 1.0 / 0.8e6);
    /// With this phase every round-trip time measures as many ticks as in ns-2, even that of our
    /// shorter SYN.
    const TICK_PHASE: &str = "9.7 ms";
    println!("{path}");
    let mut golden = golden(path);
    for sent in &mut golden.sent[1..] {
        sent.time_s -= SYN_LATER_S;
    }
    for (time_s, _) in &mut golden.cwnd {
        *time_s -= SYN_LATER_S;
    }
    let spec = format!("control = \"vegas\", {acks}");
    let mut ours = ours(&tcp(&spec, window, TICK_PHASE, 960, drops), 960);
    golden.cut(until_s - SYN_LATER_S);
    ours.cut(until_s - SYN_LATER_S);
    assert_same_packets(&ours, &golden, 2e-6);
    assert_same_cwnd(&ours, &golden, 2e-6, 6e-4);
}

#[test]
fn vegas_sends_what_ns2_sends() {
    for (folder, acks, until_s) in SETS {
        for (index, drops) in DROPS.iter().enumerate() {
            let path = format!("{folder}/Vegas_drop{index}.csv");
            assert_vegas_sends_what_ns2_sends(&path, acks, 28, drops, until_s);
        }
    }
}

#[test]
fn vegas_forgets_what_ns2_forgets() {
    for (name, window, drops) in VEGAS {
        let path = format!("canonical_vegas/{name}.csv");
        assert_vegas_sends_what_ns2_sends(&path, "", window, drops, 8.0);
    }
}

#[test]
fn ccid2_sends_what_ns2_sends() {
    let transport = r#"dccp = { profile = "ns2", initial_ssthresh = 20, ecn = false }"#;
    for (index, drops) in DROPS.iter().enumerate() {
        // Request and Ack arrive at the bottleneck before the first data packet.
        let losses: Vec<u64> = drops.iter().map(|number| number + 2).collect();
        let scenario = scenario(transport, "ftp = { datagram = \"1000 B\" }", &losses);
        let ours = ours(&scenario, 0);
        let golden = golden(&format!("canonical/dccp2_drop{index}.csv"));
        assert_same_packets(&ours, &golden, 2e-4);
    }
}
