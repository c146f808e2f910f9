//! Reading and writing scenarios.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;
use skywave_registry::in_plain_words;

use crate::check::check;
use crate::limit::MOST_TOML_BYTES;
use crate::link::Selections;
use crate::{Backend, LinkSpec, Registry, Scenario, ScenarioError, SourceSpec, TransportSpec};

impl Scenario {
    /// Reads and validates a scenario in TOML that names no files. To read such files too, use
    /// [`from_toml_beside`](Self::from_toml_beside).
    ///
    /// # Errors
    /// [`ScenarioError`] with the field that is wrong.
    pub fn from_toml<B: Backend>(
        text: &str,
        registry: &Registry<B>,
    ) -> Result<Self, ScenarioError> {
        read_toml(text)?.completed(registry)
    }

    /// Reads and validates a scenario in TOML, including the files it names, relative to
    /// `directory`.
    ///
    /// # Errors
    /// [`ScenarioError`] with the field that is wrong.
    pub fn from_toml_beside<B: Backend>(
        text: &str,
        registry: &Registry<B>,
        directory: &Path,
    ) -> Result<Self, ScenarioError> {
        let mut scenario = read_toml(text)?;
        scenario.load_files(registry, directory)?;
        scenario.completed(registry)
    }

    /// Reads and validates a scenario in JSON that names no files. To read such files too, use
    /// [`from_json_beside`](Self::from_json_beside).
    ///
    /// # Errors
    /// [`ScenarioError`] with the field that is wrong.
    pub fn from_json<B: Backend>(
        text: &str,
        registry: &Registry<B>,
    ) -> Result<Self, ScenarioError> {
        read_json(text)?.completed(registry)
    }

    /// Reads and validates a scenario in JSON, including the files it names, relative to
    /// `directory`.
    ///
    /// # Errors
    /// [`ScenarioError`] with the field that is wrong.
    pub fn from_json_beside<B: Backend>(
        text: &str,
        registry: &Registry<B>,
        directory: &Path,
    ) -> Result<Self, ScenarioError> {
        let mut scenario = read_json(text)?;
        scenario.load_files(registry, directory)?;
        scenario.completed(registry)
    }

    /// Adds what was omitted, and validates the scenario.
    fn completed<B: Backend>(mut self, registry: &Registry<B>) -> Result<Self, ScenarioError> {
        self.complete_links(registry)?;
        self.complete_flows(registry)?;
        self.validate(registry)?;
        Ok(self)
    }

    /// Returns what each link selects from the registry, with the link's field.
    fn selections(&mut self) -> impl Iterator<Item = (String, Selections<'_>)> {
        let dumbbell = self.dumbbell.as_mut();
        let bottleneck = dumbbell.map(|dumbbell| ("dumbbell".to_owned(), dumbbell.selections()));
        let links = self.links.iter_mut().enumerate();
        let links = links.map(|(index, link)| (format!("links[{index}]"), link.selections()));
        bottleneck.into_iter().chain(links)
    }

    /// Adds the defaults to the parameters of queues, losses and traces.
    pub(crate) fn complete_links<B: Backend>(
        &mut self,
        registry: &Registry<B>,
    ) -> Result<(), ScenarioError> {
        for (field, selections) in self.selections() {
            let completed = selections.complete(registry);
            completed.map_err(|error| error.within(&field))?;
        }
        Ok(())
    }

    /// Adds the defaults to the parameters of the flows' controls and sources. Flows share what they
    /// have in common, because there may be very many of them.
    fn complete_flows<B: Backend>(&mut self, registry: &Registry<B>) -> Result<(), ScenarioError> {
        let mut nodes: BTreeSet<Arc<str>> = BTreeSet::new();
        let mut before: Option<(Arc<TransportSpec>, SourceSpec)> = None;
        for (index, flow) in self.flows.iter_mut().enumerate() {
            flow.complete(registry, &format!("flows[{index}]"))?;
            for end in [&mut flow.from, &mut flow.to] {
                match nodes.get(&**end) {
                    Some(node) => *end = Arc::clone(node),
                    None => drop(nodes.insert(Arc::clone(end))),
                }
            }
            // Only neighbours are compared: most equal flows are neighbours.
            if let Some((transport, source)) = &before {
                if *transport == flow.transport {
                    flow.transport = Arc::clone(transport);
                }
                if *source == flow.source {
                    flow.source = source.clone();
                }
            }
            before = Some((Arc::clone(&flow.transport), flow.source.clone()));
        }
        Ok(())
    }

    /// Replaces the names of files with their contents, so that the scenario is self-contained.
    fn load_files<B: Backend>(
        &mut self,
        registry: &Registry<B>,
        directory: &Path,
    ) -> Result<(), ScenarioError> {
        for (field, selections) in self.selections() {
            let loaded = selections.load_traces(directory);
            loaded.map_err(|error| error.within(&field))?;
        }
        for (index, flow) in self.flows.iter_mut().enumerate() {
            let loaded = flow.source.load(&registry.sources, directory);
            loaded.map_err(|error| error.within(&format!("flows[{index}].source")))?;
        }
        Ok(())
    }

