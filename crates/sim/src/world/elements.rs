//! Elements: the parts of a network between which packets take time.
//!
//! What happens in an element affects another one only through a packet on a link between them, no
//! earlier than the link's [lookahead](skywave_path::Link::lookahead). Until then, elements can be
//! executed one after the other.

use std::collections::BTreeMap;

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::unionfind::UnionFind;
use petgraph::visit::DfsPostOrder;
use skywave_units::Duration;

use crate::world::host::Host;
use crate::world::ids::{FlowId, PortId};
use crate::world::network::Network;
use crate::world::packet::Port;

/// How a network is divided into elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Division {
    /// The whole network is one element, in which everything happens in order of time.
    Whole,
    /// At the links with a lookahead of more than `least`. An element is ahead of another one by
    /// at most `stride`. If `adapts` is set, the network is divided only while that pays.
    AtLinks {
        least: Duration,
        stride: Duration,
        adapts: bool,
    },
}

impl Default for Division {
    /// Returns the finest division.
    fn default() -> Self {
        Self::AtLinks {
            least: Duration::ZERO,
            stride: Self::LONGEST_STRIDE,
            adapts: true,
        }
    }
}

impl Division {
    /// The longest time by which an element may be ahead of another one.
    pub(crate) const LONGEST_STRIDE: Duration = Duration::from_secs(2);

    /// Returns the same division, but only at links with a lookahead of more than `least`.
    pub(crate) fn coarser(self, least: Duration) -> Self {
        match self {
            Self::Whole => Self::Whole,
            Self::AtLinks {
                least: before,
                stride,
                adapts,
            } => Self::AtLinks {
                least: before.max(least),
                stride,
                adapts,
            },
        }
    }

    /// Returns whether the network is divided and joined as it pays.
    pub(crate) const fn adapts(self) -> bool {
        matches!(self, Self::AtLinks { adapts: true, .. })
    }

    /// Returns whether the network is divided in any case.
    pub(crate) const fn is_fixed(self) -> bool {
        matches!(self, Self::AtLinks { adapts: false, .. })
    }

    /// Returns the longest time by which an element may be ahead of another one.
    pub(crate) const fn stride(self) -> Duration {
        match self {
            Self::Whole => Self::LONGEST_STRIDE,
            Self::AtLinks { stride, .. } => stride,
        }
    }
}

/// What belongs to an element. All lists are in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Members {
    /// The links that end in it.
    pub(crate) links: Vec<u32>,
    /// Its hosts, with the applications of those that send.
    pub(crate) hosts: Vec<u32>,
    /// The links of `links` that begin in another element.
    pub(crate) inputs: Vec<u32>,
}

impl Members {
    /// Returns the members of the only element.
    pub(crate) fn whole(links: usize, hosts: usize) -> Self {
        Self {
            links: (0..links as u32).collect(),
            hosts: (0..hosts as u32).collect(),
            inputs: Vec::new(),
        }
    }
}

/// The elements of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Elements {
    /// The elements in the order in which they are executed: from an element to those that its
    /// packets reach, as far as there are no loops.
    pub(crate) members: Vec<Members>,
    /// The element in which each link begins.
    pub(crate) begins: Vec<u32>,
}

impl Elements {
    /// Divides a network.
    pub(crate) fn new(
        division: Division,
        network: &Network,
        ports: &[Port],
        hosts: &[Host],
        sharing: &[FlowId],
    ) -> Self {
        match division {
            Division::AtLinks { least, .. } if !hosts.is_empty() => {
                Self::divided(network, ports, hosts, sharing, least)
            }
            _ => Self::whole(network.links.len(), hosts.len()),
        }
    }

    /// Makes the whole network one element.
    fn whole(links: usize, hosts: usize) -> Self {
        Self {
            members: vec![Members::whole(links, hosts)],
            begins: vec![0; links],
        }
    }

    /// Divides a network at the links whose lookahead is more than `least`.
    fn divided(
        network: &Network,
        ports: &[Port],
        hosts: &[Host],
        sharing: &[FlowId],
        least: Duration,
    ) -> Self {
        let links = network.links.len();
        let mut parts = Parts::new(links, hosts.len());
        for (link, at) in (0..).zip(&network.links) {
            if at.lookahead() <= least {
                parts.join(Place::Begin(link), Place::End(link));
            }
        }
        parts.follow_routes(network, ports);
        for links in network.behind_nats() {
            for pair in links.windows(2) {
                parts.join(Place::Begin(pair[0]), Place::Begin(pair[1]));
            }
        }
        for (flow, ends) in (0..).map(FlowId::new).zip(hosts.chunks(2)) {
            // Its application opens and closes both ends at the same time.
            if let [Host::Successive(_), Host::Successive(_)] = ends {
                let [sender, receiver] = [flow.sender(), flow.receiver()];
                parts.join(Place::Host(sender.get()), Place::Host(receiver.get()));
            }
        }
        // What shares state is executed in order of time.
        let links = network.sharing.iter().map(|&link| Place::Begin(link));
        let ends = sharing
            .iter()
            .flat_map(|flow| [flow.sender(), flow.receiver()]);
        let places: Vec<_> = links
            .chain(ends.map(|end| Place::Host(end.get())))
            .collect();
        for pair in places.windows(2) {
            parts.join(pair[0], pair[1]);
        }
        parts.into_elements()
    }
}

