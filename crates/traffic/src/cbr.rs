//! A stream of constant rate.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_units::{Bytes, Instant, Rate};
use skywave_wire::Payload;

use crate::interval::{Interval, Intervals};
use crate::{CheckedSource, SendingEnd, Setup, Source, SourceKind};

/// A constant-bit-rate source.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Cbr")]
#[serde(deny_unknown_fields)]
pub struct CbrSpec {
    /// The rate of application data.
    pub rate: Rate,
    /// The size of each datagram.
    pub datagram: Bytes,
}

impl CbrSpec {
    pub(crate) fn kind(self) -> CheckedSource {
        Ok(Arc::new(Cbr {
            interval: Interval::new(self.rate, self.datagram)?,
            datagram: self.datagram.get() as u32,
        }))
    }
}

/// Checked parameters.
#[derive(Debug)]
struct Cbr {
    interval: Interval,
    datagram: u32,
}

impl SourceKind for Cbr {
    fn datagram(&self) -> u64 {
        self.datagram.into()
    }

    fn build(&self, setup: &Setup<'_>) -> Box<dyn Source> {
        Box::new(Stream {
            start: setup.start,
            intervals: Intervals::new(self.interval),
            datagram: self.datagram,
        })
    }
}

#[derive(Debug)]
struct Stream {
    start: Instant,
    intervals: Intervals,
    datagram: u32,
}

impl Source for Stream {
    fn begins(&self) -> Instant {
        self.start
    }

    fn act(&mut self, now: Instant, transport: &mut dyn SendingEnd) -> Option<Instant> {
        // An application that does not wait: what the transport refuses is lost.
        let _accepted = transport.send(Payload::Synthetic(self.datagram));
        Some(now + self.intervals.advance())
    }
}
