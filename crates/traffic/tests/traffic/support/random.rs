//! Random sources with datagrams of 1000 B, and statistics of what they send.

use serde_json::{Value, json};

use super::{build, run};

/// How many standard errors a mean may be off.
const ERRORS: f64 = 4.0;

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Asserts that a mean is what it should be, given its standard error.
#[track_caller]
pub(crate) fn assert_mean(found: f64, expected: f64, standard_error: f64) {
    let errors = (found - expected) / standard_error;
    assert!(
        errors.abs() < ERRORS,
        "{found}, not {expected}: {errors} standard errors"
    );
}

/// Datagrams of 1000 B at 800 kbps: 100 a second.
pub(crate) fn poisson() -> Value {
    json!({ "poisson": { "rate": "800 kbps", "datagram": "1000 B" } })
}

/// A datagram of 1000 B takes 1 ms in a burst.
pub(crate) const INTERVAL: f64 = 0.001;

pub(crate) fn on_off(on: Value, off: Value) -> Value {
    json!({ "on-off": { "rate": "8 Mbps", "datagram": "1000 B", "on": on, "off": off } })
}

pub(crate) fn exponential(mean: &str) -> Value {
    json!({ "exponential": { "mean": mean } })
}

pub(crate) fn pareto(mean: &str, shape: f64) -> Value {
    json!({ "pareto": { "mean": mean, "shape": shape } })
}

pub(crate) fn times(source: Value, seed: u64, seconds: f64) -> Vec<f64> {
    let sent = run(&mut *build(source, seed), seconds);
    assert!(sent.iter().all(|&(_, size)| size == 1000));
    sent.into_iter().map(|(at, _)| at).collect()
}

/// The number of datagrams in each whole burst, and the pauses between bursts, of a source whose
/// bursts have at least one. Within a burst, datagrams are exactly an interval apart; between
/// bursts, the pause comes on top.
pub(crate) fn bursts(times: &[f64], interval: f64) -> (Vec<f64>, Vec<f64>) {
    let (mut counts, mut pauses) = (vec![1.0], Vec::new());
    for pair in times.windows(2) {
        let pause = pair[1] - pair[0] - interval;
        if pause > 1e-7 {
            pauses.push(pause);
            counts.push(0.0);
        }
        *counts.last_mut().unwrap() += 1.0;
    }
    // The run ends within the last.
    counts.pop();
    (counts, pauses)
}
