//! The benchmark dumbbell: a workload for comparing simulators.

use std::mem;
use std::sync::Arc;

use serde::Serialize;
use skywave_path::{DropTailSpec, QueueSpec};
use skywave_units::{Bytes, Duration, Instant, Rate};

use crate::running::build::Build;
use crate::watching::backend::Registry;
use crate::world::elements::Division;
use crate::world::engine::{Attached, Parts, Simulator};
use crate::world::observe::{Chronicle, Entry, Mergeable, Observer};
use crate::world::transport::ClockKind;
use crate::world::view::{Event, PacketView};
use rand::RngExt;
use skywave_scenario::{
    Dumbbell, FlowSpec, FtpSpec, Probes, Scenario, ScenarioError, SourceSpec, TcpProfile, TcpSpec,
    TransportSpec, stream,
};

/// The number of access links on each side, and thus of round-trip times, that the hosts share.
const SUBNETS: u32 = 10;
/// Minimum and maximum round-trip propagation time, in milliseconds.
const RTT_MS: (f64, f64) = (60.0, 220.0);
/// One-way propagation delay of the bottleneck.
const BOTTLENECK_DELAY: Duration = Duration::from_millis(10);
/// Data bytes of a segment, which is 1024 bytes on the wire.
const SEGMENT: Bytes = Bytes::new(984);
/// Flows start at random times up to this, in seconds.
const STAGGER_S: f64 = 0.1;

/// The benchmark: N unlimited TCP NewReno flows over one drop-tail bottleneck, with segments of
/// 1024 bytes on the wire, an acknowledgement for each segment, and round-trip propagation times
/// from 60 to 220 ms in ten steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bench {
    /// The number of TCP flows.
    pub flows: u32,
    /// Rate of the bottleneck.
    pub rate: Rate,
    /// Capacity of the bottleneck's buffer in packets, including the one in transmission (ns-2's
    /// `queue-limit`).
    pub buffer: u32,
    /// Simulated time.
    pub duration: Duration,
    /// Rate of the access links.
    pub access: Rate,
    /// The number of threads.
    pub threads: usize,
}

/// The work done by a benchmark. The caller measures the time it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BenchCounts {
    /// Events processed.
    pub events: u64,
    /// Packets that arrived at the bottleneck in the forward direction.
    pub bottleneck_arrivals: u64,
    /// Packets lost there.
    pub bottleneck_drops: u64,
    /// Packets that left it.
    pub bottleneck_departures: u64,
    /// Packets carried over links, including acknowledgements.
    pub packet_hops: u64,
}

#[derive(Default)]
struct Counter {
    counts: [u64; 3],
    hops: u64,
}

/// The forward bottleneck is the dumbbell's first link.
const BOTTLENECK: u32 = 0;

impl Observer for Counter {
    fn packet(&mut self, _now: Instant, event: Event, _packet: PacketView<'_>) {
        match event {
            // Added rather than tested: links take turns, so a branch would be unpredictable.
            Event::Enqueue { link } => self.counts[0] += u64::from(link == BOTTLENECK),
            Event::Drop {
                link: BOTTLENECK, ..
            } => self.counts[1] += 1,
            Event::Arrive { link } => {
                self.hops += 1;
                self.counts[2] += u64::from(link == BOTTLENECK);
            }
            _ => {}
        }
    }
}

impl Mergeable for Counter {
    fn of_region(&self) -> Option<Self> {
        Some(Self::default())
    }

    fn absorb(&mut self, other: &mut Self) {
        let other = mem::take(other);
        for (count, other) in self.counts.iter_mut().zip(other.counts) {
            *count += other;
        }
        self.hops += other.hops;
    }
}

impl Chronicle for Counter {
    const IS_KEPT: bool = false;

