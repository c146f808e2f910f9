//! A member of an open set as written in a file.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{OpenSet, ParameterError, Value};

/// What a [`Selection`] selects, such as a queue discipline. Marker types implement it.
pub trait Choice: 'static {
    /// The word for a member in error messages.
    const KIND: &'static str;

    /// The name of the definition in a JSON Schema that stands for all members. It is empty until
    /// whoever knows the set fills it in.
    const DEFINITION: &'static str;
}

/// A [`Choice`] with a member that is selected by default.
pub trait DefaultChoice: Choice {
    /// The name of that member.
    const DEFAULT: &'static str;
}

/// The name of a member and its parameters: `"unlimited"` or `{ red = { packets = 50 } }` in a
/// file.
///
/// The name and the parameters are checked only when the selection is [read](Selection::read).
pub struct Selection<C> {
    /// Clones share it: thousands of flows may have the same parameters.
    selected: Arc<Selected>,
    choice: PhantomData<fn() -> C>,
}

#[derive(PartialEq)]
struct Selected {
    name: String,
    /// Normally an object; not checked until it is read.
    parameters: Value,
}

impl<C: DefaultChoice> Default for Selection<C> {
    fn default() -> Self {
        Self::named(C::DEFAULT)
    }
}

impl<C> Selection<C> {
    /// Creates the selection of the member with this name and these parameters, which must be of
    /// the type that it was registered with.
    ///
    /// # Panics
    /// If the parameters cannot be written as JSON.
    pub fn new(name: impl Into<String>, parameters: &impl Serialize) -> Self {
        let parameters = serde_json::to_value(parameters).expect("parameters can be written");
        Self::with_value(name.into(), parameters)
    }

    /// Creates the selection of the member with this name and default parameters.
    pub fn named(name: impl Into<String>) -> Self {
        Self::with_value(name.into(), Value::Object(serde_json::Map::new()))
    }

    fn with_value(name: String, parameters: Value) -> Self {
        Self {
            selected: Arc::new(Selected { name, parameters }),
            choice: PhantomData,
        }
    }

    /// Reads the parameters of the member `name`, whose key has been read from `map`.
    ///
    /// # Errors
    /// The map's error if its value cannot be read.
    pub fn from_entry<'de, A>(name: String, map: &mut A) -> Result<Self, A::Error>
    where
        A: MapAccess<'de>,
    {
        let Parameters(parameters) = map.next_value()?;
        Ok(Self::with_value(name, parameters))
    }

    /// Returns the member's name.
    pub fn name(&self) -> &str {
        &self.selected.name
    }

    /// Returns the member's parameters. Omitted ones are missing unless the selection was
    /// [completed](Selection::complete).
    pub fn parameters(&self) -> &Value {
        &self.selected.parameters
    }

    /// Looks up and checks the member.
    ///
    /// # Errors
    /// [`ParameterError`] if it is unknown or a parameter is wrong. The field is relative to an
    /// object whose only key is the name.
    pub fn read<T: ?Sized>(&self, set: &OpenSet<T>) -> Result<Arc<T>, ParameterError> {
        self.clone().complete(set)
    }

    /// Looks up and checks the member like [`Selection::read`], and fills in the defaults of
    /// omitted parameters.
    ///
    /// # Errors
    /// As for [`Selection::read`].
    pub fn complete<T: ?Sized>(&mut self, set: &OpenSet<T>) -> Result<Arc<T>, ParameterError> {
        let Selected { name, parameters } = &*self.selected;
        let found = set.read(name, parameters).map_err(|error| {
            if set.contains(name) {
                error.within(name)
            } else {
                error
            }
        })?;
        if *parameters != found.parameters {
            *self = Self::with_value(name.clone(), found.parameters);
        }
        Ok(found.member)
    }

    /// Replaces the names of files among the parameters with the contents of the files. The names
    /// are relative to `directory`.
    ///
    /// # Errors
    /// As for [`OpenSet::load`].
    pub fn load<T: ?Sized>(
        &mut self,
        set: &OpenSet<T>,
        directory: &Path,
    ) -> Result<(), ParameterError> {
        let Selected { name, parameters } = &*self.selected;
        let loaded = set.load(name, parameters, directory);
        if let Some(loaded) = loaded.map_err(|error| error.within(name))? {
            *self = Self::with_value(name.clone(), loaded);
        }
        Ok(())
    }
}

impl<C> Clone for Selection<C> {
    fn clone(&self) -> Self {
        Self {
            selected: Arc::clone(&self.selected),
            choice: PhantomData,
        }
    }
}

impl<C> PartialEq for Selection<C> {
    fn eq(&self, other: &Self) -> bool {
        self.selected == other.selected
    }
}

impl<C> fmt::Debug for Selection<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Selection")
            .field("name", &self.name())
            .field("parameters", self.parameters())
            .finish()
    }
}

impl<C: Choice> JsonSchema for Selection<C> {
    fn schema_name() -> Cow<'static, str> {
        C::DEFINITION.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::default()
    }
}

impl<C> Serialize for Selection<C> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Selected { name, parameters } = &*self.selected;
        if parameters.as_object().is_some_and(|all| all.is_empty()) {
            return serializer.serialize_str(name);
        }
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(name, parameters)?;
        map.end()
    }
}

impl<'de, C: Choice> Deserialize<'de> for Selection<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SelectionVisitor(PhantomData))
    }
}

struct SelectionVisitor<C>(PhantomData<fn() -> C>);

