//! The classic topology: senders, a router, the bottleneck, a router, receivers.

use crate::check::{check, check_delay, check_rate};
use crate::link::Selections;
use crate::{Backend, Dumbbell, LinkSpec, Registry, ScenarioError};

/// The most hosts per side.
const MOST_PAIRS: u32 = 100_000;

impl Dumbbell {
    /// Returns the nodes and links that it stands for.
    pub(crate) fn expand(&self) -> (Vec<String>, Vec<LinkSpec>) {
        let mut nodes = vec!["r1".to_owned(), "r2".to_owned()];
        let mut links = vec![self.bottleneck()];
        let access = |from: &str, to: &str, delay| LinkSpec {
            quick_start: self.quick_start,
            ..LinkSpec::plain(from.to_owned(), to.to_owned(), self.access_rate, delay)
        };
        for (pair, &delay) in (1..=self.pairs).zip(self.access_delays.iter().cycle()) {
            let (source, sink) = (format!("s{pair}"), format!("d{pair}"));
            links.push(access(&source, "r1", delay));
            links.push(access("r2", &sink, delay));
            nodes.extend([source, sink]);
        }
        (nodes, links)
    }

    pub(crate) fn validate<B: Backend>(
        &self,
        field: &str,
        registry: &Registry<B>,
    ) -> Result<(), ScenarioError> {
        check(
            (1..=MOST_PAIRS).contains(&self.pairs),
            &format!("{field}.pairs"),
            || format!("{} pairs of hosts: use 1 to {MOST_PAIRS}", self.pairs),
        )?;
        self.bottleneck().validate_directions(field, registry)?;
        check_rate(self.access_rate, &format!("{field}.access_rate"))?;
        for (index, &delay) in self.access_delays.iter().enumerate() {
            check_delay(delay, &format!("{field}.access_delays[{index}]"))?;
        }
        check(
            !self.access_delays.is_empty(),
            &format!("{field}.access_delays"),
            || "give at least one delay".to_owned(),
        )
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
