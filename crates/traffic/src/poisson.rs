//! Datagrams at the times of a Poisson process.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_units::{Bytes, Instant, Random, Rate};
use skywave_wire::Payload;

use crate::draw::exponential;
use crate::interval::Interval;
use crate::{CheckedSource, SendingEnd, Setup, Source, SourceKind};

/// Datagrams of one size at the times of a Poisson process: the intervals between them are
/// independent and exponentially distributed.
///
/// In ns-2, this is `Application/Traffic/Exponential` with a `burst_time_` of 0.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Poisson")]
#[serde(deny_unknown_fields)]
pub struct PoissonSpec {
    /// The mean rate of application data. The mean interval is the time that one datagram takes at
    /// this rate.
    pub rate: Rate,
    /// The size of each datagram.
    pub datagram: Bytes,
}

impl PoissonSpec {
    pub(crate) fn kind(self) -> CheckedSource {
        Ok(Arc::new(Poisson {
            mean_s: Interval::new(self.rate, self.datagram)?.as_secs_f64(),
            datagram: self.datagram.get() as u32,
        }))
    }
}

/// Checked parameters.
#[derive(Debug)]
struct Poisson {
    /// The mean interval in seconds.
    mean_s: f64,
    datagram: u32,
}

impl SourceKind for Poisson {
    fn datagram(&self) -> u64 {
        self.datagram.into()
    }

    fn build(&self, setup: &Setup<'_>) -> Box<dyn Source> {
        let mut random = setup.random("poisson");
        Box::new(Arrivals {
            begins: setup.start + exponential(self.mean_s, &mut random),
            mean_s: self.mean_s,
            datagram: self.datagram,
            random,
        })
    }
}

#[derive(Debug)]
struct Arrivals {
    begins: Instant,
    mean_s: f64,
    datagram: u32,
    random: Random,
}

impl Source for Arrivals {
    fn begins(&self) -> Instant {
        self.begins
    }

    fn act(&mut self, now: Instant, transport: &mut dyn SendingEnd) -> Option<Instant> {
        // An application that does not wait: what the transport refuses is lost.
        let _accepted = transport.send(Payload::Synthetic(self.datagram));
        Some(now + exponential(self.mean_s, &mut self.random))
    }
}
