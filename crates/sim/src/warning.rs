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
    /// Whether it concerns a simulation only, not a run in real time.
    pub in_simulation: bool,
}

impl Warning {
    /// Creates a warning for runs on either clock.
    pub(crate) const fn new(field: String, message: String) -> Self {
        Self {
            field,
            message,
            in_simulation: false,
        }
    }

    /// Creates a warning for simulations.
    pub(crate) const fn in_simulation(field: String, message: String) -> Self {
        Self {
            field,
            message,
            in_simulation: true,
        }
    }
}
