//! A run in real time whose outside takes no time is a simulation.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use bytes::Bytes;
use skywave_sim::live::{Encapsulation, LiveEnd, LiveRun, Outside, PreparedRun};
use skywave_sim::{EndStats, HostId, Registry, Results, RunOptions, Scenario, Supply, run};
use skywave_units::{Duration, Instant};
use skywave_wire::ip::IpPacket;

/// Sockets and devices that pass everything on at once.
#[derive(Default)]
struct AtOnce {
    now: Instant,
    sent: Vec<Vec<u8>>,
    delivered: Vec<Vec<u8>>,
}

impl Outside for AtOnce {
    fn now(&self) -> Instant {
        self.now
    }

    fn send(&mut self, _: &LiveEnd, packet: &IpPacket) {
        let mut bytes = Vec::new();
        packet.emit(&mut bytes).unwrap();
        self.sent.push(bytes);
    }

    fn deliver(&mut self, _: &LiveEnd, _: Instant, packet: &[u8]) {
        self.delivered.push(packet.to_vec());
    }

    fn supply(&mut self, _: HostId, _: Supply) {}

    fn sent(&mut self, _: HostId) {}

    fn stats(&mut self, _: HostId) -> EndStats {
        EndStats::default()
    }
}

fn live(scenario: &Scenario, encapsulation: Encapsulation) -> Results {
    let registry = Registry::default();
    let options = RunOptions::default();
    let prepared = PreparedRun::new(scenario, &registry, options, encapsulation).unwrap();
    lived(prepared, scenario, |run| {
        assert!(run.samples().unwrap().is_empty())
    })
}

/// Runs it to its end. Calls `look` after everything that happens.
fn lived(
    prepared: PreparedRun,
    scenario: &Scenario,
    mut look: impl FnMut(&mut LiveRun<AtOnce>),
) -> Results {
    let mut run = prepared.begin(AtOnce::default());
    let end = Instant::ZERO + scenario.duration;
    while let Some(at) = run.deadline().filter(|&at| at <= end) {
        run.outside().now = at;
        run.advance(at);
        pass_on(&mut run, at);
        look(&mut run);
    }
    run.outside().now = end;
    run.advance(end);
    look(&mut run);
    let (results, _, strays) = run.finish(scenario.duration).unwrap();
    assert_eq!((strays.unknown, strays.malformed), (0, 0));
    results
}

fn pass_on(run: &mut LiveRun<AtOnce>, now: Instant) {
    loop {
        let outside = run.outside();
        let (sent, delivered) = (
            std::mem::take(&mut outside.sent),
            std::mem::take(&mut outside.delivered),
        );
        if sent.is_empty() && delivered.is_empty() {
            return;
        }
        for bytes in sent {
            run.enters(now, bytes);
        }
        for bytes in delivered {
            run.receives(now, IpPacket::parse(&Bytes::from(bytes)).unwrap());
        }
    }
}

fn scenario(flows: &str) -> Scenario {
    let text = format!(
        r#"
        name = "live"
        duration = "10 s"
        dumbbell = {{ pairs = 2, rate = "4 Mbps", delay = "20 ms", queue = {{ drop-tail = {{ packets = 20 }} }}, access_rate = "100 Mbps", access_delays = ["1 ms"] }}
        flows = [{flows}]
        "#
    );
    Scenario::from_toml(&text, &Registry::default()).expect(&text)
}

const TCP: &str =
    r#"{ name = "tcp", from = "s1", to = "d1", transport = { tcp = {} }, source = { ftp = {} } },"#;
const DCCP: &str = r#"{ name = "dccp", from = "s2", to = "d2", transport = { dccp = { ccid = 2 } }, source = { ftp = {} } },"#;

#[test]
fn with_an_outside_that_takes_no_time_it_is_the_simulation() {
    for flows in [TCP, DCCP] {
        let scenario = scenario(flows);
        let lived = live(&scenario, Encapsulation::Raw).summary;
        let registry = Registry::default();
        let simulated = run(&scenario, &registry, RunOptions::default(), |_| true).unwrap();
        assert_eq!(lived.flows, simulated.summary.flows);
        assert_eq!(lived.links, simulated.summary.links);
    }
}

#[test]
fn samples_on_the_way_are_the_rows_of_the_tables() {
    let mut scenario = scenario(&format!("{TCP}{DCCP}"));
    scenario.duration = Duration::from_millis(9_300);
    let registry = Registry::default();
    let options = RunOptions::default();
    let mut prepared = PreparedRun::new(&scenario, &registry, options, Encapsulation::Raw).unwrap();
    prepared.keep_samples();
    let mut rows = BTreeMap::<String, usize>::new();
    let results = lived(prepared, &scenario, |run| {
        for (name, table) in run.samples().unwrap() {
            *rows.entry(name).or_default() += table.num_rows();
        }
    });
    for name in ["flows", "links"] {
        let (_, table) = results.tables.iter().find(|(one, _)| one == name).unwrap();
        assert_eq!(rows[name], table.num_rows(), "{name}");
        let times = table
            .column_by_name("time_s")
            .unwrap()
            .as_primitive::<Float64Type>()
            .values();
        assert_eq!(times.last(), Some(&9.3), "{name}");
    }
}

#[test]
fn dccp_in_udp_is_eight_bytes_longer() {
    let scenario = scenario(DCCP);
    let [raw, udp] = [Encapsulation::Raw, Encapsulation::Udp].map(|encapsulation| {
        let summary = live(&scenario, encapsulation).summary;
        let link = &summary.links[0];
        link.delivered_bytes as f64 / link.delivered as f64
    });
    assert!((udp - raw - 8.0).abs() < 0.5, "{raw} {udp}");
}

#[test]
fn a_port_that_two_flows_come_to_have_ends_the_run() {
    // There are 16,383 ports, so a flow's next connection has the port of the flow before it.
    let web = r#"{ name = "NAME", from = "s1", to = "d1", transport = { tcp = {} }, source = { web = {} } },"#;
    let many: String = (0..16_382)
        .map(|index| web.replace("NAME", &index.to_string()))
        .collect();
    let text = scenario(&many);
    let registry = Registry::default();
    let options = RunOptions::default();
    let prepared = PreparedRun::new(&text, &registry, options, Encapsulation::Raw).unwrap();
    let mut run = prepared.begin(AtOnce::default());
    let mut failure = None;
    let end = Instant::ZERO + Duration::from_secs(10);
    while let Some(at) = run.deadline().filter(|&at| at <= end && failure.is_none()) {
        run.advance(at);
        pass_on(&mut run, at);
        failure = run.check().err();
    }
    let message = failure.expect("ports are used again").to_string();
    assert!(message.contains("which another flow"), "{message}");
}
