//! Each example scenario: the physics verifier has nothing to say, the wire changes nothing, and
//! the fingerprint of its event stream is the one in the repository.
//!
//! A change of behaviour shows as a diff of `examples/fingerprints.txt`. Where it is meant, run
//! `UPDATE_FINGERPRINTS=1 cargo test -p skywave-sim --test examples` and commit the new ones.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use skywave_sim::{Registry, Results, RunOptions, Scenario, run};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn example(name: &str) -> Scenario {
    let text = fs::read_to_string(directory().join(name).with_extension("toml")).unwrap();
    Scenario::from_toml(&text, &Registry::default()).unwrap()
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

/// Stores one fingerprint anew, while no other test does.
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

/// The tests of each example.
macro_rules! examples {
    ($($module:ident: $name:literal;)*) => {
        const EXAMPLES: &[&str] = &[$($name),*];

        $(mod $module {
            #[test]
            fn obeys_physics() {
                super::obeys_physics($name);
            }

            #[test]
            fn survives_the_wire() {
                super::survives_the_wire($name);
            }

            #[test]
            fn gives_the_same_results_every_time() {
                super::gives_the_same_results_every_time($name);
            }

            #[test]
            fn keeps_its_fingerprint() {
                super::keeps_its_fingerprint($name);
            }
        })*
    };
}

examples! {
    codel_ecn: "codel-ecn";
    dccp: "dccp";
    dumbbell_mix: "dumbbell-mix";
    ipstar: "ipstar";
    mpcp: "mpcp";
    named_drops: "named-drops";
    red: "red";
    satellite: "satellite";
    sub_queues: "sub-queues";
    tcp: "tcp";
    tcp_flavours: "tcp-flavours";
    vcp: "vcp";
    voice: "voice";
    web: "web";
}

/// No example is left out, and no fingerprint is left over.
#[test]
fn every_example_is_tested() {
    let paths = fs::read_dir(directory()).unwrap();
    let paths = paths.map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|is| is == "toml"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    files.sort_unstable();
    assert_eq!(files, EXAMPLES);
    let stored: Vec<_> = stored().into_keys().collect();
    assert_eq!(stored, EXAMPLES);
}
