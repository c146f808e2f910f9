//! Links of a scenario.

use std::collections::BTreeSet;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_units::{Duration, Rate};

use crate::check::{check_delay, check_ends, check_rate};
use crate::queue::check_queue;
use crate::{Backend, Registry};
use crate::{LossSpec, QueueSpec, ScenarioError, TraceSpec};

/// A link between two nodes; both directions unless `one_way`.
///
/// A direction is named after its ends: `r1->r2`. Both have the rate, the delay and the queue that
/// stand here, and the forward one the losses, the trace and the jitter; `back` says what is
/// otherwise on the way back.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Link")]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// The node at which the forward direction starts.
    pub from: String,
    /// The node at which it ends.
    pub to: String,
    /// Rate of each direction.
    pub rate: Rate,
    /// Propagation delay of each direction.
    pub delay: Duration,
    /// Queue of each direction.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Losses of the forward direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossSpec>,
    /// How rate and delay of the forward direction change; until its first step they are those
    /// above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceSpec>,
    /// In the forward direction each packet takes up to so much longer, evenly distributed; none
    /// overtakes another.
    #[serde(default)]
    pub jitter: Duration,
    /// The way back, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back: Option<BackSpec>,
    /// Whether there is no way back.
    #[serde(default)]
    pub one_way: bool,
}

/// The way back of a link: what is absent is as on the way forward, but losses, trace and jitter,
/// which it has only where they stand here.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Back")]
#[serde(deny_unknown_fields, default)]
pub struct BackSpec {
    /// Rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Propagation delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// Queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueSpec>,
    /// Losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossSpec>,
    /// How rate and delay change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceSpec>,
    /// How much longer a packet may take.
    pub jitter: Duration,
}

/// One direction of a link, with what holds for it.
#[derive(Clone, Copy, Debug)]
pub struct Direction<'a> {
    /// The node at which it starts.
    pub from: &'a str,
    /// The node at which it ends.
    pub to: &'a str,
    /// Rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Queue.
    pub queue: &'a QueueSpec,
    /// Losses.
    pub loss: Option<&'a LossSpec>,
    /// How rate and delay change.
    pub trace: Option<&'a TraceSpec>,
    /// The longest additional delay of a packet.
    pub jitter: Duration,
}

impl Direction<'_> {
    /// `"r1->r2"`.
    pub fn name(&self) -> String {
        format!("{}->{}", self.from, self.to)
    }
}

impl LinkSpec {
    /// Its directions, the forward one first.
    pub fn directions(&self) -> impl Iterator<Item = Direction<'_>> {
        let forward = Direction {
            from: &self.from,
            to: &self.to,
            rate: self.rate,
            delay: self.delay,
            queue: &self.queue,
            loss: self.loss.as_ref(),
            trace: self.trace.as_ref(),
            jitter: self.jitter,
        };
        std::iter::once(forward).chain((!self.one_way).then(|| self.way_back()))
    }

    fn way_back(&self) -> Direction<'_> {
        let back = self.back.as_ref();
        Direction {
            from: &self.to,
            to: &self.from,
            rate: back.and_then(|back| back.rate).unwrap_or(self.rate),
            delay: back.and_then(|back| back.delay).unwrap_or(self.delay),
            queue: back
                .and_then(|back| back.queue.as_ref())
                .unwrap_or(&self.queue),
            loss: back.and_then(|back| back.loss.as_ref()),
            trace: back.and_then(|back| back.trace.as_ref()),
            jitter: back.map_or(Duration::ZERO, |back| back.jitter),
        }
    }

    pub(crate) fn validate<B: Backend>(
        &self,
        field: &str,
        nodes: &BTreeSet<String>,
        registry: &Registry<B>,
    ) -> Result<(), ScenarioError> {
        check_ends(&self.from, &self.to, field, nodes)?;
        self.validate_directions(field, registry)
    }

    /// Checks everything but the ends.
    pub(crate) fn validate_directions<B: Backend>(
        &self,
        field: &str,
        registry: &Registry<B>,
    ) -> Result<(), ScenarioError> {
        check_rate(self.rate, &format!("{field}.rate"))?;
        check_delay(self.delay, &format!("{field}.delay"))?;
        check_queue(&self.queue, &format!("{field}.queue"), registry)?;
        validate_disturbances(self.loss.as_ref(), self.trace.as_ref(), field)?;
        match &self.back {
            Some(_) if self.one_way => Err(ScenarioError::new(
                format!("{field}.back"),
                "a link with one_way has no way back: leave one of the two out",
            )),
            Some(back) => back.validate(&format!("{field}.back"), registry),
            None => Ok(()),
        }
    }

    pub(crate) fn load_traces(
        &mut self,
        field: &str,
        directory: &Path,
    ) -> Result<(), ScenarioError> {
        load_traces(&mut self.trace, &mut self.back, field, directory)
    }
}

impl BackSpec {
    fn validate<B: Backend>(
        &self,
        field: &str,
        registry: &Registry<B>,
    ) -> Result<(), ScenarioError> {
        if let Some(rate) = self.rate {
            check_rate(rate, &format!("{field}.rate"))?;
        }
        if let Some(delay) = self.delay {
            check_delay(delay, &format!("{field}.delay"))?;
        }
        if let Some(queue) = &self.queue {
            check_queue(queue, &format!("{field}.queue"), registry)?;
        }
        validate_disturbances(self.loss.as_ref(), self.trace.as_ref(), field)
    }
}

/// What keeps a link from being the same all the time.
fn validate_disturbances(
    loss: Option<&LossSpec>,
    trace: Option<&TraceSpec>,
    field: &str,
) -> Result<(), ScenarioError> {
    if let Some(loss) = loss {
        loss.validate(&format!("{field}.loss"))?;
    }
    match trace {
        Some(trace) => trace.validate(&format!("{field}.trace")),
        None => Ok(()),
    }
}

/// Reads the trace files of both directions.
pub(crate) fn load_traces(
    trace: &mut Option<TraceSpec>,
    back: &mut Option<BackSpec>,
    field: &str,
    directory: &Path,
) -> Result<(), ScenarioError> {
    if let Some(trace) = trace {
        trace.load(&format!("{field}.trace"), directory)?;
    }
    match back.as_mut().and_then(|back| back.trace.as_mut()) {
        Some(trace) => trace.load(&format!("{field}.back.trace"), directory),
        None => Ok(()),
    }
}
