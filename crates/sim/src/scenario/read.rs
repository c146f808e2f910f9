//! Reading and writing a scenario.

use serde::Deserialize;

use super::{Scenario, ScenarioError};

impl Scenario {
    /// Reads TOML.
    ///
    /// # Errors
    /// [`ScenarioError`] with the field that is wrong; the scenario has been validated.
    pub fn from_toml(text: &str) -> Result<Self, ScenarioError> {
        let document = toml::de::Deserializer::parse(text)
            .map_err(|error| ScenarioError::new("", one_line(&error.to_string())))?;
        Self::read(document, |error: &toml::de::Error| {
            error.message().to_owned()
        })
    }

    /// Reads JSON.
    ///
    /// # Errors
    /// [`ScenarioError`] with the field that is wrong; the scenario has been validated.
    pub fn from_json(text: &str) -> Result<Self, ScenarioError> {
        let mut document = serde_json::Deserializer::from_str(text);
        let scenario = Self::read(&mut document, |error: &serde_json::Error| error.to_string())?;
        document
            .end()
            .map_err(|error| ScenarioError::new("", error.to_string()))?;
        Ok(scenario)
    }

    fn read<'de, D>(document: D, message: fn(&D::Error) -> String) -> Result<Self, ScenarioError>
    where
        D: serde::Deserializer<'de>,
    {
        let mut track = serde_path_to_error::Track::new();
        let tracked = serde_path_to_error::Deserializer::new(document, &mut track);
        let scenario = Self::deserialize(tracked).map_err(|error| {
            let path = track.path().to_string();
            let field = if path == "." { String::new() } else { path };
            ScenarioError::new(field, one_line(&message(&error)))
        })?;
        scenario.validate()?;
        Ok(scenario)
    }

    /// The scenario as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a scenario has only string keys")
    }
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
