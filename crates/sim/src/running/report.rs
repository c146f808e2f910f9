//! The results of a run: totals and tables.

use arrow_array::RecordBatch;
use serde::Serialize;
use skywave_scenario::{FlowSpec, Scenario};
use skywave_units::{Duration, Instant};

use crate::error::RunError;
use crate::running::build::Build;
use crate::running::simulate::Ended;
use crate::watching::probe::RunEnd;
use crate::watching::probes::ProbeSet;
use crate::watching::totals::Totals;
use crate::world::connect::start_of;
use crate::world::engine::Threads;
use crate::world::ids::FlowId;
use crate::world::view::PacketCount;
use skywave_transport::EndStats;

/// The results of a run. The same scenario gives bit-identical results.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Results {
    /// Totals.
    pub summary: Summary,
    /// Tables by name: `flows`, `links`, `link_flows` and `drops`; `voice` if there are voice
    /// calls; `transfers` if there is web traffic; `windows`, `rates`, `packets` and those of other
    /// probes if the scenario requests them.
    pub tables: Vec<(String, RecordBatch)>,
    /// A hash of everything that happened to every packet.
    pub fingerprint: u64,
    /// The violations found by the physics verifier; empty if there are none or it did not run.
    pub violations: Vec<String>,
    /// How the run used threads, on which nothing else here depends.
    pub threads: Threads,
}

/// The totals of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// The scenario's name.
    pub name: String,
    /// The scenario's seed.
    pub seed: u64,
    /// Simulated time.
    pub duration_s: f64,
    /// Events processed by the simulator.
    pub events: u64,
    /// One entry per flow.
    pub flows: Vec<FlowSummary>,
    /// One entry per directed link.
    pub links: Vec<LinkSummary>,
}

/// The totals of a flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FlowSummary {
    /// The flow's name.
    pub name: String,
    /// `"tcp"`, `"dccp"`, `"udp"`, `"kernel-tcp"` or `"kernel-dccp"`.
    pub transport: String,
    /// Data packets sent by the sender, including retransmissions.
    pub packets_sent: u64,
    /// Application bytes in them.
    pub bytes_sent: u64,
    /// Data packets received, excluding duplicates.
    pub delivered_packets: u64,
    /// Application bytes delivered (in order, for TCP).
    pub delivered_bytes: u64,
    /// For how long the flow was active: from its start, jitter included, until its application had
    /// ended and its last data packet had arrived, or until the end of the run. The application
    /// ends at `stop`, or when it has handed over the last of its data. A flow that still has data
    /// to send then, or over TCP to be acknowledged, stays active. Zero if it never started.
    pub active_s: f64,
    /// Delivered bits divided by `active_s`; zero if that is zero.
    pub goodput_bps: f64,
    /// Packets lost on links, in both directions.
    pub drops: u64,
    /// Data packets retransmitted by the sender.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// How long new data waited only because it did not fit TCP's receive window, as Linux's
    /// `tcpi_rwnd_limited`. Counted until the sender's last event, and not during recoveries with
    /// SACK. Zero for other transports.
    pub receive_window_limited_s: f64,
}

/// The totals of a directed link.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LinkSummary {
    /// Such as `"r1->r2"`.
    pub name: String,
    /// The link's mean rate over the run.
    pub rate_bps: u64,
    /// Packets that arrived at the link.
    pub arrivals: u64,
    /// Packets lost by the link.
    pub drops: u64,
    /// Packets that reached the far end.
    pub delivered: u64,
    /// Those marked by the link's queue.
    pub marks: u64,
    /// Bytes in the delivered packets.
    pub delivered_bytes: u64,
    /// These bytes as a fraction of what the link could have carried; 0 if that is nothing.
    pub utilisation: f64,
    /// The longest queue at a sampling time.
    pub queue_max_packets: u64,
}

/// What a report needs to know about a scenario's network. Collected before the simulation, which
/// consumes the network.
pub(crate) struct Reporter {
    pub(crate) links: Vec<String>,
    pub(crate) flows: Vec<String>,
}

