//! The random sources, against the closed forms of their distributions.
//!
//! Seeds are fixed. A mean is held to four standard errors, a distribution to the distance of
//! Kolmogorov and Smirnov that its own draws exceed with a probability of 1 %.

use serde_json::json;

use crate::support::error;
use crate::support::random::{
    INTERVAL, assert_mean, bursts, exponential, mean, on_off, pareto, poisson, times,
};

/// The variance of a sample.
fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    squares / (values.len() as f64 - 1.0)
}

/// Asserts that the fraction of values above `x` is `expected`.
#[track_caller]
fn assert_tail(values: &[f64], x: f64, expected: f64) {
    let count = values.len() as f64;
    let above = values.iter().filter(|&&value| value > x).count() as f64 / count;
    assert_mean(
        above,
        expected,
        (expected * (1.0 - expected) / count).sqrt(),
    );
}

/// Returns whether values are drawn from the distribution with this tail.
fn is_drawn_from(values: &[f64], exceeded: impl Fn(f64) -> f64) -> bool {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    let distances = values.iter().zip(0_u32..).map(|(&value, rank)| {
        let law = 1.0 - exceeded(value);
        let (below, upto) = (f64::from(rank) / count, f64::from(rank + 1) / count);
        (law - below).max(upto - law)
    });
    distances.fold(0.0, f64::max) < 1.628 / count.sqrt()
}

/// In a Poisson process, the counts of disjoint intervals are Poisson distributed: their variance
/// is their mean (an index of dispersion of 1).
#[test]
fn the_counts_of_a_poisson_source_have_a_dispersion_of_one() {
    let (intervals, of_each) = (20_000_usize, 0.05);
    let mut counts = vec![0.0; intervals];
    for at in times(poisson(), 1, intervals as f64 * of_each) {
        if let Some(count) = counts.get_mut((at / of_each) as usize) {
            *count += 1.0;
        }
    }
    let (expected, number) = (5.0_f64, intervals as f64);
    assert_mean(mean(&counts), expected, (expected / number).sqrt());
    // Var(s^2) = (mu4 - sigma^4) / n, where mu4 = l + 3 l^2 for a Poisson distribution of mean l.
    let standard_error = ((1.0 / expected + 2.0) / number).sqrt();
    assert_mean(variance(&counts) / mean(&counts), 1.0, standard_error);
}

#[test]
fn the_intervals_of_a_poisson_source_are_exponential_and_independent() {
    let times = times(poisson(), 2, 500.0);
    let intervals: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(is_drawn_from(&intervals, |t| (-t / 0.01).exp()));
    // The test can fail: a rate that is 3 % higher is another distribution.
    assert!(!is_drawn_from(&intervals, |t| (-t / 0.0097).exp()));
    let mean = mean(&intervals);
    let products = intervals
        .windows(2)
        .map(|pair| (pair[0] - mean) * (pair[1] - mean));
    let correlation = products.sum::<f64>() / variance(&intervals) / intervals.len() as f64;
    assert_mean(correlation, 0.0, (intervals.len() as f64).sqrt().recip());
}

/// The fraction of time in bursts: a renewal-reward process. Over a time t, its variance is
/// `(Var(on) off^2 + Var(off) on^2) / (on + off)^3 / t`.
#[test]
fn the_mean_rate_of_an_on_off_source_is_that_of_its_share_of_the_time() {
    // The variance of a Pareto distribution is mean^2 / (shape (shape - 2)).
    let cases = [
        (exponential("50 ms"), 1.0, exponential("150 ms"), 1.0),
        (pareto("50 ms", 3.0), 1.0 / 3.0, exponential("150 ms"), 1.0),
        (exponential("50 ms"), 1.0, pareto("150 ms", 3.0), 1.0 / 3.0),
        (
            pareto("50 ms", 4.0),
            1.0 / 8.0,
            pareto("150 ms", 4.0),
            1.0 / 8.0,
        ),
    ];
    let (on, off, seconds) = (0.05_f64, 0.15_f64, 5_000.0);
    for (on_periods, on_spread, off_periods, off_spread) in cases {
        let times = times(on_off(on_periods, off_periods), 3, seconds);
        let spread = (on * off).powi(2) * (on_spread + off_spread) / (on + off).powi(3);
        let expected = on / (on + off);
        let found = times.len() as f64 * INTERVAL / seconds;
        assert_mean(found, expected, (spread / seconds).sqrt());
    }
}

