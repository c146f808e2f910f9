//! Checks of a whole scenario that its types do not enforce.

use std::collections::BTreeSet;

use skywave_registry::suggestion;
use skywave_units::Duration;

use crate::check::{check, check_name, no_such};
use crate::{Backend, Registry};
use crate::{Dumbbell, LinkSpec, Scenario, ScenarioError};

/// The longest run. Beyond it, the clock of 64-bit nanoseconds has no room for timers.
const LONGEST_RUN: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// The most sample rows of a table per run. With more, the tables no longer fit in memory.
pub const MOST_ROWS: u64 = 20_000_000;

impl Scenario {
    /// Checks what the types do not enforce, such as known names, non-zero rates and valid queues.
    ///
    /// # Errors
    /// [`ScenarioError`] with the first field that is wrong.
    pub fn validate<B: Backend>(&self, registry: &Registry<B>) -> Result<(), ScenarioError> {
        check_name(&self.name, "name")?;
        check(
            !self.duration.is_zero() && self.duration <= LONGEST_RUN,
            "duration",
            || format!("{}: give a duration from 1 ns to 100 years", self.duration),
        )?;
        if let Some(dumbbell) = &self.dumbbell {
            dumbbell.validate("dumbbell", registry)?;
        }
        let nodes = self.all_nodes()?;
        let links = self.all_links(&nodes, registry)?;
        check(!self.flows.is_empty(), "flows", || {
            "there are no flows: add at least one".to_owned()
        })?;
        let mut names = BTreeSet::new();
        for (index, flow) in self.flows.iter().enumerate() {
            let field = format!("flows[{index}]");
            flow.validate(&field, &nodes, registry)?;
            check(
                names.insert(flow.name.as_str()),
                &format!("{field}.name"),
                || {
                    format!(
                        "another flow is named \"{}\": give each its own name",
                        flow.name
                    )
                },
            )?;
        }
        let interval = self.probes.interval;
        check(!interval.is_zero(), "probes.interval", || {
            "0 s between samples: give a time above zero".to_owned()
        })?;
        for (index, link) in self.probes.links.iter().enumerate() {
            check(
                links.contains(link),
                &format!("probes.links[{index}]"),
                || no_such("link", link, &links),
            )?;
        }
        for (index, flow) in self.probes.flows.iter().enumerate() {
            check(
                names.contains(flow.as_str()),
                &format!("probes.flows[{index}]"),
                || {
                    let meant = suggestion(flow, names.iter().copied());
                    format!("there is no flow \"{flow}\": use the name of a flow{meant}")
                },
            )?;
        }
        for (index, table) in self.probes.tables.iter().enumerate() {
            registry.probe(table).map_err(|message| {
                ScenarioError::new(format!("probes.tables[{index}]"), message)
            })?;
        }
        let sampled = |named: usize, all: usize| if named == 0 { all } else { named };
        let links = sampled(self.probes.links.len(), links.len());
        let flows = sampled(self.probes.flows.len(), self.flows.len());
        let samples = self.duration.as_nanos().div_ceil(interval.as_nanos());
        let rows = samples.saturating_mul((links + flows) as u64);
        check(rows <= MOST_ROWS, "probes.interval", || {
            format!(
                "{interval} gives {samples} samples of {links} links and {flows} flows, and a run \
                 has at most {MOST_ROWS} rows: sample less often, or fewer links and flows"
            )
        })
    }

    /// Returns the names of all directed links, including those of the dumbbell.
    fn all_links<B: Backend>(
        &self,
        nodes: &BTreeSet<String>,
        registry: &Registry<B>,
    ) -> Result<BTreeSet<String>, ScenarioError> {
        let mut names = BTreeSet::new();
        if let Some(dumbbell) = &self.dumbbell {
            for link in dumbbell.expand().1 {
                names.extend(link.directions().map(|direction| direction.name()));
            }
        }
        for (index, link) in self.links.iter().enumerate() {
            let field = format!("links[{index}]");
            link.validate(&field, nodes, registry)?;
            for name in link.directions().map(|direction| direction.name()) {
                check(!names.contains(&name), &field, || {
                    format!("there is a link \"{name}\" already: remove one of the two")
                })?;
                names.insert(name);
            }
        }
        Ok(names)
    }

    /// Returns all nodes, including those of the dumbbell.
    fn all_nodes(&self) -> Result<BTreeSet<String>, ScenarioError> {
        let mut nodes = BTreeSet::new();
        if let Some(dumbbell) = &self.dumbbell {
            nodes.extend(dumbbell.expand().0);
        }
        for (index, node) in self.nodes.iter().enumerate() {
            check_name(node, &format!("nodes[{index}]"))?;
            check(
                nodes.insert(node.clone()),
                &format!("nodes[{index}]"),
                || format!("there is a node \"{node}\" already: choose another name"),
            )?;
        }
        check(!nodes.is_empty(), "nodes", || {
            "there are no nodes: list them, or describe a dumbbell".to_owned()
        })?;
        Ok(nodes)
    }

    /// Checks that nothing in the network needs a virtual clock, so that the scenario runs on the
    /// real one too.
    ///
    /// # Errors
    /// [`ScenarioError`] with the field that only a simulation obeys.
    pub fn check_real_clock(&self) -> Result<(), ScenarioError> {
        if let Some(dumbbell) = &self.dumbbell {
            let bottleneck = dumbbell.bottleneck();
            bottleneck.check_real_clock_within("dumbbell.")?;
        }
        for (index, link) in self.links.iter().enumerate() {
            link.check_real_clock_within(&format!("links[{index}]."))?;
        }
        Ok(())
    }

    /// Returns all nodes and links, with the dumbbell expanded.
    pub fn topology(&self) -> (Vec<String>, Vec<LinkSpec>) {
        let (mut nodes, mut links) = self
            .dumbbell
            .as_ref()
            .map(Dumbbell::expand)
            .unwrap_or_default();
        nodes.extend(self.nodes.iter().cloned());
        links.extend(self.links.iter().cloned());
        (nodes, links)
    }
}
