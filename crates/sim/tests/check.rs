//! Routes and warnings, which `check` finds before a run.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

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
    let text = TWO_WAYS.replacen("tcp = {}", "kernel-tcp = { control = \"bbr\" }", 1);
    let scenario = Scenario::from_toml(&text, &registry).unwrap();
    let checked = check(&scenario, &registry).unwrap();
    let mut warnings = checked.warnings.iter();
    let warned = warnings.find(|one| one.field == "flows[0].transport.kernel-tcp.control");
    let message = &warned.unwrap().message;
    let beginning = "cannot be simulated, only run with --live: \"bbr\" is not a known control";
    assert!(message.starts_with(beginning), "{message}");
    let error = run(&scenario, &registry, RunOptions::default(), |_| true).unwrap_err();
    let error = error.to_string();
    let field = "flows[0].transport.kernel-tcp.control: \"bbr\" is not a known control: use ";
    assert!(error.starts_with(field), "{error}");
    assert!(
        error.ends_with("; the kernel may have it: see --live"),
        "{error}"
    );
}
