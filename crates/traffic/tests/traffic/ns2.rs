//! What ns-2's sources send, as stored by `validation/ns2/scripts/sources.tcl`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::random::{
    INTERVAL, assert_mean, bursts, exponential, on_off, pareto, poisson, times,
};
use crate::support::{build, read, run};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../validation/ns2/sources")
}

fn stored(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap()
}

/// Compares a source with ns-2's: the rate, given its variance over a second, and how many pauses are
/// longer than each limit. Both are samples, and so the variance of a difference is that of both.
fn compare(name: &str, source: Value, interval: f64, variance: f64) {
    let text = stored(&format!("{name}.csv"));
    let (header, values) = text.split_once('\n').unwrap();
    let values = values.trim().split(',');
    let theirs: BTreeMap<&str, &str> = header.split(',').zip(values).collect();
    let theirs = |column: &str| theirs[column].parse::<f64>().unwrap();
    let seconds = theirs("seconds");
    let times = times(source, 11, seconds);
    let ours = times.len() as f64;
    assert_mean(ours, theirs("packets"), (2.0 * variance * seconds).sqrt());

    let (_, pauses) = bursts(&times, interval);
    let of_both = [pauses.len() as f64, theirs("pauses")];
    for limit in [5, 10, 20, 40, 80, 160] {
        let long = |pause: &&f64| **pause > f64::from(limit) / 1000.0;
        let counts = [
            pauses.iter().filter(long).count() as f64,
            theirs(&format!("above_{limit}")),
        ];
        let share = counts.iter().sum::<f64>() / of_both.iter().sum::<f64>();
        let variance = share * (1.0 - share) * of_both.map(f64::recip).iter().sum::<f64>();
        if share > 0.0 && share < 1.0 {
            let [ours, theirs] = [0, 1].map(|index| counts[index] / of_both[index]);
            assert_mean(ours, theirs, variance.sqrt());
        } else {
            assert_eq!(counts[0] / of_both[0], counts[1] / of_both[1]);
        }
    }
}

/// Of the number of datagrams in a second: the renewal-reward process of
/// `the_mean_rate_of_an_on_off_source_is_that_of_its_share_of_the_time`.
fn variance(on_spread: f64, off_spread: f64) -> f64 {
    let (on, off) = (0.1_f64, 0.02_f64);
    (on * off).powi(2) * (on_spread + off_spread) / (on + off).powi(3) / INTERVAL.powi(2)
}

#[test]
fn sources_are_those_of_ns2() {
    let source = on_off(exponential("100 ms"), exponential("20 ms"));
    compare("exponential", source, INTERVAL, variance(1.0, 1.0));
    let source = on_off(pareto("100 ms", 3.0), pareto("20 ms", 3.0));
    compare("pareto", source, INTERVAL, variance(1.0 / 3.0, 1.0 / 3.0));
    compare("poisson", poisson(), 0.0, 100.0);
}

#[test]
fn a_trace_is_replayed_as_by_ns2() {
    let document = json!({ "replay": { "ns2": "trace.bin", "repeat": true } });
    let spec = read(document, &folder()).unwrap();
    let mut source = build(serde_json::to_value(spec).unwrap(), 0);
    let sent: Vec<String> = run(&mut *source, 0.3)
        .into_iter()
        .map(|(at, size)| format!("{at:.6},{size}"))
        .collect();
    let stored = stored("trace.csv");
    let theirs: Vec<&str> = stored.lines().skip(1).collect();
    assert!(theirs.len() > 3 * 8);
    assert_eq!(sent, theirs);
}
