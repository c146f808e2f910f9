//! The link that a direction describes.

use skywave_path::{Head, Link, QuickStartRouter, Trace, Variation};

use crate::random::stream;
use crate::{Backend, Direction, Registry, ScenarioError};

impl Direction<'_> {
    /// Returns the name, such as `"r1->r2"`.
    pub fn name(&self) -> String {
        format!("{}->{}", self.from, self.to)
    }

    /// Creates the link, with random streams of its own.
    ///
    /// # Errors
    /// [`ScenarioError`] if its queue, loss model or kind of trace is unknown.
    pub fn link<B: Backend>(
        &self,
        registry: &Registry<B>,
        seed: u64,
    ) -> Result<Link<B::Packet>, ScenarioError> {
        let name = self.name();
        let named = |name: &str| stream(seed, name);
        let queue = self.queue.read(&registry.queues)?;
        let queue = queue.build(&Head::new(&name, self.rate, self.delay, &named));
        let mut link = Link::new(queue, self.rate, self.delay);
        if let Some(loss) = self.loss {
            let loss = loss.read(&registry.losses)?;
            link = link.losing(loss.build(named(&format!("{name}/loss"))));
        }
        if let Some(share) = self.quick_start {
            let random = named(&format!("{name}/quick-start"));
            link = link.with_quick_start(QuickStartRouter::new(self.rate, share, random));
        }
        let trace = self.trace(registry, seed)?;
        if trace.is_none() && self.jitter.is_zero() {
            return Ok(link);
        }
        let constant = || Variation::none(self.rate, self.delay);
        let variation = trace.map_or_else(constant, Variation::new);
        let variation = if self.jitter.is_zero() {
            variation
        } else {
            variation.with_jitter(self.jitter, named(&format!("{name}/jitter")))
        };
        Ok(link.varying(if self.overtaking {
            variation.with_overtaking()
        } else {
            variation
        }))
    }

    /// Returns whether its queue or its losses share state with those of other links.
    ///
    /// # Errors
    /// [`ScenarioError`] if its queue or loss model is unknown.
    pub fn shares_state<B: Backend>(&self, registry: &Registry<B>) -> Result<bool, ScenarioError> {
        let losses = self.loss.map(|loss| loss.read(&registry.losses));
        let losses_share = losses.transpose()?.is_some_and(|loss| loss.shares_state());
        Ok(losses_share || self.queue.read(&registry.queues)?.shares_state())
    }

    /// Returns the trace along which rate and delay vary.
    ///
    /// # Errors
    /// [`ScenarioError`] if the kind of trace is unknown.
    pub fn trace<B: Backend>(
        &self,
        registry: &Registry<B>,
        seed: u64,
    ) -> Result<Option<Trace>, ScenarioError> {
        let Some(trace) = self.trace else {
            return Ok(None);
        };
        let kind = trace.read(&registry.traces)?;
        let random = stream(seed, &format!("{}/trace", self.name()));
        Ok(Some(Trace::new(kind, self.rate, self.delay, random)))
    }
}
