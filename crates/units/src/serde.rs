//! Serialisation of quantities as text with a unit, in this crate's syntax.

use core::fmt;
use core::marker::PhantomData;
use core::str::FromStr;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::parse::pattern;
use crate::{Bytes, Duration, ParseQuantityError, Rate, rate, size, time};

struct QuantityVisitor<T>(PhantomData<T>, &'static str);

impl<T: FromStr<Err = ParseQuantityError>> Visitor<'_> for QuantityVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a text with a unit, as in {}", self.1)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

macro_rules! quantity {
    ($type:ident, $units:expr, $doc:literal, $example:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(QuantityVisitor(PhantomData, concat!("\"", $example, "\"")))
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "description": $doc,
                    "pattern": pattern($units),
                    "examples": [$example],
                })
            }
        }
    };
}

quantity!(Duration, time::UNITS, "A time with its unit.", "300 ms");
quantity!(Rate, rate::UNITS, "A rate with its unit.", "2 Mbps");
quantity!(Bytes, size::UNITS, "A size with its unit.", "500 B");
