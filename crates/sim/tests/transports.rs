//! A custom transport: stop-and-wait over UDP, registered like the built-in ones.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_sim::{
    Carrier, EndStats, Peer, PeerSetup, Registry, Results, RunOptions, Scenario, SendingEnd,
    TransportKind, run,
};
use skywave_transport::{End, Status, Transmit};
use skywave_units::{Duration, Instant};
use skywave_wire::udp::Datagram;
use skywave_wire::{Ecn, Payload};

/// Sends a datagram again and again until it is acknowledged, and then the next one.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StopAndWait {
    /// How long it waits for an acknowledgement.
    timeout: Duration,
}

impl TransportKind for StopAndWait {
    fn carrier(&self) -> Carrier {
        Carrier::Datagrams
    }

    fn connect(&self, setup: &PeerSetup<'_>) -> [Box<dyn Peer>; 2] {
        let ports = [setup.sender_port, setup.receiver_port];
        let back = [setup.receiver_port, setup.sender_port];
        [ports, back].map(|ports| {
            let timeout = self.timeout;
            Box::new(StopAndWaitEnd::new(ports, timeout)) as Box<dyn Peer>
        })
    }
}

/// An end. Its packets begin with their number: even ones carry data, odd ones acknowledge it.
#[derive(Debug)]
struct StopAndWaitEnd {
    ports: [u16; 2],
    timeout: Duration,
    waiting: VecDeque<Bytes>,
    /// The number of the datagram at the front of `waiting`.
    number: u32,
    /// When the datagram at the front is sent again; `None` if it has not been sent yet.
    deadline: Option<Instant>,
    is_due: bool,
    expected: u32,
    acknowledges: Option<u32>,
    stats: EndStats,
}

/// The capacity of the queue.
const MOST_WAITING: usize = 10;

impl StopAndWaitEnd {
    fn new(ports: [u16; 2], timeout: Duration) -> Self {
        Self {
            ports,
            timeout,
            waiting: VecDeque::new(),
            number: 0,
            deadline: None,
            is_due: false,
            expected: 0,
            acknowledges: None,
            stats: EndStats::default(),
        }
    }

    fn packet(&self, number: u32, data: &[u8]) -> Transmit<Datagram> {
        let payload = [&number.to_be_bytes(), data].concat();
        let packet = Datagram {
            source_port: self.ports[0],
            destination_port: self.ports[1],
            payload: Payload::Bytes(payload.into()),
        };
        Transmit {
            ecn: Ecn::NotEct,
            packet,
        }
    }
}

impl End for StopAndWaitEnd {
    type Packet = Datagram;

    fn receive(&mut self, _now: Instant, _ecn: Ecn, packet: Datagram) {
        let bytes = packet.payload.into_bytes();
        let (number, data) = bytes.split_first_chunk().unwrap();
        let number = u32::from_be_bytes(*number);
        if number == self.number + 1 {
            self.waiting.pop_front();
            self.number += 2;
            self.deadline = None;
            self.is_due = true;
        } else if number.is_multiple_of(2) {
            self.acknowledges = Some(number);
            if number == self.expected {
                self.expected += 2;
                self.stats.delivered_packets += 1;
                self.stats.delivered_bytes += data.len() as u64;
            }
        }
    }

    fn transmit(&mut self, now: Instant) -> Option<Transmit<Datagram>> {
        if let Some(number) = self.acknowledges.take() {
            return Some(self.packet(number + 1, &[]));
        }
        let data = self.waiting.front()?;
        if !self.is_due {
            return None;
        }
        self.is_due = false;
        self.stats.packets_sent += 1;
        self.stats.bytes_sent += data.len() as u64;
        self.stats.retransmissions += u64::from(self.deadline.is_some());
        self.deadline = Some(now + self.timeout);
        Some(self.packet(self.number, &self.waiting[0]))
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn expire(&mut self, now: Instant) {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.stats.timeouts += 1;
            self.is_due = true;
        }
    }
}

impl SendingEnd for StopAndWaitEnd {
    fn send(&mut self, datagram: Payload) -> bool {
        let has_room = self.waiting.len() < MOST_WAITING;
        if has_room {
            self.is_due |= self.waiting.is_empty();
            self.waiting.push_back(datagram.into_bytes());
        }
        has_room
    }

    fn write(&mut self, _bytes: Option<u64>) -> bool {
        false
    }

    fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn close(&mut self, _now: Instant) {}
}

impl Status for StopAndWaitEnd {
    fn end_stats(&self) -> EndStats {
        let mut stats = self.stats;
        stats.is_idle = self.waiting.is_empty();
        stats
    }
}