/// Bursts far shorter than a datagram takes: time in bursts adds up until one is complete.
#[test]
fn the_mean_rate_does_not_depend_on_whole_datagrams_in_a_burst() {
    let seconds = 2_000.0;
    let times = times(
        on_off(exponential("100 us"), exponential("300 us")),
        4,
        seconds,
    );
    let found = times.len() as f64 * INTERVAL / seconds;
    let (on, off) = (1e-4_f64, 3e-4_f64);
    let spread = 2.0 * (on * off).powi(2) / (on + off).powi(3);
    assert_mean(found, 0.25, (spread / seconds).sqrt());
}

#[test]
fn bursts_and_pauses_have_their_means() {
    // Bursts of at least 67 datagrams, and so of one.
    let times = times(
        on_off(pareto("100 ms", 3.0), exponential("20 ms")),
        5,
        3_000.0,
    );
    let (counts, pauses) = bursts(&times, INTERVAL);
    let number = counts.len() as f64;
    assert!(number > 20_000.0);
    let spread = 100.0 / 3.0_f64.sqrt();
    assert_mean(mean(&counts), 100.0, spread / number.sqrt());
    assert_mean(mean(&pauses), 0.02, 0.02 / number.sqrt());
    assert!(is_drawn_from(&pauses, |t| (-t / 0.02).exp()));
}

/// `P{T > t} = (scale / t)^shape`, with ns-2's scale and its default of the shape.
#[test]
fn the_tail_of_a_pareto_source_is_a_power() {
    let on = json!({ "pareto": { "mean": "300 ms" } });
    let times = times(on_off(on, pareto("30 ms", 1.2)), 6, 10_000.0);
    let (counts, pauses) = bursts(&times, INTERVAL);
    let (on_scale, off_scale) = (0.3 * 0.5 / 1.5, 0.03 * 0.2 / 1.2);
    for factor in [1.5, 3.0, 10.0, 40.0] {
        let x: f64 = factor * off_scale;
        assert_tail(&pauses, x, (off_scale / x).powf(1.2));
        // A burst that lasts between n and n + 1 intervals has n or n + 1 datagrams, evenly.
        let x = factor * on_scale;
        let datagrams = (x / INTERVAL).floor() + 0.5;
        assert_tail(
            &counts,
            datagrams,
            (on_scale / (datagrams * INTERVAL)).powf(1.5),
        );
    }
    assert!(is_drawn_from(&pauses, |t| (off_scale / t)
        .powf(1.2)
        .min(1.0)));
    assert!(!is_drawn_from(&pauses, |t| (off_scale / t)
        .powf(1.25)
        .min(1.0)));
}

#[test]
fn a_source_draws_from_its_seed_alone() {
    let sources = [
        poisson(),
        on_off(exponential("50 ms"), pareto("50 ms", 1.5)),
    ];
    for source in sources {
        let sent = |seed| times(source.clone(), seed, 20.0);
        assert_eq!(sent(7), sent(7));
        assert_ne!(sent(7), sent(8));
    }
}

#[test]
fn errors_say_what_to_do() {
    let on = exponential("1 s");
    let heavy = on_off(on.clone(), pareto("1 s", 1.0));
    let short = on_off(exponential("999 ns"), on.clone());
    let mut still = on_off(on.clone(), on);
    still["on-off"]["rate"] = json!("0 bps");
    for (document, message) in [
        (
            heavy,
            "on-off.off.pareto.shape: 1: the mean is finite only for a shape above 1: give a larger \
             one",
        ),
        (short, "on-off.on.exponential.mean: 999 ns: at least 1 us"),
        (still, "on-off.rate: 0 bps: give a rate above zero"),
        (
            json!({ "poisson": { "rate": "1 Mbps", "datagram": "0 B" } }),
            "poisson.datagram: 0 B do not fit a packet: between 1 B and 64495 B",
        ),
        (
            json!({ "poisson": { "rate": "100 Gbps", "datagram": "1 B" } }),
            "poisson.rate: 100 Gbps is more than one datagram of 1 B a nanosecond",
        ),
    ] {
        assert_eq!(error(document), message);
    }
}