impl<'de, C: Choice> Visitor<'de> for SelectionVisitor<C> {
    type Value = Selection<C>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the name of a {}, or one with its parameters", C::KIND)
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Selection<C>, E> {
        Ok(Selection::named(name))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Selection<C>, A::Error> {
        let wrong = || de::Error::custom(format!("give one {}: {{ name = {{ .. }} }}", C::KIND));
        let name = map.next_key()?.ok_or_else(wrong)?;
        let selection = Selection::from_entry(name, &mut map)?;
        if map.next_key::<String>()?.is_some() {
            return Err(wrong());
        }
        Ok(selection)
    }
}

/// A [`Value`] that represents a file exactly: non-finite numbers and duplicate keys, which a
/// `Value` would lose, are errors.
struct Parameters(Value);

impl<'de> Deserialize<'de> for Parameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ParametersVisitor).map(Self)
    }
}

struct ParametersVisitor;

impl<'de> Visitor<'de> for ParametersVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("parameters")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        match serde_json::Number::from_f64(value) {
            Some(number) => Ok(Value::Number(number)),
            None => Err(E::custom(format!("{value}: give a finite number"))),
        }
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Parameters(value)) = seq.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = serde_json::Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let Parameters(value) = map.next_value()?;
            if entries.contains_key(&key) {
                return Err(de::Error::custom(format!("duplicate field `{key}`")));
            }
            entries.insert(key, value);
        }
        Ok(Value::Object(entries))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug)]
    enum LimitChoice {}

    impl Choice for LimitChoice {
        const KIND: &'static str = "limit";
        const DEFINITION: &'static str = "Limit";
    }

    impl DefaultChoice for LimitChoice {
        const DEFAULT: &'static str = "endless";
    }

    #[derive(JsonSchema, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Limit {
        #[serde(default)]
        packets: u32,
        #[serde(default)]
        bytes: u32,
    }

    fn limits() -> OpenSet<u32> {
        let mut limits = OpenSet::new(LimitChoice::KIND);
        for name in ["some", "endless"] {
            limits.register(name, "A limit.", |limit: Limit| {
                ParameterError::unless(limit.packets < 10, "packets", || "too many".to_owned())?;
                Ok(Arc::new(limit.packets + limit.bytes))
            });
        }
        limits
    }

    fn selection(document: Value) -> Selection<LimitChoice> {
        serde_json::from_value(document).unwrap()
    }

    #[test]
    fn is_a_name_or_a_name_with_parameters() {
        for document in [json!("endless"), json!({ "some": { "packets": 5 } })] {
            let selection = selection(document.clone());
            assert_eq!(serde_json::to_value(&selection).unwrap(), document);
        }
        assert_eq!(selection(json!({ "endless": {} })), Selection::default());
        let five = selection(json!({ "some": { "packets": 5 } }));
        assert_eq!(five, Selection::new("some", &json!({ "packets": 5 })));
        assert_eq!(*five.read(&limits()).unwrap(), 5);
    }

    #[test]
    fn is_completed_in_the_order_in_which_parameters_are_declared() {
        let mut selection = selection(json!({ "some": { "bytes": 5 } }));
        selection.complete(&limits()).unwrap();
        let completed = serde_json::to_string(&selection).unwrap();
        assert_eq!(completed, r#"{"some":{"packets":0,"bytes":5}}"#);
    }

    #[test]
    fn what_a_file_holds_replaces_its_name() {
        let mut limits = limits();
        let load = |limit: &mut Limit, directory: &Path| {
            let is_there = directory == Path::new("there");
            ParameterError::unless(is_there, "bytes", || "cannot be read".to_owned())?;
            limit.bytes = 7;
            Ok(())
        };
        limits.register_with_files("stored", "A limit.", load, |limit: Limit| {
            Ok(Arc::new(limit.bytes))
        });
        let mut stored = selection(json!("stored"));
        let error = stored.load(&limits, Path::new("here")).unwrap_err();
        assert_eq!(error.to_string(), "stored.bytes: cannot be read");
        stored.load(&limits, Path::new("there")).unwrap();
        assert_eq!(*stored.read(&limits).unwrap(), 7);
        // A member without files, or one that does not exist, is left as it is.
        for name in ["some", "none"] {
            let mut other = selection(json!(name));
            other.load(&limits, Path::new("here")).unwrap();
            assert_eq!(other, selection(json!(name)));
        }
    }

    #[test]
    fn errors_name_the_field() {
        for (document, error) in [
            (
                json!({ "some": { "packets": 10 } }),
                "some.packets: too many",
            ),
            (
                json!({ "some": { "pakets": 1 } }),
                "some.pakets: unknown field",
            ),
            (json!({ "some": 5 }), "some: invalid type: integer `5`"),
            (
                json!("none"),
                "\"none\" is not a known limit: use endless, some",
            ),
        ] {
            let found = selection(document).read(&limits()).unwrap_err().to_string();
            assert!(found.starts_with(error), "{found}");
        }
    }

    #[test]
    fn a_text_that_says_something_else_is_no_selection() {
        for (text, error) in [
            ("5", "invalid type"),
            ("{}", "give one limit"),
            (r#"{"some":{},"endless":{}}"#, "give one limit"),
            (
                r#"{"some":{"packets":1,"packets":2}}"#,
                "duplicate field `packets`",
            ),
        ] {
            let found = serde_json::from_str::<Selection<LimitChoice>>(text)
                .unwrap_err()
                .to_string();
            assert!(found.starts_with(error), "{found}");
        }
    }
}
