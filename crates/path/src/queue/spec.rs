//! A discipline as written in a file.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use skywave_registry::{ParameterError, Value};

use super::{QueueKind, Queues};

/// The name of the unlimited queue, which is a link's default.
pub(super) const UNLIMITED: &str = "unlimited";

/// The name of a discipline and its parameters: `"unlimited"` or `{ red = { packets = 50 } }` in a
/// file.
///
/// The name and the parameters are only checked when the specification is [read](QueueSpec::read).
#[derive(Clone, Debug, PartialEq)]
pub struct QueueSpec {
    name: String,
    /// Normally an object; not checked before it is read.
    parameters: Value,
}

impl Default for QueueSpec {
    /// The unlimited queue.
    fn default() -> Self {
        Self::named(UNLIMITED)
    }
}

impl QueueSpec {
    /// The discipline with this name and these parameters, which must be of the type that it was
    /// registered with.
    ///
    /// # Panics
    /// If the parameters cannot be written as JSON.
    pub fn new(name: impl Into<String>, parameters: &impl Serialize) -> Self {
        Self {
            name: name.into(),
            parameters: serde_json::to_value(parameters).expect("parameters can be written"),
        }
    }

    /// The discipline with this name and default parameters.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            parameters: Value::Object(serde_json::Map::new()),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its parameters. Omitted ones are missing unless the specification was
    /// [completed](QueueSpec::complete).
    pub const fn parameters(&self) -> &Value {
        &self.parameters
    }

    /// Looks up and checks the discipline.
    ///
    /// # Errors
    /// [`ParameterError`] if it is unknown or a parameter is wrong. The field is relative to an
    /// object whose only key is the name.
    pub fn read<P>(&self, queues: &Queues<P>) -> Result<Arc<dyn QueueKind<P>>, ParameterError> {
        self.clone().complete(queues)
    }

    /// Like [`QueueSpec::read`], and fills in the defaults of omitted parameters.
    ///
    /// # Errors
    /// As for [`QueueSpec::read`].
    pub fn complete<P>(
        &mut self,
        queues: &Queues<P>,
    ) -> Result<Arc<dyn QueueKind<P>>, ParameterError> {
        let name = &self.name;
        if !queues.contains(name) {
            let known: Vec<_> = queues.names().map(|known| format!("`{known}`")).collect();
            let known = known.join(", ");
            let message = format!("unknown variant `{name}`, expected one of {known}");
            return Err(ParameterError::new("", message));
        }
        let found = queues.read(name, &self.parameters);
        let found = found.map_err(|error| error.within(name))?;
        self.parameters = found.parameters;
        Ok(found.member)
    }
}

/// The name of the definition in a JSON Schema that stands for all disciplines of a set. It is
/// empty until whoever knows the set fills it in.
pub const QUEUE_DEFINITION: &str = "Queue";

impl JsonSchema for QueueSpec {
    fn schema_name() -> Cow<'static, str> {
        QUEUE_DEFINITION.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::default()
    }
}

impl Serialize for QueueSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self
            .parameters
            .as_object()
            .is_some_and(|all| all.is_empty())
        {
            return serializer.serialize_str(&self.name);
        }
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(&self.name, &self.parameters)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for QueueSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SpecVisitor)
    }
}

struct SpecVisitor;

impl<'de> Visitor<'de> for SpecVisitor {
    type Value = QueueSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a queue discipline, or one with its parameters")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<QueueSpec, E> {
        Ok(QueueSpec::named(name))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<QueueSpec, A::Error> {
        let wrong = || de::Error::custom("give one queue discipline: { name = { .. } }");
        let Some((name, Parameters(parameters))) = map.next_entry()? else {
            return Err(wrong());
        };
        if map.next_key::<String>()?.is_some() {
            return Err(wrong());
        }
        Ok(QueueSpec { name, parameters })
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
    use crate::DropTailSpec;
    use crate::contract::Parcel;

    fn queues() -> Queues<Parcel> {
        let mut queues = Queues::new("queue discipline");
        crate::register_built_in(&mut queues);
        queues
    }

    fn spec(document: Value) -> QueueSpec {
        serde_json::from_value(document).unwrap()
    }

    #[test]
    fn is_a_name_or_a_name_with_parameters() {
        for document in [json!("unlimited"), json!({ "drop-tail": { "packets": 5 } })] {
            let mut spec = spec(document.clone());
            spec.complete(&queues()).unwrap();
            assert_eq!(serde_json::to_value(&spec).unwrap(), document);
        }
        let packets = DropTailSpec {
            packets: Some(5),
            bytes: None,
        };
        assert_eq!(
            spec(json!({ "drop-tail": { "packets": 5 } })),
            QueueSpec::new("drop-tail", &packets)
        );
        assert_eq!(spec(json!({ "unlimited": {} })), QueueSpec::default());
    }

    #[test]
    fn is_completed_in_the_order_in_which_parameters_are_declared() {
        let mut spec = spec(json!({ "codel": { "ecn": true, "packets": 5 } }));
        spec.complete(&queues()).unwrap();
        assert_eq!(
            serde_json::to_string(&spec).unwrap(),
            r#"{"codel":{"packets":5,"target":"5 ms","interval":"100 ms","ecn":true}}"#
        );
    }

    #[test]
    fn errors_name_the_field() {
        for (document, error) in [
            (
                json!({ "red": { "packets": 0 } }),
                "red.packets: a queue of 0 packets",
            ),
            (json!("red"), "red: give either"),
            (
                json!({ "red": { "gentel": true } }),
                "red.gentel: unknown field",
            ),
            (json!({ "red": 5 }), "red: invalid type: integer `5`"),
            (
                json!("blue"),
                "unknown variant `blue`, expected one of `adaptive-red`",
            ),
        ] {
            let found = spec(document).read(&queues()).err().unwrap().to_string();
            assert!(found.starts_with(error), "{found}");
        }
    }

    #[test]
    fn a_text_that_says_something_else_is_no_spec() {
        for (text, error) in [
            ("5", "invalid type"),
            ("{}", "give one queue discipline"),
            (r#"{"red":{},"pie":{}}"#, "give one queue discipline"),
            (
                r#"{"red":{"packets":1,"packets":2}}"#,
                "duplicate field `packets`",
            ),
        ] {
            let found = serde_json::from_str::<QueueSpec>(text)
                .unwrap_err()
                .to_string();
            assert!(found.starts_with(error), "{found}");
        }
    }
}
