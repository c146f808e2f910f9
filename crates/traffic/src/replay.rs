//! Datagrams at the times and with the sizes of a trace.

use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::{ParameterError, not_read, read_file, read_lines};
use skywave_units::{Bytes, Duration, Instant};
use skywave_wire::Payload;

use crate::check::check_datagram;
use crate::{CheckedSource, SendingEnd, Setup, Source, SourceKind};

/// The most datagrams of a trace. With more, a scenario no longer fits a message.
const MOST_DATAGRAMS: usize = 1_000_000;

/// The first line of a file.
const HEADER: &str = "time_s,bytes";

/// The size of a record of ns-2: two integers of 32 bits.
const RECORD: usize = 8;

/// Datagrams at the times and with the sizes of a trace: `times` and `sizes`, or a file with both.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Replay")]
#[serde(deny_unknown_fields, default)]
pub struct ReplaySpec {
    /// When each datagram is sent, since the start of the flow, in order. Several may have the same
    /// time.
    pub times: Vec<Duration>,
    /// The size of each datagram.
    pub sizes: Vec<Bytes>,
    /// A file with the times in seconds and the sizes in bytes; its path is relative to the scenario
    /// file. Its first line is `time_s,bytes`, and each further line is a datagram: `0.02,160`. Lines
    /// that start with `#` are comments. When the scenario is read from a file, `times` and `sizes`
    /// replace this field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// A file in the binary format of ns-2's `Application/Traffic/Trace`; its path is relative to
    /// the scenario file. Each record consists of two big-endian integers of 32 bits: the time since
    /// the datagram before it in microseconds, and the size in bytes. When the scenario is read from
    /// a file, `times` and `sizes` replace this field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ns2: Option<String>,
    /// Whether the trace repeats. Its last time is its length, as in ns-2.
    pub repeat: bool,
}

impl ReplaySpec {
    /// Replaces the name of a file with its contents.
    pub(crate) fn load(&mut self, directory: &Path) -> Result<(), ParameterError> {
        self.check_form()?;
        let (field, name, (times, sizes)) = if let Some(name) = self.file.take() {
            let trace = of_lines(&name, directory)?;
            ("file", name, trace)
        } else if let Some(name) = self.ns2.take() {
            let trace = of_records(&name, directory)?;
            ("ns2", name, trace)
        } else {
            return Ok(());
        };
        ParameterError::unless(!times.is_empty(), field, || {
            format!("{name} has no datagrams: give at least one")
        })?;
        (self.times, self.sizes) = (times, sizes);
        Ok(())
    }

    pub(crate) fn kind(self) -> CheckedSource {
        self.check_form()?;
        for (field, file) in [("file", &self.file), ("ns2", &self.ns2)] {
            if file.is_some() {
                return Err(not_read(field, "list times and sizes"));
            }
        }
        let (times, sizes) = (self.times.len(), self.sizes.len());
        ParameterError::unless(times <= MOST_DATAGRAMS, "times", || {
            format!("{times} datagrams: at most {MOST_DATAGRAMS}")
        })?;
        ParameterError::unless(times == sizes, "sizes", || {
            format!("{sizes} sizes for {times} times: give one for each")
        })?;
        let mut before = Duration::ZERO;
        for (index, &at) in self.times.iter().enumerate() {
            check_order(before, at)
                .map_err(|message| ParameterError::new(format!("times[{index}]"), message))?;
            before = at;
        }
        for (index, size) in self.sizes.iter().enumerate() {
            check_datagram(size.get(), &format!("sizes[{index}]"))?;
        }
        ParameterError::unless(!self.repeat || !before.is_zero(), "repeat", || {
            "the last time is the length of the trace: give one above zero".to_owned()
        })?;
        let sizes = self.sizes.iter().map(|size| size.get() as u32);
        Ok(Arc::new(Replay {
            datagrams: self.times.iter().copied().zip(sizes).collect(),
            repeats: self.repeat,
        }))
    }

    /// Checks that there is one trace, listed or in a file.
    fn check_form(&self) -> Result<(), ParameterError> {
        let is_listed = !self.times.is_empty() || !self.sizes.is_empty();
        let forms = [is_listed, self.file.is_some(), self.ns2.is_some()];
        let given = forms.into_iter().filter(|&is_given| is_given).count();
        ParameterError::unless(given == 1, "", || {
            "give times and sizes, or file, or ns2".to_owned()
        })
    }
}