impl Reporter {
    pub(crate) fn new(scenario: &Scenario, build: &Build) -> Self {
        let names = build.network.names.iter();
        Self {
            links: names.map(|link| link.name.clone()).collect(),
            flows: scenario
                .flows
                .iter()
                .map(|flow| flow.name.clone())
                .collect(),
        }
    }

    /// Returns the results, without violations.
    pub(crate) fn report<O>(
        self,
        scenario: &Scenario,
        ended: Ended<Totals<(ProbeSet, O)>>,
    ) -> Result<Results, RunError> {
        let threads = ended.threads;
        let summary = self.summary(scenario, &ended);
        let (probes, _) = ended.observer.observer;
        let end = RunEnd {
            time: Instant::ZERO + scenario.duration,
            links: &self.links,
            flows: &self.flows,
            journals: &ended.journals,
        };
        Ok(Results {
            summary,
            tables: probes.finish(&end)?,
            fingerprint: ended.fingerprint,
            violations: Vec::new(),
            threads,
        })
    }

    fn summary<O>(&self, scenario: &Scenario, ended: &Ended<Totals<O>>) -> Summary {
        let seconds = scenario.duration.as_secs_f64();
        let (stats, totals) = (&ended.stats, &ended.observer);
        let end = Instant::ZERO + scenario.duration;
        let links = self.links.iter().zip(&ended.rates);
        let totals_of_links = totals.links.iter().zip(&totals.queue_max);
        Summary {
            name: scenario.name.clone(),
            seed: scenario.seed,
            duration_s: seconds,
            events: ended.events,
            flows: (scenario.flows.iter().zip((0..).map(FlowId::new)))
                .map(|(flow, id)| {
                    let index = id.index();
                    let ends = [id.sender(), id.receiver()].map(|end| &stats[end.index()]);
                    let active_until = match ended.application_ends[index] {
                        Some(at) if ends[0].is_idle => at.max(totals.last_data[index]),
                        _ => end,
                    };
                    let active = active_until.saturating_since(start_of(flow, scenario.seed));
                    FlowSummary::new(flow, ends, totals.flow_drops[index], active)
                })
                .collect(),
            links: links
                .zip(totals_of_links)
                .map(|((name, &rate), (count, &queue_max))| {
                    LinkSummary::new(name, rate, count, queue_max, seconds)
                })
                .collect(),
        }
    }
}

impl FlowSummary {
    fn new(
        flow: &FlowSpec,
        [sender, receiver]: [&EndStats; 2],
        drops: u64,
        active: Duration,
    ) -> Self {
        let delivered_bits = receiver.delivered_bytes as f64 * 8.0;
        Self {
            name: flow.name.clone(),
            transport: flow.transport.name().to_owned(),
            packets_sent: sender.packets_sent,
            bytes_sent: sender.bytes_sent,
            delivered_packets: receiver.delivered_packets,
            delivered_bytes: receiver.delivered_bytes,
            active_s: active.as_secs_f64(),
            goodput_bps: if active.is_zero() {
                0.0
            } else {
                delivered_bits / active.as_secs_f64()
            },
            drops,
            retransmissions: sender.retransmissions,
            timeouts: sender.timeouts,
            receive_window_limited_s: sender.receive_window_limited.as_secs_f64(),
        }
    }
}

impl LinkSummary {
    fn new(name: &str, rate_bps: u64, count: &PacketCount, queue_max: u64, seconds: f64) -> Self {
        let delivered_bits = count.delivered_bytes as f64 * 8.0;
        Self {
            name: name.to_owned(),
            rate_bps,
            arrivals: count.arrivals,
            drops: count.drops,
            delivered: count.delivered,
            marks: count.marks,
            delivered_bytes: count.delivered_bytes,
            utilisation: if rate_bps == 0 {
                0.0
            } else {
                delivered_bits / (rate_bps as f64 * seconds)
            },
            queue_max_packets: queue_max,
        }
    }
}
