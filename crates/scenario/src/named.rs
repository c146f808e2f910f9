//! Parameters of members that a scenario chooses by name: each table stands under that name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use skywave_registry::{ParameterError, Value};

use crate::ScenarioError;

/// Tables of parameters by the name of the member that they are for, beside the fields of whatever
/// chooses the member: `tcp = { control = "cubic", cubic = { beta = 0.8 } }`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Named(BTreeMap<String, Value>);

impl Named {
    /// No parameters at all.
    pub const fn none() -> Self {
        Self(BTreeMap::new())
    }

    /// These parameters for the member of this name.
    ///
    /// # Panics
    /// Where serde cannot write `parameters` as a table.
    pub fn of(name: &str, parameters: &impl Serialize) -> Self {
        let table = serde_json::to_value(parameters).expect("parameters are a table");
        Self(BTreeMap::from([(name.to_owned(), table)]))
    }

    /// The parameters for `name`, none where there is no table.
    pub(crate) fn table(&self, name: &str) -> Value {
        self.0
            .get(name)
            .cloned()
            .unwrap_or_else(|| Value::Object(serde_json::Map::new()))
    }

    /// Puts all parameters of `name`, those with their defaults included, in the place of those
    /// that were given, if any were.
    pub(crate) fn complete(&mut self, name: &str, parameters: Value) {
        if let Some(table) = self.0.get_mut(name) {
            *table = parameters;
        }
    }

    /// Whether no table is for anything but `chosen`. `explain` says of another name what it is for,
    /// where it means anything at all.
    pub(crate) fn check(
        &self,
        chosen: Option<&str>,
        field: &str,
        explain: impl Fn(&str) -> Option<String>,
    ) -> Result<(), ScenarioError> {
        match self.0.keys().find(|name| Some(name.as_str()) != chosen) {
            None => Ok(()),
            Some(name) => {
                let unknown = || format!("unknown field `{name}`: look it up in the examples");
                let message = explain(name).unwrap_or_else(unknown);
                Err(ScenarioError::new(format!("{field}.{name}"), message))
            }
        }
    }
}

/// A fault of a parameter of the member `name`, seen from the whole scenario. `field` is the field
/// that the member was chosen by, `parameters` the place where its table stands.
pub(crate) fn at(error: ParameterError, field: &str, parameters: &str) -> ScenarioError {
    if error.field.is_empty() {
        ScenarioError::new(field, error.message)
    } else {
        let error = error.within(parameters);
        ScenarioError::new(error.field, error.message)
    }
}
