//! The last interval of a run, which may be shorter than the others.

use arrow_array::RecordBatch;
use skywave_sim::{Registry, Results, RunOptions, Scenario, SteppedRun, run};
use skywave_units::{Duration, Instant};

use crate::support::{counts, floats, table, words};

/// Sampled every second.
fn scenario(duration: Duration) -> Scenario {
    let text = format!(
        r#"
        name = "intervals"
        duration = "{duration}"
        dumbbell = {{ pairs = 2, rate = "2 Mbps", delay = "20 ms", queue = {{ codel = {{ packets = 30 }} }}, access_rate = "100 Mbps", access_delays = ["1 ms"] }}
        flows = [
          {{ name = "tcp", from = "s1", to = "d1", transport = {{ tcp = {{ control = "cubic" }} }}, source = {{ ftp = {{}} }} }},
          {{ name = "dccp", from = "s2", to = "d2", transport = {{ dccp = {{ ccid = 3 }} }}, source = {{ ftp = {{}} }} }},
        ]
        probes = {{ tables = ["controls", "queues"] }}
        "#
    );
    Scenario::from_toml(&text, &Registry::default()).unwrap()
}

fn results(milliseconds: u64) -> Results {
    let scenario = scenario(Duration::from_millis(milliseconds));
    run(
        &scenario,
        &Registry::default(),
        RunOptions::default(),
        |_| true,
    )
    .unwrap()
}

const SAMPLED: [&str; 5] = ["flows", "links", "link_flows", "controls", "queues"];

/// The sum of a column over the rows of one flow or link, by the column with its name.
fn sum(table: &RecordBatch, key: &str, of: &str, column: &str) -> u64 {
    let names = words(table, key);
    let rows = names.iter().zip(counts(table, column));
    rows.filter(|(name, _)| **name == of)
        .map(|(_, count)| count)
        .sum()
}

fn last_time(table: &RecordBatch) -> f64 {
    *floats(table, "time_s").last().unwrap()
}

/// Every table ends with the run, and its sums are those of the summary.
fn is_whole(results: &Results) {
    let summary = &results.summary;
    for name in SAMPLED {
        assert_eq!(
            last_time(table(results, name)),
            summary.duration_s,
            "{name}"
        );
    }
    for flow in &summary.flows {
        let flows = table(results, "flows");
        let of = |column| sum(flows, "flow", &flow.name, column);
        assert_eq!(of("delivered_packets"), flow.delivered_packets);
        assert_eq!(of("delivered_bytes"), flow.delivered_bytes);
        let drops = sum(table(results, "link_flows"), "flow", &flow.name, "drops");
        assert_eq!(drops, flow.drops);
    }
    for link in &summary.links {
        for name in ["links", "link_flows"] {
            let of = |column| sum(table(results, name), "link", &link.name, column);
            assert_eq!(of("arrivals"), link.arrivals);
            assert_eq!(of("drops"), link.drops);
            assert_eq!(of("delivered"), link.delivered);
            assert_eq!(of("delivered_bytes"), link.delivered_bytes);
            assert_eq!(of("marks"), link.marks);
        }
    }
}

/// Every rate of a table is its bytes over the length of the row's interval.
fn rates_are_over(table: &RecordBatch, rate: &str, length: impl Fn(f64) -> f64) {
    let bytes = counts(table, "delivered_bytes");
    let times = floats(table, "time_s");
    for ((rate, bytes), at) in floats(table, rate).iter().zip(bytes).zip(times) {
        assert_eq!(*rate, *bytes as f64 * 8.0 / length(*at), "{at}");
    }
}

#[test]
fn sums_of_tables_are_those_of_the_summary() {
    for milliseconds in [700, 7000, 7300] {
        is_whole(&results(milliseconds));
    }
}

#[test]
fn a_rate_is_over_the_time_that_the_interval_had() {
    for (milliseconds, last) in [(700, 0.7), (7300, 0.3), (7000, 1.0)] {
        let results = results(milliseconds);
        let end = results.summary.duration_s;
        let length = |at| if at == end { last } else { 1.0 };
        rates_are_over(table(&results, "flows"), "goodput_bps", length);
        for name in ["links", "link_flows"] {
            rates_are_over(table(&results, name), "throughput_bps", length);
        }
    }
}

#[test]
fn a_shorter_interval_is_a_row_more_and_changes_no_other() {
    let (whole, more) = (results(7000), results(7300));
    for name in ["flows", "links", "link_flows"] {
        let (whole, more) = (table(&whole, name), table(&more, name));
        assert_eq!(*whole, more.slice(0, whole.num_rows()), "{name}");
        assert_eq!(more.num_rows(), whole.num_rows() / 7 * 8, "{name}");
    }
}

#[test]
fn a_run_in_steps_has_it_in_its_last_piece() {
    let scenario = scenario(Duration::from_millis(2500));
    let mut stepped =
        SteppedRun::new(&scenario, &Registry::default(), RunOptions::default()).unwrap();
    stepped
        .advance(Instant::ZERO + Duration::from_millis(2300), |_| true)
        .unwrap();
    assert_eq!(last_time(&stepped.samples().unwrap()[0].1), 2.0);
    stepped.advance(stepped.end(), |_| true).unwrap();
    let pieces = stepped.samples().unwrap();
    for (name, piece) in &pieces {
        assert_eq!(last_time(piece), 2.5, "{name}");
    }
    let results = stepped.finish().unwrap();
    is_whole(&results);
    assert_eq!(results.tables, self::results(2500).tables);
}

#[test]
fn a_run_that_is_stopped_ends_with_it() {
    let registry = Registry::default();
    let scenario = scenario(Duration::from_secs(60));
    let mut stepped = SteppedRun::new(&scenario, &registry, RunOptions::default()).unwrap();
    let to = Instant::ZERO + Duration::from_millis(2500);
    stepped.advance(to, |_| true).unwrap();
    stepped.samples().unwrap();
    stepped.stop();
    let pieces = stepped.samples().unwrap();
    assert_eq!(floats(&pieces[0].1, "time_s"), [2.5, 2.5]);
    stepped.advance(stepped.end(), |_| true).unwrap();
    assert_eq!(stepped.now(), to);
    let results = stepped.finish().unwrap();
    is_whole(&results);
    assert_eq!(results.tables, self::results(2500).tables);
}
