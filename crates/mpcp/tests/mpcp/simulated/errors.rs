//! Scenarios with errors about load factors, and their messages.

use skywave_sim::{Registry, Scenario};

const GOOD: &str = r#"
    name = "two hosts"
    duration = "10 s"
    nodes = ["a", "b"]
    probes = { interval = "1 ms", links = ["a->b"] }

    [[links]]
    from = "a"
    to = "b"
    rate = "1 Mbps"
    delay = "10 ms"
    queue = { drop-tail = { packets = 20 } }

    [[flows]]
    name = "file"
    from = "a"
    to = "b"
    transport = { tcp = {} }
    source = { ftp = {} }

    [[flows]]
    name = "voice"
    from = "a"
    to = "b"
    start = "1 s"
    transport = { dccp = { ccid = 2 } }
    source = { cbr = { rate = "64 kbps", datagram = "160 B" } }
"#;

const QUEUE: &str = "queue = { drop-tail = { packets = 20 } }";

/// What to replace in the valid scenario, by what, the field of the error and the start of its
/// message.
type Row = (&'static str, &'static str, &'static str, &'static str);

#[track_caller]
fn assert_errors(rows: &[Row]) {
    for &(old, new, field, message) in rows {
        let text = GOOD.replacen(old, new, 1);
        assert_ne!(text, GOOD, "{old}");
        let error = Scenario::from_toml(&text, &Registry::default()).unwrap_err();
        assert_eq!(error.field, field, "{error}");
        assert!(error.message.starts_with(message), "{error}");
    }
}

#[test]
fn errors_of_load_factors_name_their_field() {
    assert_errors(&[
        (
            "tcp = {}",
            "tcp = { vcp = {} }",
            "flows[0].transport.tcp.vcp",
            "these are parameters of `vcp`: give control = \"vcp\" too",
        ),
        (
            "tcp = {}",
            "tcp = { control = \"vcp\", vcp = { interval = \"0 s\" } }",
            "flows[0].transport.tcp.vcp.interval",
            "0 s",
        ),
        (
            "ccid = 2",
            "ccid = 248, ecn = false",
            "flows[1].transport.dccp.ecn",
            "CCID 248 needs the ECN field",
        ),
        (
            "ccid = 2",
            "ccid = 2, vcp = {}",
            "flows[1].transport.dccp.vcp",
            "these are parameters of another CCID: use ccid 248, 249 or 250",
        ),
        (
            "tcp = {}",
            "tcp = { control = \"vcp\", vcp = { chain = 9 } }",
            "flows[0].transport.tcp.vcp.chain",
            "a chain of 9 packets is out of range: give 1 (VCP) to 8",
        ),
        (
            "tcp = {}",
            "tcp = { control = \"vcp\", vcp = { chain = 2, growth = \"per-ack\" } }",
            "flows[0].transport.tcp.vcp.growth",
            "chains of 2 packets grow per packet",
        ),
        (
            "ccid = 2",
            "ccid = 250, vcp = { growth = \"per-ack\" }",
            "flows[1].transport.dccp.vcp.growth",
            "chains of 3 packets grow per packet",
        ),
        (
            "ccid = 2",
            "ccid = 249, vcp = { chain = 3 }",
            "flows[1].transport.dccp.vcp.chain",
            "CCID 249 has chains of 2",
        ),
        (
            QUEUE,
            "queue = { vcp = { packets = 9, chain = 0 } }",
            "links[0].queue.vcp.chain",
            "a chain of 0 packets",
        ),
        (
            QUEUE,
            "queue = { vcp = { packets = 9, flows = 0 } }",
            "links[0].queue.vcp.flows",
            "cannot track 0 flows",
        ),
        (
            QUEUE,
            "queue = { vcp = { packets = 9, target_utilisation = 1.2 } }",
            "links[0].queue.vcp.target_utilisation",
            "1.2 is out of range: give a value above 0, at most 1",
        ),
        (
            QUEUE,
            "queue = { vcp = { packets = 9, target_utilisation = 0.0 } }",
            "links[0].queue.vcp.target_utilisation",
            "0 is out of range: give a value above 0, at most 1",
        ),
        (
            QUEUE,
            "queue = { vcp = { packets = 9, sampling = \"1 s\" } }",
            "links[0].queue.vcp.sampling",
            "1 s between samples",
        ),
        (
            QUEUE,
            "queue = { vcp = {} }",
            "links[0].queue.vcp",
            "give either `packets` or `bytes`",
        ),
    ]);
}
