//! The one description of an experiment.
//!
//! A [`Scenario`] is what TOML and JSON files hold, what the Python builders produce and what a
//! worker receives. Quantities are texts with units (`"300 ms"`); a key that is not known is an
//! error; every error names the field.

mod check;
mod dccp;
mod dumbbell;
mod error;
mod flow;
mod link;
mod loss;
mod named;
mod profile;
mod queue;
mod read;
mod source;
mod tcp;
#[cfg(test)]
mod tests;
mod tfrc;
mod trace;
mod validate;
mod voice;
mod web;

pub use dccp::{DccpSpec, Growth};
pub use dumbbell::Dumbbell;
pub use error::ScenarioError;
pub use flow::{FlowSpec, TransportSpec, UdpSpec};
pub(crate) use link::Direction;
pub use link::{BackSpec, LinkSpec};
pub use loss::{BernoulliSpec, ErrorUnit, GilbertElliottSpec, LossSpec};
pub use named::Named;
pub use profile::Profile;
pub use source::{CbrSpec, FtpSpec, SourceSpec};
pub use tcp::{TcpRecovery, TcpSpec};
pub use tfrc::{
    DynamicSpec, FeedbackSpec, PerRoundTripSpec, ReceiverRttSpec, SmoothingSpec, TfrcRules,
    TfrcSpec, WindowSpec,
};
pub use trace::{TraceSpec, TraceStep};
pub use voice::{AdaptSpec, TalkspurtSpec, VoiceSpec};
pub use web::{FileSizeSpec, ThinkSpec, WebSpec};

use serde::{Deserialize, Serialize};
use skywave_path::QueueSpec;
use skywave_units::Duration;

/// An experiment: a network, the flows on it, what to measure, for how long.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A short name, for summaries and reports.
    pub name: String,
    /// What the experiment shows.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Simulated time.
    pub duration: Duration,
    /// Seed of every random stream. Streams are named, so a flow that is added does not change the
    /// draws of another.
    #[serde(default)]
    pub seed: u64,
    /// Nodes, beside those of `dumbbell`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
    /// Links, beside those of `dumbbell`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
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
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verify_wire: bool,
}

/// What is measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<String>,
}

impl Probes {
    /// The tables that are asked for, some of them perhaps more than once.
    pub(crate) fn asked_for(&self) -> impl Iterator<Item = &str> {
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

/// For times that are left out where they are zero.
const fn is_zero(time: &Duration) -> bool {
    time.is_zero()
}
