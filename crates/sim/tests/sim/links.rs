//! Links with losses, traces, jitter, or a different reverse direction.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::{MemberFailure, ParameterError};
use skywave_sim::{
    Loss, LossKind, Registry, Results, RunOptions, Scenario, Steps, TraceKind, TraceStep, run,
};
use skywave_units::{Duration, Instant, Random, Rate};

/// A TCP and a UDP flow over one link with these properties.
fn scenario(link: &str) -> String {
    format!(
        r#"
        name = "one link"
        duration = "20 s"
        seed = 3
        nodes = ["a", "b"]

        [[flows]]
        name = "file"
        from = "a"
        to = "b"
        transport = {{ tcp = {{}} }}
        source = {{ ftp = {{}} }}

        [[flows]]
        name = "stream"
        from = "a"
        to = "b"
        transport = {{ udp = {{}} }}
        source = {{ cbr = {{ rate = "80 kbps", datagram = "100 B" }} }}

        [[links]]
        from = "a"
        to = "b"
        rate = "1 Mbps"
        delay = "50 ms"
        queue = {{ drop-tail = {{ packets = 20 }} }}
        {link}
        "#
    )
}

/// Runs a scenario with physics and wire verified.
fn judged(text: &str) -> Results {
    let mut scenario =
        Scenario::from_toml(text, &Registry::default()).unwrap_or_else(|error| panic!("{error}"));
    scenario.verify_wire = true;
    let options = RunOptions {
        verify_physics: true,
        ..RunOptions::default()
    };
    let results = run(&scenario, &Registry::default(), options, |_| true).unwrap();
    assert_eq!(results.violations, Vec::<String>::new(), "{text}");
    results
}

fn obeys_physics(link: &str) -> Results {
    let results = judged(&scenario(link));
    let flows = &results.summary.flows;
    assert!(flows.iter().all(|flow| flow.delivered_bytes > 0), "{link}");
    results
}

#[test]
fn links_that_vary_obey_physics() {
    for link in [
        "jitter = \"30 ms\"",
        "trace = { steps = [{ at = \"5 s\", delay = \"1 ms\" }, { at = \"9 s\", rate = \"100 kbps\", delay = \"80 ms\" }] }",
        "trace = { steps = [{ at = \"5 s\", rate = \"0 bps\" }, { at = \"6 s\", rate = \"0 bps\" }, { at = \"7 s\", rate = \"2 Mbps\" }] }",
        "trace = { steps = [{ at = \"15 s\", rate = \"0 bps\" }] }",
        "back = { rate = \"20 kbps\", delay = \"5 ms\", jitter = \"1 ms\", queue = { drop-tail = { packets = 3 } } }",
        "jitter = \"30 ms\"\ntrace = { steps = [{ at = \"5 s\", rate = \"300 kbps\", delay = \"5 ms\" }] }",
    ] {
        obeys_physics(link);
    }
}

#[test]
fn bernoulli_losses_obey_physics() {
    obeys_physics("loss = { bernoulli = { probability = 0.05 } }");
    obeys_physics("loss = { bernoulli = { probability = 1e-5, per = \"bit\" } }");
    obeys_physics("back = { loss = { bernoulli = { probability = 0.1 } } }");
}

#[test]
fn gilbert_elliott_losses_obey_physics() {
    obeys_physics("loss = { gilbert-elliott = { good_to_bad = 0.01, bad_to_good = 0.3 } }");
}

/// The link is up for 2 s and down for 0.5 s on average. Outages reduce the capacity that
/// utilisation refers to.
#[test]
fn outages_obey_physics_and_are_no_capacity() {
    let results = obeys_physics("trace = { outages = { up = \"2 s\", down = \"0.5 s\" } }");
    let again = obeys_physics("trace = { outages = { up = \"2 s\", down = \"0.5 s\" } }");
    assert_eq!(results.fingerprint, again.fingerprint);
    // Without outages the link could carry 2.5 MB in 20 s.
    let delivered: u64 = results
        .summary
        .flows
        .iter()
        .map(|flow| flow.delivered_bytes)
        .sum();
    assert!((1_000_000..2_300_000).contains(&delivered), "{delivered}");
    let utilisation = results.summary.links[0].utilisation;
    assert!((0.6..=1.0).contains(&utilisation), "{utilisation}");
}

