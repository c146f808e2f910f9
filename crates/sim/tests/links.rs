//! Links that are not the same all the time: losses, traces, jitter, another way back.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use skywave_sim::{Registry, Results, RunOptions, Scenario, run};

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

/// Runs a scenario, judged by the physics verifier and held against the wire.
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

#[test]
fn every_kind_obeys_physics() {
    for link in [
        "loss = { bernoulli = { probability = 0.05 } }",
        "loss = { bernoulli = { probability = 1e-5, per = \"bit\" } }",
        "loss = { gilbert-elliott = { good_to_bad = 0.01, bad_to_good = 0.3 } }",
        "jitter = \"30 ms\"",
        "trace = { steps = [{ at = \"5 s\", delay = \"1 ms\" }, { at = \"9 s\", rate = \"100 kbps\", delay = \"80 ms\" }] }",
        "trace = { steps = [{ at = \"5 s\", rate = \"0 bps\" }, { at = \"6 s\", rate = \"0 bps\" }, { at = \"7 s\", rate = \"2 Mbps\" }] }",
        "trace = { steps = [{ at = \"15 s\", rate = \"0 bps\" }] }",
        "back = { rate = \"20 kbps\", delay = \"5 ms\", jitter = \"1 ms\", queue = { drop-tail = { packets = 3 } } }",
        "jitter = \"30 ms\"\ntrace = { steps = [{ at = \"5 s\", rate = \"300 kbps\", delay = \"5 ms\" }] }\nback = { loss = { bernoulli = { probability = 0.1 } } }",
    ] {
        let results = judged(&scenario(link));
        assert!(
            results
                .summary
                .flows
                .iter()
                .all(|flow| flow.delivered_bytes > 0)
        );
    }
}

/// Half of 1 Mbps, a link that is out for half of the time, and no link at all: what UDP gets.
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
        // What a link could have carried is less, too.
        let utilisation = summary.links[0].utilisation;
        // A packet that has begun when the rate changes is finished at the old one.
        assert!(
            (0.97..1.001).contains(&utilisation),
            "{trace}: {utilisation}"
        );
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

/// Each row: the link, and how the error begins.
#[test]
fn errors_name_their_field() {
    for (link, error) in [
        (
            "loss = { bernoulli = { probability = 1.5 } }",
            "links[0].loss.bernoulli.probability: 1.5 is no probability",
        ),
        (
            "loss = { gilbert-elliott = { good_to_bad = 0.1, bad_to_good = -1.0 } }",
            "links[0].loss.gilbert-elliott.bad_to_good: -1 is no",
        ),
        (
            "loss = { bernoulli = { probability = 0.1, per = \"byte\" } }",
            "links[0].loss.bernoulli.per: unknown variant `byte`",
        ),
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
            "links[0].back: a link with one_way has no way back",
        ),
    ] {
        let message = Scenario::from_toml(&scenario(link), &Registry::default())
            .unwrap_err()
            .to_string();
        assert!(message.starts_with(error), "{message}");
    }
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
            "orbit.csv, line 1: time, rate and delay are",
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
