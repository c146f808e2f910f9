//! Routes and warnings, which `check` finds before a run.

use skywave_sim::{Registry, RunOptions, Scenario, check, run};

const TWO_WAYS: &str = r#"
    name = "two ways"
    duration = "2 s"
    nodes = ["a", "b", "c", "d", "alone"]
    links = [
        { from = "a", to = "b", rate = "1 Mbps", delay = "1 ms" },
        { from = "b", to = "d", rate = "1 Mbps", delay = "1 ms" },
        { from = "a", to = "c", rate = "1 Mbps", delay = "1 ms" },
        { from = "c", to = "d", rate = "1 Mbps", delay = "1 ms" },
    ]
    flows = [
        { name = "first", from = "a", to = "d", transport = { tcp = {} }, source = { ftp = {} } },
        { name = "named", from = "a", to = "d", route = ["c"], class = 1, start = "3 s",
          transport = { tcp = {} }, source = { ftp = {} } },
        { name = "apart", from = "a", to = "d", route = ["c"], route_back = ["b"],
          transport = { tcp = {} }, source = { ftp = {} } },
    ]
"#;

#[test]
fn routes_are_the_fewest_links_or_those_that_are_named() {
    let registry = Registry::default();
    let scenario = Scenario::from_toml(TWO_WAYS, &registry).unwrap();
    let checked = check(&scenario, &registry).unwrap();
    let routes: Vec<_> = checked
        .routes
        .iter()
        .map(|flow| (flow.forward.concat(), flow.back.concat()))
        .collect();
    let expected = [("abd", "dba"), ("acd", "dca"), ("acd", "dba")];
    assert_eq!(
        routes,
        expected.map(|(to, fro)| (to.to_owned(), fro.to_owned()))
    );

    let results = run(&scenario, &registry, RunOptions::default(), |_| true).unwrap();
    let carried = |name: &str| {
        let mut links = results.summary.links.iter();
        links.find(|link| link.name == name).unwrap().delivered
    };
    for name in ["a->b", "b->d", "d->b", "b->a", "a->c", "c->d"] {
        assert!(carried(name) > 0, "{name}");
    }
    // The only flow whose reverse route uses this link starts after the end of the run.
    assert_eq!(carried("d->c"), 0);
}

#[test]
fn a_route_needs_its_links() {
    let registry = Registry::default();
    let text = TWO_WAYS.replacen("route = [\"c\"]", "route = [\"c\", \"b\"]", 1);
    let scenario = Scenario::from_toml(&text, &registry).unwrap();
    let error = check(&scenario, &registry).unwrap_err();
    assert_eq!(error.to_string(), "flows[1]: there is no link \"c->b\"");
}

#[test]
fn what_is_hardly_meant_is_said() {
    let registry = Registry::default();
    let scenario = Scenario::from_toml(TWO_WAYS, &registry).unwrap();
    let warnings = check(&scenario, &registry).unwrap().warnings;
    let said: Vec<_> = warnings
        .iter()
        .map(|warning| (warning.field.as_str(), warning.message.as_str()))
        .collect();
    let expected = [
        ("nodes", "\"alone\" has no link"),
        (
            "flows[0].route",
            "several routes have as few links; it takes the one whose links come first, a -> b -> d",
        ),
        (
            "flows[0].route_back",
            "several routes have as few links; it takes the one whose links come first, d -> b -> a",
        ),
        (
            "flows[1].start",
            "3 s is not before the end of the run, 2 s",
        ),
        (
            "flows[1].class",
            "no queue on its routes treats classes differently",
        ),
    ];
    assert_eq!(said.len(), expected.len(), "{said:#?}");
    for ((field, message), (expected_field, beginning)) in said.into_iter().zip(expected) {
        assert_eq!(field, expected_field);
        assert!(message.starts_with(beginning), "{message}");
    }
}

