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
use skywave_units::{Duration, ParseQuantityError, Rate};

/// The most steps of a trace. With more, a scenario no longer fits a message.
const MOST_STEPS: usize = 1_000_000;

/// How a link's rate and delay change over time.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(rename = "Trace", rename_all = "kebab-case")]
pub enum TraceSpec {
    /// The steps, in order of time. After the last one, its rate and delay hold.
    #[schemars(extend("x-class" = "TraceSteps"))]
    Steps(Vec<TraceStep>),
    /// The steps in a file; its path is relative to the scenario file. Each line has time, rate and
    /// delay separated by commas (`10 s, 500 kbps, 600 ms`), in order of time. An empty rate or
    /// delay stays unchanged. A line of two numbers without units is a time in seconds and the rate
    /// from then on in Mbit/s (`0.5 1.196`), the format of public traces of mobile networks; before
    /// the first time, the link has its `rate`. After the last line, its rate and delay hold. Lines
    /// that start with `#` are comments. When the scenario is read from a file, the steps replace this
    /// field.
    #[schemars(extend("x-class" = "TraceFile"))]
    File(String),
    /// The times, in milliseconds and in order, at which the link can deliver 1500 bytes, as in a
    /// trace of Mahimahi (Netravali et al. 2015). A time may occur several times. A packet uses what
    /// is left of an opportunity, and then part of the next one; an opportunity without packets is
    /// lost. The last time is the length of the trace, after which it starts over. The `rate` of the
    /// link is then only what its queue assumes.
    #[schemars(extend("x-class" = "TraceOpportunities"))]
    Opportunities(Vec<u32>),
    /// A Mahimahi file of such times, one per line; its path is relative to the scenario
    /// file. After the last time, the trace starts over. When the scenario is read from a file, the times
    /// replace this field.
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

    /// Replaces a file name with the contents of the file.
    pub(crate) fn load(&mut self, directory: &Path) -> Result<(), ParameterError> {
        match self {
            Self::File(name) => *self = Self::Steps(steps_of(name, directory)?),
            Self::Mahimahi(name) => *self = Self::Opportunities(times_of(name, directory)?),
            Self::Steps(_) | Self::Opportunities(_) | Self::Generated(_) => {}
        }
        Ok(())
    }
}

/// Reads a file of steps.
fn steps_of(name: &str, directory: &Path) -> Result<Vec<TraceStep>, ParameterError> {
    let mut before = None;
    let steps = read_lines("file", name, directory, |line| {
        let step = step(line)?;
        if let Some(before) = before.replace(step.at) {
            check_step(before, step.at)?;
        }
        Ok(step)
    })?;
    ParameterError::unless(!steps.is_empty(), "file", || {
        format!("{name} has no steps: give at least one")
    })?;
    check_count("file", steps.len(), "steps").map_err(|error| about(name, &error))?;
    Ok(steps)
}

/// Reads a file of Mahimahi.
fn times_of(name: &str, directory: &Path) -> Result<Vec<u32>, ParameterError> {
    let mut before = 0;
    let times = read_lines("mahimahi", name, directory, |line| {
        let time = line.parse();
        let time = time.map_err(|_| format!("\"{line}\" is not a number of milliseconds"))?;
        check_time(before, time)?;
        before = time;
        Ok(time)
    })?;
    check_count("mahimahi", times.len(), "times")
        .and_then(|()| check_length("mahimahi", &times))
        .map_err(|error| about(name, &error))?;
    Ok(times)
}

/// Creates the error for a whole file.
fn about(name: &str, error: &ParameterError) -> ParameterError {
    ParameterError::new(&*error.field, format!("{name}: {}", error.message))
}

fn check_opportunities(times: &[u32]) -> Result<(), ParameterError> {
    let field = "opportunities";
    check_count(field, times.len(), "times")?;
    check_length(field, times)?;
    for (index, pair) in times.windows(2).enumerate() {
        check_time(pair[0], pair[1])
            .map_err(|message| ParameterError::new(format!("{field}[{}]", index + 1), message))?;
    }
    Ok(())
}

fn check_steps(steps: &[TraceStep]) -> Result<(), ParameterError> {
    check_count("steps", steps.len(), "steps")?;
    for (index, pair) in steps.windows(2).enumerate() {
        check_step(pair[0].at, pair[1].at)
            .map_err(|message| ParameterError::new(format!("steps[{}].at", index + 1), message))?;
    }
    Ok(())
}

fn check_count(field: &str, count: usize, what: &str) -> Result<(), ParameterError> {
    ParameterError::unless(count <= MOST_STEPS, field, || {
        format!("{count} {what}: at most {MOST_STEPS}")
    })
}

fn check_length(field: &str, times: &[u32]) -> Result<(), ParameterError> {
    ParameterError::unless(times.last().is_some_and(|&last| last > 0), field, || {
        "the last time is the length of the trace: give one above zero".to_owned()
    })
}

fn check_time(before: u32, time: u32) -> Result<(), String> {
    match before <= time {
        true => Ok(()),
        false => Err(format!(
            "{time} ms is before {before} ms: put the times in order"
        )),
    }
}

fn check_step(before: Duration, at: Duration) -> Result<(), String> {
    match before < at {
        true => Ok(()),
        false => Err(format!("{at} is not after {before}")),
    }
}

fn step(line: &str) -> Result<TraceStep, String> {
    let columns: Vec<&str> = line.split_whitespace().collect();
    if let &[seconds, megabits] = columns.as_slice()
        && !line.contains(',')
    {
        return of_numbers(seconds, megabits);
    }
    let values: Vec<&str> = line.split(',').map(str::trim).collect();
    let [at, rate, delay] = values.as_slice() else {
        let message = "give time, rate and delay, as in 10 s, 500 kbps, 600 ms, or seconds and \
                       Mbit/s without units, as in 0.5 1.196";
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

/// Reads a step as public traces have it: a time in seconds and a rate in Mbit/s.
fn of_numbers(seconds: &str, megabits: &str) -> Result<TraceStep, String> {
    let at = seconds.parse().ok().and_then(Duration::try_from_secs_f64);
    let bits = megabits.parse().map(|megabits: f64| megabits * 1e6).ok();
    let rate = bits.filter(|bits| (0.0..u64::MAX as f64).contains(bits));
    Ok(TraceStep {
        at: at.ok_or_else(|| format!("\"{seconds}\" is not a time in seconds"))?,
        rate: Some(match rate {
            Some(bits) => Rate::from_bps(bits.round() as u64),
            None => return Err(format!("\"{megabits}\" is not a rate in Mbit/s")),
        }),
        delay: None,
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
