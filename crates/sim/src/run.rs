//! Running scenarios: one, many, and what comes out.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::RecordBatch;
use rayon::prelude::*;
use serde::Serialize;
use skywave_units::Instant;

use crate::application::Application;
use crate::capture::Captures;
use crate::engine::{Parts, Simulator, Stop};
use crate::host::{Host, HostStats};
use crate::ids::{FlowId, HostId};
use crate::network::{Hop, Network};
use crate::observe::Observer;
use crate::packet::Route;
use crate::physics;
use crate::probes::{Sampled, Sampler, Totals};
use crate::record::{Fingerprint, Recorder};
use crate::registry::Registry;
use crate::scenario::{Scenario, ScenarioError, SourceSpec, TransportSpec};
use crate::tables::{Names, TransferRow};
use crate::talker::Made;
use crate::voice::VoiceLog;
use crate::wire_check::WireMismatch;

/// What is done beside running.
#[derive(Default)]
pub struct RunOptions {
    /// Links to capture, as `"r1->r2"`, and where their pcapng goes.
    pub captures: Vec<(String, Box<dyn Write + Send>)>,
    /// Whether the record of the run is kept and judged by [`physics::verify`].
    pub verify_physics: bool,
}

/// What came of a run. The same scenario gives the same results to the last bit.
#[derive(Clone, Debug)]
pub struct Results {
    /// Totals.
    pub summary: Summary,
    /// Tables by name: `flows`, `links`, `link_flows`, `drops`; `voice` where there are voice calls,
    /// `transfers` where there is web traffic; `windows`, `rates` and `packets` where the scenario
    /// asks for them.
    pub tables: Vec<(&'static str, RecordBatch)>,
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

/// Why there are no results.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The scenario cannot be run.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// Whoever watched the progress asked for an end.
    #[error("the run was interrupted")]
    Interrupted,
    /// A packet was not the same after it had been on the wire (`verify_wire`).
    #[error(transparent)]
    Wire(#[from] WireMismatch),
    /// A capture could not be written.
    #[error("the capture of {link} could not be written: {reason}")]
    Capture {
        /// The link.
        link: String,
        /// What went wrong.
        reason: String,
    },
    /// There is no such link to capture.
    #[error("there is no link \"{link}\" to capture; links are {known}")]
    UnknownLink {
        /// The name that was given.
        link: String,
        /// The names that there are.
        known: String,
    },
    /// A table could not be made.
    #[error("a table could not be made: {0}")]
    Table(#[from] arrow_schema::ArrowError),
}

/// Counts of a flow on a link that a run keeps where it samples all: about a gigabyte.
const MOST_COUNTERS: usize = 30_000_000;

/// The network and the flows of a scenario, ready to run.
pub(crate) struct Build {
    pub(crate) network: Network,
    pub(crate) hosts: Vec<Host>,
    pub(crate) applications: Vec<Application>,
    pub(crate) routes: Vec<Route>,
}

impl Build {
    pub(crate) fn new(scenario: &Scenario, registry: &Registry) -> Result<Self, ScenarioError> {
        let mut network = Network::new(scenario, registry)?;
        let mut hosts = Vec::with_capacity(2 * scenario.flows.len());
        let mut routes = Vec::with_capacity(2 * scenario.flows.len());
        for (index, flow) in scenario.flows.iter().enumerate() {
            let node = |network: &Network, name: &str, key: &str| {
                network.node(name).ok_or_else(|| {
                    let field = format!("flows[{index}].{key}");
                    ScenarioError::new(field, format!("there is no node \"{name}\""))
                })
            };
            let from = node(&network, &flow.from, "from")?;
            let to = node(&network, &flow.to, "to")?;
            let field = format!("flows[{index}]");
            for (from, to, chain) in [(from, to, flow.transport.chain()), (to, from, None)] {
                routes.push(Route {
                    hop: network.route(from, to, &field)?,
                    class: flow.class,
                    chain: chain.unwrap_or(1),
                });
            }
            let way = network.route(from, to, &field)?;
            let routers = network.dialects(way, flow.class);
            flow.transport.check_routers(routers, &field)?;
            let (sender, receiver) = Host::pair(flow, index, scenario.seed);
            hosts.extend([sender, receiver]);
        }
        let applications = (0..scenario.flows.len())
            .map(|index| Application::new(scenario, index))
            .collect();
        Ok(Self {
            network,
            hosts,
            applications,
            routes,
        })
    }

    /// Whether there is room for a count of each flow on each link.
    fn check_counters(&self) -> Result<(), ScenarioError> {
        let (links, flows) = (self.network.links.len(), self.applications.len());
        if links.saturating_mul(flows) > MOST_COUNTERS {
            let message = format!(
                "{flows} flows on {links} links: at most {MOST_COUNTERS} pairs of a flow and a link"
            );
            return Err(ScenarioError::new("flows", message));
        }
        Ok(())
    }

    /// Whether each flow's route, there or back, uses each link: `[link][flow]`.
    fn usage(&self) -> Vec<Vec<bool>> {
        let mut usage = vec![vec![false; self.applications.len()]; self.network.links.len()];
        for (host, route) in (0..).map(HostId::new).zip(&self.routes) {
            let hops = (route.hop..).map_while(|index| match self.network.hop(index) {
                Hop::Link(link) => Some(link),
                Hop::Host => None,
            });
            for link in hops {
                usage[link as usize][host.flow().index()] = true;
            }
        }
        usage
    }
}

/// Checks all that [`run`] checks before time begins: the scenario itself, and that every flow has a
/// way there and back.
///
/// # Errors
/// [`ScenarioError`] with the field that is wrong.
pub fn check(scenario: &Scenario, registry: &Registry) -> Result<(), ScenarioError> {
    scenario.validate(registry)?;
    Build::new(scenario, registry)?.check_counters()
}

/// Runs a scenario to its end. `progress` is told the fraction done now and then and answers
/// whether to go on.
///
/// # Errors
/// [`RunError`]; the scenario is checked first, as by [`check`].
pub fn run(
    scenario: &Scenario,
    registry: &Registry,
    options: RunOptions,
    progress: impl FnMut(f64) -> bool,
) -> Result<Results, RunError> {
    scenario.validate(registry)?;
    let build = Build::new(scenario, registry)?;
    build.check_counters()?;
    let links: Vec<String> = build
        .network
        .names
        .iter()
        .map(|link| link.name.clone())
        .collect();
    let flows: Vec<String> = scenario
        .flows
        .iter()
        .map(|flow| flow.name.clone())
        .collect();
    let end = Instant::ZERO + scenario.duration;
    let rates: Vec<u64> = build
        .network
        .links
        .iter()
        .map(|link| link.mean_rate(end).as_bps())
        .collect();
    let probes = &scenario.probes;
    let voice = scenario
        .flows
        .iter()
        .map(|flow| match &flow.source {
            SourceSpec::Voice(voice) => Some(VoiceLog::new(voice, probes.interval)),
            SourceSpec::Ftp(_) | SourceSpec::Cbr(_) | SourceSpec::Web(_) => None,
        })
        .collect();
    let sampler = Sampler::new(
        probes,
        Sampled {
            links: sampled(&probes.links, &links),
            flows: sampled(&probes.flows, &flows),
        },
        build.usage(),
        voice,
    );
    let captures = Captures::new(options.captures, &build.network, &scenario.flows)?;
    let recorder = options.verify_physics.then(Recorder::default);
    // A run that nobody writes down is compiled for itself.
    let (ended, recorder, captures) = if recorder.is_none() && captures.is_none() {
        let (ended, ()) = simulate(scenario, build, sampler, (), progress)?;
        (ended, None, None)
    } else {
        let (ended, (recorder, captures)) =
            simulate(scenario, build, sampler, (recorder, captures), progress)?;
        (ended, recorder, captures)
    };
    let Ended {
        events,
        stats,
        made,
        transfers,
        mut sampler,
        fingerprint,
    } = ended;
    sampler.end(&made);
    sampler.tables.transfers = transfers;
    if let Some(captures) = captures {
        captures.finish()?;
    }
    let duration_s = scenario.duration.as_secs_f64();
    let Totals {
        links: link_totals,
        flow_drops,
    } = sampler.totals;
    let flow_summaries = scenario
        .flows
        .iter()
        .zip(&flow_drops)
        .zip((0..).map(FlowId::new));
    let summary = Summary {
        name: scenario.name.clone(),
        seed: scenario.seed,
        duration_s,
        events,
        flows: flow_summaries
            .map(|((flow, &drops), id)| {
                let [sender, receiver] =
                    [id.sender(), id.receiver()].map(|end| &stats[end.index()]);
                FlowSummary {
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
                    goodput_bps: receiver.delivered_bytes as f64 * 8.0 / duration_s,
                    drops,
                    retransmissions: sender.retransmissions,
                    timeouts: sender.timeouts,
                }
            })
            .collect(),
        links: links
            .iter()
            .zip(&rates)
            .zip(&link_totals)
            .map(|((name, &rate_bps), total)| LinkSummary {
                name: name.clone(),
                rate_bps,
                arrivals: total.packets.arrivals,
                drops: total.packets.drops,
                delivered: total.packets.delivered,
                marks: total.packets.marks,
                delivered_bytes: total.packets.delivered_bytes,
                utilisation: total.packets.delivered_bytes as f64 * 8.0
                    / (rate_bps as f64 * duration_s),
                queue_max_packets: total.queue_max_packets,
            })
            .collect(),
    };
    let names = Names {
        links: &links,
        flows: &flows,
    };
    let tables = sampler.tables.into_batches(&names, probes)?;
    let violations = recorder
        .map(|recorder| physics::verify(scenario, registry, &recorder.records))
        .unwrap_or_default();
    Ok(Results {
        summary,
        tables,
        fingerprint: fingerprint.value(),
        violations,
    })
}

/// What a simulation leaves.
struct Ended {
    events: u64,
    stats: Vec<HostStats>,
    /// What each voice source has made, by interval.
    made: Vec<Vec<Made>>,
    transfers: Vec<TransferRow>,
    sampler: Sampler,
    fingerprint: Fingerprint,
}

/// Lets time pass until the scenario's end, while `writer` watches.
fn simulate<W: Observer>(
    scenario: &Scenario,
    build: Build,
    sampler: Sampler,
    writer: W,
    mut progress: impl FnMut(f64) -> bool,
) -> Result<(Ended, W), RunError> {
    let mut simulator = Simulator::new(Parts {
        network: build.network,
        hosts: build.hosts,
        applications: build.applications,
        routes: build.routes,
        observer: ((sampler, Fingerprint::default()), writer),
        sample_interval: Some(scenario.probes.interval),
        verify_wire: scenario.verify_wire,
    });
    let end = Instant::ZERO + scenario.duration;
    let outcome = simulator.run(end, |now| progress(now.as_secs_f64() / end.as_secs_f64()));
    match outcome {
        Ok(()) => {}
        Err(Stop::Interrupted) => return Err(RunError::Interrupted),
        Err(Stop::Wire(mismatch)) => return Err(mismatch.into()),
    }
    let applications = simulator.applications();
    let (events, stats) = (
        simulator.events(),
        simulator.hosts().iter().map(Host::stats).collect(),
    );
    let made = applications
        .iter()
        .map(|application| application.voice_made().to_vec())
        .collect();
    let transfers = transfer_rows(applications);
    let ((sampler, fingerprint), writer) = simulator.into_observer();
    let ended = Ended {
        events,
        stats,
        made,
        transfers,
        sampler,
        fingerprint,
    };
    Ok((ended, writer))
}

/// Which of these have been named; all where none has.
fn sampled(named: &[String], all: &[String]) -> Vec<bool> {
    all.iter()
        .map(|name| named.is_empty() || named.contains(name))
        .collect()
}

/// The files of all web traffic, in the order in which they were begun.
fn transfer_rows(applications: &[Application]) -> Vec<TransferRow> {
    let mut rows: Vec<TransferRow> = (0..)
        .map(FlowId::new)
        .zip(applications)
        .flat_map(|(flow, application)| {
            let row = move |&file| TransferRow { flow, file };
            application.transfers().iter().map(row)
        })
        .collect();
    rows.sort_by_key(|row| row.file.start);
    rows
}

/// Runs many scenarios on all cores; the results are in the order of the scenarios. `finished` is
/// called after each one with how many are done; `go_on` is asked now and then.
///
/// # Errors
/// The first [`RunError`], in the order of the scenarios.
pub fn run_many(
    scenarios: &[Scenario],
    registry: &Registry,
    finished: impl Fn(usize) + Sync,
    go_on: impl Fn() -> bool + Sync,
) -> Result<Vec<Results>, RunError> {
    let done = AtomicUsize::new(0);
    let outcomes: Vec<_> = scenarios
        .par_iter()
        .map(|scenario| {
            let results = run(scenario, registry, RunOptions::default(), |_| go_on());
            finished(done.fetch_add(1, Ordering::Relaxed) + 1);
            results
        })
        .collect();
    outcomes.into_iter().collect()
}