impl Peer for StopAndWaitEnd {}

fn registry() -> Registry {
    let mut registry = Registry::default();
    registry
        .transports
        .register("stop-and-wait", "Stop and wait.", |kind: StopAndWait| {
            ParameterError::unless(!kind.timeout.is_zero(), "timeout", || {
                "0: give a longer time".to_owned()
            })?;
            Ok(Arc::new(kind))
        });
    registry
}

fn scenario(transport: &str, source: &str, loss: f64) -> Result<Scenario, String> {
    let text = format!(
        r#"
        name = "own"
        duration = "100 s"
        nodes = ["a", "b"]
        links = [{{
            from = "a", to = "b", rate = "10 Mbps", delay = "10 ms",
            loss = {{ bernoulli = {{ probability = {loss} }} }},
        }}]

        [[flows]]
        name = "flow"
        from = "a"
        to = "b"
        start = "1 s"
        transport = {transport}
        source = {source}
        "#
    );
    let scenario = Scenario::from_toml(&text, &registry()).map_err(|error| error.to_string())?;
    let verdict = scenario.validate(&registry());
    verdict.map_err(|error| error.to_string())?;
    Ok(scenario)
}

const FIFTY_KB: &str = r#"{ ftp = { size = "50 kB", datagram = "1000 B" } }"#;
const TIMEOUT: &str = r#"{ stop-and-wait = { timeout = "200 ms" } }"#;

fn results(loss: f64) -> Results {
    let scenario = scenario(TIMEOUT, FIFTY_KB, loss).unwrap();
    let options = RunOptions {
        verify_physics: true,
        ..RunOptions::default()
    };
    let results = run(&scenario, &registry(), options, |_| true).unwrap();
    assert_eq!(results.violations, Vec::<String>::new());
    results
}

#[test]
fn it_delivers_everything_in_the_time_that_it_should_take() {
    let results = results(0.0);
    let flow = &results.summary.flows[0];
    assert_eq!(flow.transport, "stop-and-wait");
    assert_eq!((flow.packets_sent, flow.retransmissions), (50, 0));
    assert_eq!((flow.delivered_packets, flow.delivered_bytes), (50, 50_000));
    // IP, UDP and the number take 32 bytes. The last datagram is not acknowledged in this time.
    let round_trip = 2.0 * 0.010 + (1032.0 + 32.0) * 8.0 / 10e6;
    let expected = 50.0 * round_trip - 0.010 - 32.0 * 8.0 / 10e6;
    let active = flow.active_s;
    assert!(
        (active - expected).abs() < 1e-6,
        "{active} s, not {expected} s"
    );
}

#[test]
fn it_recovers_from_losses() {
    let results = results(0.1);
    let flow = &results.summary.flows[0];
    assert_eq!((flow.delivered_packets, flow.delivered_bytes), (50, 50_000));
    assert!(flow.retransmissions > 0);
    assert_eq!(flow.retransmissions, flow.timeouts);
    assert_eq!(flow.packets_sent, 50 + flow.retransmissions);
}

#[test]
fn what_is_wrong_is_said_at_its_field() {
    for (transport, source, message) in [
        (
            r#""go-back-n""#,
            FIFTY_KB,
            "flows[0].transport: \"go-back-n\" is not a known transport: use dccp, kernel-tcp, \
             stop-and-wait, tcp, udp",
        ),
        (
            r#"{ stop-and-wait = { timeout = "0 s" } }"#,
            FIFTY_KB,
            "flows[0].transport.stop-and-wait.timeout: 0: give a longer time",
        ),
        (
            r#"{ stop-and-wait = { timeout = "1 s" }, tcp = {} }"#,
            FIFTY_KB,
            "flows[0].transport: give one of its forms, not several",
        ),
        (
            r#""tcp""#,
            FIFTY_KB,
            "flows[0].transport: give the parameters too, if only { tcp = {} }",
        ),
    ] {
        let error = scenario(transport, source, 0.0).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_scenario_with_it_is_written_as_it_was_read_and_has_a_schema() {
    let scenario = scenario(TIMEOUT, FIFTY_KB, 0.0).unwrap();
    let document = serde_json::to_value(&scenario).unwrap();
    let transport = &document["flows"][0]["transport"];
    assert_eq!(transport["stop-and-wait"]["timeout"], "200 ms");
    let schema = registry().schema();
    let forms = schema["$defs"]["Transport"]["oneOf"].as_array().unwrap();
    let has = |name: &str| {
        let mut forms = forms.iter();
        forms.any(|form| form["properties"].get(name).is_some())
    };
    assert!(has("stop-and-wait") && has("tcp"));
}
