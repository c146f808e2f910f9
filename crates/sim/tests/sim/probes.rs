//! User-defined probes and observers.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use skywave_sim::{
    Event, FlowId, HostView, Observer, PacketCount, PacketView, Probe, ProbeSetup, Registry,
    Results, RunEnd, RunOptions, Sample, Scenario, Wants, register_probe, run, run_observed,
    tables,
};
use skywave_units::{Duration, Instant};

use crate::support::{counts, floats, table, words};

/// Two flows that overflow the short queue of a link.
fn text(probes: &str) -> String {
    format!(
        r#"
        name = "probes"
        duration = "3 s"
        nodes = ["a", "b"]

        [probes]
        interval = "100 ms"
        {probes}

        [[links]]
        from = "a"
        to = "b"
        rate = "2 Mbps"
        delay = "10 ms"
        queue = {{ drop-tail = {{ packets = 5 }} }}

        [[flows]]
        name = "tcp"
        from = "a"
        to = "b"
        transport = {{ tcp = {{}} }}
        source = {{ ftp = {{}} }}

        [[flows]]
        name = "dccp"
        from = "a"
        to = "b"
        transport = {{ dccp = {{}} }}
        source = {{ ftp = {{}} }}
        "#
    )
}

fn measured(probes: &str, registry: &Registry) -> Results {
    let scenario = Scenario::from_toml(&text(probes), registry).unwrap();
    run(&scenario, registry, RunOptions::default(), |_| true).unwrap()
}

fn names(results: &Results) -> Vec<&str> {
    results
        .tables
        .iter()
        .map(|(name, _)| name.as_str())
        .collect()
}

/// A probe that uses every callback: for queues and SRTT at sampling times, for the largest cwnd of
/// each sender so far, and for packets received so far.
struct Own {
    setup: Arc<ProbeSetup>,
    cwnd_max: Vec<f64>,
    received: u64,
    rows: Vec<Row>,
}

struct Row {
    at: Instant,
    link: u32,
    flow: FlowId,
    queue: u64,
    cwnd_max: f64,
    srtt: Option<Duration>,
    received: u64,
}

impl Own {
    fn new(setup: &Arc<ProbeSetup>) -> Self {
        Self {
            setup: Arc::clone(setup),
            cwnd_max: vec![0.0; setup.flows()],
            received: 0,
            rows: Vec::new(),
        }
    }
}

impl Observer for Own {
    fn packet(&mut self, _now: Instant, event: Event, _packet: PacketView<'_>) {
        self.received += u64::from(event == Event::Receive);
    }

    fn settled(&mut self, _now: Instant, host: HostView<'_>) {
        if host.id().is_sender() {
            let most = &mut self.cwnd_max[host.id().flow().index()];
            *most = most.max(host.stats().cwnd);
        }
    }

    fn sample(&mut self, now: Instant, sample: Sample<'_>) {
        let links = sample
            .links()
            .filter(|link| self.setup.samples_link(link.index()));
        for link in links {
            for flow in self.setup.sampled_flows() {
                self.rows.push(Row {
                    at: now,
                    link: link.index(),
                    flow,
                    queue: link.queued_packets(),
                    cwnd_max: self.cwnd_max[flow.index()],
                    srtt: sample.host(flow.sender()).stats().srtt,
                    received: self.received,
                });
            }
        }
    }
}

impl Probe for Own {
    fn finish(self: Box<Self>, end: &RunEnd<'_>) -> Result<RecordBatch, ArrowError> {
        end.table(&self.rows)
            .column("time_s", "", |row| row.at)
            .link("link", "", |row| row.link)
            .flow("flow", "", |row| row.flow)
            .column("queue_packets", "", |row| row.queue)
            .column("cwnd_max", "", |row| row.cwnd_max)
            .column("srtt_s", "", |row| row.srtt)
            .column("received", "", |row| row.received)
            .finish()
    }
}

fn registry() -> Registry {
    let mut registry = Registry::default();
    register_probe(
        &mut registry.probes,
        "own",
        "A probe of one's own.",
        Own::new,
    );
    registry
}

#[test]
fn a_probe_of_ones_own_makes_a_table() {
    const SAMPLED: &str = "links = [\"a->b\"]\nflows = [\"tcp\"]";
    let plain = measured(SAMPLED, &Registry::default());
    let probes = format!("{SAMPLED}\nwindows = true\ntables = [\"own\"]");
    let results = measured(&probes, &registry());
    assert_eq!(
        names(&results),
        [names(&plain), vec!["windows", "own"]].concat()
    );
    // A probe changes neither the run nor other probes' tables.
    assert_eq!(results.fingerprint, plain.fingerprint);
    assert_eq!(results.tables[..plain.tables.len()], plain.tables);

    let (own, links) = (table(&results, "own"), table(&results, "links"));
    assert_eq!(own.num_rows(), 30);
    assert_eq!(words(own, "link"), words(links, "link"));
    assert_eq!(words(own, "flow"), ["tcp"; 30]);
    assert_eq!(floats(own, "time_s"), floats(links, "time_s"));
    let queues = counts(own, "queue_packets");
    assert_eq!(queues, counts(links, "queue_packets"));
    assert!(queues.iter().any(|&packets| packets > 0));
    assert_eq!(
        floats(own, "srtt_s"),
        floats(table(&results, "flows"), "srtt_s")
    );
    let windows = table(&results, "windows");
    let most = words(windows, "flow")
        .into_iter()
        .zip(floats(windows, "cwnd_packets"))
        .filter(|(flow, _)| *flow == "tcp")
        .fold(0.0_f64, |most, (_, &cwnd)| most.max(cwnd));
    let last = floats(own, "cwnd_max").last().unwrap();
    assert!((last - most).abs() < f64::EPSILON, "{last} {most}");
    let delivered: u64 = results
        .summary
        .links
        .iter()
        .map(|link| link.delivered)
        .sum();
    assert_eq!(counts(own, "received").last(), Some(&delivered));
}

