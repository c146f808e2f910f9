//! Rewords parsers' error messages for users.

use std::borrow::Cow;

use crate::suggestion;

/// The length of the longest message: it may quote the input.
const MOST_CHARS: usize = 400;

/// Returns a parser's message on one line, without Rust's own terms: "expected a whole number"
/// instead of "expected u32".
pub fn in_plain_words(message: &str) -> String {
    if message.contains("wanted exactly 1 element") {
        return "give one of its forms, not several".to_owned();
    }
    // Where any value is allowed, an integer that none of our types can hold has the wrong type.
    if let Some((integer, _)) = message
        .split_once(" as i128")
        .or_else(|| message.split_once(" as u128"))
    {
        let (_, integer) = integer.rsplit_once(' ').unwrap_or(("", integer));
        return format!("{integer} is too large: no integer may exceed {}", u64::MAX);
    }
    let is_negative = message.contains("integer `-");
    // An integer that an integer type refuses is too small or too large for it.
    let is_integer = message.contains("integer `");
    let words = message.split_whitespace().map(|word| {
        let kind = word.trim_end_matches(|c: char| c.is_ascii_punctuation());
        let plain = match kind {
            "u8" | "u16" | "u32" | "u64" | "usize" if is_negative => "0 or more",
            "u8" if is_integer => "255 or less",
            "u16" if is_integer => "65535 or less",
            "u32" if is_integer => "4294967295 or less",
            "u64" | "usize" if is_integer => "18446744073709551615 or less",
            "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number",
            "f64" => "a number",
            "struct" => "a table",
            "map" => "table",
            "sequence" => "list",
            _ => return Cow::Borrowed(word),
        };
        Cow::Owned(format!("{plain}{}", &word[kind.len()..]))
    });
    let mut text = words.collect::<Vec<_>>().join(" ");
    // "expected a table FlowSpec" names one of our types.
    if let Some(start) = text
        .find("a table ")
        .filter(|_| message.contains("struct "))
    {
        let name = start + "a table ".len();
        let end = text[name..].find(' ').map_or(text.len(), |end| name + end);
        text.replace_range(name - 1..end, "");
    }
    // JSON has no other number for NaN and infinity, and TOML no null.
    if text == "invalid type: null, expected a number" {
        text = "give a finite number".to_owned();
    }
    if let Some((end, _)) = text.char_indices().nth(MOST_CHARS) {
        text.truncate(end);
        text.push_str(" ..");
    }
    text.push_str(&meant(message));
    text
}

/// Returns what serde's message about an unknown name should end with: "unknown field `paris`,
/// expected `pairs` or `rate`".
fn meant(message: &str) -> String {
    let Some(names) = message.strip_prefix("unknown ") else {
        return String::new();
    };
    let mut names = names.split('`').skip(1).step_by(2);
    names
        .next()
        .map_or_else(String::new, |given| suggestion(given, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_plain_names() {
        for (given, expected) in [
            (
                "invalid type: string \"x\", expected u32",
                "invalid type: string \"x\", expected a whole number",
            ),
            (
                "invalid value: integer `-1`, expected u32",
                "invalid value: integer `-1`, expected 0 or more",
            ),
            (
                "invalid value: integer `65536`, expected u16",
                "invalid value: integer `65536`, expected 65535 or less",
            ),
            (
                "invalid type: integer `18446744073709551616` as i128, expected parameters",
                "`18446744073709551616` is too large: no integer may exceed 18446744073709551615",
            ),
            (
                "wanted exactly 1 element, more than 1 element",
                "give one of its forms, not several",
            ),
            (
                "invalid length 0, expected struct Scenario with 9 elements",
                "invalid length 0, expected a table with 9 elements",
            ),
            (
                "invalid type: integer `1`, expected a sequence",
                "invalid type: integer `1`, expected a list",
            ),
            (
                "invalid type: map, expected a map",
                "invalid type: table, expected a table",
            ),
            ("invalid type: null, expected f64", "give a finite number"),
            (
                "unknown field `paris`, expected one of `name`, `pairs`, `rate`",
                "unknown field `paris`, expected one of `name`, `pairs`, `rate`; did you mean \
                 \"pairs\"?",
            ),
            (
                "unknown variant `tpc`, expected `tcp` or `udp`",
                "unknown variant `tpc`, expected `tcp` or `udp`; did you mean \"tcp\"?",
            ),
            (
                "unknown field `x`, there are no fields",
                "unknown field `x`, there are no fields",
            ),
            ("expected f64,\n  not this", "expected a number, not this"),
        ] {
            assert_eq!(in_plain_words(given), expected);
        }
        assert_eq!(in_plain_words(&"[".repeat(100_000)).len(), MOST_CHARS + 3);
    }
}
