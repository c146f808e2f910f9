//! The simulator as what runs scenarios: its packets and its probes.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::OpenSet;
use skywave_scenario::Backend;

use crate::packet::Frame;
use crate::probe::{Probe, ProbeFactory, ProbeSetup};
use crate::probes;

/// The simulator.
#[derive(Clone, Copy, Debug)]
pub struct Simulator;

/// The open sets from which a simulated scenario chooses by name.
pub type Registry = skywave_scenario::Registry<Simulator>;

impl Backend for Simulator {
    type Packet = Frame;
    type Probe = ProbeFactory;

    #[rustfmt::skip]
    fn register_probes(probes: &mut OpenSet<ProbeFactory>) {
        register_probe(probes, "flows", "Each flow, over each interval.", probes::flows::Flows::new);
        register_probe(probes, "links", "Each link, over each interval.", probes::links::Links::new);
        register_probe(probes, "link_flows", "Each flow on each link.", probes::link_flows::LinkFlows::new);
        register_probe(probes, "drops", "Every packet that a link has lost.", probes::drops::Drops::new);
        register_probe(probes, "voice", "The frames of voice calls.", probes::voice::Voice::new);
        register_probe(probes, "transfers", "The files of web traffic.", probes::transfers::Transfers::new);
        register_probe(probes, "windows", "cwnd, ssthresh and pipe at each change.", probes::windows::Windows::new);
        register_probe(probes, "rates", "X, X_recv, p and R at each change.", probes::rates::Rates::new);
        register_probe(probes, "controls", "The inner values of congestion controls.", probes::controls::Controls::new);
        register_probe(probes, "queues", "The inner values of queue disciplines.", probes::queues::Queues::new);
        register_probe(probes, "packets", "All that happens to every packet.", probes::packets::Packets::new);
    }
}

/// A probe has no parameters.
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoParameters {}

/// Adds a probe to [`Registry::probes`], or replaces the one of this name.
///
/// `name` is also the name of its table, `doc` one sentence on what it measures; `make` makes one
/// for each run.
pub fn register_probe<P: Probe>(
    probes: &mut OpenSet<ProbeFactory>,
    name: &str,
    doc: &'static str,
    make: impl Fn(&Arc<ProbeSetup>) -> P + Send + Sync + 'static,
) {
    let factory: Arc<ProbeFactory> = Arc::new(move |setup| Box::new(make(setup)));
    probes.register(name, doc, move |NoParameters {}| Ok(Arc::clone(&factory)));
}
