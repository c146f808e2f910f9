//! What a check says about a scenario that may run.

use serde::Serialize;

/// Something in a scenario that is permitted but probably not intended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Warning {
    /// The path of the field.
    pub field: String,
    /// What is unusual, and what to do.
    pub message: String,
}
