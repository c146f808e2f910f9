//! The network of a scenario: links, and the routes over them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use skywave_path::{
    Dialect, ErrorRate, Head, Link, LossModel, LossProcess, QueueKind, Step, Variation,
};
use skywave_units::Instant;

use crate::backend::Registry;
use crate::packet::{Frame, SimLink};
use crate::random::stream;
use skywave_scenario::{
    Direction, ErrorUnit, LinkSpec, LossSpec, Scenario, ScenarioError, TraceSpec,
};

/// Where a frame goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hop {
    /// Onto this link.
    Link(u32),
    /// It has arrived.
    Host,
}

/// One direction of a link, for whoever looks at a run from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkName {
    /// `"r1->r2"`.
    pub(crate) name: String,
    /// Index of the node at the sending end.
    pub(crate) from: u32,
    /// Index of the node at the receiving end.
    pub(crate) to: u32,
}

/// Links, and routes as runs of hops in one flat table.
pub(crate) struct Network {
    pub(crate) links: Vec<SimLink>,
    /// What their queues are.
    queues: Vec<Arc<dyn QueueKind<Frame>>>,
    pub(crate) names: Vec<LinkName>,
    /// Node names; a node's address in captures follows from its index.
    pub(crate) nodes: Vec<String>,
    hops: Vec<Hop>,
    /// Start of the route between two nodes, where it has been asked for.
    routes: BTreeMap<(u32, u32), u32>,
    /// Outgoing links of each node.
    outgoing: Vec<Vec<u32>>,
}

impl Network {
    /// The network of `scenario`, which has been validated.
    ///
    /// # Errors
    /// [`ScenarioError`] where a queue is not known after all.
    pub(crate) fn new(scenario: &Scenario, registry: &Registry) -> Result<Self, ScenarioError> {
        let (nodes, specs) = scenario.topology();
        let index: BTreeMap<&str, u32> = nodes
            .iter()
            .zip(0..)
            .map(|(node, index)| (node.as_str(), index))
            .collect();
        let mut links = Vec::new();
        let mut queues = Vec::new();
        let mut names = Vec::new();
        let mut outgoing = vec![Vec::new(); nodes.len()];
        for direction in specs.iter().flat_map(LinkSpec::directions) {
            let (from, to) = (index[direction.from], index[direction.to]);
            outgoing[from as usize].push(links.len() as u32);
            let queue = direction.queue.read(&registry.queues)?;
            links.push(link(&direction, &*queue, scenario.seed));
            queues.push(queue);
            let name = direction.name();
            names.push(LinkName { name, from, to });
        }
        Ok(Self {
            links,
            queues,
            names,
            nodes,
            hops: Vec::new(),
            routes: BTreeMap::new(),
            outgoing,
        })
    }

    /// The index of a node.
    pub(crate) fn node(&self, name: &str) -> Option<u32> {
        self.nodes
            .iter()
            .position(|node| node == name)
            .map(|index| index as u32)
    }

    /// The hop at this place in the table.
    pub(crate) fn hop(&self, index: u32) -> Hop {
        self.hops[index as usize]
    }

    /// Where the route between two nodes starts in the table of hops: the fewest links, and among
    /// equals those that come first in the scenario.
    ///
    /// # Errors
    /// [`ScenarioError`] at `field` where there is no way.
    pub(crate) fn route(&mut self, from: u32, to: u32, field: &str) -> Result<u32, ScenarioError> {
        if let Some(&start) = self.routes.get(&(from, to)) {
            return Ok(start);
        }
        let links = self.fewest_links(from, to).ok_or_else(|| {
            let (from, to) = (&self.nodes[from as usize], &self.nodes[to as usize]);
            ScenarioError::new(
                field,
                format!("there is no route from \"{from}\" to \"{to}\""),
            )
        })?;
        let start = self.hops.len() as u32;
        self.hops
            .extend(links.into_iter().map(Hop::Link).chain([Hop::Host]));
        self.routes.insert((from, to), start);
        Ok(start)
    }

    /// The dialects that routers on the route that starts here write on packets of this class.
    pub(crate) fn dialects(&self, start: u32, class: u8) -> impl Iterator<Item = Dialect> {
        self.hops[start as usize..]
            .iter()
            .map_while(|hop| match hop {
                Hop::Link(link) => Some(&self.queues[*link as usize]),
                Hop::Host => None,
            })
            .filter_map(move |queue| queue.conduct_for(class).dialect)
    }

