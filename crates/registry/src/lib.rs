//! Open sets: extensible sets of named members with typed parameters.
//!
//! Congestion controls, queue disciplines and everything else that a scenario or a socket selects
//! by name are [`OpenSet`]s. A member consists of a parameter type (serde and schemars, with
//! defaults) and a function that builds something from it. To add a member, write both in one file
//! and call [`OpenSet::register`] once; built-in members are registered in the same way.
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//! use skywave_registry::{OpenSet, ParameterError};
//!
//! /// What the members of this set make.
//! trait Greeting: Send + Sync {
//!     fn text(&self) -> String;
//! }
//!
//! #[derive(JsonSchema, Serialize, Deserialize)]
//! #[serde(default, deny_unknown_fields)]
//! struct Hello {
//!     /// How often.
//!     times: u32,
//! }
//!
//! impl Default for Hello {
//!     fn default() -> Self {
//!         Self { times: 1 }
//!     }
//! }
//!
//! impl Greeting for Hello {
//!     fn text(&self) -> String {
//!         "hello ".repeat(self.times as usize)
//!     }
//! }
//!
//! let mut greetings: OpenSet<dyn Greeting> = OpenSet::new("greeting");
//! greetings.register("hello", "Says hello.", |hello: Hello| Ok(std::sync::Arc::new(hello)));
//!
//! let found = greetings.read("hello", &serde_json::json!({ "times": 2 }))?;
//! assert_eq!(found.member.text(), "hello hello ");
//! let error = greetings.read("hello", &serde_json::json!({ "times": "two" })).unwrap_err();
//! assert_eq!(error.field, "times");
//! # Ok::<(), ParameterError>(())
//! ```

mod failure;
mod file;
mod selection;
mod suggestion;
mod words;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
// Re-exported because their types occur in bounds, so that users need not match the version.
pub use {schemars, serde};

pub use serde_json::Value;

pub use failure::MemberFailure;
pub use file::{not_read, read_file, read_lines};
pub use selection::{Choice, DefaultChoice, Selection};
pub use suggestion::suggestion;
pub use words::in_plain_words;

/// The reason why a member could not be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", prefix(.field))]
pub struct ParameterError {
    /// The path of the parameter within the member's parameters (`queues[1].weight`); empty if no
    /// parameter is at fault.
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

impl ParameterError {
    /// Creates an error; `message` says what is wrong with `field` and what to do.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            message: message.into(),
        }
    }

    /// Returns an error unless `holds`.
    ///
    /// # Errors
    /// [`ParameterError`] at `field`, with `message`.
    pub fn unless(holds: bool, field: &str, message: impl FnOnce() -> String) -> Result<(), Self> {
        if holds {
            Ok(())
        } else {
            Err(Self::new(field, message()))
        }
    }

    /// Prefixes the field with `outer`, the field that contains it.
    #[must_use]
    pub fn within(mut self, outer: &str) -> Self {
        self.field = match (outer.is_empty(), self.field.is_empty()) {
            (true, _) => self.field,
            (false, true) => outer.to_owned(),
            (false, false) => format!("{outer}.{}", self.field),
        };
        self
    }
}

/// A member with the parameters from which it was built.
pub struct Found<T: ?Sized> {
    /// The member.
    pub member: Arc<T>,
    /// Its parameters, including defaults.
    pub parameters: Value,
}

/// A set of named members. `T` is what they build: a trait object, usually a factory.
pub struct OpenSet<T: ?Sized> {
    kind: &'static str,
    members: BTreeMap<String, Member<T>>,
    elsewhere: Option<Elsewhere<T>>,
}

/// Members that are not in a set, but are found when their name is read.
struct Elsewhere<T: ?Sized> {
    is_name: fn(&str) -> bool,
    read: Arc<Find<T>>,
}

type Find<T> = dyn Fn(&str, &Value) -> Result<Found<T>, ParameterError> + Send + Sync;

