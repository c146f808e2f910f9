//! The common syntax of all quantities: a decimal number, optional spaces, and a unit.

use core::fmt;

/// A unit, as a number of base units.
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    pub(crate) factor: u64,
}

/// The reason why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseQuantityError {
    /// The number is negative.
    #[error("\"{text}\" is negative: {what} is 0 or more")]
    Negative {
        /// The input.
        text: String,
        /// The expected quantity.
        what: &'static str,
    },
    /// There is no number, or it is malformed.
    #[error("\"{text}\" is not {what}: write a number and a unit, as in \"{example}\"")]
    Number {
        /// The input.
        text: String,
        /// The expected quantity.
        what: &'static str,
        /// An example of valid input.
        example: &'static str,
    },
    /// The unit is missing, or is not a unit of this quantity.
    #[error("\"{text}\" is not {what}: {}; known units are {known}", unit_fault(.unit))]
    Unit {
        /// The input.
        text: String,
        /// The expected quantity.
        what: &'static str,
        /// The given unit; empty if missing.
        unit: String,
        /// The valid units.
        known: String,
    },
    /// The value is too large, or too precise, to be represented.
    #[error("\"{text}\" cannot be represented exactly: {reason}")]
    Range {
        /// The input.
        text: String,
        /// The reason.
        reason: String,
    },
}

fn unit_fault(unit: &str) -> String {
    if unit.is_empty() {
        "the unit is missing".to_owned()
    } else if unit.starts_with([',', '\'']) {
        "decimals follow a point, and thousands have nothing between them".to_owned()
    } else if unit.starts_with(['e', 'E'])
        && unit[1..].starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'))
    {
        "write the number without an exponent".to_owned()
    } else {
        format!("\"{unit}\" is not one of its units")
    }
}

/// Parses `text` as a multiple of the base unit. The result must be a whole number.
pub(crate) fn parse(
    text: &str,
    what: &'static str,
    example: &'static str,
    units: &[Unit],
) -> Result<u64, ParseQuantityError> {
    let trimmed = text.trim();
    let magnitude = trimmed.strip_prefix('-').map(str::trim_start);
    if magnitude.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        return Err(ParseQuantityError::Negative {
            text: text.to_owned(),
            what,
        });
    }
    let split = trimmed
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
        .unwrap_or(trimmed.len());
    let (number, unit) = (trimmed[..split].replace('_', ""), trimmed[split..].trim());
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    let malformed = whole.is_empty() || fraction.contains('.');
    if malformed {
        return Err(ParseQuantityError::Number {
            text: text.to_owned(),
            what,
            example,
        });
    }
    let Some(unit) = units.iter().find(|known| known.name == unit) else {
        let known = units
            .iter()
            .map(|unit| unit.name)
            .collect::<Vec<_>>()
            .join(", ");
        return Err(ParseQuantityError::Unit {
            text: text.to_owned(),
            what,
            unit: unit.to_owned(),
            known,
        });
    };
    let range = |reason: &str| ParseQuantityError::Range {
        text: text.to_owned(),
        reason: reason.to_owned(),
    };
    let too_large = || {
        let most = u64::MAX / unit.factor;
        range(&format!("it is above {most} {}", unit.name))
    };
    let whole: u128 = whole.parse().map_err(|_| too_large())?;
    // With more than eighteen decimals, no unit gives a whole number of base units.
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 18 {
        return Err(range("it has too many decimals"));
    }
    let scale = 10u128.pow(fraction.len() as u32);
    let digits: u128 = if fraction.is_empty() {
        0
    } else {
        fraction.parse().unwrap_or(0)
    };
    let scaled = whole
        .checked_mul(scale)
        .and_then(|whole| whole.checked_add(digits))
        .and_then(|value| value.checked_mul(unit.factor.into()))
        .ok_or_else(too_large)?;
    if !scaled.is_multiple_of(scale) {
        return Err(range("it is not a whole number of the smallest unit"));
    }
    u64::try_from(scaled / scale).map_err(|_| too_large())
}

/// Returns a regular expression of JSON Schema (ECMA 262) that matches a number with one of these
/// units.
#[cfg(feature = "serde")]
pub(crate) fn pattern(units: &[Unit]) -> String {
    let names: Vec<_> = units.iter().map(|unit| unit.name).collect();
    format!(r"^\s*[0-9][0-9_]*(\.[0-9_]*)?\s*({})\s*$", names.join("|"))
}

/// Prints `value` in the largest unit that leaves at most three exact decimals.
pub(crate) fn print(f: &mut fmt::Formatter<'_>, value: u64, units: &[Unit]) -> fmt::Result {
    let fits = |unit: &&Unit| {
        value >= unit.factor && ((value % unit.factor) * 1000).is_multiple_of(unit.factor)
    };
    let unit = units.iter().rev().find(fits).unwrap_or(&units[0]);
    let (whole, thousandths) = (
        value / unit.factor,
        (value % unit.factor) as u128 * 1000 / unit.factor as u128,
    );
    if thousandths == 0 {
        write!(f, "{whole} {}", unit.name)
    } else {
        let decimals = format!("{thousandths:03}");
        write!(
            f,
            "{whole}.{} {}",
            decimals.trim_end_matches('0'),
            unit.name
        )
    }
}