    /// Breadth-first search.
    fn fewest_links(&self, from: u32, to: u32) -> Option<Vec<u32>> {
        let mut came_by: Vec<Option<u32>> = vec![None; self.nodes.len()];
        let mut frontier = VecDeque::from([from]);
        while let Some(node) = frontier.pop_front() {
            for &link in &self.outgoing[node as usize] {
                let next = self.names[link as usize].to;
                if next != from && came_by[next as usize].is_none() {
                    came_by[next as usize] = Some(link);
                    frontier.push_back(next);
                }
            }
        }
        let mut route = Vec::new();
        let mut node = to;
        while node != from {
            let link = came_by[node as usize]?;
            route.push(link);
            node = self.names[link as usize].from;
        }
        route.reverse();
        Some(route)
    }
}

/// One direction of a link; what is random on it has a stream of its own.
fn link(direction: &Direction<'_>, queue: &dyn QueueKind<Frame>, seed: u64) -> SimLink {
    let name = direction.name();
    let named = |name: &str| stream(seed, name);
    let stream = |what: &str| named(&format!("{name}/{what}"));
    let queue = queue.build(&Head::new(&name, direction.rate, direction.delay, &named));
    let loss = match direction.loss {
        Some(LossSpec::Packets(ordinals)) => LossModel::named(ordinals.clone()),
        Some(LossSpec::Bernoulli(spec)) => {
            let errors = error_rate(spec.per, spec.probability);
            LossModel::random(LossProcess::Bernoulli(errors), stream("loss"))
        }
        Some(LossSpec::GilbertElliott(spec)) => {
            let process = LossProcess::GilbertElliott {
                good_to_bad: spec.good_to_bad,
                bad_to_good: spec.bad_to_good,
                good: error_rate(spec.per, spec.in_good),
                bad: error_rate(spec.per, spec.in_bad),
            };
            LossModel::random(process, stream("loss"))
        }
        None => LossModel::None,
    };
    let link = Link::new(queue, direction.rate, direction.delay, loss);
    if direction.trace.is_none() && direction.jitter.is_zero() {
        return link;
    }
    let steps = steps(direction);
    let variation = Variation::trace(direction.rate, direction.delay, steps);
    link.varying(if direction.jitter.is_zero() {
        variation
    } else {
        variation.with_jitter(direction.jitter, stream("jitter"))
    })
}

/// The steps of a trace, each with its rate and its delay.
fn steps(direction: &Direction<'_>) -> Vec<Step> {
    let (mut rate, mut delay) = (direction.rate, direction.delay);
    let steps = direction.trace.map_or(&[][..], TraceSpec::steps);
    steps
        .iter()
        .map(|step| {
            rate = step.rate.unwrap_or(rate);
            delay = step.delay.unwrap_or(delay);
            let at = Instant::ZERO + step.at;
            Step { at, rate, delay }
        })
        .collect()
}

const fn error_rate(per: ErrorUnit, probability: f64) -> ErrorRate {
    match per {
        ErrorUnit::Packet => ErrorRate::Packet(probability),
        ErrorUnit::Bit => ErrorRate::Bit(probability),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(links: &[(&str, &str)]) -> Network {
        let links: String = links
            .iter()
            .map(|(from, to)| {
                format!(
                    "[[links]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"1 Mbps\"\n\
                     delay = \"1 ms\"\none_way = true\n"
                )
            })
            .collect();
        let text = format!(
            "name = \"test\"\nduration = \"1 s\"\nnodes = [\"a\", \"b\", \"c\", \"d\"]\n{links}\
             [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\ntransport = {{ tcp = {{}} }}\n\
             source = {{ ftp = {{}} }}\n"
        );
        let registry = Registry::default();
        let scenario = Scenario::from_toml(&text, &registry).unwrap();
        Network::new(&scenario, &registry).unwrap()
    }

    fn route(network: &mut Network, from: &str, to: &str) -> Vec<String> {
        let (from, to) = (network.node(from).unwrap(), network.node(to).unwrap());
        let start = network.route(from, to, "flows[0]").unwrap();
        (start..)
            .map_while(|index| match network.hop(index) {
                Hop::Link(link) => Some(network.names[link as usize].name.clone()),
                Hop::Host => None,
            })
            .collect()
    }

    #[test]
    fn takes_the_fewest_links_and_the_first_of_equals() {
        let links = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("a", "d")];
        let mut network = network(&links);
        assert_eq!(route(&mut network, "a", "d"), ["a->d"]);
        let mut network = self::network(&links[..4]);
        assert_eq!(route(&mut network, "a", "d"), ["a->b", "b->d"]);
    }

    #[test]
    fn no_way_names_the_field() {
        let mut network = network(&[("a", "b")]);
        let error = network.route(1, 0, "flows[3]").unwrap_err();
        assert_eq!(
            error.to_string(),
            "flows[3]: there is no route from \"b\" to \"a\""
        );
    }
}
