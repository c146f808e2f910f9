//! The network of a scenario: links, NATs, and the routes over them.

use std::collections::BTreeMap;
use std::sync::Arc;

use skywave_path::{Dialect, Discipline, QueueKind, Topology, Way};
use skywave_scenario::{Backend, LinkSpec, Registry, Scenario, ScenarioError};
use skywave_units::Duration;

use crate::world::nat::Nat;
use crate::world::packet::{Frame, SimLink};

/// Where a frame goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hop {
    /// Onto this link.
    Link(u32),
    /// Through the NAT in front of this link, and onto it.
    Nat(u32),
    /// It has arrived.
    Host,
}

/// One direction of a link, as named outside a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkName {
    /// Such as `"r1->r2"`.
    pub(crate) name: String,
    /// The index of the node at the sending end.
    pub(crate) from: u32,
    /// The index of the node at the receiving end.
    pub(crate) to: u32,
}

/// Links, and the routes over them.
pub(crate) struct Network {
    pub(crate) links: Vec<SimLink>,
    /// The links whose queues or losses share state.
    pub(crate) sharing: Vec<u32>,
    nats: Nats,
    /// The disciplines of their queues.
    queues: Vec<Arc<dyn QueueKind<Frame>>>,
    pub(crate) names: Vec<LinkName>,
    /// A node's address in captures follows from its index.
    topology: Topology<Hop>,
}

impl Network {
    /// Creates the network of a validated `scenario`.
    ///
    /// # Errors
    /// [`ScenarioError`] if a queue, a loss model or a kind of trace is unknown after all.
    pub(crate) fn new<B: Backend<Packet = Frame>>(
        scenario: &Scenario,
        registry: &Registry<B>,
    ) -> Result<Self, ScenarioError> {
        let (nodes, specs) = scenario.topology();
        let mut network = Self {
            links: Vec::new(),
            sharing: Vec::new(),
            nats: Nats::new(&specs),
            queues: Vec::new(),
            names: Vec::new(),
            topology: Topology::new(nodes, Hop::Host),
        };
        let directions = specs.iter().flat_map(LinkSpec::directions);
        for (link, direction) in (0..).zip(directions) {
            let [from, to] = [direction.from, direction.to]
                .map(|end| network.node(end).expect("links connect nodes"));
            let hop = if network.nats.is_before(link) {
                Hop::Nat(link)
            } else {
                Hop::Link(link)
            };
            network.topology.add_link(from, to, hop);
            network.links.push(direction.link(registry, scenario.seed)?);
            if direction.shares_state(registry)? {
                network.sharing.push(link);
            }
            network.queues.push(direction.queue.read(&registry.queues)?);
            let name = direction.name();
            network.names.push(LinkName { name, from, to });
        }
        Ok(network)
    }

    /// Checks that each queue can be simulated.
    pub(crate) fn check_simulated(&self) -> Result<(), ScenarioError> {
        let mut queues = self.names.iter().zip(&self.queues);
        match queues.find(|(_, queue)| !queue.is_simulated()) {
            Some((link, _)) => Err(ScenarioError::new(
                format!("link \"{}\"", link.name),
                "the simulator has no queues of the kernel: name one to run in its place, \
                 kernel.simulated, or use skywave realtime run",
            )),
            None => Ok(()),
        }
    }

    /// Returns the discipline of a link's queue.
    pub(crate) fn queue(&self, link: u32) -> &dyn QueueKind<Frame> {
        &*self.queues[link as usize]
    }

    /// Returns the links with a queue of the kernel, and its queueing discipline.
    pub(crate) fn kernel_queues(&self) -> impl Iterator<Item = (u32, &Discipline)> {
        let queues = (0..).zip(&self.queues);
        queues.filter_map(|(link, queue)| Some((link, queue.of_kernel()?)))
    }

    /// Returns the network with other links, before any packet has been sent. It has no names.
    pub(crate) fn with_links(&self, links: Vec<SimLink>) -> Self {
        Self {
            links,
            sharing: Vec::new(),
            nats: self.nats.clone(),
            queues: Vec::new(),
            names: Vec::new(),
            topology: self.topology.clone(),
        }
    }

    /// Returns the index of a node.
    pub(crate) fn node(&self, name: &str) -> Option<u32> {
        self.topology.node(name)
    }

    /// Returns the names of the nodes, in the order of their indices.
    pub(crate) fn nodes(&self) -> &[String] {
        self.topology.nodes()
    }

    /// Returns, for each NAT, the links behind it.
    pub(crate) fn behind_nats(&self) -> Vec<Vec<u32>> {
        let mut links = vec![Vec::new(); self.nats.nats.len()];
        for (&link, &nat) in &self.nats.by_link {
            links[nat].push(link);
        }
        links
    }

    /// Returns the NAT in front of a link.
    pub(crate) fn nat(&mut self, link: u32) -> &mut Nat {
        self.nats.before(link)
    }

    /// Returns the hop with this index in the table.
    #[inline(always)]
    pub(crate) fn hop(&self, index: u32) -> Hop {
        self.topology.hop(index)
    }

