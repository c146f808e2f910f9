//! Limits on a scenario's text, enforced before its parts are in memory.

use core::fmt;
use core::marker::PhantomData;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// The longest text in TOML. Parsed, it takes some 70 times its length in memory.
pub(crate) const MOST_TOML_BYTES: usize = 32 << 20;

/// The most flows.
pub(crate) const MOST_FLOWS: usize = 100_000;

/// The most nodes, and the most links, besides those of the dumbbell.
pub(crate) const MOST_NODES: usize = 250_000;

/// Deserializes a list, and stops at the first element beyond the limit.
pub(crate) fn at_most<'de, D, T, const MOST: usize>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_seq(AtMost::<T, MOST>(PhantomData))
}

struct AtMost<T, const MOST: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for AtMost<T, MOST> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<T>, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = seq.next_element()? {
            if elements.len() == MOST {
                return Err(A::Error::custom(format!(
                    "there are more than {MOST}: leave some out"
                )));
            }
            elements.push(element);
        }
        Ok(elements)
    }
}
