//! Traces: how a link's rate and delay change over time.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_units::{Duration, ParseQuantityError, Rate};

use crate::ScenarioError;
use crate::check::check;

/// The most steps of a trace. With more, a scenario no longer fits a message.
const MOST_STEPS: usize = 1_000_000;

/// The size limit of trace files. A larger file has more steps than allowed.
const MOST_BYTES: u64 = 100_000_000;

/// How a link's rate and delay change over time.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Course")]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum TraceSpec {
    /// The steps, in order of time.
    #[schemars(extend("x-class" = "Trace"))]
    Steps(Vec<TraceStep>),
    /// The steps in a file; its path is relative to the scenario file. Each line has time, rate and
    /// delay separated by commas (`10 s, 500 kbps, 600 ms`), in order of time. An empty rate or
    /// delay stays unchanged. Lines that start with `#` are comments. Reading the scenario from a
    /// file replaces this by the steps.
    #[schemars(extend("x-class" = "TraceFile"))]
    File(String),
}

/// A change of a link's rate or delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Step")]
#[serde(deny_unknown_fields)]
pub struct TraceStep {
    /// The time of the change.
    pub at: Duration,
    /// The new rate; the link is down at 0 bps. Absent: unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// The new propagation delay. Absent: unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
}

impl TraceSpec {
    /// Returns the steps, or an empty slice for a file that has not been read.
    pub fn steps(&self) -> &[TraceStep] {
        match self {
            Self::Steps(steps) => steps,
            Self::File(_) => &[],
        }
    }

    /// Replaces a file name by the steps in the file.
    pub(crate) fn load(&mut self, field: &str, directory: &Path) -> Result<(), ScenarioError> {
        let Self::File(name) = self else {
            return Ok(());
        };
        let wrong = |message| ScenarioError::new(format!("{field}.file"), message);
        let unreadable = |error| wrong(format!("{name} cannot be read: {error}"));
        let path = directory.join(&*name);
        // A pipe would block, and a device may be endless.
        let about = std::fs::metadata(&path).map_err(unreadable)?;
        if !about.is_file() {
            return Err(wrong(format!("{name} is not a file")));
        }
        if about.len() > MOST_BYTES {
            let message = format!("{name} has {} B: at most {MOST_BYTES} B", about.len());
            return Err(wrong(message));
        }
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        let steps = text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line.trim()))
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
            .map(|(number, line)| {
                step(line).map_err(|message| wrong(format!("{name}, line {number}: {message}")))
            })
            .collect::<Result<_, _>>()?;
        *self = Self::Steps(steps);
        Ok(())
    }

    pub(crate) fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        let Self::Steps(steps) = self else {
            let message = "the file has not been read: read the scenario from a file too, or list \
                           the steps";
            return Err(ScenarioError::new(
                format!("{field}.file"),
                message.to_owned(),
            ));
        };
        check(steps.len() <= MOST_STEPS, &format!("{field}.steps"), || {
            format!("{} steps: at most {MOST_STEPS}", steps.len())
        })?;
        for (index, pair) in steps.windows(2).enumerate() {
            let field = format!("{field}.steps[{}].at", index + 1);
            check(pair[1].at > pair[0].at, &field, || {
                format!("{} is not after {}", pair[1].at, pair[0].at)
            })?;
        }
        Ok(())
    }
}

fn step(line: &str) -> Result<TraceStep, String> {
    let values: Vec<&str> = line.split(',').map(str::trim).collect();
    let [at, rate, delay] = values.as_slice() else {
        let message = "time, rate and delay are three values, as in 10 s, 500 kbps, 600 ms";
        return Err(message.to_owned());
    };
    Ok(TraceStep {
        at: at
            .parse()
            .map_err(|error: ParseQuantityError| error.to_string())?,
        rate: optional(rate)?,
        delay: optional(delay)?,
    })
}

fn optional<T>(value: &str) -> Result<Option<T>, String>
where
    T: std::str::FromStr<Err = ParseQuantityError>,
{
    if value.is_empty() {
        return Ok(None);
    }
    value
        .parse()
        .map(Some)
        .map_err(|error: ParseQuantityError| error.to_string())
}