    fn enter(&mut self, _: &Entry, _: PacketView<'_>) {}
}

impl Bench {
    /// Returns the scenario of the benchmark.
    pub fn scenario(&self) -> Scenario {
        let access_delays = (0..SUBNETS)
            .map(|subnet| {
                let (least, most) = RTT_MS;
                let rtt = least + (most - least) * f64::from(subnet) / f64::from(SUBNETS - 1);
                let one_way = Duration::from_secs_f64(rtt / 2000.0);
                (one_way - BOTTLENECK_DELAY) / 2
            })
            .collect();
        let mut starts = stream(1, "starts");
        let file = FtpSpec {
            size: None,
            datagram: SEGMENT,
        };
        let source = SourceSpec::new("ftp", &file);
        let transport = Arc::new(TransportSpec::Tcp(TcpSpec {
            profile: TcpProfile::Ns2,
            segment: SEGMENT,
            receive_window: Some(1000),
            ..TcpSpec::default()
        }));
        let subnets: Vec<[Arc<str>; 2]> = (1..=SUBNETS)
            .map(|subnet| [format!("s{subnet}").into(), format!("d{subnet}").into()])
            .collect();
        let flows = (0..self.flows)
            .zip(subnets.iter().cycle())
            .map(|(flow, [from, to])| FlowSpec {
                name: format!("tcp{}", flow + 1),
                from: Arc::clone(from),
                to: Arc::clone(to),
                start: Duration::from_secs_f64(STAGGER_S * starts.random::<f64>()),
                start_jitter: Duration::ZERO,
                stop: None,
                class: 0,
                route: None,
                route_back: None,
                transport: Arc::clone(&transport),
                source: source.clone(),
            })
            .collect();
        Scenario {
            name: "bench".to_owned(),
            description: String::new(),
            duration: self.duration,
            seed: 1,
            nodes: Vec::new(),
            links: Vec::new(),
            dumbbell: Some(Dumbbell {
                queue: QueueSpec::new(
                    "drop-tail",
                    &DropTailSpec {
                        packets: Some(self.buffer.saturating_sub(1)),
                        bytes: None,
                    },
                ),
                ..Dumbbell::new(
                    SUBNETS,
                    self.rate,
                    BOTTLENECK_DELAY,
                    self.access,
                    access_delays,
                )
            }),
            flows,
            probes: Probes::default(),
            verify_wire: false,
        }
    }

    /// Runs the benchmark on the calling thread. Calls `progress` regularly with the fraction done;
    /// the run stops if it returns false.
    ///
    /// # Errors
    /// [`ScenarioError`] if a parameter is out of range.
    pub fn run(&self, mut progress: impl FnMut(f64) -> bool) -> Result<BenchCounts, ScenarioError> {
        let mut simulator = self.simulator(&self.scenario())?;
        let end = Instant::ZERO + self.duration;
        // An interrupted run returns its counts so far.
        let _stopped = simulator.run(end, |now| progress(now.as_secs_f64() / end.as_secs_f64()));
        let events = simulator.events();
        let Counter {
            counts: [accepted, drops, departures],
            hops,
        } = simulator.into_observer();
        Ok(BenchCounts {
            events,
            bottleneck_arrivals: accepted + drops,
            bottleneck_drops: drops,
            bottleneck_departures: departures,
            packet_hops: hops,
        })
    }

    /// Creates and keeps everything a run of the benchmark starts with, including the scenario, so
    /// that the caller can measure the memory of idle flows.
    ///
    /// # Errors
    /// [`ScenarioError`] if a parameter is out of range.
    pub fn idle(&self) -> Result<IdleFlows, ScenarioError> {
        let scenario = self.scenario();
        let simulator = self.simulator(&scenario)?;
        Ok(IdleFlows {
            _scenario: scenario,
            _simulator: simulator,
        })
    }

    fn simulator(&self, scenario: &Scenario) -> Result<Simulator<Counter>, ScenarioError> {
        let registry = Registry::default();
        scenario.validate(&registry)?;
        let build = Build::new(scenario, &registry, ClockKind::Virtual)?;
        Ok(Simulator::new(Parts {
            network: build.network,
            hosts: build.hosts,
            applications: build.applications,
            ports: build.ports,
            transports: build.transports,
            sharing: build.sharing,
            observer: Counter::default(),
            sample_interval: None,
            division: Division::default(),
            threads: self.threads,
            verify_wire: false,
            world: Attached,
        }))
    }
}

/// Flows that exist and do nothing.
pub struct IdleFlows {
    _scenario: Scenario,
    _simulator: Simulator<Counter>,
}
