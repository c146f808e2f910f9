//! Each example scenario obeys physics, gives the same results with packets encoded on the wire,
//! and keeps the stored fingerprint of its event stream.
//!
//! A change of behaviour shows as a diff of `examples/fingerprints.txt`. To accept it, run
//! `UPDATE_FINGERPRINTS=1 cargo test -p skywave-sim --test examples` and commit the new file.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use libtest_mimic::{Arguments, Trial};
use skywave_sim::{Registry, Results, RunOptions, Scenario, check, run};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn example(name: &str) -> Scenario {
    let text = fs::read_to_string(directory().join(name).with_extension("toml")).unwrap();
    Scenario::from_toml_beside(&text, &Registry::default(), &directory()).unwrap()
}

fn results(scenario: &Scenario) -> Results {
    let options = RunOptions::default();
    run(scenario, &Registry::default(), options, |_| true).unwrap()
}

fn obeys_physics(name: &str) {
    let options = RunOptions {
        verify_physics: true,
        ..RunOptions::default()
    };
    let results = run(&example(name), &Registry::default(), options, |_| true).unwrap();
    assert!(results.violations.is_empty(), "{:#?}", results.violations);
    let flows = &results.summary.flows;
    assert!(flows.iter().all(|flow| flow.delivered_bytes > 0));
}

fn survives_the_wire(name: &str) {
    let mut scenario = example(name);
    scenario.verify_wire = false;
    let typed = results(&scenario);
    scenario.verify_wire = true;
    assert_eq!(typed.fingerprint, results(&scenario).fingerprint);
}

/// The scenario as completed by `check` gives the same results.
fn runs_as_what_check_makes_of_it(name: &str) {
    let given = example(name);
    let complete = check(&given, &Registry::default()).unwrap().scenario;
    assert_eq!(results(&given).fingerprint, results(&complete).fingerprint);
}

fn gives_the_same_results_every_time(name: &str) {
    let scenario = example(name);
    let [first, second] = [(), ()].map(|()| results(&scenario));
    assert_eq!(first.fingerprint, second.fingerprint);
    assert_eq!(first.summary, second.summary);
    assert_eq!(first.tables, second.tables);
}

/// The stored fingerprints, by example.
fn stored() -> BTreeMap<String, String> {
    let text = fs::read_to_string(directory().join("fingerprints.txt")).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines
        .map(|(name, fingerprint)| (name.to_owned(), fingerprint.to_owned()))
        .collect()
}

fn keeps_its_fingerprint(name: &str) {
    let fingerprint = format!("{:016x}", results(&example(name)).fingerprint);
    if std::env::var_os("UPDATE_FINGERPRINTS").is_some() {
        store(name, &fingerprint);
    }
    assert_eq!(stored().get(name), Some(&fingerprint));
}

/// Replaces one stored fingerprint. Tests run in parallel, so it holds a lock.
fn store(name: &str, fingerprint: &str) {
    static WRITING: Mutex<()> = Mutex::new(());
    let _alone = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut all = stored();
    all.insert(name.to_owned(), fingerprint.to_owned());
    let mut text = String::new();
    for (name, fingerprint) in all {
        writeln!(text, "{name} {fingerprint}").unwrap();
    }
    fs::write(directory().join("fingerprints.txt"), text).unwrap();
}

/// The examples' names, in alphabetical order.
fn names() -> Vec<String> {
    let paths = fs::read_dir(directory()).unwrap();
    let paths = paths.map(|entry| entry.unwrap().path());
    let mut names: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|is| is == "toml"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort_unstable();
    names
}

fn no_fingerprint_is_left_over() {
    let stored: Vec<_> = stored().into_keys().collect();
    assert_eq!(stored, names());
}

/// A test that fails by panicking.
fn trial(name: String, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, || {
        test();
        Ok(())
    })
}

fn main() {
    type OfExample = fn(&str);
    let tests: [(&str, OfExample); 5] = [
        ("obeys_physics", obeys_physics),
        (
            "runs_as_what_check_makes_of_it",
            runs_as_what_check_makes_of_it,
        ),
        ("survives_the_wire", survives_the_wire),
        (
            "gives_the_same_results_every_time",
            gives_the_same_results_every_time,
        ),
        ("keeps_its_fingerprint", keeps_its_fingerprint),
    ];
    let names = names();
    assert!(names.len() >= 3, "examples are missing");
    let mut trials = vec![trial(
        "no_fingerprint_is_left_over".to_owned(),
        no_fingerprint_is_left_over,
    )];
    for example in names {
        for (what, test) in tests {
            let name = example.clone();
            trials.push(trial(format!("{example}::{what}"), move || test(&name)));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