/// Aggregates and handovers, with a queue that hands packets on and with one that keeps them.
#[test]
fn wifi_and_satellites_obey_physics() {
    for trace in [
        "wifi = {}",
        "wifi = { contention = \"7 ms\", packets = 2 }",
        "leo = { interval = \"3 s\" }",
        "leo = { interval = \"50 ms\", outage = \"0 s\", seed = 4 }",
    ] {
        let link = format!("trace = {{ {trace} }}\nback = {{ trace = {{ {trace} }} }}");
        let results = obeys_physics(&link);
        let again = obeys_physics(&link);
        assert_eq!(results.fingerprint, again.fingerprint, "{trace}");
        let codel = "codel = { packets = 20, ecn = true }";
        judged(&scenario(&link).replace("drop-tail = { packets = 20 }", codel));
    }
}

/// A busy access point sends whole aggregates, and nothing while it contends for the medium.
#[test]
fn wifi_delivers_what_its_aggregates_allow() {
    // 12 Mbps carry 5 packets of 1500 B in 5.484 ms, and 10 ms - 5 ms are access.
    let trace = "trace = { wifi = { contention = \"0 s\", access = \"5 ms\" } }";
    let found = delivered("12 Mbps", trace, 1472) * 8e-6;
    assert!((found / 6.0 - 1.0).abs() < 0.01, "{found} Mbps");
}

/// A queue waits while a satellite hands over to the next one, and the round-trip time changes with
/// both directions.
#[test]
fn round_trip_times_step_where_satellites_change() {
    let leo = "leo = { interval = \"5 s\", seed = 2 }";
    let results = obeys_physics(&format!(
        "trace = {{ {leo} }}\nback = {{ trace = {{ {leo} }} }}"
    ));
    let utilisation = results.summary.links[0].utilisation;
    // Three outages of 0.14 s in 20 s are no capacity.
    let rate = results.summary.links[0].rate_bps as f64;
    assert!(
        (rate / 1e6 - (1.0 - 0.42 / 20.0)).abs() < 1e-3,
        "{rate} bps"
    );
    assert!(utilisation > 0.5, "{utilisation}");
}

/// Loses every packet whose number is a multiple of `n`, and fails once `most` have passed.
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EveryNth {
    n: u64,
    #[serde(default)]
    most: Option<u64>,
}

impl LossKind for EveryNth {
    fn build(&self, _: Random) -> Box<dyn Loss + Send> {
        Box::new(Counted {
            n: self.n,
            most: self.most,
            passed: 0,
        })
    }
}

#[derive(Debug)]
struct Counted {
    n: u64,
    most: Option<u64>,
    passed: u64,
}

impl Loss for Counted {
    fn loses(&mut self, _now: Instant, _size: u32) -> bool {
        self.passed += 1;
        self.passed.is_multiple_of(self.n)
    }

    fn failure(&self) -> Option<MemberFailure> {
        let fails = self.most.is_some_and(|most| self.passed > most);
        fails.then(|| MemberFailure::new(std::io::Error::other("no more numbers")))
    }
}

/// Doubles the rate in every other second, without end.
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tides {}

impl TraceKind for Tides {
    fn steps(&self, rate: Rate, _: Duration, _: Random) -> Steps {
        Box::new((1..).map(move |second: u64| TraceStep {
            at: Duration::from_secs(second),
            rate: Some(Rate::from_bps(rate.as_bps() * (1 + second % 2))),
            delay: None,
        }))
    }
}