/// Where something happens.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// The sending end of a link.
    Begin(u32),
    /// The far end of a link.
    End(u32),
    Host(u32),
}

/// Places, joined if what happens at one affects the other at once.
struct Parts {
    sets: UnionFind<u32>,
    links: u32,
    hosts: u32,
    /// Whether any route uses each link.
    used: Vec<bool>,
}

impl Parts {
    fn new(links: usize, hosts: usize) -> Self {
        Self {
            sets: UnionFind::new(2 * links + hosts),
            links: links as u32,
            hosts: hosts as u32,
            used: vec![false; links],
        }
    }

    const fn index(&self, place: Place) -> u32 {
        match place {
            Place::Begin(link) => link,
            Place::End(link) => self.links + link,
            Place::Host(host) => 2 * self.links + host,
        }
    }

    fn join(&mut self, one: Place, other: Place) {
        self.sets.union(self.index(one), self.index(other));
    }

    /// Joins the end of each link with the beginnings of the next ones, and hosts with their links.
    fn follow_routes(&mut self, network: &Network, ports: &[Port]) {
        // The first and the last link of each route.
        let mut routes: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        for (id, port) in (0..).map(PortId::new).zip(ports) {
            let (first, last) = *routes.entry(port.hop).or_insert_with(|| {
                let links: Vec<_> = network.links_from(port.hop).collect();
                for pair in links.windows(2) {
                    self.join(Place::End(pair[0]), Place::Begin(pair[1]));
                }
                for &link in &links {
                    self.used[link as usize] = true;
                }
                (links[0], links[links.len() - 1])
            });
            self.join(Place::Host(id.host().get()), Place::Begin(first));
            self.join(Place::End(last), Place::Host(port.peer.host().get()));
        }
    }

    fn into_elements(mut self) -> Elements {
        // Nothing happens on the other links, which therefore may be anywhere.
        for link in (0..self.links).filter(|&link| !self.used[link as usize]) {
            for place in [Place::Begin(link), Place::End(link)] {
                self.sets.union(self.index(place), 0);
            }
        }
        let set_of = |place: Place| self.sets.find(self.index(place));
        let mut graph = DiGraph::<(), ()>::new();
        let mut nodes = BTreeMap::new();
        let mut node_of = |place: Place| {
            let node = nodes.entry(set_of(place));
            *node.or_insert_with(|| graph.add_node(()))
        };
        // Every host has a link, so this finds all sets.
        let ends: Vec<_> = (0..self.links)
            .map(|link| [Place::Begin(link), Place::End(link)].map(&mut node_of))
            .collect();
        for &[begin, end] in ends.iter().filter(|[begin, end]| begin != end) {
            graph.add_edge(begin, end, ());
        }
        let position = positions(&graph);
        let position = |node: NodeIndex| position[node.index()];
        let mut members = vec![Members::default(); graph.node_count()];
        for (link, &[begin, end]) in (0..).zip(&ends) {
            let element = &mut members[position(end) as usize];
            element.links.push(link);
            if begin != end {
                element.inputs.push(link);
            }
        }
        let element_of = |host| position(nodes[&set_of(Place::Host(host))]) as usize;
        // Lists that grow would leave holes in memory.
        let mut counts = vec![0; members.len()];
        (0..self.hosts).for_each(|host| counts[element_of(host)] += 1);
        for (element, count) in members.iter_mut().zip(counts) {
            element.hosts.reserve_exact(count);
        }
        (0..self.hosts).for_each(|host| members[element_of(host)].hosts.push(host));
        Elements {
            members,
            begins: ends.iter().map(|&[begin, _]| position(begin)).collect(),
        }
    }
}

/// Returns the position of each node in an order that follows the edges where it can. The search
/// begins with the node that has the most incoming edges.
fn positions(graph: &DiGraph<(), ()>) -> Vec<u32> {
    let mut nodes: Vec<_> = graph.node_indices().collect();
    let inputs = |node: &NodeIndex| graph.neighbors_directed(*node, petgraph::Incoming).count();
    nodes.sort_by_cached_key(|node| std::cmp::Reverse(inputs(node)));
    let mut search = DfsPostOrder::empty(graph);
    let mut order = Vec::with_capacity(nodes.len());
    for node in nodes {
        search.move_to(node);
        while let Some(next) = search.next(graph) {
            order.push(next);
        }
    }
    let mut positions = vec![0; order.len()];
    for (position, node) in (0..).zip(order.into_iter().rev()) {
        positions[node.index()] = position;
    }
    positions
}