    /// Returns the scenario as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a scenario has only string keys")
    }
}

impl LinkSpec {
    /// Reads and validates a single link in TOML: the fields of a link without `from` and `to`,
    /// which are `ends`. Files that it names are relative to `directory`.
    ///
    /// # Errors
    /// [`ScenarioError`] with the field that is wrong.
    pub fn from_toml_beside<B: Backend>(
        text: &str,
        registry: &Registry<B>,
        directory: &Path,
        ends: [&str; 2],
    ) -> Result<Self, ScenarioError> {
        let mut link = read_link(text, ends)?;
        link.selections().load_traces(directory)?;
        link.selections().complete(registry)?;
        let nodes = ends.map(str::to_owned).into();
        link.validate("", &nodes, registry)
            .map_err(|error| ScenarioError {
                field: error.field.trim_start_matches('.').to_owned(),
                ..error
            })?;
        Ok(link)
    }
}

/// Reads a scenario in TOML. Nothing here depends on a backend, so it is compiled once, in this
/// crate.
fn read_toml(text: &str) -> Result<Scenario, ScenarioError> {
    check_length(text)?;
    let document = toml::de::Deserializer::parse(text).map_err(|error| not_toml(text, &error))?;
    deserialize(document, |error: &toml::de::Error| {
        error.message().to_owned()
    })
}

/// Reads a scenario in JSON, like [`read_toml`].
fn read_json(text: &str) -> Result<Scenario, ScenarioError> {
    // Syntax is checked first. Later errors are then about the content, and their field says where;
    // a position would usually refer to text that a program wrote.
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| {
        let place = Some((error.line(), error.column()));
        malformed("JSON", place, without_position(&error.to_string()))
    })?;
    let mut document = serde_json::Deserializer::from_str(text);
    deserialize(&mut document, |error: &serde_json::Error| {
        without_position(&error.to_string()).to_owned()
    })
}

/// Reads a link in TOML, like [`read_toml`].
fn read_link(text: &str, ends: [&str; 2]) -> Result<LinkSpec, ScenarioError> {
    check_length(text)?;
    let mut document: toml::Table = text.parse().map_err(|error| not_toml(text, &error))?;
    for (field, end) in ["from", "to"].into_iter().zip(ends) {
        if document.insert(field.to_owned(), end.into()).is_some() {
            let message = format!("the ends of this link are {ends:?}: leave it out");
            return Err(ScenarioError::new(field, message));
        }
    }
    deserialize(document, |error: &toml::de::Error| {
        error.message().to_owned()
    })
}

/// Deserializes a document. `message` returns an error's message without its position.
fn deserialize<'de, T, D>(
    document: D,
    message: impl Fn(&D::Error) -> String,
) -> Result<T, ScenarioError>
where
    T: Deserialize<'de>,
    D: serde::Deserializer<'de>,
{
    let mut track = serde_path_to_error::Track::new();
    let tracked = serde_path_to_error::Deserializer::new(document, &mut track);
    T::deserialize(tracked).map_err(|error| {
        let path = track.path().to_string();
        let field = if path == "." { String::new() } else { path };
        let message = message(&error);
        let message = match &*message {
            // What serde_json says about a number in the place of one of several forms.
            "expected value" => "give one of its forms, as { name = { .. } }",
            other => other,
        };
        ScenarioError::new(field, in_plain_words(message))
    })
}

/// Checks that there is enough memory to parse a text in TOML.
fn check_length(text: &str) -> Result<(), ScenarioError> {
    check(text.len() <= MOST_TOML_BYTES, "", || {
        format!(
            "the text has {} bytes, and TOML may have at most {MOST_TOML_BYTES}: use fewer flows, and \
             put long traces into files of their own",
            text.len()
        )
    })
}

/// Creates the error for a text that is not TOML.
fn not_toml(text: &str, error: &toml::de::Error) -> ScenarioError {
    let before = error.span().and_then(|span| text.get(..span.start));
    let place = before.map(|before| {
        let line = before.rsplit('\n').next().unwrap_or_default();
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    });
    malformed("TOML", place, error.message())
}

/// Creates the error for a text that is not in the expected language, with the line and the column,
/// counted from one.
fn malformed(language: &str, place: Option<(usize, usize)>, message: &str) -> ScenarioError {
    let place = place.map_or_else(String::new, |(line, column)| {
        format!("line {line}, column {column}: ")
    });
    let message = in_plain_words(message);
    ScenarioError::new("", format!("not {language}: {place}{message}"))
}

/// Strips the position in the JSON from one of serde's messages: the user may never see that JSON,
/// and the field locates the error.
fn without_position(message: &str) -> &str {
    message
        .rfind(" at line ")
        .map_or(message, |at| &message[..at])
}
