//! Serialisation of quantities as text with a unit, in this crate's syntax.

use core::fmt;
use core::marker::PhantomData;
use core::str::FromStr;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Bytes, Duration, ParseQuantityError, Rate};

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
    ($type:ty, $example:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(QuantityVisitor(PhantomData, $example))
            }
        }
    };
}

quantity!(Duration, "\"300 ms\"");
quantity!(Rate, "\"2 Mbps\"");
quantity!(Bytes, "\"500 B\"");
