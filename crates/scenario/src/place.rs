//! Where a field stands in a scenario's text.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::limit::MOST_TOML_BYTES;

/// Where a field stands in a text, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// Its key; the whole value if it is the element of an array.
    pub key: Range<usize>,
    /// Its value. For a table with a header of its own, this is the header.
    pub value: Range<usize>,
    /// Whether the text contains the field itself. Otherwise the place is that of the innermost
    /// table or array around it that the text contains.
    pub is_exact: bool,
}

/// Returns where a field, such as `flows[2].transport.dccp.ccid`, stands in a scenario in TOML.
/// Returns `None` if the text is not TOML, is too long for a scenario, or contains no part of the
/// field.
pub fn place_of(text: &str, field: &str) -> Option<Place> {
    if text.len() > MOST_TOML_BYTES {
        return None;
    }
    let document = DeTable::parse(text).ok()?;
    let mut found: Option<Place> = None;
    let mut table = Some(document.get_ref());
    let mut array: Option<&[Spanned<DeValue<'_>>]> = None;
    for step in steps(field) {
        let next = match step {
            Step::Key(key) => table
                .take()
                .and_then(|table| table.iter().find(|(name, _)| name.get_ref() == key))
                .map(|(name, value)| (name.span(), value)),
            Step::Index(index) => array
                .take()
                .and_then(|array| array.get(index))
                .map(|value| (value.span(), value)),
        };
        let Some((key, value)) = next else {
            return found.map(|place| Place {
                is_exact: false,
                ..place
            });
        };
        found = Some(Place {
            key,
            value: value.span(),
            is_exact: true,
        });
        (table, array) = match value.get_ref() {
            DeValue::Table(inner) => (Some(inner), None),
            DeValue::Array(inner) => (None, Some(&**inner)),
            _ => (None, None),
        };
    }
    found
}

enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// Splits a path into keys and indices.
fn steps(field: &str) -> impl Iterator<Item = Step<'_>> {
    field
        .split(['.', '['])
        .filter(|step| !step.is_empty())
        .map(|step| {
            let index = step.strip_suffix(']').and_then(|index| index.parse().ok());
            index.map_or(Step::Key(step), Step::Index)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
name = "here"

[dumbbell]
rate = "2 Mbps"
queue = { drop-tail = { packets = 20 } }

[[flows]]
name = "one"

[[flows]]
name = "two"
transport = { dccp = { ccid = 9 } }
"#;

    fn value(field: &str) -> Option<&'static str> {
        place_of(TEXT, field)
            .filter(|place| place.is_exact)
            .map(|place| &TEXT[place.value])
    }

    #[test]
    fn a_field_is_found_where_it_stands() {
        assert_eq!(value("name"), Some("\"here\""));
        assert_eq!(value("dumbbell.rate"), Some("\"2 Mbps\""));
        assert_eq!(value("dumbbell.queue.drop-tail.packets"), Some("20"));
        assert_eq!(value("flows[1].transport.dccp.ccid"), Some("9"));
        assert_eq!(value("dumbbell"), Some("[dumbbell]"));
    }

    #[test]
    fn what_is_missing_is_at_the_table_that_lacks_it() {
        let place = place_of(TEXT, "flows[1].transport.dccp.send_queue").unwrap();
        assert!(!place.is_exact);
        assert_eq!(&TEXT[place.value], "{ ccid = 9 }");
        assert_eq!(&TEXT[place.key], "dccp");
        assert_eq!(place_of(TEXT, "duration"), None);
        assert_eq!(place_of("= 3", "name"), None);
    }
}
