//! The links of a scenario.

mod settings;

use std::collections::BTreeSet;
use std::path::Path;

use skywave_registry::ParameterError;

use crate::check::{check_delay, check_ends, check_rate, check_share};
use crate::{Backend, LossSpec, QueueSpec, Registry, ScenarioError, TraceSpec};

pub use settings::{BackSpec, Direction, Dumbbell, LinkSpec};

impl LinkSpec {
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

    /// Checks that nothing about the link needs a virtual clock, so that it runs on the real one
    /// too.
    ///
    /// # Errors
    /// [`ScenarioError`] with the setting that only a simulation obeys; its field is relative to
    /// the link.
    pub fn check_real_clock(&self) -> Result<(), ScenarioError> {
        self.check_real_clock_within("")
    }

    /// Checks a link like [`LinkSpec::check_real_clock`], with `prefix` before the field of an
    /// error.
    pub(crate) fn check_real_clock_within(&self, prefix: &str) -> Result<(), ScenarioError> {
        let Some((field, what)) = self.needs_virtual_clock() else {
            return Ok(());
        };
        Err(ScenarioError::new(
            format!("{prefix}{field}"),
            format!("{what} cannot run in real time: leave it out, or simulate the scenario"),
        ))
    }

    /// Returns the setting that only a simulation obeys, if there is one: its field, and what it
    /// is. There is no `..`, so that a new setting does not compile until its answer is written
    /// here.
    fn needs_virtual_clock(&self) -> Option<(&'static str, &'static str)> {
        let Self {
            from: _,
            to: _,
            rate: _,
            delay: _,
            queue: _,
            loss: _,
            trace: _,
            jitter: _,
            overtaking: _,
            nat,
            quick_start,
            back,
            one_way: _,
        } = self;
        nat.map(|_| ("nat", "a NAT"))
            .or_else(|| quick_start.map(|_| ("quick_start", "Quick-Start")))
            .or_else(|| back.as_ref().and_then(BackSpec::needs_virtual_clock))
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
    /// Returns such a setting as for a [`LinkSpec`], with the field's path relative to the link.
    const fn needs_virtual_clock(&self) -> Option<(&'static str, &'static str)> {
        let Self {
            rate: _,
            delay: _,
            queue: _,
            loss: _,
            trace: _,
            jitter: _,
            overtaking: _,
        } = self;
        None
    }

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
    /// Replaces the names of trace files with their steps.
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