/// Users register their own loss models and traces like built-in ones.
#[test]
fn losses_and_traces_of_ones_own_run_as_those_that_are_built_in_do() {
    let mut registry = Registry::default();
    registry
        .losses
        .register("every-nth", "Every nth packet.", |every: EveryNth| {
            ParameterError::unless(every.n > 0, "n", || "0: use 1 or more".to_owned())?;
            Ok(Arc::new(every))
        });
    registry
        .traces
        .register("tides", "Twice the rate in turns.", |tides: Tides| {
            Ok(Arc::new(tides))
        });
    let of =
        |link: &str| Scenario::from_toml(&scenario(link).replace("80 kbps", "2 Mbps"), &registry);
    let judged = |link: &str| {
        let options = RunOptions {
            verify_physics: true,
            ..RunOptions::default()
        };
        let results = run(&of(link).unwrap(), &registry, options, |_| true).unwrap();
        assert_eq!(results.violations, Vec::<String>::new(), "{link}");
        results.summary.links[0].clone()
    };
    let (whole, lossy, tides) = (
        judged(""),
        judged("loss = { every-nth = { n = 4 } }"),
        judged("trace = \"tides\""),
    );
    let offered = lossy.delivered + lossy.drops;
    assert!(lossy.drops > offered / 4, "{lossy:?}");
    let ratio = tides.delivered as f64 / whole.delivered as f64;
    assert!((ratio - 1.5).abs() < 0.05, "{ratio}");
    let error = of("loss = { every-nth = { n = 0 } }").unwrap_err();
    assert_eq!(
        error.to_string(),
        "links[0].loss.every-nth.n: 0: use 1 or more"
    );
    let fails = of("loss = { every-nth = { n = 4, most = 100 } }").unwrap();
    let error = run(&fails, &registry, RunOptions::default(), |_| true).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the queue or loss model of link \"{}->{}\" in \"{}\" failed: no more numbers",
            fails.links[0].from, fails.links[0].to, fails.name
        )
    );
    let error = of("trace = { tides = { height = 1 } }").unwrap_err();
    assert_eq!(error.field, "links[0].trace.tides.height");
}

/// A link with half the rate, or down for half the time, delivers half as many packets of an
/// overloading UDP flow, and is fully utilised.
#[test]
fn a_trace_is_the_capacity() {
    let heavy = |trace: &str| {
        let text = scenario(trace).replace("80 kbps", "2 Mbps");
        judged(&text).summary
    };
    let whole = heavy("");
    for (trace, share) in [
        (
            "trace = { steps = [{ at = \"0.001 s\", rate = \"500 kbps\" }] }",
            0.5,
        ),
        (
            "trace = { steps = [{ at = \"10 s\", rate = \"0 bps\" }] }",
            0.5,
        ),
    ] {
        let summary = heavy(trace);
        let ratio = summary.links[0].delivered as f64 / whole.links[0].delivered as f64;
        assert!((ratio - share).abs() < 0.02, "{trace}: {ratio}");
        let utilisation = summary.links[0].utilisation;
        assert!(
            (0.97..1.001).contains(&utilisation),
            "{trace}: {utilisation}"
        );
    }
}

/// The bytes that a link of this rate delivers per second under a UDP flow that overloads it, on
/// average over 20 s and without headers of 28 B. The queue is never empty.
fn delivered(rate: &str, trace: &str, datagram: u32) -> f64 {
    let text = scenario(trace)
        .replace("1 Mbps", rate)
        .replace("packets = 20", "packets = 20000")
        .replace("80 kbps", "20 Mbps")
        .replace("100 B", &format!("{datagram} B"))
        .replace("tcp = {}", "udp = {}")
        .replace("ftp = {}", "cbr = { rate = \"8 bps\", datagram = \"1 B\" }");
    judged(&text).summary.links[0].delivered_bytes as f64 / 20.0
}

/// Many opportunities in the same millisecond, and packets that do not take whole nanoseconds.
#[test]
fn a_link_of_opportunities_delivers_what_they_allow() {
    for (number, size) in [(14, 100), (23, 100), (14, 500), (23, 1500)] {
        let times = vec!["100"; number].join(", ");
        let found = delivered(
            "1 Mbps",
            &format!("trace = {{ opportunities = [{times}] }}"),
            size - 28,
        );
        let allowed = (15_000 * number) as f64;
        // The last ones arrive after the run.
        let share = found / allowed;
        assert!(
            (0.98..=1.0).contains(&share),
            "{number} of {size} B: {share}"
        );
    }
}