#[test]
fn tables_are_asked_for_by_name() {
    let default = registry();
    let switched = measured("packets = true", &default);
    let named = "tables = [\"flows\", \"packets\", \"flows\"]";
    assert_eq!(measured(named, &default).tables, switched.tables);
    let without = measured("", &default);
    assert_eq!(
        names(&switched),
        [names(&without), vec!["packets"]].concat()
    );
    // The list survives a round trip through JSON unchanged.
    let scenario = Scenario::from_toml(&text(named), &default).unwrap();
    let again = Scenario::from_json(&scenario.to_json(), &default).unwrap();
    assert_eq!(again.probes.tables, scenario.probes.tables);
}

fn results_with(name: &str, old: &str, new: &str) -> Results {
    let scenario = text(&format!("tables = [\"{name}\"]")).replacen(old, new, 1);
    let registry = Registry::default();
    let scenario = Scenario::from_toml(&scenario, &registry).unwrap();
    run(&scenario, &registry, RunOptions::default(), |_| true).unwrap()
}

#[test]
fn inner_values_of_controls_are_recorded() {
    let results = results_with(
        "controls",
        "{ tcp = {} }",
        "{ tcp = { control = \"cubic\" } }",
    );
    let controls = table(&results, "controls");
    let (flows, names) = (words(controls, "flow"), words(controls, "name"));
    assert!(
        flows.iter().all(|&flow| flow == "tcp"),
        "CCID 2 publishes nothing"
    );
    assert!(names.contains(&"w_max_packets"));
    let values = floats(controls, "value");
    assert!(values.iter().all(|value| *value >= 0.0));
}

#[test]
fn inner_values_of_queues_are_recorded() {
    let results = results_with(
        "queues",
        "drop-tail = { packets = 5 }",
        "red = { packets = 20, mean_packet = \"1000 B\" }",
    );
    let queues = table(&results, "queues");
    let (links, names) = (words(queues, "link"), words(queues, "name"));
    let (times, values) = (floats(queues, "time_s"), floats(queues, "value"));
    let averages: Vec<(f64, f64)> = (0..queues.num_rows())
        .filter(|&row| links[row] == "a->b" && names[row] == "average_packets")
        .map(|row| (times[row], values[row]))
        .collect();
    assert_eq!(averages.len(), 30, "one per sampling time");
    assert!((averages[9].0 - 1.0).abs() < 1e-9);
    assert!(averages.iter().any(|&(_, average)| average > 1.0));
}

#[test]
fn an_unknown_table_is_answered_with_those_that_are_known() {
    let error =
        Scenario::from_toml(&text("tables = [\"own\", \"queue\"]"), &registry()).unwrap_err();
    assert_eq!(error.field, "probes.tables[1]");
    let known = error
        .message
        .strip_prefix("\"queue\" is not a known table: use ");
    assert!(known.unwrap().split(", ").any(|name| name == "own"));
}

/// A probe that wants some callbacks and counts the calls of each.
struct Called {
    wants: Wants,
    calls: [u64; 3],
}

impl Observer for Called {
    fn packet(&mut self, _now: Instant, _event: Event, _packet: PacketView<'_>) {
        self.calls[0] += 1;
    }

    fn settled(&mut self, _now: Instant, _host: HostView<'_>) {
        self.calls[1] += 1;
    }

    fn sample(&mut self, _now: Instant, _sample: Sample<'_>) {
        self.calls[2] += 1;
    }
}

impl Probe for Called {
    fn wants(&self) -> Wants {
        self.wants
    }

    fn finish(self: Box<Self>, end: &RunEnd<'_>) -> Result<RecordBatch, ArrowError> {
        end.table(&self.calls)
            .column("calls", "", |&calls| calls)
            .finish()
    }
}

