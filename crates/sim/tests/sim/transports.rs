//! A custom transport, registered like the built-in ones.

#[path = "support/stop_and_wait.rs"]
mod stop_and_wait;

use skywave_sim::{Results, RunOptions, Scenario, run};

use self::stop_and_wait::registry;

fn scenario(transport: &str, source: &str, loss: f64) -> Result<Scenario, String> {
    let text = format!(
        r#"
        name = "own"
        duration = "100 s"
        nodes = ["a", "b"]
        links = [{{
            from = "a", to = "b", rate = "10 Mbps", delay = "10 ms",
            loss = {{ bernoulli = {{ probability = {loss} }} }},
        }}]

        [[flows]]
        name = "flow"
        from = "a"
        to = "b"
        start = "1 s"
        transport = {transport}
        source = {source}
        "#
    );
    let scenario = Scenario::from_toml(&text, &registry()).map_err(|error| error.to_string())?;
    let verdict = scenario.validate(&registry());
    verdict.map_err(|error| error.to_string())?;
    Ok(scenario)
}

const FIFTY_KB: &str = r#"{ ftp = { size = "50 kB", datagram = "1000 B" } }"#;
const TIMEOUT: &str = r#"{ stop-and-wait = { timeout = "200 ms" } }"#;

fn results(loss: f64) -> Results {
    let scenario = scenario(TIMEOUT, FIFTY_KB, loss).unwrap();
    let options = RunOptions {
        verify_physics: true,
        ..RunOptions::default()
    };
    let results = run(&scenario, &registry(), options, |_| true).unwrap();
    assert_eq!(results.violations, Vec::<String>::new());
    results
}

#[test]
fn it_delivers_everything_in_the_time_that_it_should_take() {
    let results = results(0.0);
    let flow = &results.summary.flows[0];
    assert_eq!(flow.transport, "stop-and-wait");
    assert_eq!((flow.packets_sent, flow.retransmissions), (50, 0));
    assert_eq!((flow.delivered_packets, flow.delivered_bytes), (50, 50_000));
    // IP, UDP and the number take 32 bytes. The last datagram is not acknowledged in this time.
    let round_trip = 2.0 * 0.010 + (1032.0 + 32.0) * 8.0 / 10e6;
    let expected = 50.0 * round_trip - 0.010 - 32.0 * 8.0 / 10e6;
    let active = flow.active_s;
    assert!(
        (active - expected).abs() < 1e-6,
        "{active} s, not {expected} s"
    );
}

#[test]
fn it_recovers_from_losses() {
    let results = results(0.1);
    let flow = &results.summary.flows[0];
    assert_eq!((flow.delivered_packets, flow.delivered_bytes), (50, 50_000));
    assert!(flow.retransmissions > 0);
    assert_eq!(flow.retransmissions, flow.timeouts);
    assert_eq!(flow.packets_sent, 50 + flow.retransmissions);
}

#[test]
fn what_is_wrong_is_said_at_its_field() {
    for (transport, source, message) in [
        (
            r#""go-back-n""#,
            FIFTY_KB,
            "flows[0].transport: \"go-back-n\" is not a known transport: use dccp, kernel-dccp, \
             kernel-tcp, stop-and-wait, tcp, udp",
        ),
        (
            r#"{ stop-and-wait = { timeout = "0 s" } }"#,
            FIFTY_KB,
            "flows[0].transport.stop-and-wait.timeout: 0: give a longer time",
        ),
        (
            r#"{ stop-and-wait = { timeout = "1 s" }, tcp = {} }"#,
            FIFTY_KB,
            "flows[0].transport: give one of its forms, not several",
        ),
        (
            r#""tcp""#,
            FIFTY_KB,
            "flows[0].transport: give the parameters too, if only { tcp = {} }",
        ),
    ] {
        let error = scenario(transport, source, 0.0).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_scenario_with_it_is_written_as_it_was_read_and_has_a_schema() {
    let scenario = scenario(TIMEOUT, FIFTY_KB, 0.0).unwrap();
    let document = serde_json::to_value(&scenario).unwrap();
    let transport = &document["flows"][0]["transport"];
    assert_eq!(transport["stop-and-wait"]["timeout"], "200 ms");
    let schema = registry().schema();
    let forms = schema["$defs"]["Transport"]["oneOf"].as_array().unwrap();
    let has = |name: &str| {
        let mut forms = forms.iter();
        forms.any(|form| form["properties"].get(name).is_some())
    };
    assert!(has("stop-and-wait") && has("tcp"));
}
