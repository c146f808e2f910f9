//! CCID 3 and 4 over a bottleneck.

use skywave_sim::{FlowSummary, Registry, RunOptions, Scenario, run};

/// Runs for 60 s over a link of this rate, with a round-trip time of 102 ms, a queue of 10 packets
/// per Mbps, and physics and wire verified.
fn over_a_bottleneck(rate: &str, pairs: u32, flow: impl Fn(u32) -> String) -> Vec<FlowSummary> {
    let flows: String = (1..=pairs).map(flow).collect();
    let queue = if rate == "2 Mbps" { 20 } else { 100 };
    let scenario = format!(
        r#"
        name = "tfrc"
        duration = "60 s"
        verify_wire = true
        dumbbell = {{ pairs = {pairs}, rate = "{rate}", delay = "50 ms", queue = {{ drop-tail = {{ packets = {queue} }} }}, access_rate = "100 Mbps", access_delays = ["0.5 ms"] }}
        {flows}
        "#
    );
    let scenario = Scenario::from_toml(&scenario, &Registry::default()).unwrap();
    let options = RunOptions {
        verify_physics: true,
        ..RunOptions::default()
    };
    let results = run(&scenario, &Registry::default(), options, |_| true).unwrap();
    assert_eq!(results.violations, Vec::<String>::new());
    results.summary.flows
}

fn flow(pair: u32, transport: &str, datagram: u32) -> String {
    format!(
        r#"
        [[flows]]
        name = "flow {pair}"
        from = "s{pair}"
        to = "d{pair}"
        start = "{}00 ms"
        transport = {transport}
        source = {{ ftp = {{ datagram = "{datagram} B" }} }}
        "#,
        pair - 1
    )
}

/// The flow's share of a 2 Mbps link.
fn share(flow: &FlowSummary) -> f64 {
    flow.delivered_bytes as f64 * 8.0 / 60.0 / 2e6
}

/// T-1, C3-1: alone, CCID 3 uses most of the link and loses little, under both sets of rules.
#[test]
fn ccid_3_alone() {
    for transport in [
        "{ dccp = { ccid = 3 } }",
        "{ dccp = { ccid = 3, profile = \"ns2\" } }",
    ] {
        let flows = over_a_bottleneck("2 Mbps", 1, |pair| flow(pair, transport, 1_000));
        let lost = 1.0 - flows[0].delivered_packets as f64 / flows[0].packets_sent as f64;
        assert!(share(&flows[0]) > 0.7, "{transport}: {:?}", flows[0]);
        assert!(lost < 0.03, "{transport}: {:?}", flows[0]);
    }
}

/// RFC 5348 section 1: "generally within a factor of two of the sending rate of a TCP flow under the
/// same conditions". Four flows of each kind, which start one after another.
#[test]
fn ccid_3_beside_tcp_and_ccid_2() {
    for other in ["{ tcp = {} }", "{ dccp = { ccid = 2 } }"] {
        let flows = over_a_bottleneck("10 Mbps", 8, |pair| {
            let transport = if pair % 2 == 1 {
                "{ dccp = { ccid = 3 } }"
            } else {
                other
            };
            flow(pair, transport, 1_000)
        });
        let delivered = |first: usize| -> u64 {
            flows
                .iter()
                .skip(first)
                .step_by(2)
                .map(|flow| flow.delivered_bytes)
                .sum()
        };
        let ratio = delivered(0) as f64 / delivered(1) as f64;
        assert!(
            (0.5..2.0).contains(&ratio),
            "{ratio} beside {other}: {flows:#?}"
        );
    }
}

/// C4-3: 100-byte packets leave at least 10 ms apart, so at most 100 per second.
#[test]
fn ccid_4_is_limited_to_a_hundred_packets_per_second() {
    let flows = over_a_bottleneck("2 Mbps", 1, |pair| {
        flow(pair, "{ dccp = { ccid = 4 } }", 100)
    });
    let packets = flows[0].packets_sent;
    assert!((5_500..=6_001).contains(&packets), "{packets}");
    assert!(flows[0].delivered_packets + 10 >= packets, "{:?}", flows[0]);
}