type Load = dyn Fn(&Value, &Path) -> Result<Value, ParameterError> + Send + Sync;

type Read<T> = dyn Fn(&Value, &OpenSet<T>) -> Result<Found<T>, ParameterError> + Send + Sync;

struct Member<T: ?Sized> {
    doc: &'static str,
    schema: fn(&mut SchemaGenerator) -> Schema,
    read: Arc<Read<T>>,
    /// Present if its parameters may name files.
    load: Option<Arc<Load>>,
}

impl<T: ?Sized> OpenSet<T> {
    /// Creates an empty set; `kind` is the word for a member in error messages ("queue
    /// discipline").
    pub const fn new(kind: &'static str) -> Self {
        Self {
            kind,
            members: BTreeMap::new(),
            elsewhere: None,
        }
    }

    /// Lets `find` build members whose names satisfy `is_name`, from a name and parameters. The set
    /// contains them, but does not list them.
    pub fn look_elsewhere(
        &mut self,
        is_name: fn(&str) -> bool,
        find: impl Fn(&str, &Value) -> Result<Found<T>, ParameterError> + Send + Sync + 'static,
    ) {
        let read = Arc::new(find);
        self.elsewhere = Some(Elsewhere { is_name, read });
    }

    /// Registers a member, replacing any of the same name. `doc` describes it in one sentence;
    /// `make` checks parameters and builds the member.
    pub fn register<P>(
        &mut self,
        name: &str,
        doc: &'static str,
        make: impl Fn(P) -> Result<Arc<T>, ParameterError> + Send + Sync + 'static,
    ) where
        P: JsonSchema + Serialize + DeserializeOwned,
    {
        self.insert::<P>(name, doc, move |given, _| {
            let parameters: P = typed(given)?;
            let complete = complete(&parameters)?;
            Ok(Found {
                member: make(parameters)?,
                parameters: complete,
            })
        });
    }

    /// Registers a member whose parameters may name files. `load` replaces the names, which are
    /// relative to a directory, with the contents of the files. It is called before `make` when a
    /// scenario is read from a file.
    pub fn register_with_files<P>(
        &mut self,
        name: &str,
        doc: &'static str,
        load: impl Fn(&mut P, &Path) -> Result<(), ParameterError> + Send + Sync + 'static,
        make: impl Fn(P) -> Result<Arc<T>, ParameterError> + Send + Sync + 'static,
    ) where
        P: JsonSchema + Serialize + DeserializeOwned,
    {
        self.register(name, doc, make);
        let member = self.members.get_mut(name).expect("it is registered");
        member.load = Some(Arc::new(move |given, directory| {
            let mut parameters: P = typed(given)?;
            load(&mut parameters, directory)?;
            complete(&parameters)
        }));
    }

    /// Registers a member that contains other members, which `make` reads from the set passed to
    /// it. `make` also fills in defaults within its own parameters.
    pub fn register_composite<P>(
        &mut self,
        name: &str,
        doc: &'static str,
        make: impl Fn(&mut P, &Self) -> Result<Arc<T>, ParameterError> + Send + Sync + 'static,
    ) where
        P: JsonSchema + Serialize + DeserializeOwned,
    {
        self.insert::<P>(name, doc, move |given, members| {
            let mut parameters: P = typed(given)?;
            Ok(Found {
                member: make(&mut parameters, members)?,
                parameters: complete(&parameters)?,
            })
        });
    }

    fn insert<P: JsonSchema>(
        &mut self,
        name: &str,
        doc: &'static str,
        read: impl Fn(&Value, &Self) -> Result<Found<T>, ParameterError> + Send + Sync + 'static,
    ) {
        let member = Member {
            doc,
            schema: SchemaGenerator::subschema_for::<P>,
            read: Arc::new(read),
            load: None,
        };
        self.members.insert(name.to_owned(), member);
    }