#[test]
fn a_control_that_only_the_kernel_has_is_valid_and_cannot_be_simulated() {
    let registry = Registry::default();
    let text = TWO_WAYS.replacen("tcp = {}", "kernel-tcp = { control = \"yeah\" }", 1);
    let scenario = Scenario::from_toml(&text, &registry).unwrap();
    let checked = check(&scenario, &registry).unwrap();
    let mut warnings = checked.warnings.iter();
    let warned = warnings.find(|one| one.field == "flows[0].transport.kernel-tcp.control");
    let message = &warned.unwrap().message;
    let beginning =
        "cannot be simulated, only run by skywave realtime: \"yeah\" is not a known control";
    assert!(message.starts_with(beginning), "{message}");
    let error = run(&scenario, &registry, RunOptions::default(), |_| true).unwrap_err();
    let error = error.to_string();
    let field = "flows[0].transport.kernel-tcp.control: \"yeah\" is not a known control: use ";
    assert!(error.starts_with(field), "{error}");
    assert!(
        error.ends_with("; the kernel may have it: see skywave realtime"),
        "{error}"
    );
}

#[test]
fn a_queue_of_the_kernel_is_simulated_by_the_queue_in_its_place() {
    let registry = Registry::default();
    let with = |more: &str| {
        let queue =
            format!("rate = \"10 Mbps\", queue = {{ kernel = {{ qdisc = \"codel\"{more} }} }}");
        let text = THREE_LINKS.replacen("rate = \"10 Mbps\"", &queue, 1);
        Scenario::from_toml(&text, &registry).unwrap()
    };
    let alone = with("");
    let checked = check(&alone, &registry).unwrap();
    let warned = checked
        .warnings
        .iter()
        .find(|one| one.field == "link \"a->b\"");
    let message = &warned.unwrap().message;
    let beginning =
        "cannot be simulated, only run by skywave realtime: the simulator has no queues of";
    assert!(message.starts_with(beginning), "{message}");
    let error = run(&alone, &registry, RunOptions::default(), |_| true).unwrap_err();
    assert!(error.to_string().contains("kernel.simulated"), "{error}");
    let both = with(", simulated = { codel = { packets = 100 } }");
    let ours = THREE_LINKS.replacen("delay", "queue = { codel = { packets = 100 } }, delay", 1);
    let ours = Scenario::from_toml(&ours, &registry).unwrap();
    let fingerprint = |scenario| {
        let results = run(scenario, &registry, RunOptions::default(), |_| true);
        results.unwrap().fingerprint
    };
    assert_eq!(fingerprint(&both), fingerprint(&ours));
}

const THREE_LINKS: &str = r#"
    name = "three links"
    duration = "5 s"
    nodes = ["a", "b", "c", "d"]
    links = [
        { from = "a", to = "b", rate = "10 Mbps", delay = "1 ms" },
        { from = "b", to = "c", rate = "1 Mbps", delay = "10 ms" },
        { from = "c", to = "d", rate = "10 Mbps", delay = "1 ms" },
    ]
    flows = [{ name = "file", from = "a", to = "c", transport = { tcp = {} }, source = { ftp = {} } }]
"#;

/// The fields and messages of the warnings of a scenario.
fn said(text: &str) -> Vec<(String, String)> {
    let registry = Registry::default();
    let scenario = Scenario::from_toml(text, &registry).unwrap();
    let warnings = check(&scenario, &registry).unwrap().warnings;
    let said = warnings.into_iter();
    said.map(|warning| (warning.field, warning.message))
        .collect()
}

/// Asserts that [`THREE_LINKS`] has these warnings if its second link is another one.
#[track_caller]
fn assert_link_warned_of(settings: &str, expected: &[(&str, &str)]) {
    let own = r#"rate = "1 Mbps", delay = "10 ms""#;
    assert!(THREE_LINKS.contains(own));
    let found = said(&THREE_LINKS.replace(own, settings));
    let found: Vec<_> = found
        .iter()
        .map(|(field, message)| (&**field, &**message))
        .collect();
    assert_eq!(found, expected, "{settings}");
}

