//! Sources read from a scenario's form, and what they send.

pub(crate) mod random;

use std::path::Path;

use rand::SeedableRng;
use serde_json::Value;
use skywave_registry::ParameterError;
use skywave_traffic::{SendingEnd, Setup, Source, SourceSpec, Sources, register_built_in_sources};
use skywave_units::{Duration, Instant, Random};
use skywave_wire::Payload;

/// A datagram: when it was sent, in seconds since the start, and its size.
pub(crate) type Sent = (f64, usize);

/// A transport that accepts everything, and notes its size.
#[derive(Default)]
struct Sizes(Vec<usize>);

impl SendingEnd for Sizes {
    fn send(&mut self, datagram: Payload) -> bool {
        self.0.push(datagram.len());
        true
    }

    fn write(&mut self, _bytes: Option<u64>) -> bool {
        false
    }

    fn waiting(&self) -> usize {
        0
    }

    fn close(&mut self, _now: Instant) {}
}

pub(crate) fn sources() -> Sources {
    let mut sources = Sources::new("source");
    register_built_in_sources(&mut sources);
    sources
}

/// Reads a source, with the files that it names in `directory`.
pub(crate) fn read(document: Value, directory: &Path) -> Result<SourceSpec, ParameterError> {
    let mut spec: SourceSpec = serde_json::from_value(document).unwrap();
    spec.load(&sources(), directory)?;
    spec.complete(&sources())?;
    Ok(spec)
}

/// What is wrong with a source that names no files.
pub(crate) fn error(document: Value) -> String {
    let spec: SourceSpec = serde_json::from_value(document).unwrap();
    spec.read(&sources()).err().unwrap().to_string()
}

/// The flow of these tests starts late, so that a source that ignores the start is noticed.
const START: Instant = Instant::from_nanos(3_000_000_000);

/// Builds a source that draws from `seed`.
pub(crate) fn build(document: Value, seed: u64) -> Box<dyn Source> {
    let spec = read(document, Path::new(".")).unwrap();
    let random = |_: &str| Random::seed_from_u64(seed);
    let setup = Setup::new(START, Duration::from_secs(1), &random);
    spec.read(&sources()).unwrap().build(&setup)
}

/// Runs a source for a time, or to its end, and returns when it sent how many bytes.
pub(crate) fn run(source: &mut dyn Source, seconds: f64) -> Vec<Sent> {
    let end = START + Duration::from_secs_f64(seconds);
    let mut sent = Vec::new();
    let mut next = Some(source.begins());
    while let Some(now) = next.filter(|&now| now <= end) {
        let mut transport = Sizes::default();
        next = source.act(now, &mut transport);
        assert!(next.is_none_or(|next| next >= now), "time does not go back");
        let at = (now - START).as_secs_f64();
        sent.extend(transport.0.into_iter().map(|size| (at, size)));
    }
    sent
}
