//! Settings that only a simulation obeys are refused by both that run in real time: the
//! emulator, and a scenario between sockets.

use skywave_emulate::Network;
use skywave_live::Encapsulation;
use skywave_scenario::ScenarioError;
use skywave_sim::live::PreparedRun;
use skywave_sim::{Registry, RunError, RunOptions, Scenario};

/// Returns a scenario of one link with these settings, in addition to its rate and delay.
fn scenario(settings: &str) -> Scenario {
    let text = format!(
        r#"
        name = "refused"
        duration = "1 s"
        nodes = ["a", "b"]
        flows = [
            {{ name = "f", from = "a", to = "b", transport = {{ tcp = {{}} }}, source = {{ ftp = {{}} }} }},
        ]

        [[links]]
        from = "a"
        to = "b"
        rate = "1 Mbps"
        delay = "1 ms"
        {settings}
        "#
    );
    Scenario::from_toml(&text, &Registry::default()).expect(&text)
}

/// Returns why the emulator refuses the link.
fn by_the_emulator(scenario: &Scenario) -> Option<ScenarioError> {
    let (nodes, links) = scenario.topology();
    let registry = skywave_emulate::Registry::default();
    Network::new(&nodes, &links, &nodes, &registry, scenario.seed).err()
}

/// Returns why a run between sockets refuses the scenario.
fn between_sockets(scenario: &Scenario) -> Option<ScenarioError> {
    let options = RunOptions::default();
    match PreparedRun::new(scenario, &Registry::default(), options, Encapsulation::Raw) {
        Ok(_) => None,
        Err(RunError::Scenario(error)) => Some(error),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn both_refuse_the_same_with_the_same_words() {
    let obeyed = [
        "queue = { drop-tail = { packets = 4 } }",
        "loss = { bernoulli = { probability = 0.1 } }",
        "trace = { steps = [{ at = '1 s', rate = '2 Mbps' }] }",
        "jitter = '1 ms'\novertaking = true",
        "back = { rate = '2 Mbps', delay = '2 ms', queue = 'unlimited', jitter = '1 ms' }",
    ];
    for settings in obeyed {
        let scenario = scenario(settings);
        assert_eq!(by_the_emulator(&scenario), None, "{settings}");
        assert_eq!(between_sockets(&scenario), None, "{settings}");
    }
    let refused = [("nat", "nat = {}"), ("quick_start", "quick_start = 0.5")];
    for (field, settings) in refused {
        let scenario = scenario(settings);
        let emulated = by_the_emulator(&scenario).expect(settings);
        let live = between_sockets(&scenario).expect(settings);
        assert_eq!(emulated.field, field);
        assert_eq!(live.field, format!("links[0].{field}"));
        assert_eq!(emulated.message, live.message);
    }
}

#[test]
fn what_a_bottleneck_cannot_do_is_named_in_the_dumbbell() {
    for (field, settings) in [("nat", "nat = {}"), ("quick_start", "quick_start = 0.5")] {
        let text = format!(
            r#"
            name = "refused"
            duration = "1 s"
            dumbbell = {{ pairs = 1, rate = "4 Mbps", delay = "20 ms", access_rate = "100 Mbps", access_delays = ["1 ms"], {settings} }}
            flows = [
                {{ name = "f", from = "s1", to = "d1", transport = {{ tcp = {{}} }}, source = {{ ftp = {{}} }} }},
            ]
            "#
        );
        let scenario = Scenario::from_toml(&text, &Registry::default()).expect(&text);
        let live = between_sockets(&scenario).expect(settings);
        assert_eq!(live.field, format!("dumbbell.{field}"));
    }
}

#[test]
fn what_the_kernels_transports_and_queues_cannot_do_is_refused() {
    let refused = |transport: &str, more: &str, settings: &str| {
        let text = format!(
            r#"
            name = "refused"
            duration = "1 s"
            nodes = ["a", "b"]
            links = [{{ from = "a", to = "b", rate = "1 Mbps", delay = "1 ms"{settings} }}]
            flows = [
                {{ name = "f", from = "a", to = "b", transport = {{ {transport} }}, source = {{ ftp = {{}} }} }},
                {more}
            ]
            "#
        );
        let scenario = Scenario::from_toml(&text, &Registry::default()).expect(&text);
        between_sockets(&scenario).map(|error| error.to_string())
    };
    let web = r#"{ name = "web", from = "a", to = "b", transport = { kernel-tcp = {} }, source = { web = {} } },"#;
    let queue = r#", queue = { kernel = { qdisc = "pfifo" } }"#;
    let jitter = format!("{queue}, jitter = \"1 ms\"");
    let trace = format!("{queue}, trace = {{ steps = [{{ at = \"1 s\", rate = \"2 Mbps\" }}] }}");
    for (transport, more, settings, beginning) in [
        ("kernel-dccp = {}", "", queue, None),
        ("kernel-dccp = {}", "", &*jitter, None),
        (
            "tcp = {}",
            web,
            "",
            Some("flows[1].source: a source that opens connections"),
        ),
        (
            "tcp = {}",
            "",
            &*trace,
            Some("link \"a->b\": a queue of the kernel serves a"),
        ),
    ] {
        let error = refused(transport, more, settings);
        match (&error, beginning) {
            (Some(error), Some(beginning)) => assert!(error.starts_with(beginning), "{error}"),
            (None, None) => {}
            _ => panic!("{error:?}, not {beginning:?}"),
        }
    }
}