#[test]
fn a_link_that_packets_do_not_pass_before_the_end_is_said() {
    assert_link_warned_of(r#"rate = "1 Mbps", delay = "10 ms""#, &[]);
    let takes = |time, of, name| {
        format!("{name} takes {time} for a packet of {of} B, longer than the run of 5 s")
    };
    let there = takes("320.01 s", 40, "b->c");
    assert_link_warned_of(
        r#"rate = "1 bps", delay = "10 ms""#,
        &[("links[1].rate", &there)],
    );
    let there = takes("86400.001 s", 40, "b->c");
    assert_link_warned_of(
        r#"rate = "1 Mbps", delay = "24 h", back = { delay = "1 s" }"#,
        &[("links[1].delay", &there)],
    );
    let back = takes("6.001 s", 40, "c->b");
    assert_link_warned_of(
        r#"rate = "1 Mbps", delay = "10 ms", back = { delay = "6 s" }"#,
        &[("links[1].back.delay", &back)],
    );
    assert_link_warned_of(
        r#"rate = "1 Mbps", delay = "10 ms", jitter = "1000 h""#,
        &[(
            "links[1].jitter",
            "b->c holds packets back for up to 3600000 s, longer than the run of 5 s",
        )],
    );
}

#[test]
fn a_link_that_loses_everything_is_said() {
    let loses_all = "b->c loses each of its first 1000 packets";
    for loss in [
        "bernoulli = { probability = 1.0 }",
        "bernoulli = { probability = 0.5, per = \"bit\" }",
        "gilbert-elliott = { good_to_bad = 1.0, bad_to_good = 0.0 }",
    ] {
        let settings = format!(r#"rate = "1 Mbps", delay = "10 ms", loss = {{ {loss} }}"#);
        assert_link_warned_of(&settings, &[("links[1].loss", loses_all)]);
    }
    for loss in ["bernoulli = { probability = 0.9 }", "packets = [1, 2, 3]"] {
        let settings = format!(r#"rate = "1 Mbps", delay = "10 ms", loss = {{ {loss} }}"#);
        assert_link_warned_of(&settings, &[]);
    }
    assert_link_warned_of(
        r#"rate = "1 Mbps", delay = "1 s", back = { loss = { bernoulli = { probability = 1.0 } } }"#,
        &[(
            "links[1].back.loss",
            "c->b loses each of its first 1000 packets",
        )],
    );
}

#[test]
fn a_trace_without_effect_and_one_without_packets_are_said() {
    let idle = "b->c has a trace that changes nothing in the run of 5 s";
    let down = "b->c delivers no packet of 40 B in the run of 5 s";
    for (trace, expected) in [
        ("steps = []", Some(idle)),
        (r#"steps = [{ at = "5 s", rate = "2 Mbps" }]"#, Some(idle)),
        (r#"steps = [{ at = "1 s", rate = "1 Mbps" }]"#, Some(idle)),
        (r#"steps = [{ at = "1 s", rate = "2 Mbps" }]"#, None),
        (r#"steps = [{ at = "0 s", rate = "0 bps" }]"#, Some(down)),
        (
            r#"steps = [{ at = "0 s", rate = "0 bps" }, { at = "4 s", rate = "1 Mbps" }]"#,
            None,
        ),
        ("opportunities = [5000]", Some(down)),
        ("opportunities = [4000]", None),
        (r#"outages = { up = "1 ms", down = "1 ms" }"#, None),
    ] {
        let settings = format!(r#"rate = "1 Mbps", delay = "10 ms", trace = {{ {trace} }}"#);
        let expected: Vec<_> = expected
            .map(|what| ("links[1].trace", what))
            .into_iter()
            .collect();
        assert_link_warned_of(&settings, &expected);
    }
    // What the trace does not change is the fault of the link.
    assert_link_warned_of(
        r#"rate = "1 Mbps", delay = "9 s", trace = { steps = [] }, back = { delay = "1 s" }"#,
        &[
            (
                "links[1].delay",
                "b->c takes 9.001 s for a packet of 40 B, longer than the run of 5 s",
            ),
            ("links[1].trace", idle),
        ],
    );
}

#[test]
fn a_step_that_is_shorter_than_a_packet_is_said() {
    let message = |takes: &str, rate: &str, from: &str, to: &str, more: &str| {
        format!(
            "b->c takes {takes} for a packet of 1040 B at {rate}, longer than the step from {from} \
             to {to}{more}: the packet goes on at the next rate"
        )
    };
    let slow = message("8.32 s", "1 kbps", "1 s", "2 s", "");
    let two = message("8.32 s", "1 kbps", "1 s", "2 s", " (1 more like this)");
    let first = message("8320 s", "1 bps", "0 s", "1 s", "");
    for (rate, trace, expected) in [
        (
            "1 Mbps",
            r#"steps = [{ at = "1 s", rate = "1 kbps" }, { at = "2 s", rate = "1 Mbps" }]"#,
            Some(&slow),
        ),
        (
            "1 Mbps",
            r#"steps = [{ at = "1 s", rate = "1 kbps" }, { at = "2 s", rate = "2 kbps" },
                        { at = "3 s", rate = "1 Mbps" }]"#,
            Some(&two),
        ),
        (
            "1 bps",
            r#"steps = [{ at = "1 s", rate = "1 Mbps" }]"#,
            Some(&first),
        ),
        // Long enough, until the end of the run, down, no change of the rate, or short by design.
        (
            "1 Mbps",
            r#"steps = [{ at = "1 s", rate = "9 kbps" }, { at = "2 s", rate = "1 Mbps" }]"#,
            None,
        ),
        (
            "1 Mbps",
            r#"steps = [{ at = "1 s", rate = "1 kbps" }]"#,
            None,
        ),
        (
            "1 Mbps",
            r#"steps = [{ at = "1 s", rate = "0 bps" }, { at = "2 s", rate = "1 Mbps" }]"#,
            None,
        ),
        (
            "2 kbps",
            r#"steps = [{ at = "1 s", delay = "9 ms" }, { at = "2 s", delay = "8 ms" }]"#,
            None,
        ),
        ("1 Mbps", "opportunities = [10, 20, 30]", None),
        (
            "1 Mbps",
            r#"outages = { up = "5 ms", down = "5 ms" }"#,
            None,
        ),
    ] {
        let settings = format!(
            r#"rate = "{rate}", delay = "10 ms", trace = {{ {trace} }}, back = {{ rate = "1 Mbps" }}"#
        );
        let expected: Vec<_> = expected
            .map(|what| ("links[1].trace", &**what))
            .into_iter()
            .collect();
        assert_link_warned_of(&settings, &expected);
    }
}

/// A packet may take several steps.
#[test]
fn a_packet_that_no_step_delivers_by_itself_may_arrive() {
    let steps = |rate: &str| {
        let step = |at: u64| format!(r#"{{ at = "{at} s", rate = "{rate}" }}"#);
        let steps: Vec<_> = (0..5).flat_map(|at| [step(at), step_down(at)]).collect();
        format!(
            r#"rate = "1 Mbps", delay = "10 ms", trace = {{ steps = [{}] }}"#,
            steps.join(", ")
        )
    };
    fn step_down(at: u64) -> String {
        format!(r#"{{ at = "{at}.5 s", rate = "0 bps" }}"#)
    }
    // 40 B are 320 bits, and the link is up for 2.5 s of the run.
    let found = |rate: &str| {
        let text = THREE_LINKS.replace(r#"rate = "1 Mbps", delay = "10 ms""#, &steps(rate));
        said(&text).into_iter().map(|(_, message)| message)
    };
    let never = "b->c delivers no packet of 40 B in the run of 5 s";
    assert!(!found("150 bps").any(|message| message == never));
    assert!(found("100 bps").any(|message| message == never));
}

#[test]
fn links_that_no_flow_uses_are_not_warned_of() {
    let text = THREE_LINKS.replacen(
        r#"to = "d", rate = "10 Mbps""#,
        r#"to = "d", rate = "1 bps""#,
        1,
    );
    assert_ne!(text, THREE_LINKS);
    assert_eq!(said(&text), []);
}

#[test]
fn the_settings_of_a_dumbbell_are_named() {
    let text = r#"
        name = "dumbbell"
        duration = "5 s"
        dumbbell = { pairs = 2, rate = "1 bps", delay = "50 ms", access_rate = "10 Mbps",
                     access_delays = ["1 ms", "9 s"], back = { rate = "1 kbps" } }
        flows = [{ name = "call", from = "s2", to = "d2", transport = { udp = {} },
                   source = { cbr = { rate = "64 kbps", datagram = "160 B" } } }]
    "#;
    let fields: Vec<_> = said(text).into_iter().map(|(field, _)| field).collect();
    assert_eq!(fields, ["dumbbell.rate", "dumbbell.access_delays"]);
}

/// Every link is fast enough, and together they are not.
#[test]
fn a_flow_whose_data_comes_too_late_is_said() {
    let slow = THREE_LINKS.replace("10 ms", "2 s");
    let [(field, message)] = &said(&slow)[..] else {
        panic!("{:?}", said(&slow));
    };
    assert_eq!(field, "flows[0]");
    assert_eq!(
        message,
        "its first full packet cannot arrive before 6.013 s, and the run ends at 5 s"
    );
    // Without a connection, it arrives after a third of that time.
    let udp = slow.replace("tcp = {}", "udp = {}").replace(
        "ftp = {}",
        r#"cbr = { rate = "8 kbps", datagram = "100 B" }"#,
    );
    assert_eq!(said(&udp), []);
    let late = udp.replace(
        r#"to = "c", transport"#,
        r#"to = "c", start = "4 s", transport"#,
    );
    let [(_, message)] = &said(&late)[..] else {
        panic!("{:?}", said(&late));
    };
    assert!(
        message.starts_with("its first full packet cannot arrive before 6.0"),
        "{message}"
    );
    // Of many flows, ten are named.
    let flow = slow.split("flows = [").nth(1).unwrap().trim();
    let flow = flow.trim_end_matches(']');
    let flows: Vec<_> = (0..12)
        .map(|number| flow.replace("file", &number.to_string()))
        .collect();
    let found = said(&slow.replace(flow, &flows.join(", ")));
    assert_eq!(found.len(), 11);
    assert_eq!(found[9].0, "flows[9]");
    let rest = ("flows", "2 more warnings like these");
    assert_eq!((&*found[10].0, &*found[10].1), rest);
    // What cannot arrive does not.
    let registry = Registry::default();
    for (text, arrives) in [(slow, false), (udp, true), (late, false)] {
        let scenario = Scenario::from_toml(&text, &registry).unwrap();
        let results = run(&scenario, &registry, RunOptions::default(), |_| true).unwrap();
        assert_eq!(results.summary.flows[0].delivered_packets > 0, arrives);
    }
}

#[test]
fn a_route_in_a_circle_is_said() {
    let text = THREE_LINKS.replace(
        r#"to = "c", transport"#,
        r#"to = "c", route = ROUTE, transport"#,
    );
    let circle = |nodes| format!("packets go in a circle, {nodes}: name each node once");
    for (route, expected) in [
        (r#"["b"]"#, vec![]),
        (
            r#"["b", "c", "b"]"#,
            vec![("flows[0].route", circle("b -> c -> b"))],
        ),
        (
            r#"["b", "a", "b"]"#,
            vec![("flows[0].route", circle("a -> b -> a"))],
        ),
        (
            r#"["b"], route_back = ["d", "c", "b"]"#,
            vec![("flows[0].route_back", circle("c -> d -> c"))],
        ),
    ] {
        let found = said(&text.replace("ROUTE", route));
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(field, message)| (field.to_owned(), message))
            .collect();
        assert_eq!(found, expected, "{route}");
    }
}

#[test]
fn packets_leave_a_circle_where_their_route_does() {
    let route = r#"to = "c", route = ["b", "c", "b"], transport"#;
    let cbr = r#"cbr = { rate = "80 kbps", datagram = "100 B" }"#;
    let text = THREE_LINKS
        .replace(r#"to = "c", transport"#, route)
        .replace("tcp = {}", "udp = {}")
        .replace("ftp = {}", cbr);
    let registry = Registry::default();
    let scenario = Scenario::from_toml(&text, &registry).unwrap();
    let options = RunOptions {
        verify_physics: true,
        ..RunOptions::default()
    };
    let results = run(&scenario, &registry, options, |_| true).unwrap();
    assert_eq!(results.violations, Vec::<String>::new());
    assert!(results.summary.flows[0].delivered_packets > 0);
    let arrivals = |name: &str| {
        let mut links = results.summary.links.iter();
        links.find(|link| link.name == name).unwrap().arrivals
    };
    // All come there once, and nearly all again: some are on their way at the end.
    let (once, twice) = (arrivals("a->b"), arrivals("b->c"));
    assert!(
        (2 * once - 100..=2 * once).contains(&twice),
        "{once} {twice}"
    );
}

/// A dumbbell of 2000 pairs, and flows that each use the next pair.
fn many(flows: usize, probes: &str) -> String {
    let mut text = format!(
        r#"{{ "name": "many", "duration": "1 s", "probes": {probes}, "dumbbell": {{ "pairs": 2000,
           "rate": "1 Gbps", "delay": "1 ms", "access_rate": "1 Gbps", "access_delays": ["1 ms"] }},
           "flows": ["#
    );
    for flow in 0..flows {
        let (comma, pair) = (if flow == 0 { "" } else { "," }, flow % 2000 + 1);
        text.push_str(&format!(
            r#"{comma}{{ "name": "{flow}", "from": "s{pair}", "to": "d{pair}",
               "transport": {{ "udp": {{}} }}, "source": {{ "cbr": {{ "rate": "1 kbps", "datagram": "100 B" }} }} }}"#
        ));
    }
    text.push_str("] }");
    text
}

fn checked(text: &str) -> Result<(), String> {
    let registry = Registry::default();
    let scenario = Scenario::from_json(text, &registry).map_err(|error| error.to_string())?;
    let checked = check(&scenario, &registry).map_err(|error| error.to_string());
    checked.map(|_| ())
}

/// What counts flows on links grows with the links that each flow uses, not with those that there
/// are: 16 million pairs here, of which 12,000 are in use.
#[test]
fn a_flow_on_each_of_many_links_takes_little_memory() {
    let registry = Registry::default();
    let text = many(2000, "{}").replace("\"pairs\": 2000", "\"pairs\": 4000");
    let scenario = Scenario::from_json(&text, &registry).unwrap();
    let results = run(&scenario, &registry, RunOptions::default(), |_| true).unwrap();
    let (_, table) = results
        .tables
        .iter()
        .find(|(name, _)| name == "link_flows")
        .unwrap();
    assert_eq!(table.num_rows(), 2000 * 6);
}

#[test]
fn more_counts_than_memory_has_room_for_are_refused_with_advice() {
    assert_eq!(
        checked(&many(8000, "{}")).unwrap_err(),
        "probes: the sampled flows have 48032000 counts on the sampled links, and a run has at most \
         30000000: name fewer links or flows in probes.links or probes.flows"
    );
    for few in [r#"{ "links": ["r1->r2"] }"#, r#"{ "flows": ["0", "1"] }"#] {
        checked(&many(8000, few)).unwrap();
    }
}

/// A row of nodes, and flows from its first to its last.
fn row_of_nodes(nodes: usize, flows: usize, interval: &str) -> String {
    let name = |node| format!("\"n{node}\"");
    let nodes_: Vec<_> = (0..nodes).map(name).collect();
    let links: Vec<_> = (1..nodes)
        .map(|node| {
            let (from, to) = (name(node - 1), name(node));
            format!(r#"{{ "from": {from}, "to": {to}, "rate": "1 Gbps", "delay": "0 s" }}"#)
        })
        .collect();
    let last = name(nodes - 1);
    let flows: Vec<_> = (0..flows)
        .map(|flow| {
            format!(
                r#"{{ "name": "{flow}", "from": "n0", "to": {last}, "transport": {{ "udp": {{}} }},
                   "source": {{ "cbr": {{ "rate": "1 kbps", "datagram": "100 B" }} }} }}"#
            )
        })
        .collect();
    format!(
        r#"{{ "name": "row", "duration": "1 s", "probes": {{ "interval": "{interval}" }},
           "nodes": [{}], "links": [{}], "flows": [{}] }}"#,
        nodes_.join(","),
        links.join(","),
        flows.join(",")
    )
}

#[test]
fn long_routes_of_many_flows_are_refused_with_advice() {
    assert_eq!(
        checked(&row_of_nodes(5001, 3001, "1 s")).unwrap_err(),
        "flows[3000]: the routes up to this flow's have 30010000 links, and those of a run at most \
         30000000: use fewer flows or shorter routes"
    );
}

#[test]
fn samples_of_flows_on_links_count_as_rows() {
    assert_eq!(
        checked(&row_of_nodes(101, 101, "1 ms")).unwrap_err(),
        "probes.interval: 1 ms gives 1000 samples of 20200 pairs of a flow and a link on its \
         route, and a run has at most 20000000 rows: sample less often, or fewer links and flows"
    );
    checked(&row_of_nodes(101, 100, "1 ms")).unwrap();
}