    /// Builds the named member with these parameters, which must be an object.
    ///
    /// # Errors
    /// [`ParameterError`] if there is no such member, or if a parameter is wrong.
    pub fn read(&self, name: &str, parameters: &Value) -> Result<Found<T>, ParameterError> {
        if let Some(elsewhere) = self.elsewhere(name) {
            return (elsewhere.read)(name, parameters);
        }
        let member = self.members.get(name).ok_or_else(|| {
            let known: Vec<_> = self.names().collect();
            ParameterError::new("", unknown(self.kind, name, &known))
        })?;
        (member.read)(parameters, self)
    }

    /// Reads the files that the named member's parameters refer to, relative to `directory`.
    /// Returns the parameters with the contents of the files, or `None` if the member has no files.
    ///
    /// # Errors
    /// [`ParameterError`] if a parameter or a file is wrong.
    pub fn load(
        &self,
        name: &str,
        parameters: &Value,
        directory: &Path,
    ) -> Result<Option<Value>, ParameterError> {
        let member = self.members.get(name);
        let load = member.and_then(|member| member.load.as_ref());
        load.map(|load| load(parameters, directory)).transpose()
    }

    /// Returns whether there is a member with this name.
    pub fn contains(&self, name: &str) -> bool {
        self.members.contains_key(name) || self.elsewhere(name).is_some()
    }

    fn elsewhere(&self, name: &str) -> Option<&Elsewhere<T>> {
        let elsewhere = self.elsewhere.as_ref();
        elsewhere.filter(|elsewhere| !self.members.contains_key(name) && (elsewhere.is_name)(name))
    }

    /// Returns the names of all members, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }

    /// Returns the one-sentence description of the named member.
    pub fn doc(&self, name: &str) -> Option<&'static str> {
        self.members.get(name).map(|member| member.doc)
    }

    /// Returns the JSON Schema of the named member's parameters.
    pub fn schema(&self, name: &str, generator: &mut SchemaGenerator) -> Option<Schema> {
        let member = self.members.get(name)?;
        Some((member.schema)(generator))
    }
}

/// Reads parameters of type `P`.
///
/// # Errors
/// [`ParameterError`] at the first parameter that is wrong.
pub fn typed<P: DeserializeOwned>(given: &Value) -> Result<P, ParameterError> {
    serde_path_to_error::deserialize(given).map_err(|error| {
        let path = error.path().to_string();
        let field = if path == "." { String::new() } else { path };
        ParameterError::new(field, in_plain_words(&error.into_inner().to_string()))
    })
}

/// Returns the message that no member of this `kind` has this name, with the known names and a
/// [`suggestion`].
pub fn unknown(kind: &str, name: &str, known: &[&str]) -> String {
    let meant = suggestion(name, known.iter().copied());
    format!(
        "\"{name}\" is not a known {kind}: use {}{meant}",
        known.join(", ")
    )
}

fn complete<P: Serialize>(parameters: &P) -> Result<Value, ParameterError> {
    serde_json::to_value(parameters).map_err(|error| ParameterError::new("", error.to_string()))
}

impl<T: ?Sized> Clone for Member<T> {
    fn clone(&self) -> Self {
        Self {
            doc: self.doc,
            schema: self.schema,
            read: Arc::clone(&self.read),
            load: self.load.clone(),
        }
    }
}

impl<T: ?Sized> Clone for Elsewhere<T> {
    fn clone(&self) -> Self {
        Self {
            is_name: self.is_name,
            read: Arc::clone(&self.read),
        }
    }
}

impl<T: ?Sized> Clone for OpenSet<T> {
    fn clone(&self) -> Self {
        Self {
            kind: self.kind,
            members: self.members.clone(),
            elsewhere: self.elsewhere.clone(),
        }
    }
}

impl<T: ?Sized> fmt::Debug for Found<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Found")
            .field("parameters", &self.parameters)
            .finish_non_exhaustive()
    }
}

