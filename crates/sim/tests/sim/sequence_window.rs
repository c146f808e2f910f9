//! DCCP's Sequence Window on fast links with short round-trip times (RFC 4340 section 7.5.2).

use skywave_sim::{FlowSummary, Registry, RunOptions, Scenario, run};

/// A bulk transfer of 20 ms over 40 Gbps with a round-trip time of 40 us.
fn on_a_fast_link(transport: &str) -> FlowSummary {
    let scenario = format!(
        r#"
        name = "fast"
        duration = "20 ms"
        verify_wire = true
        dumbbell = {{ pairs = 1, rate = "40 Gbps", delay = "20 us", queue = {{ drop-tail = {{ packets = 500 }} }}, access_rate = "1000 Gbps", access_delays = ["0 s"] }}
        [[flows]]
        name = "bulk"
        from = "s1"
        to = "d1"
        transport = {transport}
        source = {{ ftp = {{}} }}
        "#
    );
    let scenario = Scenario::from_toml(&scenario, &Registry::default()).unwrap();
    let options = RunOptions {
        verify_physics: true,
        ..RunOptions::default()
    };
    let results = run(&scenario, &Registry::default(), options, |_| true).unwrap();
    assert_eq!(results.violations, Vec::<String>::new());
    results.summary.flows.into_iter().next().unwrap()
}

/// D7.5-3: the window keeps up with slow start, with long numbers and with short ones.
#[test]
fn slow_start_is_not_stopped_by_the_sequence_window() {
    for transport in [
        "{ dccp = { ccid = 2 } }",
        "{ dccp = { ccid = 2, short_seqnos = true } }",
        "{ dccp = { ccid = 3 } }",
        "{ dccp = { ccid = 251 } }",
    ] {
        let flow = on_a_fast_link(transport);
        let share = flow.delivered_bytes as f64 * 8.0 / 20e-3 / 40e9;
        assert!(share > 0.4, "{transport}: {share} of the link, {flow:?}");
        assert_eq!(flow.timeouts, 0, "{transport}: {flow:?}");
    }
}
