//! The network of a scenario: links, and the routes over them.

use std::collections::BTreeMap;
use std::sync::Arc;

use skywave_path::{Dialect, QueueKind};
use skywave_scenario::{Backend, Fewest, LinkSpec, Registry, Routes, Scenario, ScenarioError};

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

/// Links, and routes as sequences of hops in one flat table.
pub(crate) struct Network {
    pub(crate) links: Vec<SimLink>,
    nats: Nats,
    /// The disciplines of their queues.
    queues: Vec<Arc<dyn QueueKind<Frame>>>,
    pub(crate) names: Vec<LinkName>,
    /// Node names. A node's address in captures follows from its index.
    pub(crate) nodes: Vec<String>,
    /// The index of each node.
    index: BTreeMap<String, u32>,
    hops: Vec<Hop>,
    routes: Routes,
    /// The routes requested so far, by the nodes they name, or by their ends if they name none.
    asked: BTreeMap<Vec<u32>, Way>,
}

/// A route through the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// The index of its first hop in the table of hops.
    pub(crate) hop: u32,
    /// Whether another route has as few links.
    pub(crate) has_equal: bool,
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
        let index: BTreeMap<String, u32> = nodes.iter().cloned().zip(0..).collect();
        let mut links = Vec::new();
        let mut queues = Vec::new();
        let mut names = Vec::new();
        let nats = Nats::new(&specs);
        for direction in specs.iter().flat_map(LinkSpec::directions) {
            let (from, to) = (index[direction.from], index[direction.to]);
            links.push(direction.link(registry, scenario.seed)?);
            queues.push(direction.queue.read(&registry.queues)?);
            let name = direction.name();
            names.push(LinkName { name, from, to });
        }
        let ends = names.iter().map(|name| (name.from, name.to)).collect();
        Ok(Self {
            links,
            nats,
            queues,
            names,
            routes: Routes::new(nodes.len(), ends),
            nodes,
            index,
            hops: Vec::new(),
            asked: BTreeMap::new(),
        })
    }

    /// Returns the index of a node.
    pub(crate) fn node(&self, name: &str) -> Option<u32> {
        self.index.get(name).copied()
    }

    /// Returns the NAT in front of a link.
    pub(crate) fn nat(&mut self, link: u32) -> &mut Nat {
        self.nats.before(link)
    }

    /// Returns the hop with this index in the table.
    pub(crate) fn hop(&self, index: u32) -> Hop {
        self.hops[index as usize]
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
        let between = through.unwrap_or_default().iter();
        let between: Vec<_> = between.filter_map(|name| self.node(name)).collect();
        let nodes = [&[from], &between[..], &[to]].concat();
        // An explicit route without intermediate nodes has the same key. If a link connects the
        // ends, it is also the only route with the fewest links.
        if let Some(&way) = self.asked.get(&nodes) {
            return Ok(way);
        }
        let name = |node: u32| &self.nodes[node as usize];
        let found = match through {
            None => self.routes.fewest_links(from, to).ok_or_else(|| {
                let (from, to) = (&self.nodes[from as usize], &self.nodes[to as usize]);
                format!("there is no route from \"{from}\" to \"{to}\"")
            }),
            Some(_) => match self.routes.along(&nodes) {
                Ok(links) => Ok(Fewest {
                    links,
                    has_equal: false,
                }),
                Err((from, to)) => {
                    Err(format!("there is no link \"{}->{}\"", name(from), name(to)))
                }
            },
        };
        let found = found.map_err(|message| ScenarioError::new(field, message))?;
        let way = Way {
            hop: self.hops.len() as u32,
            has_equal: found.has_equal,
        };
        let hops = found.links.into_iter().map(|link| {
            if self.nats.is_before(link) {
                Hop::Nat(link)
            } else {
                Hop::Link(link)
            }
        });
        self.hops.extend(hops.chain([Hop::Host]));
        self.asked.insert(nodes, way);
        Ok(way)
    }

    /// Returns whether any queue on the route that starts here distinguishes traffic classes.
    pub(crate) fn has_classes(&self, hop: u32) -> bool {
        let mut links = self.links_from(hop);
        links.any(|link| self.queues[link as usize].conduct().has_classes)
    }

    /// Returns the links of the route that starts here.
    pub(crate) fn links_from(&self, hop: u32) -> impl Iterator<Item = u32> {
        self.hops[hop as usize..].iter().map_while(|hop| match hop {
            Hop::Link(link) | Hop::Nat(link) => Some(*link),
            Hop::Host => None,
        })
    }

    /// Returns the nodes of the route that starts here, except the first.
    pub(crate) fn nodes_from(&self, hop: u32) -> impl Iterator<Item = &str> {
        self.links_from(hop).map(|link| {
            let node = self.names[link as usize].to;
            &*self.nodes[node as usize]
        })
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