type Trace = (Vec<Duration>, Vec<Bytes>);

/// Reads a file of lines with the time in seconds and the size in bytes.
fn of_lines(name: &str, directory: &Path) -> Result<Trace, ParameterError> {
    let (mut is_header, mut before) = (true, Duration::ZERO);
    let lines = read_lines("file", name, directory, |line| {
        let values: Vec<&str> = line.split(',').map(str::trim).collect();
        if is_header {
            is_header = false;
            return match values.join(",") == HEADER {
                true => Ok(None),
                false => Err(format!("the first line is {HEADER}")),
            };
        }
        let [time, size] = values.as_slice() else {
            return Err("a time and a size are two values, as in 0.02,160".to_owned());
        };
        let at = seconds(time)?;
        check_order(before, at)?;
        before = at;
        let size = size.parse();
        let size = size.map_err(|_| format!("\"{}\" is not a number of bytes", values[1]))?;
        Ok(Some((at, checked(size)?)))
    })?;
    Ok(lines.into_iter().flatten().unzip())
}

/// Reads a file of ns-2's records.
fn of_records(name: &str, directory: &Path) -> Result<Trace, ParameterError> {
    let wrong = |message: String| ParameterError::new("ns2", format!("{name}{message}"));
    let bytes = read_file("ns2", name, directory)?;
    let (records, rest) = bytes.as_chunks::<RECORD>();
    if !rest.is_empty() {
        let message = format!(" has {} B: a record has {RECORD} B", bytes.len());
        return Err(wrong(message));
    }
    let mut at = Duration::ZERO;
    let records = records.iter().enumerate().map(|(index, record)| {
        let [a, b, c, d, size @ ..] = *record;
        at += Duration::from_micros(u32::from_be_bytes([a, b, c, d]).into());
        let size = checked(u32::from_be_bytes(size).into());
        let size = size.map_err(|message| wrong(format!(", record {}: {message}", index + 1)))?;
        Ok((at, size))
    });
    records.collect()
}

/// Reads a time in seconds, to the nearest nanosecond.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok();
    seconds
        .and_then(Duration::try_from_secs_f64)
        .ok_or_else(|| format!("\"{text}\" is not a time in seconds"))
}

/// Checks the size of a datagram in a file.
fn checked(bytes: u64) -> Result<Bytes, String> {
    check_datagram(bytes, "").map_err(|error| error.message)?;
    Ok(Bytes::new(bytes))
}

fn check_order(before: Duration, at: Duration) -> Result<(), String> {
    match before <= at {
        true => Ok(()),
        false => Err(format!("{at} is before {before}: put the times in order")),
    }
}

/// Checked parameters.
#[derive(Debug)]
struct Replay {
    /// The time and the size of each; there is at least one.
    datagrams: Arc<[(Duration, u32)]>,
    repeats: bool,
}

impl SourceKind for Replay {
    fn datagram(&self) -> u64 {
        let sizes = self.datagrams.iter().map(|&(_, size)| size);
        sizes.max().unwrap_or_default().into()
    }

    fn build(&self, setup: &Setup<'_>) -> Box<dyn Source> {
        Box::new(Replayer {
            datagrams: Arc::clone(&self.datagrams),
            repeats: self.repeats,
            since: setup.start,
            next: 0,
        })
    }
}

#[derive(Debug)]
struct Replayer {
    datagrams: Arc<[(Duration, u32)]>,
    repeats: bool,
    /// When the trace, or its repetition, began.
    since: Instant,
    /// The index of the next datagram.
    next: usize,
}

impl Replayer {
    /// Returns when it sends the next datagram, if there is one.
    fn due(&self) -> Option<Instant> {
        let &(at, _) = self.datagrams.get(self.next)?;
        Some(self.since + at)
    }
}

impl Source for Replayer {
    fn begins(&self) -> Instant {
        self.due().unwrap_or(self.since)
    }

    fn act(&mut self, _now: Instant, transport: &mut dyn SendingEnd) -> Option<Instant> {
        let &(at, size) = self.datagrams.get(self.next)?;
        // An application that does not wait: what the transport refuses is lost.
        let _accepted = transport.send(Payload::Synthetic(size));
        self.next += 1;
        if self.repeats && self.next == self.datagrams.len() {
            self.since += at;
            self.next = 0;
        }
        self.due()
    }

    fn is_done(&self) -> bool {
        self.next == self.datagrams.len()
    }
}
