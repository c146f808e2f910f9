//! Scenarios on both clocks. Where the system does not let us create namespaces, there is nothing to
//! test: `tests/test_realtime.py` says so.

#[path = "../../../sim/tests/sim/support/stop_and_wait.rs"]
mod stop_and_wait;

use skywave_emulate::EmulateError;
use skywave_live::{Encapsulation, LiveError, Lived, Options, Progress, run};
use skywave_sim::{RunError, RunOptions, Scenario};

use self::stop_and_wait::registry;
use crate::skipped;

/// Reads a scenario: a bottleneck of 4 Mbps with a round-trip time of 44 ms, and these flows.
fn scenario(seconds: u64, flows: &str) -> Scenario {
    let text = format!(
        r#"
        name = "live"
        duration = "{seconds} s"
        dumbbell = {{ pairs = 2, rate = "4 Mbps", delay = "20 ms", access_rate = "100 Mbps", access_delays = ["1 ms"] }}
        flows = [{flows}]
        "#
    );
    Scenario::from_toml(&text, &registry()).expect(&text)
}

fn flow(name: &str, number: u32, transport: &str, source: &str) -> String {
    format!(
        r#"{{ name = "{name}", from = "s{number}", to = "d{number}", transport = {{ {transport} }}, source = {{ {source} }} }},"#
    )
}

/// Runs a scenario in real time; `None` where namespaces are not permitted.
fn live(scenario: &Scenario, options: Options) -> Option<Lived> {
    match run(scenario, &registry(), options, |_| true) {
        Ok(lived) => Some(lived),
        Err(LiveError::Emulate(error @ EmulateError::System { .. })) => {
            skipped::skipped(error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Returns how many bytes a flow delivers on both clocks.
fn both(scenario: &Scenario, options: Options) -> Option<[Vec<f64>; 2]> {
    let lived = live(scenario, options)?;
    let simulated = skywave_sim::run(scenario, &registry(), RunOptions::default(), |_| true);
    let bytes = |results: skywave_sim::Results| {
        let flows = results.summary.flows.into_iter();
        flows.map(|flow| flow.delivered_bytes as f64).collect()
    };
    assert_eq!(lived.report.malformed, 0, "{:?}", lived.report);
    assert_eq!(lived.report.unsent, 0, "{:?}", lived.report);
    Some([
        bytes(lived.results),
        bytes(simulated.expect("it can be simulated")),
    ])
}

fn assert_alike(transport: &str, source: &str, encapsulation: Encapsulation) {
    let scenario = scenario(4, &flow("f", 1, transport, source));
    let mut ratio = 0.0;
    // On a machine that is busy for a while, a run is late, and says so.
    for _ in 0..4 {
        let again = Options {
            encapsulation,
            ..Options::default()
        };
        let Some([live, virtual_]) = both(&scenario, again) else {
            return;
        };
        ratio = live[0] / virtual_[0];
        if (0.8..1.25).contains(&ratio) {
            break;
        }
    }
    assert!((0.8..1.25).contains(&ratio), "{transport}: {ratio}");
}

#[test]
fn our_tcp_delivers_on_both_clocks_what_it_can() {
    assert_alike(
        "tcp = { control = \"cubic\" }",
        "ftp = {}",
        Encapsulation::Raw,
    );
}

#[test]
fn dccp_delivers_on_both_clocks_as_an_ip_protocol_and_over_udp() {
    assert_alike("dccp = { ccid = 2 }", "ftp = {}", Encapsulation::Raw);
    assert_alike("dccp = { ccid = 2 }", "ftp = {}", Encapsulation::Udp);
}

#[test]
fn udp_delivers_on_both_clocks() {
    assert_alike(
        "udp = {}",
        "cbr = { rate = \"1 Mbps\", datagram = \"500 B\" }",
        Encapsulation::Raw,
    );
}

/// One datagram of 1 kB per round trip.
#[test]
fn a_custom_transport_delivers_on_both_clocks() {
    assert_alike(
        "stop-and-wait = { timeout = \"1 s\" }",
        "ftp = { size = \"1 MB\", datagram = \"1000 B\" }",
        Encapsulation::Raw,
    );
}

#[test]
fn the_kernels_tcp_fills_the_bottleneck_and_is_sampled() {
    let scenario = scenario(
        4,
        &flow("f", 1, "kernel-tcp = { control = \"reno\" }", "ftp = {}"),
    );
    let Some(lived) = live(&scenario, Options::default()) else {
        return;
    };
    let flow = &lived.results.summary.flows[0];
    assert!(flow.goodput_bps > 1e6, "{flow:?}");
    assert!(flow.packets_sent > 300, "{flow:?}");
    let (_, windows) = &lived
        .results
        .tables
        .iter()
        .find(|(name, _)| name == "flows")
        .expect("there is one");
    assert!(windows.num_rows() > 2);
}

#[test]
fn a_run_ends_when_it_is_told_to_even_while_it_is_set_up() {
    let scenario = scenario(60, &flow("f", 1, "tcp = {}", "ftp = {}"));
    let ended_where = |is_last: fn(&Progress) -> bool| {
        run(&scenario, &registry(), Options::default(), |told| {
            !is_last(&told)
        })
    };
    let error = match ended_where(|told| matches!(told, Progress::SetUp(_))) {
        Err(LiveError::Emulate(error @ EmulateError::System { .. })) => {
            skipped::skipped(error);
            return;
        }
        other => other.expect_err("it has not begun"),
    };
    assert!(
        matches!(error, LiveError::Run(RunError::Interrupted)),
        "{error}"
    );
    let report = ended_where(|told| matches!(told, Progress::Running { .. }))
        .expect("it has begun")
        .report;
    assert!(
        report.interrupted && report.elapsed_s < 60.0,
        "{}",
        report.elapsed_s
    );
}