    /// Returns the route between two nodes: through the nodes of `through`, or if that is `None`,
    /// the route with the fewest links; among equals, the one whose links come first in the
    /// scenario.
    ///
    /// # Errors
    /// [`ScenarioError`] at `field` if there is no such route.
    pub(crate) fn route(
        &mut self,
        from: u32,
        to: u32,
        through: Option<&[String]>,
        field: &str,
    ) -> Result<Way, ScenarioError> {
        let found = self.topology.route(from, to, through);
        found.map_err(|error| ScenarioError::new(field, error.to_string()))
    }

    /// Returns whether any queue on the route that starts here distinguishes traffic classes.
    pub(crate) fn has_classes(&self, hop: u32) -> bool {
        let mut links = self.links_from(hop);
        links.any(|link| self.queues[link as usize].conduct().has_classes)
    }

    /// Returns the links of the route that starts here.
    pub(crate) fn links_from(&self, hop: u32) -> impl Iterator<Item = u32> {
        let hops = self.topology.hops_from(hop).iter();
        hops.map_while(|hop| match hop {
            Hop::Link(link) | Hop::Nat(link) => Some(*link),
            Hop::Host => None,
        })
    }

    /// Returns the nodes of the route that starts here, except the first.
    pub(crate) fn nodes_from(&self, hop: u32) -> impl Iterator<Item = &str> {
        self.links_from(hop).map(|link| {
            let node = self.names[link as usize].to;
            &*self.nodes()[node as usize]
        })
    }

    /// Returns for each link the least time from the arrival of a packet at its far end until the
    /// packet can be at one of the nodes `ends`.
    pub(crate) fn least_times_to(&self, ends: impl IntoIterator<Item = u32>) -> Box<[Duration]> {
        let mut least = vec![Duration::MAX; self.nodes().len()];
        for node in ends {
            least[node as usize] = Duration::ZERO;
        }
        let mut is_final = false;
        while !is_final {
            is_final = true;
            for (name, link) in self.names.iter().zip(&self.links) {
                let through = least[name.to as usize] + link.lookahead();
                if through < least[name.from as usize] {
                    least[name.from as usize] = through;
                    is_final = false;
                }
            }
        }
        let links = self.names.iter();
        links.map(|name| least[name.to as usize]).collect()
    }

    /// Returns the dialects that routers on the route that starts here write into packets of this
    /// class.
    pub(crate) fn dialects(&self, start: u32, class: u8) -> impl Iterator<Item = Dialect> {
        self.links_from(start)
            .map(|link| &self.queues[link as usize])
            .filter_map(move |queue| queue.conduct_for(class).dialect)
    }
}

/// The NATs in front of links.
#[derive(Clone)]
struct Nats {
    nats: Vec<Nat>,
    /// The index of the NAT in front of each link that has one. Both directions share it.
    by_link: BTreeMap<u32, usize>,
}

impl Nats {
    fn new(specs: &[LinkSpec]) -> Self {
        let (mut nats, mut by_link) = (Vec::new(), BTreeMap::new());
        let mut first = 0;
        for spec in specs {
            let next = first + spec.directions().count() as u32;
            if let Some(nat) = spec.nat {
                by_link.extend((first..next).map(|link| (link, nats.len())));
                nats.push(Nat::new(nat));
            }
            first = next;
        }
        Self { nats, by_link }
    }

    fn is_before(&self, link: u32) -> bool {
        self.by_link.contains_key(&link)
    }

    fn before(&mut self, link: u32) -> &mut Nat {
        &mut self.nats[self.by_link[&link]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watching::backend::Registry;

    /// From the middle, the near end counts, whichever way a packet goes.
    #[test]
    fn the_least_time_to_an_end_is_the_sum_of_the_delays_on_the_shortest_way() {
        let text = r#"
            name = "line"
            nodes = ["a", "r", "q", "b"]
            duration = "1 s"
            links = [
                { from = "a", to = "r", rate = "1 Mbps", delay = "1 ms" },
                { from = "r", to = "q", rate = "1 Mbps", delay = "20 ms" },
                { from = "q", to = "b", rate = "1 Mbps", delay = "300 ms" },
            ]
            flows = [{ name = "f", from = "a", to = "b", transport = { tcp = {} }, source = "ftp" }]
        "#;
        let registry = Registry::default();
        let scenario = Scenario::from_toml(text, &registry).unwrap();
        let network = Network::new(&scenario, &registry).unwrap();
        let ends = ["a", "b"].map(|name| network.node(name).unwrap());
        let names = network.names.iter().map(|link| link.name.as_str());
        let times: BTreeMap<_, _> = names.zip(network.least_times_to(ends)).collect();
        let ms = Duration::from_millis;
        assert_eq!(times["a->r"], ms(1));
        assert_eq!(times["r->q"], ms(21));
        assert_eq!(times["q->r"], ms(1));
        assert_eq!(times["q->b"], Duration::ZERO);
        assert_eq!(times["r->a"], Duration::ZERO);
    }
}
