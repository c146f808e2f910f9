//! Scenarios, and the registry of everything they may name.
//!
//! - A [`Scenario`] describes an experiment: a network, the flows on it, what to measure. TOML and
//!   JSON files hold it, the Python classes produce it, a worker receives it. Quantities are texts
//!   with a unit (`"300 ms"`). An unknown key is an error, and every error names its field.
//! - A [`Registry`] holds the members of the open sets that a scenario names: queue disciplines,
//!   congestion controls, CCIDs and probes.
//! - A [`Backend`] runs scenarios. It decides what packets and probes are; this crate knows neither
//!   a clock nor a socket.

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
mod registry;

mod scenario;
mod schema;
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
pub use link::{BackSpec, Direction, LinkSpec};
pub use loss::{BernoulliSpec, ErrorUnit, GilbertElliottSpec, LossSpec};
pub use named::Named;
pub use profile::Profile;
pub use registry::{Backend, Registry};
pub use scenario::{Probes, Scenario};
pub use skywave_path::QueueSpec;
pub use source::{CbrSpec, FtpSpec, SourceSpec};
pub use tcp::{TcpRecovery, TcpSpec};
pub use tfrc::{
    DynamicSpec, FeedbackSpec, PerRoundTripSpec, ReceiverRttSpec, SmoothingSpec, TfrcRules,
    TfrcSpec, WindowSpec,
};
pub use trace::{TraceSpec, TraceStep};
pub use voice::{AdaptSpec, STAMP, TalkspurtSpec, VoiceSpec};
pub use web::{FileSizeSpec, ThinkSpec, WebSpec};