#[test]
fn a_probe_is_told_of_what_it_wants() {
    let mut registry = Registry::default();
    let [packets, settled, samples] = [0, 1, 2].map(|wanted| Wants {
        packets: wanted == 0,
        settled: wanted == 1,
        samples: wanted == 2,
    });
    for (name, wants) in [
        ("p", packets),
        ("s", settled),
        ("t", samples),
        ("n", Wants::NOTHING),
    ] {
        register_probe(&mut registry.probes, name, "Calls.", move |_| Called {
            wants,
            calls: [0; 3],
        });
    }
    let results = measured("tables = [\"p\", \"s\", \"t\", \"n\"]", &registry);
    let called = |name| {
        counts(table(&results, name), "calls")
            .iter()
            .map(|&calls| calls > 0)
    };
    assert!(called("p").eq([true, false, false]));
    assert!(called("s").eq([false, true, false]));
    assert!(called("t").eq([false, false, true]));
    assert!(called("n").eq([false, false, false]));
}

/// A user's probe may replace a built-in one of the same name.
#[test]
fn a_standard_table_may_be_anothers() {
    let mut registry = Registry::default();
    register_probe(&mut registry.probes, "drops", "Another's.", Own::new);
    let results = measured("", &registry);
    assert_eq!(names(&results), ["flows", "links", "link_flows", "drops"]);
    assert!(
        table(&results, "drops")
            .column_by_name("cwnd_max")
            .is_some()
    );
}

/// Counts packets by event and by link, and measures the smallest end-to-end delay.
#[derive(Default)]
struct Watcher {
    sent: u64,
    received: u64,
    lost: u64,
    under_way: u64,
    most_under_way: u64,
    links: [PacketCount; 2],
    sent_at: Vec<Instant>,
    delay_min: Option<Duration>,
    samples: u64,
}

impl Observer for Watcher {
    fn packet(&mut self, now: Instant, event: Event, packet: PacketView<'_>) {
        if let Some(link) = event.link() {
            self.links[link as usize].add(event, packet);
        }
        let slot = packet.slot();
        match event {
            Event::Send => {
                self.sent += 1;
                self.under_way += 1;
                self.sent_at
                    .resize(self.sent_at.len().max(slot + 1), Instant::ZERO);
                self.sent_at[slot] = now;
                assert_eq!(packet.from().peer(), packet.to());
                assert_eq!(packet.is_forward(), packet.from() == packet.flow().sender());
            }
            Event::Drop { .. } => {
                self.lost += 1;
                self.under_way -= 1;
            }
            Event::Receive => {
                self.received += 1;
                self.under_way -= 1;
                let delay = now - self.sent_at[slot];
                self.delay_min = Some(self.delay_min.map_or(delay, |least| least.min(delay)));
            }
            _ => {}
        }
        self.most_under_way = self.most_under_way.max(self.under_way);
    }

    fn sample(&mut self, _now: Instant, sample: Sample<'_>) {
        self.samples += 1;
        let counted = sample.links().map(|link| link.count());
        assert!(
            counted.eq(self.links),
            "the sample's counts match the events"
        );
    }
}

#[test]
fn an_observer_of_ones_own_watches_a_run() {
    let registry = Registry::default();
    let scenario = Scenario::from_toml(&text(""), &registry).unwrap();
    let unobserved = run(&scenario, &registry, RunOptions::default(), |_| true).unwrap();
    for verify_physics in [false, true] {
        let options = RunOptions {
            verify_physics,
            ..RunOptions::default()
        };
        let mut watcher = Watcher::default();
        let results = run_observed(&scenario, &registry, options, &mut watcher, |_| true).unwrap();
        assert_eq!(results.fingerprint, unobserved.fingerprint);
        assert_eq!(results.tables, unobserved.tables);
        assert_eq!(watcher.samples, 30);
        assert_eq!(
            watcher.sent,
            watcher.received + watcher.lost + watcher.under_way
        );
        assert!(
            watcher.sent_at.len() as u64 == watcher.most_under_way,
            "slots are reused"
        );
        for (link, count) in results.summary.links.iter().zip(watcher.links) {
            assert_eq!(
                (
                    link.arrivals,
                    link.drops,
                    link.delivered,
                    link.delivered_bytes
                ),
                (
                    count.arrivals,
                    count.drops,
                    count.delivered,
                    count.delivered_bytes
                )
            );
        }
        assert_eq!(
            watcher.lost,
            results
                .summary
                .flows
                .iter()
                .map(|flow| flow.drops)
                .sum::<u64>()
        );
        assert!(watcher.lost > 0);
        assert!(watcher.delay_min.unwrap() >= Duration::from_millis(10));
    }
}

/// Every table's columns are listed and documented before a run, and match its results.
#[test]
fn tables_are_known_before_a_run() {
    let registry = Registry::default();
    let known = tables(&registry);
    assert_eq!(known.len(), registry.probes.names().count());
    for table in &known {
        assert!(!table.columns.is_empty());
        for column in &table.columns {
            assert!(column.doc.ends_with('.'), "{}: {column:?}", table.name);
        }
    }
    let results = measured("packets = true", &registry);
    for (name, batch) in &results.tables {
        let table = known.iter().find(|table| table.name == *name).unwrap();
        let names: Vec<_> = table.columns.iter().map(|column| &*column.name).collect();
        let fields = batch.schema();
        let found: Vec<_> = fields
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect();
        assert_eq!(found, names, "{name}");
    }
}
