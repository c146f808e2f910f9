//! Checks a scenario without running it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;
use skywave_path::Way;
use skywave_scenario::{Scenario, ScenarioError, TransportSpec};

use crate::running::arrival;
use crate::running::build::Build;
use crate::running::run::setup;
use crate::warning::Warning;
use crate::watching::backend::Registry;
use crate::world::transport::ClockKind;

/// What is known about a scenario before it runs.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Checked {
    /// The scenario with all defaults, including those that follow from a profile or a control.
    pub scenario: Scenario,
    /// The routes of each flow.
    pub routes: Vec<FlowRoutes>,
    /// What is permitted but probably not intended.
    pub warnings: Vec<Warning>,
}

/// The routes of a flow, as nodes in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FlowRoutes {
    /// The flow's name.
    pub flow: String,
    /// From the sender to the receiver.
    pub forward: Vec<String>,
    /// From the receiver to the sender.
    pub back: Vec<String>,
}

/// Performs all checks of [`run`](crate::run) before the simulation: the scenario itself, and that
/// every flow has a forward and a reverse route.
///
/// # Errors
/// [`ScenarioError`] with the field that is wrong.
pub fn check(scenario: &Scenario, registry: &Registry) -> Result<Checked, ScenarioError> {
    scenario.validate(registry)?;
    // A scenario is valid if either clock can run it, and building for the real clock refuses less.
    let build = Build::new(scenario, registry, ClockKind::Real)?;
    setup(scenario, &build)?;
    let mut complete = scenario.clone();
    for (flow, transport) in complete.flows.iter_mut().zip(&build.transports) {
        transport.complete(Arc::make_mut(&mut flow.transport));
    }
    Ok(Checked {
        scenario: complete,
        routes: routes(scenario, &build),
        warnings: warnings(scenario, registry, &build)?,
    })
}

fn routes(scenario: &Scenario, build: &Build) -> Vec<FlowRoutes> {
    let nodes = |start: &str, way: Way| {
        let rest = build.network.nodes_from(way.hop);
        [start].into_iter().chain(rest).map(str::to_owned).collect()
    };
    let flows = scenario.flows.iter().zip(&build.ways);
    flows
        .map(|(flow, &[forward, back])| FlowRoutes {
            flow: flow.name.clone(),
            forward: nodes(&flow.from, forward),
            back: nodes(&flow.to, back),
        })
        .collect()
}

/// Returns warnings about what a simulation cannot do, or does otherwise.
fn in_simulation(scenario: &Scenario, registry: &Registry) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |field, message| warnings.push(Warning::in_simulation(field, message));
    if let Err(ScenarioError { field, message, .. }) =
        Build::new(scenario, registry, ClockKind::Virtual)
    {
        warn(
            field,
            format!("cannot be simulated, only run by skywave realtime: {message}"),
        );
    }
    for (index, flow) in scenario.flows.iter().enumerate() {
        let (key, ours) = match &*flow.transport {
            TransportSpec::KernelTcp(spec) if registry.has_tcp_control(&spec.control) => {
                let ours = format!("tcp with control \"{}\"", spec.control);
                ("kernel-tcp", ours)
            }
            TransportSpec::KernelDccp(spec) => {
                ("kernel-dccp", format!("dccp with CCID {}", spec.ccid))
            }
            _ => continue,
        };
        warn(
            format!("flows[{index}].transport.{key}"),
            format!(
                "a simulation runs our {ours} in its place; skywave realtime runs the kernel's"
            ),
        );
    }
    warnings
}

fn warnings(
    scenario: &Scenario,
    registry: &Registry,
    build: &Build,
) -> Result<Vec<Warning>, ScenarioError> {
    let mut warnings = in_simulation(scenario, registry);
    let mut warn = |field, message| warnings.push(Warning::new(field, message));
    let (nodes, links) = scenario.topology();
    let ends = links.iter().flat_map(|link| [&link.from, &link.to]);
    let linked: BTreeSet<_> = ends.collect();
    for node in nodes.iter().filter(|node| !linked.contains(node)) {
        warn("nodes".to_owned(), format!("\"{node}\" has no link"));
    }
    for (index, (flow, ways)) in scenario.flows.iter().zip(&build.ways).enumerate() {
        if flow.start >= scenario.duration {
            warn(
                format!("flows[{index}].start"),
                format!(
                    "{} is not before the end of the run, {}: the flow sends nothing",
                    flow.start, scenario.duration
                ),
            );
        }
        if flow.class > 0 && !ways.iter().any(|way| build.network.has_classes(way.hop)) {
            warn(
                format!("flows[{index}].class"),
                "no queue on its routes treats classes differently: give one a weighted queue"
                    .to_owned(),
            );
        }
        // If the reverse route is `route` reversed, its warnings have already been given.
        let is_reversed = flow.route.is_some() && flow.route_back.is_none();
        for (way, start, key) in [
            (ways[0], &flow.from, "route"),
            (ways[1], &flow.to, "route_back"),
        ]
        .into_iter()
        .take(if is_reversed { 1 } else { 2 })
        {
            let rest = build.network.nodes_from(way.hop);
            let nodes: Vec<_> = [&**start].into_iter().chain(rest).collect();
            if let Some(circle) = circle(&nodes) {
                warn(
                    format!("flows[{index}].{key}"),
                    format!(
                        "packets go in a circle, {}: name each node once",
                        circle.join(" -> ")
                    ),
                );
            }
            if way.has_equal {
                let route = nodes.join(" -> ");
                warn(
                    format!("flows[{index}].{key}"),
                    format!(
                        "several routes have as few links; it takes the one whose links come first, \
                         {route}: name the nodes to choose another"
                    ),
                );
            }
        }
    }
    warnings.extend(arrival::warnings(scenario, &links, registry, build)?);
    Ok(warnings)
}

/// Returns the nodes from one node to where a route visits it again.
fn circle<'a>(nodes: &'a [&'a str]) -> Option<&'a [&'a str]> {
    let mut first = BTreeMap::new();
    let mut circles = nodes.iter().enumerate().filter_map(|(at, node)| {
        let before = first.insert(node, at)?;
        Some(&nodes[before..=at])
    });
    circles.next()
}
