//! A stream of constant rate.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::{Bytes, Duration, Instant, Rate};
use skywave_wire::Payload;

use crate::check::check_datagram;
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
        ParameterError::unless(self.rate > Rate::default(), "rate", || {
            "0 bps: give a rate above zero".to_owned()
        })?;
        check_datagram(self.datagram.get(), "datagram")?;
        ParameterError::unless(!self.interval().is_zero(), "rate", || {
            let Self { rate, datagram } = self;
            format!("{rate} is more than one datagram of {datagram} a nanosecond")
        })?;
        Ok(Arc::new(self))
    }

    fn interval(&self) -> Duration {
        self.rate.transmission_time(self.datagram.get())
    }
}

impl SourceKind for CbrSpec {
    fn datagram(&self) -> u64 {
        self.datagram.get()
    }

    fn build(&self, setup: &Setup<'_>) -> Box<dyn Source> {
        Box::new(Stream {
            start: setup.start,
            interval: self.interval(),
            datagram: self.datagram.get() as u32,
        })
    }
}

#[derive(Debug)]
struct Stream {
    start: Instant,
    interval: Duration,
    datagram: u32,
}

impl Source for Stream {
    fn begins(&self) -> Instant {
        self.start
    }

    fn act(&mut self, now: Instant, transport: &mut dyn SendingEnd) -> Option<Instant> {
        // An application that does not wait: what the transport refuses is lost.
        let _accepted = transport.send(Payload::Synthetic(self.datagram));
        Some(now + self.interval)
    }
}
