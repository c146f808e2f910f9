//! Scenarios, and the registry of everything a scenario can name.
//!
//! - A [`Scenario`] describes an experiment: a network, the flows on it, and what to measure. It is
//!   read from TOML or JSON files, produced by the Python classes, and sent to workers. Quantities
//!   are strings with a unit (`"300 ms"`). Unknown keys are errors, and every error names its
//!   field.
//! - A [`Registry`] holds the open sets a scenario selects from by name: queue disciplines, loss
//!   models, kinds of traces, sources, congestion controls, CCIDs and probes.
//! - A [`SocketSpec`] describes the configuration of a connection on a socket, with members of the
//!   same sets.
//! - [`place_of`] finds a field in a text, for editors.
//! - A [`Backend`] runs scenarios and defines the packet and probe types. This crate uses neither
//!   clocks nor sockets.

mod check;
mod dccp;
mod direction;
mod dumbbell;
mod error;
mod flow;
mod limit;
mod link;
mod named;
mod nat;
mod place;
mod profile;
mod random;
mod read;
mod registry;
mod scenario;
mod schema;
mod socket;
mod tcp;
#[cfg(test)]
mod tests;
mod tfrc;
mod trace;
mod validate;

pub use dccp::{DccpSpec, Growth, ReductionsSpec};
pub use error::ScenarioError;
pub use flow::{FlowSpec, KernelDccpSpec, KernelTcpSpec, TransportSpec, UdpSpec};
pub use link::{BackSpec, Direction, Dumbbell, LinkSpec};
pub use named::Named;
pub use nat::{NatChecksum, NatSpec};
pub use place::{Place, place_of};
pub use profile::Profile;
pub use random::stream;
pub use registry::{Backend, Registry};
pub use scenario::{Probes, Scenario};
pub use skywave_path::{
    BernoulliSpec, ErrorUnit, GilbertElliottSpec, LossSpec, PacketLossSpec, QueueSpec, TraceStep,
};
pub use skywave_traffic::{
    AdaptSpec, CbrSpec, ExponentialSpec, FileSizeSpec, FtpSpec, OnOffSpec, ParetoSpec, PeriodSpec,
    PoissonSpec, ReplaySpec, SourceSpec, TalkspurtSpec, ThinkSpec, VoiceSpec, WebSpec,
};
pub use socket::{ServiceCodeSpec, SocketSpec};
pub use tcp::{EcnFeedback, TcpProfile, TcpRecovery, TcpSpec};
pub use tfrc::{
    DynamicSpec, FeedbackSpec, PerRoundTripSpec, ReceiverRttSpec, SmoothingSpec, TfrcRules,
    TfrcSpec, WindowSpec,
};
pub use trace::TraceSpec;
pub use validate::MOST_ROWS;
