//! The simulator as a backend of scenarios: its packets and its probes.

use std::sync::Arc;

use arrow_schema::{DataType, Field};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::OpenSet;
use skywave_scenario::Backend;
use skywave_units::Instant;

use crate::watching::probe::{Probe, ProbeFactory, ProbeSetup, RunEnd};
use crate::watching::probes::{self, STANDARD};
use crate::watching::table::DOC;
use crate::world::packet::Frame;

/// The simulator.
#[derive(Clone, Copy, Debug)]
pub struct Simulator;

/// The open sets from which a simulated scenario selects by name.
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

/// Probes have no parameters.
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoParameters {}

/// Adds a probe to [`Registry::probes`], or replaces the one of this name.
///
/// `name` is also the name of its table, and `doc` describes its measurements in one sentence.
/// `make` creates a probe for each run.
pub fn register_probe<P: Probe>(
    probes: &mut OpenSet<ProbeFactory>,
    name: &str,
    doc: &'static str,
    make: impl Fn(&Arc<ProbeSetup>) -> P + Send + Sync + 'static,
) {
    let factory: Arc<ProbeFactory> = Arc::new(move |setup| Box::new(make(setup)));
    probes.register(name, doc, move |NoParameters {}| Ok(Arc::clone(&factory)));
}

/// A table that a scenario may request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TableSchema {
    /// Its name.
    pub name: String,
    /// What it contains, in one sentence.
    pub doc: &'static str,
    /// Whether every run has it. Others must be requested.
    pub is_standard: bool,
    /// Its columns, in order.
    pub columns: Vec<ColumnSchema>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ColumnSchema {
    /// Its name, which ends in the unit.
    pub name: String,
    /// The type of its values.
    pub kind: &'static str,
    /// Whether values may be null.
    pub nullable: bool,
    /// What it contains, in one sentence.
    pub doc: String,
}

/// Returns the tables of all registered probes, in alphabetical order.
///
/// # Panics
/// If the columns of a probe do not form a table.
pub fn tables(registry: &Registry) -> Vec<TableSchema> {
    let setup = Arc::new(ProbeSetup::of_no_run());
    let end = RunEnd {
        time: Instant::ZERO,
        links: &[],
        flows: &[],
        journals: &[],
    };
    let probes = registry.probes.names().filter_map(|name| {
        let make = registry.probe(name).ok()?;
        Some((name, make(&setup)))
    });
    probes
        .map(|(name, probe)| {
            let table = probe.finish(&end).expect("a probe has columns");
            TableSchema {
                name: name.to_owned(),
                doc: registry.probes.doc(name).unwrap_or_default(),
                is_standard: STANDARD.contains(&name),
                columns: table
                    .schema()
                    .fields()
                    .iter()
                    .map(|field| column(field))
                    .collect(),
            }
        })
        .collect()
}

fn column(field: &Field) -> ColumnSchema {
    ColumnSchema {
        name: field.name().clone(),
        kind: match field.data_type() {
            DataType::Float64 => "number",
            DataType::UInt32 | DataType::UInt64 => "integer",
            _ => "text",
        },
        nullable: field.is_nullable(),
        doc: field.metadata().get(DOC).cloned().unwrap_or_default(),
    }
}
