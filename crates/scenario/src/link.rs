//! The links of a scenario.

use std::collections::BTreeSet;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::{Duration, Rate};

use crate::check::{check_delay, check_ends, check_rate, check_share};
use crate::{Backend, Direction, LossSpec, NatSpec, QueueSpec, Registry, ScenarioError, TraceSpec};

/// A link between two nodes, in both directions unless `one_way`.
///
/// A direction is named after its ends: `r1->r2`. Rate, delay, queue and Quick-Start apply to both
/// directions; losses, trace, jitter and overtaking only to the forward direction. `back` overrides
/// the reverse direction.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Link")]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// The node at which the forward direction starts.
    pub from: String,
    /// The node at which the forward direction ends.
    pub to: String,
    /// The rate of each direction.
    pub rate: Rate,
    /// The propagation delay of each direction, at most 24 hours.
    pub delay: Duration,
    /// The queue of each direction.
    #[serde(default)]
    pub queue: QueueSpec,
    /// The losses of the forward direction, other than by the queue. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossSpec>,
    /// How rate and delay of the forward direction change over time. Before the first step, `rate`
    /// and `delay` apply. Absent: they do not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceSpec>,
    /// Maximum random extra delay of each packet in the forward direction, uniformly distributed.
    ///
    #[serde(default)]
    pub jitter: Duration,
    /// Whether packets overtake earlier ones where the delay falls, as when a route changes, and by
    /// jitter. Otherwise they arrive behind them, spaced by their transmission times.
    #[serde(default)]
    pub overtaking: bool,
    /// A NAT in front of both directions of the link. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nat: Option<NatSpec>,
    /// The share of each direction's `rate`, above 0 and up to 1, that Quick-Start may give away
    /// (RFC 4782), whatever a trace makes of the rate: a request is approved as long as the peak use
    /// of the last 3 s and the rates approved in them stay below it. A sender gets a rate only if
    /// all links of its route, its own included, take part. Absent: the link does not take part in
    /// Quick-Start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "1"))]
    pub quick_start: Option<f64>,
    /// Settings of the reverse direction that differ. Absent: rate, delay, queue and Quick-Start
    /// are those of the forward direction, and there are no losses, trace or jitter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back: Option<BackSpec>,
    /// Whether the link has no reverse direction.
    #[serde(default)]
    pub one_way: bool,
}

/// The reverse direction of a link. Rate, delay and queue default to those of the forward
/// direction; losses, trace, jitter and overtaking do not.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Back")]
#[serde(deny_unknown_fields, default)]
pub struct BackSpec {
    /// The rate. Absent: as in the forward direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// The propagation delay, at most 24 hours. Absent: as in the forward direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// The queue. Absent: as in the forward direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueSpec>,
    /// The losses other than by the queue. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossSpec>,
    /// How rate and delay change over time. Absent: they do not change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceSpec>,
    /// Maximum random extra delay of each packet, uniformly distributed.
    pub jitter: Duration,
    /// Whether packets overtake earlier ones where the delay falls, as when a route changes, and by
    /// jitter.
    pub overtaking: bool,
}

impl LinkSpec {
    /// Returns the directions, forward first.
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
            overtaking: self.overtaking,
            nat: self.nat,
            quick_start: self.quick_start,
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
            overtaking: back.is_some_and(|back| back.overtaking),
            nat: self.nat,
            quick_start: self.quick_start,
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

    /// Checks everything except the ends.
    pub(crate) fn validate_directions<B: Backend>(
        &self,
        field: &str,
        registry: &Registry<B>,
    ) -> Result<(), ScenarioError> {
        check_rate(self.rate, &format!("{field}.rate"))?;
        check_delay(self.delay, &format!("{field}.delay"))?;
        check_share(self.quick_start, &format!("{field}.quick_start"))?;
        let selected = self.clone().selections().complete(registry);
        selected.map_err(|error| error.within(field))?;
        if self.nat.is_some() && self.one_way {
            return Err(ScenarioError::new(
                format!("{field}.nat"),
                "a NAT needs both directions: leave out nat or one_way",
            ));
        }
        match &self.back {
            Some(_) if self.one_way => Err(ScenarioError::new(
                format!("{field}.back"),
                "a link with one_way has no reverse direction: leave out one of the two",
            )),
            Some(back) => back.validate(&format!("{field}.back")),
            None => Ok(()),
        }
    }

    pub(crate) const fn selections(&mut self) -> Selections<'_> {
        Selections {
            queue: &mut self.queue,
            loss: self.loss.as_mut(),
            trace: self.trace.as_mut(),
            back: self.back.as_mut(),
        }
    }
}

impl BackSpec {
    fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        if let Some(rate) = self.rate {
            check_rate(rate, &format!("{field}.rate"))?;
        }
        match self.delay {
            Some(delay) => check_delay(delay, &format!("{field}.delay")),
            None => Ok(()),
        }
    }
}

/// What a link selects from the registry in both directions.
pub(crate) struct Selections<'a> {
    pub(crate) queue: &'a mut QueueSpec,
    pub(crate) loss: Option<&'a mut LossSpec>,
    pub(crate) trace: Option<&'a mut TraceSpec>,
    pub(crate) back: Option<&'a mut BackSpec>,
}

impl Selections<'_> {
    /// Replaces the names of trace files by their steps.
    pub(crate) fn load_traces(self, directory: &Path) -> Result<(), ParameterError> {
        let back = self.back.and_then(|back| back.trace.as_mut());
        for (field, trace) in [("trace", self.trace), ("back.trace", back)] {
            if let Some(trace) = trace {
                trace.load(directory).map_err(|error| error.within(field))?;
            }
        }
        Ok(())
    }

    /// Fills in the defaults of omitted parameters.
    pub(crate) fn complete<B: Backend>(self, registry: &Registry<B>) -> Result<(), ParameterError> {
        complete_all(Some(self.queue), self.loss, self.trace, registry)?;
        let Some(back) = self.back else {
            return Ok(());
        };
        let (queue, loss, trace) = (back.queue.as_mut(), back.loss.as_mut(), back.trace.as_mut());
        complete_all(queue, loss, trace, registry).map_err(|error| error.within("back"))
    }
}

fn complete_all<B: Backend>(
    queue: Option<&mut QueueSpec>,
    loss: Option<&mut LossSpec>,
    trace: Option<&mut TraceSpec>,
    registry: &Registry<B>,
) -> Result<(), ParameterError> {
    if let Some(queue) = queue {
        let read = queue.complete(&registry.queues);
        read.map_err(|error| error.within("queue"))?;
    }
    if let Some(loss) = loss {
        let read = loss.complete(&registry.losses);
        read.map_err(|error| error.within("loss"))?;
    }
    if let Some(trace) = trace {
        let read = trace.complete(&registry.traces);
        read.map_err(|error| error.within("trace"))?;
    }
    Ok(())
}
