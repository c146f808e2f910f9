//! Traces: how a link's rate and delay change over time.
//!
//! A new kind of trace implements [`TraceKind`]; [`Traces`] holds the kinds by name.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::{Choice, OpenSet, ParameterError, Selection};
use skywave_units::{Duration, Instant, Random, Rate};

mod leo;
mod opportunities;
mod outages;
mod wifi;

pub use leo::LeoSpec;
pub use opportunities::Opportunities;
pub use outages::OutagesSpec;
pub use wifi::WifiSpec;

/// A change of a link's rate or delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Step")]
#[serde(deny_unknown_fields)]
pub struct TraceStep {
    /// The time of the change.
    pub at: Duration,
    /// The new rate, at which the packet in transmission goes on; the link is down at 0 bps.
    /// Absent: unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// The new propagation delay, of packets whose transmission ends later. Absent: unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
}

/// Steps in order of time.
pub type Steps = Box<dyn Iterator<Item = TraceStep> + Send>;

/// A kind of trace with its parameters, as stored in [`Traces`].
pub trait TraceKind: Send + Sync {
    /// Returns the steps in order of time, each later than the one before. There may be infinitely
    /// many.
    ///
    /// `rate` and `delay` are those of the link until the first step. `random` is a stream for this
    /// trace alone; the same stream gives the same steps.
    fn steps(&self, rate: Rate, delay: Duration, random: Random) -> Steps;
}

/// The known kinds of traces.
pub type Traces = OpenSet<dyn TraceKind>;

/// Selects a kind of trace.
#[derive(Clone, Copy, Debug)]
pub enum TraceChoice {}

impl Choice for TraceChoice {
    const KIND: &'static str = "kind of trace";
    const DEFINITION: &'static str = "Trace";
}

/// A kind of trace as written in a file: `{ outages = { up = "10 s", down = "1 s" } }`.
pub type TraceSelection = Selection<TraceChoice>;

/// The checked parameters of a kind of trace.
pub type CheckedTrace = Result<Arc<dyn TraceKind>, ParameterError>;

/// Registers this crate's kinds of traces, with the function that users call to register theirs.
#[rustfmt::skip]
pub fn register_built_in_traces(traces: &mut Traces) {
    traces.register("outages", "The link fails at random and comes back.", OutagesSpec::kind);
    traces.register("wifi", "Packets leave in aggregates, between which an access point of Wi-Fi contends for the medium.", WifiSpec::kind);
    traces.register("leo", "The link changes from one satellite in low Earth orbit to the next.", LeoSpec::kind);
}

/// Steps that are known in advance.
#[derive(Clone, Debug)]
pub struct ListedSteps(Arc<[TraceStep]>);

impl ListedSteps {
    /// Creates a trace of these steps, which are in order of time.
    pub fn new(steps: &[TraceStep]) -> Self {
        Self(steps.into())
    }
}

impl TraceKind for ListedSteps {
    fn steps(&self, _: Rate, _: Duration, _: Random) -> Steps {
        let steps = Arc::clone(&self.0);
        Box::new((0..steps.len()).map(move |index| steps[index]))
    }
}

/// The rate and delay of a link over time.
#[derive(Clone)]
pub struct Trace {
    kind: Arc<dyn TraceKind>,
    rate: Rate,
    delay: Duration,
    random: Random,
}

/// A link's rate and delay from some time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The time from which they apply.
    pub since: Instant,
    /// Bits per second. With rate zero the link is down, and transmissions pause until the next
    /// condition.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
}

impl Trace {
    /// Creates the trace of a link that has this rate and delay until the first step of `kind`,
    /// which draws from `random`.
    pub fn new(kind: Arc<dyn TraceKind>, rate: Rate, delay: Duration, random: Random) -> Self {
        Self {
            kind,
            rate,
            delay,
            random,
        }
    }

    /// Returns the conditions in order of time, from time zero on. There may be infinitely many.
    pub fn conditions(&self) -> impl Iterator<Item = Condition> + Send + use<> {
        let mut condition = Condition {
            since: Instant::ZERO,
            rate: self.rate,
            delay: self.delay,
        };
        let steps = self.kind.steps(self.rate, self.delay, self.random.clone());
        std::iter::once(condition).chain(steps.map(move |step| {
            condition = Condition {
                since: condition.since.max(Instant::ZERO + step.at),
                rate: step.rate.unwrap_or(condition.rate),
                delay: step.delay.unwrap_or(condition.delay),
            };
            condition
        }))
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace")
            .field("rate", &self.rate)
            .field("delay", &self.delay)
            .finish_non_exhaustive()
    }
}
