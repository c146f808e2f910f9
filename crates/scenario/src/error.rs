//! Scenario errors: one line, and the field that is wrong.

use skywave_registry::ParameterError;

/// The reason why a text is not a scenario, or why a scenario cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", prefix(.field))]
#[non_exhaustive]
pub struct ScenarioError {
    /// The path of the field (`flows[2].transport.dccp.ccid`). Empty if the whole text is not TOML
    /// or JSON.
    pub field: String,
    /// What is wrong and what to do.
    pub message: String,
}

fn prefix(field: &str) -> String {
    if field.is_empty() {
        String::new()
    } else {
        format!("{field}: ")
    }
}

impl ScenarioError {
    /// Creates an error. `message` says what is wrong with `field` and what to do.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            message: message.into(),
        }
    }
}

impl From<ParameterError> for ScenarioError {
    /// Converts an error whose field is already a path from the top of the scenario.
    fn from(error: ParameterError) -> Self {
        Self::new(error.field, error.message)
    }
}
