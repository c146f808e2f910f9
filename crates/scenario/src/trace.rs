//! Traces: how a link's rate and delay change over time.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use skywave_path::{CheckedTrace, ListedSteps, Opportunities, TraceSelection, TraceStep, Traces};
use skywave_registry::{ParameterError, not_read, read_lines};
use skywave_units::ParseQuantityError;

/// The most steps of a trace. With more, a scenario no longer fits a message.
const MOST_STEPS: usize = 1_000_000;

/// How a link's rate and delay change over time.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(rename = "Trace", rename_all = "kebab-case")]
pub enum TraceSpec {
    /// The steps, in order of time.
    #[schemars(extend("x-class" = "TraceSteps"))]
    Steps(Vec<TraceStep>),
    /// The steps in a file; its path is relative to the scenario file. Each line has time, rate and
    /// delay separated by commas (`10 s, 500 kbps, 600 ms`), in order of time. An empty rate or
    /// delay stays unchanged. Lines that start with `#` are comments. When the scenario is read from
    /// a file, the steps replace this field.
    #[schemars(extend("x-class" = "TraceFile"))]
    File(String),
    /// The times, in milliseconds and in order, at which the link can deliver 1500 bytes, as in a
    /// trace of Mahimahi (Netravali et al. 2015). A time may occur several times. A packet takes what
    /// is left of an opportunity, and the rest of the next one; an opportunity without packets is
    /// lost. The last time is the length of the trace, after which it begins anew. The `rate` of the
    /// link is then only what its queue takes for the rate.
    #[schemars(extend("x-class" = "TraceOpportunities"))]
    Opportunities(Vec<u32>),
    /// A file of Mahimahi with such times, one on each line; its path is relative to the scenario
    /// file. When the scenario is read from a file, the times replace this field.
    #[schemars(extend("x-class" = "TraceMahimahi"))]
    Mahimahi(String),
    /// Steps that a registered kind of trace generates.
    #[schemars(skip)]
    Generated(TraceSelection),
}

impl Serialize for TraceSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = match self {
            Self::Generated(selection) => return selection.serialize(serializer),
            Self::Steps(_) | Self::File(_) | Self::Opportunities(_) | Self::Mahimahi(_) => {
                serializer.serialize_map(Some(1))?
            }
        };
        match self {
            Self::Steps(steps) => map.serialize_entry("steps", steps)?,
            Self::File(name) => map.serialize_entry("file", name)?,
            Self::Opportunities(times) => map.serialize_entry("opportunities", times)?,
            Self::Mahimahi(name) => map.serialize_entry("mahimahi", name)?,
            Self::Generated(_) => {}
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for TraceSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TraceVisitor)
    }
}

struct TraceVisitor;

impl<'de> Visitor<'de> for TraceVisitor {
    type Value = TraceSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "steps, opportunities, a file of either, or a kind of trace with its parameters",
        )
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<TraceSpec, E> {
        Ok(TraceSpec::Generated(TraceSelection::named(name)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TraceSpec, A::Error> {
        let wrong = || {
            de::Error::custom(
                "give one of steps, file, opportunities, mahimahi and the kinds of traces",
            )
        };
        let spec = match map.next_key::<String>()?.ok_or_else(wrong)? {
            key if key == "steps" => TraceSpec::Steps(map.next_value()?),
            key if key == "file" => TraceSpec::File(map.next_value()?),
            key if key == "opportunities" => TraceSpec::Opportunities(map.next_value()?),
            key if key == "mahimahi" => TraceSpec::Mahimahi(map.next_value()?),
            name => TraceSpec::Generated(TraceSelection::from_entry(name, &mut map)?),
        };
        match map.next_key::<String>()? {
            None => Ok(spec),
            Some(_) => Err(wrong()),
        }
    }
}

impl TraceSpec {
    /// Fills in the defaults of omitted parameters.
    ///
    /// # Errors
    /// As for [`TraceSpec::read`].
    pub(crate) fn complete(&mut self, traces: &Traces) -> CheckedTrace {
        match self {
            Self::Generated(selection) => selection.complete(traces),
            Self::Steps(_) | Self::File(_) | Self::Opportunities(_) | Self::Mahimahi(_) => {
                self.read(traces)
            }
        }
    }

    /// Returns the kind of trace it selects.
    ///
    /// # Errors
    /// [`ParameterError`] if the kind is unknown, a parameter is wrong, steps are not in order of
    /// time, or a file has not been read.
    pub fn read(&self, traces: &Traces) -> CheckedTrace {
        match self {
            Self::Generated(selection) => selection.read(traces),
            Self::Steps(steps) => {
                check_steps(steps)?;
                Ok(Arc::new(ListedSteps::new(steps)))
            }
            Self::Opportunities(times) => {
                check_opportunities(times)?;
                Ok(Arc::new(Opportunities::new(times)))
            }
            Self::File(_) => Err(not_read("file", "list the steps")),
            Self::Mahimahi(_) => Err(not_read("mahimahi", "list the times as opportunities")),
        }
    }

    /// Replaces a file name by what is in the file.
    pub(crate) fn load(&mut self, directory: &Path) -> Result<(), ParameterError> {
        match self {
            Self::File(name) => *self = Self::Steps(read_lines("file", name, directory, step)?),
            Self::Mahimahi(name) => {
                let time = |line: &str| {
                    let number = line.parse();
                    number.map_err(|_| format!("\"{line}\" is not a number of milliseconds"))
                };
                *self = Self::Opportunities(read_lines("mahimahi", name, directory, time)?);
            }
            Self::Steps(_) | Self::Opportunities(_) | Self::Generated(_) => {}
        }
        Ok(())
    }
}

fn check_opportunities(times: &[u32]) -> Result<(), ParameterError> {
    let field = "opportunities";
    ParameterError::unless(times.len() <= MOST_STEPS, field, || {
        format!("{} times: at most {MOST_STEPS}", times.len())
    })?;
    ParameterError::unless(times.last().is_some_and(|&last| last > 0), field, || {
        "the last time is the length of the trace: give one above zero".to_owned()
    })?;
    for (index, pair) in times.windows(2).enumerate() {
        ParameterError::unless(
            pair[0] <= pair[1],
            &format!("{field}[{}]", index + 1),
            || {
                format!(
                    "{} ms is before {} ms: put the times in order",
                    pair[1], pair[0]
                )
            },
        )?;
    }
    Ok(())
}

fn check_steps(steps: &[TraceStep]) -> Result<(), ParameterError> {
    ParameterError::unless(steps.len() <= MOST_STEPS, "steps", || {
        format!("{} steps: at most {MOST_STEPS}", steps.len())
    })?;
    for (index, pair) in steps.windows(2).enumerate() {
        if pair[1].at <= pair[0].at {
            let field = format!("steps[{}].at", index + 1);
            let message = format!("{} is not after {}", pair[1].at, pair[0].at);
            return Err(ParameterError::new(field, message));
        }
    }
    Ok(())
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
