//! A whole scenario.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_units::Duration;

use crate::{Dumbbell, FlowSpec, LinkSpec};

/// An experiment: a network, the flows on it, what to measure, for how long.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A short name, for summaries and reports.
    pub name: String,
    /// What the experiment shows.
    #[serde(default)]
    pub description: String,
    /// Simulated time.
    pub duration: Duration,
    /// Seed of every random stream. Streams are named, so a flow that is added does not change the
    /// draws of another.
    #[schemars(extend("x-unit" = "1"))]
    #[serde(default)]
    pub seed: u64,
    /// Nodes, beside those of `dumbbell`.
    #[serde(default)]
    pub nodes: Vec<String>,
    /// Links, beside those of `dumbbell`.
    #[serde(default)]
    pub links: Vec<LinkSpec>,
    /// Short for the classic topology of two routers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dumbbell: Option<Dumbbell>,
    /// The flows.
    pub flows: Vec<FlowSpec>,
    /// What is measured.
    #[serde(default)]
    pub probes: Probes,
    /// Encodes and parses every packet on its way and compares it with the typed one.
    #[serde(default)]
    pub verify_wire: bool,
}

/// What is measured.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Probes {
    /// Distance between samples of flows and links.
    pub interval: Duration,
    /// Links to sample, as `"r1->r2"`; all where empty.
    pub links: Vec<String>,
    /// Flows to sample, at their ends and on links; all where empty.
    pub flows: Vec<String>,
    /// cwnd, ssthresh and pipe at each change.
    pub windows: bool,
    /// X, X_recv, p and R of a TFRC sender at each report and each change.
    pub rates: bool,
    /// Every packet at every link and endpoint: large.
    pub packets: bool,
    /// Further tables, by the names of their probes in the [`Registry`](crate::Registry).
    /// `windows`, `rates` and `packets` may also be named here.
    pub tables: Vec<String>,
}

impl Probes {
    /// The tables that are asked for, some of them perhaps more than once.
    pub fn asked_for(&self) -> impl Iterator<Item = &str> {
        let switches = [
            ("windows", self.windows),
            ("rates", self.rates),
            ("packets", self.packets),
        ];
        let switched = switches
            .into_iter()
            .filter_map(|(name, on)| on.then_some(name));
        switched.chain(self.tables.iter().map(String::as_str))
    }
}

impl Default for Probes {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(1),
            links: Vec::new(),
            flows: Vec::new(),
            windows: false,
            rates: false,
            packets: false,
            tables: Vec::new(),
        }
    }
}