/// What happens at the end of a trace, in each of its formats: the last step holds, and opportunities
/// start over.
#[test]
fn a_trace_of_steps_holds_and_one_of_opportunities_starts_over() {
    let directory = std::env::temp_dir().join(format!("skywave-ends-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("steps.txt"), "0 4.0\n5 2.0\n").unwrap();
    std::fs::write(
        directory.join("orbit.csv"),
        "0 s, 4 Mbps,\n5 s, 2 Mbps, 60 ms\n",
    )
    .unwrap();
    std::fs::write(directory.join("my.down"), "2\n5\n10\n").unwrap();
    for (trace, mbps) in [
        ("file = \"steps.txt\"", 2.5),
        ("file = \"orbit.csv\"", 2.5),
        ("mahimahi = \"my.down\"", 3.6),
    ] {
        let text = scenario(&format!("trace = {{ {trace} }}"))
            .replace("packets = 20", "packets = 20000")
            .replace("80 kbps", "20 Mbps")
            .replace("100 B", "1472 B")
            .replace("tcp = {}", "udp = {}")
            .replace("ftp = {}", "cbr = { rate = \"8 bps\", datagram = \"1 B\" }");
        let registry = Registry::default();
        let scenario = Scenario::from_toml_beside(&text, &registry, &directory).unwrap();
        let results = run(&scenario, &registry, RunOptions::default(), |_| true).unwrap();
        let found = results.summary.links[0].delivered_bytes as f64 * 8e-6 / 20.0;
        assert!((found / mbps - 1.0).abs() < 0.01, "{trace}: {found} Mbps");
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

/// A packet that begins at a low rate does not hold up the link when the rate is back.
#[test]
fn a_low_rate_lasts_as_long_as_its_step() {
    for (low, mean) in [
        ("0 bps", 2.5),
        ("1 bps", 2.5),
        ("2 kbps", 2.501),
        ("2 Mbps", 3.5),
    ] {
        let steps: Vec<_> = (0..20)
            .map(|second| {
                let rate = if second % 2 == 0 { "5 Mbps" } else { low };
                format!("{{ at = \"{second} s\", rate = \"{rate}\" }}")
            })
            .collect();
        let trace = format!("trace = {{ steps = [{}] }}", steps.join(", "));
        let found = delivered("5 Mbps", &trace, 1472) * 8e-6;
        assert!((found / mean - 1.0).abs() < 0.01, "{low}: {found} Mbps");
    }
}

/// A queue that keeps packets hands one to a link that is down, and has room for another.
#[test]
fn outages_with_a_queue_that_keeps_packets_obey_physics() {
    let link = "trace = { outages = { up = \"0.2 s\", down = \"0.2 s\" } }";
    let text = scenario(link).replace("drop-tail = { packets = 20 }", "codel = { packets = 3 }");
    judged(&text);
}

#[test]
fn a_link_that_is_always_down_is_not_used() {
    for trace in [
        "steps = [{ at = \"0 s\", rate = \"0 bps\" }]",
        "opportunities = [30_000]",
    ] {
        let summary = judged(&scenario(&format!("trace = {{ {trace} }}"))).summary;
        let link = &summary.links[0];
        assert_eq!((link.rate_bps, link.delivered), (0, 0), "{trace}");
        assert_eq!(link.utilisation, 0.0, "{trace}");
    }
}

/// Each random stream has its name: it depends on the seed and on nothing else.
#[test]
fn the_seed_decides_what_is_lost() {
    let lost = |seed: u64, flow: &str| {
        let text = scenario("loss = { bernoulli = { probability = 0.05 } }")
            .replace("seed = 3", &format!("seed = {seed}"))
            .replace("ftp = {}", flow);
        judged(&text).summary.links[0].drops
    };
    let endless = "ftp = {}";
    assert_eq!(lost(3, endless), lost(3, endless));
    assert_ne!(lost(3, endless), lost(4, endless));
}

#[test]
fn a_flow_starts_within_its_jitter() {
    let sent = |seed: u64| {
        let text = scenario("")
            .replace("seed = 3", &format!("seed = {seed}"))
            .replace(
                "name = \"stream\"",
                "name = \"stream\"\nstart_jitter = \"10 s\"",
            );
        judged(&text).summary.flows[1].packets_sent
    };
    let sent: Vec<u64> = (0..4).map(sent).collect();
    // 100 datagrams a second, from somewhere between 0 and 10 s.
    assert!(
        sent.iter().all(|sent| (1000..=2001).contains(sent)),
        "{sent:?}"
    );
    assert!(sent.windows(2).all(|pair| pair[0] != pair[1]), "{sent:?}");
}

/// Asserts how the error about a scenario with each link begins.
#[track_caller]
fn assert_errors(rows: &[(&str, &str)]) {
    for &(link, error) in rows {
        let message = Scenario::from_toml(&scenario(link), &Registry::default())
            .unwrap_err()
            .to_string();
        assert!(message.starts_with(error), "{message}");
    }
}

#[test]
fn errors_of_bernoulli_losses_name_their_field() {
    assert_errors(&[
        (
            "loss = { bernoulli = { probability = 1.5 } }",
            "links[0].loss.bernoulli.probability: 1.5 is not a probability",
        ),
        (
            "loss = { bernoulli = { probability = 0.1, per = \"byte\" } }",
            "links[0].loss.bernoulli.per: unknown variant `byte`",
        ),
    ]);
}

#[test]
fn errors_of_gilbert_elliott_losses_name_their_field() {
    assert_errors(&[(
        "loss = { gilbert-elliott = { good_to_bad = 0.1, bad_to_good = -1.0 } }",
        "links[0].loss.gilbert-elliott.bad_to_good: -1 is not",
    )]);
}

#[test]
fn errors_name_their_field() {
    assert_errors(&[
        (
            "trace = { steps = [{ at = \"2 s\" }, { at = \"2 s\" }] }",
            "links[0].trace.steps[1].at: 2 s is not after 2 s",
        ),
        (
            "trace = { file = \"orbit.csv\" }",
            "links[0].trace.file: the file has not been read",
        ),
        ("back = { rate = \"0 bps\" }", "links[0].back.rate: 0 bps"),
        (
            "one_way = true\nback = {}",
            "links[0].back: a link with one_way has no reverse direction",
        ),
    ]);
    let text = scenario("").replace(
        "cbr = { rate = \"80 kbps\", datagram = \"100 B\" }",
        "ftp = {}",
    );
    let message = Scenario::from_toml(&text, &Registry::default())
        .unwrap_err()
        .to_string();
    assert!(
        message.starts_with("flows[1].source: a file over udp"),
        "{message}"
    );
}

#[test]
fn a_trace_file_is_read_beside_the_scenario() {
    let directory = std::env::temp_dir().join(format!("skywave-trace-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let read = |csv: &str| {
        std::fs::write(directory.join("orbit.csv"), csv).unwrap();
        Scenario::from_toml_beside(
            &scenario("trace = { file = \"orbit.csv\" }"),
            &Registry::default(),
            &directory,
        )
    };
    let from_file = read("# time, rate, delay\n5 s, 500 kbps, 80 ms\n\n6.5 s,, 90 ms\n").unwrap();
    let listed = "trace = { steps = [{ at = \"5 s\", rate = \"500 kbps\", delay = \"80 ms\" }, { at = \"6.5 s\", delay = \"90 ms\" }] }";
    let listed = Scenario::from_toml(&scenario(listed), &Registry::default()).unwrap();
    assert_eq!(from_file.to_json(), listed.to_json());
    for (csv, error) in [
        (
            "5 s, 500 kbps\n",
            "orbit.csv, line 1: give time, rate and delay, as in",
        ),
        (
            "5 s,,\n6 s, 1 MB,\n",
            "orbit.csv, line 2: \"1 MB\" is not a rate",
        ),
    ] {
        let message = read(csv).unwrap_err().to_string();
        let expected = format!("links[0].trace.file: {error}");
        assert!(message.starts_with(&expected), "{message}");
    }
    std::fs::remove_dir_all(&directory).unwrap();
    let text = scenario("trace = { file = \"orbit.csv\" }");
    let message = Scenario::from_toml_beside(&text, &Registry::default(), &directory)
        .unwrap_err()
        .to_string();
    assert!(message.contains("orbit.csv cannot be read"), "{message}");
}
