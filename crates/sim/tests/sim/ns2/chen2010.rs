//! RED at the bottleneck of Chen, Yang and Hong (2010): 200 TCP flows cause the same mean queue and
//! drop rate as in ns-2.35.

use skywave_sim::{Bench, QueueSpec, RedSpec, Registry, Results, RunOptions, run};
use skywave_units::{Bytes, Duration};

use crate::support::{counts, floats, table, words};

/// Measurements start at this time.
const WARM_S: f64 = 20.0;
const BOTTLENECK: &str = "r1->r2";

/// 200 NewReno flows over 45 Mbps and RED with the paper's parameters.
fn chen2010(buffer: u32) -> Results {
    let bench = Bench {
        flows: 200,
        rate: "45 Mbps".parse().unwrap(),
        buffer,
        duration: "60 s".parse().unwrap(),
        access: "100 Mbps".parse().unwrap(),
        threads: 1,
    };
    let mut scenario = bench.scenario();
    scenario.probes.interval = Duration::from_millis(50);
    scenario.probes.links = vec![BOTTLENECK.to_owned()];
    scenario.dumbbell.as_mut().unwrap().queue = QueueSpec::new(
        "red",
        &RedSpec {
            packets: Some(buffer),
            min_threshold: Some(150.0),
            max_threshold: Some(700.0),
            max_p: 0.1,
            weight: Some(0.002),
            mean_packet: Bytes::new(1024),
            gentle: false,
            ..RedSpec::default()
        },
    );
    run(
        &scenario,
        &Registry::default(),
        RunOptions::default(),
        |_| true,
    )
    .unwrap()
}

/// The bottleneck's mean queue in packets, and its drops in percent of arrivals.
fn queue_and_drops(results: &Results) -> (f64, f64) {
    let links = table(results, "links");
    let (names, times) = (words(links, "link"), floats(links, "time_s"));
    let rows: Vec<usize> = (0..links.num_rows())
        .filter(|&row| names[row] == BOTTLENECK && times[row] > WARM_S)
        .collect();
    let sum = |column| -> f64 {
        let values = counts(links, column);
        rows.iter().map(|&row| values[row] as f64).sum()
    };
    (
        sum("queue_packets") / rows.len() as f64,
        100.0 * sum("drops") / sum("arrivals"),
    )
}

/// ns-2's numbers are from `chen2010.tcl proto=tcp bg=0 dur=60 warm=20` with seed 1. Only averages
/// are compared, because its flows start at different times.
#[test]
fn red_gives_the_queue_and_the_drops_of_ns2() {
    for (buffer, queue, drops) in [(1500, 423.5, 3.341), (200, 186.3, 6.436)] {
        let ours = queue_and_drops(&chen2010(buffer));
        println!("buffer {buffer}: {:.1} packets, {:.2} %", ours.0, ours.1);
        assert!((ours.0 - queue).abs() < 0.03 * queue, "{ours:?}");
        assert!((ours.1 - drops).abs() < 0.06 * drops, "{ours:?}");
    }
}
