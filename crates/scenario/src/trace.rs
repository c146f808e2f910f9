//! Traces: how a link's rate and delay change with time.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_units::{Duration, ParseQuantityError, Rate};

use crate::ScenarioError;
use crate::check::check;

/// Steps of one trace: beyond them a scenario no longer fits a message.
const MOST_STEPS: usize = 1_000_000;

/// A trace file of this many bytes has more steps than that.
const MOST_BYTES: u64 = 100_000_000;

/// How a link's rate and delay change with time.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Course")]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum TraceSpec {
    /// As listed, in order of time.
    #[schemars(extend("x-class" = "Trace"))]
    Steps(Vec<TraceStep>),
    /// As in this file, beside the scenario's: lines of time, rate and delay, separated by commas
    /// (`10 s, 500 kbps, 600 ms`), in order of time. An empty rate or delay is as it was; a line
    /// that begins with `#` is a remark. Whoever reads the scenario from a file puts its steps here.
    #[schemars(extend("x-class" = "TraceFile"))]
    File(String),
}

/// From a time on, a link has this rate and this delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Step")]
#[serde(deny_unknown_fields)]
pub struct TraceStep {
    /// When it begins.
    pub at: Duration,
    /// The rate from then on; as it was where absent. At 0 bps the link is out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// The propagation delay from then on; as it was where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
}

impl TraceSpec {
    /// The steps; none of a file that has not been read.
    pub fn steps(&self) -> &[TraceStep] {
        match self {
            Self::Steps(steps) => steps,
            Self::File(_) => &[],
        }
    }

    /// Puts a file's steps in the place of its name.
    pub(crate) fn load(&mut self, field: &str, directory: &Path) -> Result<(), ScenarioError> {
        let Self::File(name) = self else {
            return Ok(());
        };
        let wrong = |message| ScenarioError::new(format!("{field}.file"), message);
        let unreadable = |error| wrong(format!("{name} cannot be read: {error}"));
        let path = directory.join(&*name);
        // A pipe would block, and a device may have no end.
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
