//! Why an emulation cannot be set up.

use std::io;

use skywave_scenario::ScenarioError;
use thiserror::Error;

/// Why an emulation cannot be set up.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EmulateError {
    /// The network is described wrongly, or has what cannot be emulated.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The system refuses what an emulation is made of.
    #[error("{what}: {source}{}", advice(source))]
    System {
        /// What was to be done.
        what: String,
        /// The system's answer.
        source: io::Error,
    },
}

impl EmulateError {
    /// The system has refused `what`, as in "cannot open a file".
    pub fn system(what: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::System {
            what: what.into(),
            source: source.into(),
        }
    }
}

/// What to do about an error of the system.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "; run it as root, or where user namespaces are allowed to users"
        }
        _ => "",
    }
}
