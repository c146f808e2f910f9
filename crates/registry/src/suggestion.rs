//! Suggests a known name for an unknown one.

/// The length of the longest names that are compared.
const MOST_BYTES: usize = 64;

/// Returns what to append to the message that nothing is named `given`: `; did you mean "pairs"?` with
/// the nearest of the known names, or nothing if none is near.
///
/// Near means at most one edit per three characters: one inserted, left out or replaced, or two
/// adjacent ones exchanged. Names that differ only in digits, such as `s1` and `s2`, are numbered, not
/// mistyped.
///
/// ```
/// use skywave_registry::suggestion;
///
/// assert_eq!(suggestion("paris", ["delay", "pairs"]), "; did you mean \"pairs\"?");
/// assert_eq!(suggestion("time", ["delay", "pairs"]), "");
/// ```
pub fn suggestion<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    if given.len() > MOST_BYTES {
        return String::new();
    }
    let lower = given.to_lowercase();
    let most = given.chars().count() / 3;
    let near = known
        .into_iter()
        .filter(|name| name.len() <= MOST_BYTES && !are_numbered(name, given))
        .map(|name| (strsim::osa_distance(&name.to_lowercase(), &lower), name))
        .filter(|&(distance, _)| distance <= most);
    match near.min() {
        Some((_, name)) => format!("; did you mean \"{name}\"?"),
        None => String::new(),
    }
}

fn are_numbered(one: &str, other: &str) -> bool {
    let is_no_digit = |c: &char| !c.is_ascii_digit();
    one.chars()
        .filter(is_no_digit)
        .eq(other.chars().filter(is_no_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 6] = [
        "drop-tail",
        "red",
        "adaptive-red",
        "send_queue",
        "s1",
        "pairs",
    ];

    #[test]
    fn the_nearest_name_is_meant() {
        for (given, meant) in [
            ("drop-tial", "drop-tail"),
            ("droptail", "drop-tail"),
            ("Drop_Tail", "drop-tail"),
            ("sendqueue", "send_queue"),
            ("paris", "pairs"),
            ("rde", "red"),
        ] {
            assert_eq!(
                suggestion(given, KNOWN),
                format!("; did you mean \"{meant}\"?")
            );
        }
    }

    #[test]
    fn nothing_is_suggested_for_what_is_not_near() {
        let long = "drop-tail".repeat(1000);
        for given in ["s2", "s12", "", "codel", "x", &long] {
            assert_eq!(suggestion(given, KNOWN), "");
        }
    }
}