impl<T: ?Sized> fmt::Debug for OpenSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(JsonSchema, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Limit {
        packets: u32,
        nested: Nested,
    }

    #[derive(Default, JsonSchema, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Nested {
        weight: f64,
    }

    impl Default for Limit {
        fn default() -> Self {
            Self {
                packets: 7,
                nested: Nested::default(),
            }
        }
    }

    fn set() -> OpenSet<u32> {
        let mut set = OpenSet::new("limit");
        set.register("some", "So many.", |limit: Limit| {
            if limit.packets == 0 {
                return Err(ParameterError::new("packets", "0: use 1 or more"));
            }
            Ok(Arc::new(limit.packets))
        });
        set
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        let found = set().read("some", &json!({})).unwrap();
        assert_eq!(*found.member, 7);
        assert_eq!(
            found.parameters,
            json!({ "packets": 7, "nested": { "weight": 0.0 } })
        );
    }

    #[test]
    fn errors_name_the_parameter() {
        let error = |parameters| {
            let error = set().read("some", &parameters).unwrap_err();
            error.within("queue").to_string()
        };
        assert_eq!(
            error(json!({ "packets": 0 })),
            "queue.packets: 0: use 1 or more"
        );
        let nested = error(json!({ "nested": { "weight": "x" } }));
        assert!(
            nested.starts_with("queue.nested.weight: invalid type"),
            "{nested}"
        );
        let unknown = error(json!({ "packet": 1 }));
        assert!(
            unknown.starts_with("queue.packet: unknown field"),
            "{unknown}"
        );
    }

    /// The sum of two others.
    #[derive(JsonSchema, Serialize, Deserialize)]
    struct Sum {
        of: [(String, Value); 2],
    }

    #[test]
    fn a_composite_reads_and_completes_other_members() {
        let mut set = set();
        set.register_composite("sum", "A sum.", |sum: &mut Sum, members| {
            let mut total = 0;
            for (index, (name, parameters)) in sum.of.iter_mut().enumerate() {
                let found = members.read(name, parameters);
                let found = found.map_err(|error| error.within(&format!("of[{index}]")))?;
                total += *found.member;
                *parameters = found.parameters;
            }
            Ok(Arc::new(total))
        });
        let of = |packets: u32| json!({ "of": [["some", {}], ["some", { "packets": packets }]] });
        let found = set.read("sum", &of(2)).unwrap();
        assert_eq!(*found.member, 9);
        assert_eq!(found.parameters["of"][0][1]["packets"], 7);
        let error = set.read("sum", &of(0)).unwrap_err();
        assert_eq!(error.field, "of[1].packets");
    }

    #[test]
    fn a_member_may_be_found_elsewhere_when_its_name_is_read() {
        let mut set = set();
        set.look_elsewhere(
            |name| name.contains(':'),
            |name, parameters| {
                ParameterError::unless(name != "a:wrong", "b", || "is wrong".to_owned())?;
                Ok(Found {
                    member: Arc::new(name.len() as u32),
                    parameters: parameters.clone(),
                })
            },
        );
        assert!(set.contains("a:b") && !set.contains("ab"));
        assert_eq!(set.names().collect::<Vec<_>>(), ["some"]);
        let found = set.clone().read("a:b", &json!({ "c": 1 })).unwrap();
        assert_eq!((*found.member, found.parameters), (3, json!({ "c": 1 })));
        assert_eq!(set.read("a:wrong", &json!({})).unwrap_err().field, "b");
        assert_eq!(*set.read("some", &json!({})).unwrap().member, 7);
    }

    #[test]
    fn an_unknown_name_is_answered_with_those_that_are_known() {
        let set = set();
        let error = set.read("none", &json!({})).unwrap_err();
        assert_eq!(error.to_string(), "\"none\" is not a known limit: use some");
        assert_eq!(set.doc("some"), Some("So many."));
        assert!(set.contains("some") && !set.contains("none"));
    }
}
