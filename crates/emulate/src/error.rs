//! Why an emulation cannot be set up.

use std::io;

use skywave_scenario::ScenarioError;
use thiserror::Error;

/// Why an emulation cannot be set up.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EmulateError {
    /// The description of the network is wrong, or contains something that cannot be emulated.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The system refuses something that the emulation needs.
    #[error("{what}: {source}{}", advice(source))]
    System {
        /// What was attempted.
        what: String,
        /// The system's answer.
        source: io::Error,
    },
}

impl EmulateError {
    /// Creates the error for an attempt that the system has refused. `what` says what failed, as in
    /// "cannot open a file".
    pub fn system(what: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::System {
            what: what.into(),
            source: source.into(),
        }
    }
}

/// Returns what to do about an error from the system.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "; run it as root or allow user namespaces (a scenario also runs with --virtual-time)"
        }
        _ => "",
    }
}
