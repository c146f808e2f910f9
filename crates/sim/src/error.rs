//! Why a run has no results.

use std::io;

use skywave_registry::MemberFailure;
use skywave_scenario::ScenarioError;

/// The reason why a run has no results.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The scenario cannot be run.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The progress callback asked to stop.
    #[error("the run was interrupted")]
    Interrupted,
    /// A member, such as a congestion control, could no longer decide.
    #[error("the {kind} of {place} in \"{scenario}\" failed: {failure}")]
    Member {
        /// The scenario's name.
        scenario: String,
        /// What it is, such as "congestion control".
        kind: &'static str,
        /// Where it is: `flow "f1"`, or `link "a->b"`.
        place: String,
        /// Why.
        failure: MemberFailure,
    },
    /// A packet differed after encoding and parsing (`verify_wire`).
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
    /// There is no link with the name given for a capture.
    #[error("there is no link \"{link}\" to capture; links are {known}")]
    UnknownLink {
        /// The name given.
        link: String,
        /// The known names, and which of them may be meant.
        known: String,
    },
    /// A qlog file could not be written.
    #[error("the qlog file of flow \"{flow}\" could not be written: {source}")]
    Qlog {
        /// The flow.
        flow: String,
        /// What went wrong.
        source: io::Error,
    },
    /// There is no flow with the name given for a qlog file.
    #[error("there is no flow \"{flow}\" to log; flows are {known}")]
    UnknownFlow {
        /// The name given.
        flow: String,
        /// The known names, and which of them may be meant.
        known: String,
    },
    /// A table could not be created.
    #[error("a table could not be made: {0}")]
    Table(#[from] arrow_schema::ArrowError),
}

/// A packet that differed after encoding and parsing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a packet does not survive the wire: {reason}; it was {packet}")]
#[non_exhaustive]
pub struct WireMismatch {
    /// The original packet.
    pub packet: String,
    /// What went wrong.
    pub reason: String,
}
