//! What comes out of a run: totals and tables.

use arrow_array::RecordBatch;
use serde::Serialize;
use skywave_units::Instant;

use crate::build::Build;
use crate::error::RunError;
use crate::host::HostStats;
use crate::ids::FlowId;
use crate::packet::SimLink;
use crate::probe::RunEnd;
use crate::probes::ProbeSet;
use crate::simulate::Ended;
use crate::totals::Totals;
use crate::view::PacketCount;
use skywave_scenario::{FlowSpec, Scenario, TransportSpec};

/// What came of a run. The same scenario gives the same results to the last bit.
#[derive(Clone, Debug)]
pub struct Results {
    /// Totals.
    pub summary: Summary,
    /// Tables by name: `flows`, `links`, `link_flows`, `drops`; `voice` where there are voice calls,
    /// `transfers` where there is web traffic; `windows`, `rates`, `packets` and those of other
    /// probes where the scenario asks for them.
    pub tables: Vec<(String, RecordBatch)>,
    /// A hash over everything that happened to every packet.
    pub fingerprint: u64,
    /// What the physics verifier found; empty where all is well or it was not asked.
    pub violations: Vec<String>,
}

/// The totals of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The scenario's name.
    pub name: String,
    /// Its seed.
    pub seed: u64,
    /// Simulated time.
    pub duration_s: f64,
    /// Events that the simulator handled.
    pub events: u64,
    /// One entry for each flow.
    pub flows: Vec<FlowSummary>,
    /// One entry for each directed link.
    pub links: Vec<LinkSummary>,
}

/// The totals of a flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowSummary {
    /// Its name.
    pub name: String,
    /// `"tcp"`, `"dccp"` or `"udp"`.
    pub transport: &'static str,
    /// Data packets that the sender sent, retransmissions included.
    pub packets_sent: u64,
    /// Application bytes in them.
    pub bytes_sent: u64,
    /// Data packets that the receiver took in, duplicates not counted.
    pub delivered_packets: u64,
    /// Application bytes that the receiver got (in order, for TCP).
    pub delivered_bytes: u64,
    /// Delivered bytes over the run's duration, from time zero.
    pub goodput_bps: f64,
    /// Packets lost on links, in both directions.
    pub drops: u64,
    /// Data packets that the sender sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
}

/// The totals of a directed link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkSummary {
    /// `"r1->r2"`.
    pub name: String,
    /// Its rate, on average over the run.
    pub rate_bps: u64,
    /// Packets that came to it.
    pub arrivals: u64,
    /// Packets that it lost.
    pub drops: u64,
    /// Packets that reached the far end.
    pub delivered: u64,
    /// Those of them that its queue had marked.
    pub marks: u64,
    /// Bytes in them.
    pub delivered_bytes: u64,
    /// Their share of what the link could have carried.
    pub utilisation: f64,
    /// The longest queue at a sampling time.
    pub queue_max_packets: u64,
}

/// What a report needs to know of a scenario's network when that is gone: it is taken before the
/// simulation.
pub(crate) struct Reporter {
    pub(crate) links: Vec<String>,
    pub(crate) flows: Vec<String>,
    /// Each link's rate, on average over the run.
    rates: Vec<u64>,
}

impl Reporter {
    pub(crate) fn new(scenario: &Scenario, build: &Build) -> Self {
        let end = Instant::ZERO + scenario.duration;
        let network = &build.network;
        let rate = |link: &SimLink| link.mean_rate(end).as_bps();
        Self {
            links: network.names.iter().map(|link| link.name.clone()).collect(),
            flows: scenario
                .flows
                .iter()
                .map(|flow| flow.name.clone())
                .collect(),
            rates: network.links.iter().map(rate).collect(),
        }
    }

    /// The results, but for what a judge may say of them.
    pub(crate) fn report<O>(
        self,
        scenario: &Scenario,
        ended: Ended<Totals<(ProbeSet, O)>>,
    ) -> Result<Results, RunError> {
        let summary = self.summary(scenario, &ended);
        let (probes, _) = ended.observer.observer;
        let end = RunEnd {
            links: &self.links,
            flows: &self.flows,
            journals: &ended.journals,
        };
        Ok(Results {
            summary,
            tables: probes.finish(&end)?,
            fingerprint: ended.fingerprint,
            violations: Vec::new(),
        })
    }

    fn summary<O>(&self, scenario: &Scenario, ended: &Ended<Totals<O>>) -> Summary {
        let seconds = scenario.duration.as_secs_f64();
        let (stats, totals) = (&ended.stats, &ended.observer);
        let flows = scenario.flows.iter().zip(&totals.flow_drops);
        let links = self.links.iter().zip(&self.rates);
        let totals_of_links = totals.links.iter().zip(&totals.queue_max);
        Summary {
            name: scenario.name.clone(),
            seed: scenario.seed,
            duration_s: seconds,
            events: ended.events,
            flows: flows
                .zip((0..).map(FlowId::new))
                .map(|((flow, &drops), id)| {
                    let ends = [id.sender(), id.receiver()].map(|end| &stats[end.index()]);
                    FlowSummary::new(flow, ends, drops, seconds)
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
    fn new(flow: &FlowSpec, [sender, receiver]: [&HostStats; 2], drops: u64, seconds: f64) -> Self {
        Self {
            name: flow.name.clone(),
            transport: match flow.transport {
                TransportSpec::Tcp(_) => "tcp",
                TransportSpec::Dccp(_) => "dccp",
                TransportSpec::Udp(_) => "udp",
            },
            packets_sent: sender.packets_sent,
            bytes_sent: sender.bytes_sent,
            delivered_packets: receiver.delivered_packets,
            delivered_bytes: receiver.delivered_bytes,
            goodput_bps: receiver.delivered_bytes as f64 * 8.0 / seconds,
            drops,
            retransmissions: sender.retransmissions,
            timeouts: sender.timeouts,
        }
    }
}

impl LinkSummary {
    fn new(name: &str, rate_bps: u64, count: &PacketCount, queue_max: u64, seconds: f64) -> Self {
        Self {
            name: name.to_owned(),
            rate_bps,
            arrivals: count.arrivals,
            drops: count.drops,
            delivered: count.delivered,
            marks: count.marks,
            delivered_bytes: count.delivered_bytes,
            utilisation: count.delivered_bytes as f64 * 8.0 / (rate_bps as f64 * seconds),
            queue_max_packets: queue_max,
        }
    }
}
