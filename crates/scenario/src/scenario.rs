//! The top level of a scenario.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_units::Duration;

use crate::limit::{MOST_FLOWS, MOST_NODES, at_most};
use crate::{Dumbbell, FlowSpec, LinkSpec};

/// An experiment: a network, the flows on it, what to measure, and for how long.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A short name, used in summaries and reports.
    pub name: String,
    /// What the experiment shows.
    #[serde(default)]
    pub description: String,
    /// The simulated time the run covers, at most 100 years.
    pub duration: Duration,
    /// The seed of all random streams. Each stream is named, so adding a flow does not change the
    /// random numbers of the others.
    #[schemars(extend("x-unit" = "1"))]
    #[serde(default)]
    pub seed: u64,
    /// The names of the nodes, in addition to those of `dumbbell`; at most 250,000.
    #[serde(default, deserialize_with = "at_most::<_, _, MOST_NODES>")]
    pub nodes: Vec<String>,
    /// The links, in addition to those of `dumbbell`; at most 250,000.
    #[serde(default, deserialize_with = "at_most::<_, _, MOST_NODES>")]
    pub links: Vec<LinkSpec>,
    /// Shorthand for the classic topology of two routers. Absent: the network consists of `nodes`
    /// and `links`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dumbbell: Option<Dumbbell>,
    /// The flows; at least one, and at most 100,000.
    #[serde(deserialize_with = "at_most::<_, _, MOST_FLOWS>")]
    pub flows: Vec<FlowSpec>,
    /// What to measure.
    #[serde(default)]
    pub probes: Probes,
    /// Whether to encode and parse every packet and compare the result with the original. The run
    /// fails at the first difference.
    #[serde(default)]
    pub verify_wire: bool,
}

/// What to measure.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Probes {
    /// The interval between samples of flows and links. The last one ends with the run, and is
    /// shorter if the duration is not a multiple of it.
    pub interval: Duration,
    /// The links to sample, as `"r1->r2"`. Empty: all.
    pub links: Vec<String>,
    /// The flows to sample, at their ends and on links. Empty: all.
    pub flows: Vec<String>,
    /// Whether to record cwnd, ssthresh and pipe at each change (table `windows`).
    pub windows: bool,
    /// Whether to record X, X_recv, p and R of TFRC senders at each report and each change (table
    /// `rates`).
    pub rates: bool,
    /// Whether to record every packet at every link and endpoint (table `packets`). This table is
    /// large.
    pub packets: bool,
    /// Additional tables, by name. May include `windows`, `rates` and `packets`.
    pub tables: Vec<String>,
}

impl Probes {
    /// Returns the names of the requested tables, possibly with duplicates.
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
