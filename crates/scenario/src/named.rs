//! Parameter tables of members that a scenario selects by name.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::{ParameterError, Value, in_plain_words};

use crate::ScenarioError;

/// Parameter tables by the name of the member they apply to, next to the fields that select the
/// member: `tcp = { control = "cubic", cubic = { beta = 0.8 } }`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Named(BTreeMap<String, Value>);

impl Named {
    /// Returns an empty set.
    pub const fn none() -> Self {
        Self(BTreeMap::new())
    }

    /// Returns a set with these parameters for the member `name`.
    ///
    /// # Panics
    /// If serde cannot serialize `parameters` as a table.
    pub fn of(name: &str, parameters: &impl Serialize) -> Self {
        let table = serde_json::to_value(parameters).expect("parameters are a table");
        Self(BTreeMap::from([(name.to_owned(), table)]))
    }

    /// Returns the parameters for `name`, or an empty table.
    pub(crate) fn table(&self, name: &str) -> Value {
        self.0
            .get(name)
            .cloned()
            .unwrap_or_else(|| Value::Object(serde_json::Map::new()))
    }

    /// Replaces the parameters of `name`, if given, with the complete set including defaults.
    pub(crate) fn complete(&mut self, name: &str, parameters: Value) {
        if let Some(table) = self.0.get_mut(name) {
            *table = parameters;
        }
    }

    /// Checks that there is no table except for `chosen`. `explain` returns what another name
    /// stands for, if it is known; otherwise the error lists the fields of `S`, in which the tables
    /// are.
    pub(crate) fn check<S: JsonSchema>(
        &self,
        chosen: Option<&str>,
        explain: impl Fn(&str) -> Option<String>,
    ) -> Result<(), ParameterError> {
        match self.0.keys().find(|name| Some(name.as_str()) != chosen) {
            None => Ok(()),
            Some(name) => {
                let message = explain(name).unwrap_or_else(|| {
                    let fields = fields::<S>();
                    in_plain_words(&format!("unknown field `{name}`, expected one of {fields}"))
                });
                Err(ParameterError::new(name, message))
            }
        }
    }
}

/// Returns the fields of a part of scenarios, as serde lists them in its messages.
fn fields<S: JsonSchema>() -> String {
    let schema = schemars::schema_for!(S);
    let properties = schema.get("properties").and_then(Value::as_object);
    let names = properties.into_iter().flat_map(|fields| fields.keys());
    let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// Converts an error in the parameters of a member to an error of the whole scenario. `field` is
/// the field that selects the member, `parameters` the path of its table.
pub(crate) fn at(error: ParameterError, field: &str, parameters: &str) -> ScenarioError {
    if error.field.is_empty() {
        ScenarioError::new(field, error.message)
    } else {
        let error = error.within(parameters);
        ScenarioError::new(error.field, error.message)
    }
}
