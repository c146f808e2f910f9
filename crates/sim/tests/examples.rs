//! Every example scenario: the physics verifier has nothing to say, the wire changes nothing, and
//! the fingerprint of its event stream is the one in the repository.
//!
//! A change of behaviour shows as a diff of `examples/fingerprints.txt`. Where it is meant, run
//! `UPDATE_FINGERPRINTS=1 cargo test -p skywave-sim --test examples` and commit the new ones.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write;
use std::path::PathBuf;

use skywave_sim::{Registry, RunOptions, Scenario, run};

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Name and scenario of each example, by name.
fn examples() -> Vec<(String, Scenario)> {
    let mut examples: Vec<_> = std::fs::read_dir(directory())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            let scenario = Scenario::from_toml(&text, &Registry::default());
            (
                name.clone(),
                scenario.unwrap_or_else(|error| panic!("{name}: {error}")),
            )
        })
        .collect();
    examples.sort_by(|(a, _), (b, _)| a.cmp(b));
    assert!(examples.len() >= 3, "examples are missing");
    examples
}

#[test]
fn obey_physics() {
    for (name, scenario) in examples() {
        let options = RunOptions {
            verify_physics: true,
            ..RunOptions::default()
        };
        let results = run(&scenario, &Registry::default(), options, |_| true).unwrap();
        assert!(
            results.violations.is_empty(),
            "{name}: {:#?}",
            results.violations
        );
        assert!(
            results
                .summary
                .flows
                .iter()
                .all(|flow| flow.delivered_bytes > 0),
            "{name}"
        );
    }
}

#[test]
fn survive_the_wire() {
    for (name, mut scenario) in examples() {
        scenario.verify_wire = false;
        let typed = run(
            &scenario,
            &Registry::default(),
            RunOptions::default(),
            |_| true,
        )
        .unwrap();
        scenario.verify_wire = true;
        let wired = run(
            &scenario,
            &Registry::default(),
            RunOptions::default(),
            |_| true,
        )
        .unwrap();
        assert_eq!(typed.fingerprint, wired.fingerprint, "{name}");
    }
}

#[test]
fn give_the_same_results_every_time() {
    for (name, scenario) in examples() {
        let [first, second] = [(), ()].map(|()| {
            let results = run(
                &scenario,
                &Registry::default(),
                RunOptions::default(),
                |_| true,
            )
            .unwrap();
            (results.fingerprint, results.summary, results.tables)
        });
        assert_eq!(first, second, "{name}");
    }
}

#[test]
fn keep_their_fingerprints() {
    let mut ours = String::new();
    for (name, scenario) in examples() {
        let results = run(
            &scenario,
            &Registry::default(),
            RunOptions::default(),
            |_| true,
        )
        .unwrap();
        writeln!(ours, "{name} {:016x}", results.fingerprint).unwrap();
    }
    let path = directory().join("fingerprints.txt");
    if std::env::var_os("UPDATE_FINGERPRINTS").is_some() {
        std::fs::write(&path, &ours).unwrap();
    }
    assert_eq!(ours, std::fs::read_to_string(&path).unwrap_or_default());
}
