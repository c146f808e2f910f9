//! Runs in steps.

use skywave_sim::{Registry, RunOptions, Scenario, SteppedRun, run};
use skywave_units::{Duration, Instant};

const TEXT: &str = r#"
name = "stepped"
duration = "20 s"
seed = 3
dumbbell = { pairs = 2, rate = "2 Mbps", delay = "20 ms", queue = { codel = { packets = 30 } }, loss = { bernoulli = { probability = 0.01 } }, access_rate = "100 Mbps", access_delays = ["1 ms"] }
flows = [
  { name = "tcp", from = "s1", to = "d1", transport = { tcp = { control = "cubic" } }, source = { ftp = {} } },
  { name = "dccp", from = "s2", to = "d2", transport = { dccp = { ccid = 3 } }, source = { ftp = {} } },
]
probes = { interval = "100 ms", tables = ["controls", "queues", "rates"] }
"#;

fn at(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds)
}

fn scenario(registry: &Registry) -> Scenario {
    Scenario::from_toml(TEXT, registry).expect("the scenario is right")
}

#[test]
fn steps_change_nothing() {
    let registry = Registry::default();
    let scenario = scenario(&registry);
    let whole = run(&scenario, &registry, RunOptions::default(), |_| true).unwrap();
    let mut stepped = SteppedRun::new(&scenario, &registry, RunOptions::default()).unwrap();
    let mut rows = std::collections::BTreeMap::<String, usize>::new();
    let mut to = 0.0;
    while stepped.now() < stepped.end() {
        to += 0.333;
        stepped.advance(at(to), |_| true).unwrap();
        for (name, table) in stepped.samples().unwrap() {
            *rows.entry(name).or_default() += table.num_rows();
        }
    }
    let results = stepped.finish().unwrap();
    assert_eq!(results.fingerprint, whole.fingerprint);
    assert_eq!(results.summary, whole.summary);
    assert_eq!(results.tables, whole.tables);
    for (name, count) in rows {
        let (_, table) = whole
            .tables
            .iter()
            .find(|(table, _)| *table == name)
            .unwrap();
        assert!(count > 0, "{name}");
        assert_eq!(table.num_rows(), count, "{name}");
    }
}

#[test]
fn samples_are_the_rows_of_the_tables() {
    let registry = Registry::default();
    let scenario = scenario(&registry);
    let whole = run(&scenario, &registry, RunOptions::default(), |_| true).unwrap();
    let mut stepped = SteppedRun::new(&scenario, &registry, RunOptions::default()).unwrap();
    let mut from = std::collections::BTreeMap::<String, usize>::new();
    for to in [0.05, 3.0, 3.0, 7.77, 20.0] {
        stepped.advance(at(to), |_| true).unwrap();
        for (name, piece) in stepped.samples().unwrap() {
            let (_, table) = whole
                .tables
                .iter()
                .find(|(table, _)| *table == name)
                .unwrap();
            let first = from.entry(name.clone()).or_default();
            // The dictionaries of names grow.
            if name != "controls" && name != "queues" {
                assert_eq!(piece, table.slice(*first, piece.num_rows()), "{name}");
            }
            *first += piece.num_rows();
        }
    }
    assert_eq!(from["links"], 200 * 10);
}

#[test]
fn an_early_end_has_the_results_of_its_time() {
    let registry = Registry::default();
    let scenario = scenario(&registry);
    let mut stepped = SteppedRun::new(&scenario, &registry, RunOptions::default()).unwrap();
    stepped.advance(at(5.0), |_| true).unwrap();
    stepped.advance(at(1.0), |_| true).unwrap();
    assert_eq!(stepped.now(), at(5.0));
    let results = stepped.finish().unwrap();
    let shorter = Scenario {
        duration: Duration::from_secs(5),
        ..scenario
    };
    let expected = run(&shorter, &registry, RunOptions::default(), |_| true).unwrap();
    assert_eq!(results.fingerprint, expected.fingerprint);
    assert_eq!(results.tables, expected.tables);
}

#[test]
fn who_interrupts_it_may_go_on() {
    let registry = Registry::default();
    let mut scenario = scenario(&registry);
    scenario.duration = Duration::from_secs(400);
    let whole = run(&scenario, &registry, RunOptions::default(), |_| true).unwrap();
    let mut stepped = SteppedRun::new(&scenario, &registry, RunOptions::default()).unwrap();
    let mut stops = 0;
    while stepped.now() < stepped.end() {
        let before = stepped.now();
        stepped.advance(stepped.end(), |_| false).unwrap();
        assert!(stepped.now() > before);
        stops += 1;
    }
    assert!(stops > 2, "{stops}");
    assert_eq!(stepped.finish().unwrap().fingerprint, whole.fingerprint);
}

#[test]
fn what_a_run_used_of_a_link_is_of_the_time_that_it_ran() {
    let registry = Registry::default();
    let text = TEXT.replace(
        "access_rate",
        r#"trace = { steps = [{ at = "5 s", rate = "100 kbps" }] }, access_rate"#,
    );
    let scenario = Scenario::from_toml(&text, &registry).expect(&text);
    let mut stepped = SteppedRun::new(&scenario, &registry, RunOptions::default()).unwrap();
    stepped.advance(at(5.0), |_| true).unwrap();
    let link = &stepped.finish().unwrap().summary.links[0];
    assert_eq!(link.rate_bps, 2_000_000);
    assert!(link.utilisation <= 1.0, "{link:?}");
}
