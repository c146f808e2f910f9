//! Elements: the parts of a network between which packets take time.
//!
//! What happens in an element affects another one only through a packet on a link between them, no
//! earlier than the link's [lookahead](skywave_path::Link::lookahead). Until then, elements can be
//! executed one after the other.

use std::collections::BTreeMap;
use std::iter;

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::unionfind::UnionFind;
use petgraph::visit::DfsPostOrder;
use skywave_units::Duration;

use crate::world::host::Host;
use crate::world::ids::{FlowId, HostId, PortId};
use crate::world::network::Network;
use crate::world::packet::{Port, SimLink};

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
    const LONGEST_STRIDE: Duration = Duration::from_secs(2);

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

/// The most lookaheads at which borders are tried.
const CANDIDATES: usize = 16;

/// How much more the busiest region may have to do than with other borders, if the lookahead is longer.
const BALANCED: f64 = 1.05;

/// What hosts cost, as a multiple of a link of their flow: measured for TCP over a dumbbell.
const SENDER: u64 = 7;
const RECEIVER: u64 = 4;

/// How a network could be shared out.
struct Shares {
    /// The region in which each link ends.
    ends: Vec<u32>,
    /// How much the busiest region has to do. A unit is a link, per host that uses it.
    heaviest: u64,
}

/// A region of a network: some of its elements, which one thread executes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RegionPlan {
    /// The region's elements. Links that do not begin in it have a meaningless element in `begins`.
    pub(crate) elements: Elements,
    /// The region as one element.
    pub(crate) whole: Members,
}

/// The region of each link, by where it begins, and of each host. Both are empty if the whole network
/// is one region.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Map {
    links: Vec<u32>,
    hosts: Vec<u32>,
}

impl Map {
    /// Returns the region in which a link begins.
    pub(crate) fn of_link(&self, link: u32) -> usize {
        self.links
            .get(link as usize)
            .map_or(0, |&region| region as usize)
    }

    /// Returns the region of a host.
    pub(crate) fn of_host(&self, host: HostId) -> usize {
        self.hosts
            .get(host.index())
            .map_or(0, |&region| region as usize)
    }
}

impl Elements {
    /// Shares the elements out among up to `most` regions. `divided_at` returns the elements between
    /// which the lookahead is more than a time.
    ///
    /// The busiest region has about as little to do as possible. Apart from that, borders are at links
    /// with a long lookahead: it is how far a region can advance without news from the others.
    pub(crate) fn regions(
        &self,
        most: usize,
        network: &Network,
        ports: &[Port],
        divided_at: impl Fn(Duration) -> Self,
    ) -> (Vec<RegionPlan>, Map) {
        let mut users = vec![0; network.links.len()];
        for port in ports {
            for link in network.links_from(port.hop) {
                users[link as usize] += 1;
            }
        }
        let mut lookaheads: Vec<_> = network.links.iter().map(SimLink::lookahead).collect();
        lookaheads.push(Duration::ZERO);
        lookaheads.sort_unstable();
        lookaheads.dedup();
        let candidates = lookaheads
            .iter()
            .step_by(lookaheads.len().div_ceil(CANDIDATES));
        let mut shares: Vec<_> = candidates
            .map(|&least| divided_at(least).shares(most, &users))
            .collect();
        let least = shares
            .iter()
            .map(|shares| shares.heaviest)
            .min()
            .unwrap_or(0);
        // The last candidates have the longest lookahead.
        let chosen = shares
            .iter()
            .rposition(|shares| shares.heaviest as f64 <= BALANCED * least as f64);
        let ends = shares.swap_remove(chosen.unwrap_or(0)).ends;
        // In each element, at least one link ends.
        let region_of = |members: &Members| ends[members.links[0] as usize];
        let regions: Vec<_> = self.members.iter().map(region_of).collect();
        self.plans(&regions)
    }

    /// Cuts the order of turns into up to `most` pieces. `users` are the numbers of hosts that use
    /// each link.
    fn shares(&self, most: usize, users: &[u64]) -> Shares {
        let load = |members: &Members| -> u64 {
            let links = members.links.iter().map(|&link| users[link as usize]);
            let hosts = members.hosts.iter().map(|&host| HostId::new(host));
            let loads = hosts.map(|host| if host.is_sender() { SENDER } else { RECEIVER });
            links.sum::<u64>() + loads.sum::<u64>()
        };
        let loads: Vec<_> = self.members.iter().map(load).collect();
        let total: u64 = loads.iter().sum::<u64>().max(1);
        let mut before = 0;
        // An element belongs to the piece in which its middle is.
        let piece_of = |load: &u64| {
            let piece = (2 * before + load) * most as u64 / (2 * total);
            before += load;
            piece
        };
        let pieces: Vec<u64> = loads.iter().map(piece_of).collect();
        let (mut regions, mut busy) = (Vec::with_capacity(pieces.len()), Vec::new());
        for (region, piece) in (0_u32..).zip(pieces.chunk_by(u64::eq)) {
            let begin = regions.len();
            regions.extend(piece.iter().map(|_| region));
            busy.push(loads[begin..regions.len()].iter().sum());
        }
        let mut ends = vec![0; users.len()];
        for (members, &region) in self.members.iter().zip(&regions) {
            for &link in &members.links {
                ends[link as usize] = region;
                // To cross a border costs both regions about as much as a link.
                let begin = regions[self.begins[link as usize] as usize];
                if begin != region {
                    busy[begin as usize] += users[link as usize];
                    busy[region as usize] += users[link as usize];
                }
            }
        }
        Shares {
            ends,
            heaviest: busy.into_iter().max().unwrap_or(0),
        }
    }

    /// Returns the regions, given that of each element.
    fn plans(&self, regions: &[u32]) -> (Vec<RegionPlan>, Map) {
        let hosts = self.members.iter().map(|members| members.hosts.len()).sum();
        let region_of = |element: u32| regions[element as usize];
        let mut map = Map {
            links: self.begins.iter().map(|&begin| region_of(begin)).collect(),
            hosts: vec![0; hosts],
        };
        let count = regions.iter().max().map_or(0, |&last| last as usize + 1);
        let mut plans: Vec<_> = iter::repeat_with(|| RegionPlan {
            elements: Self {
                members: Vec::new(),
                begins: vec![0; self.begins.len()],
            },
            whole: Members::default(),
        })
        .take(count)
        .collect();
        let mut places = Vec::with_capacity(regions.len());
        for (members, &region) in self.members.iter().zip(regions) {
            let RegionPlan { elements, whole } = &mut plans[region as usize];
            places.push(elements.members.len() as u32);
            elements.members.push(members.clone());
            whole.links.extend(&members.links);
            whole.hosts.extend(&members.hosts);
            let inputs = members.inputs.iter();
            whole
                .inputs
                .extend(inputs.filter(|&&link| map.links[link as usize] != region));
            for &host in &members.hosts {
                map.hosts[host as usize] = region;
            }
        }
        for (link, &begin) in self.begins.iter().enumerate() {
            let plan = &mut plans[region_of(begin) as usize];
            plan.elements.begins[link] = places[begin as usize];
        }
        for RegionPlan { whole, .. } in &mut plans {
            for list in [&mut whole.links, &mut whole.hosts, &mut whole.inputs] {
                list.sort_unstable();
            }
        }
        (plans, map)
    }
}

/// Where something happens.
#[derive(Clone, Copy)]
enum Place {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bench;
    use crate::running::build::Build;
    use crate::watching::backend::Registry;
    use crate::world::transport::ClockKind;

    /// A host's load is about that of the links on its way, so no region has hosts alone.
    #[test]
    fn regions_have_about_as_much_to_do() {
        let bench = Bench {
            flows: 100,
            rate: "10 Mbps".parse().unwrap(),
            buffer: 100,
            duration: "1 s".parse().unwrap(),
            access: "100 Mbps".parse().unwrap(),
            threads: 1,
        };
        let registry = Registry::default();
        let build = Build::new(&bench.scenario(), &registry, ClockKind::Virtual).unwrap();
        let (network, ports) = (&build.network, &build.ports);
        let divided_at = |least| Elements::divided(network, ports, &build.hosts, &[], least);
        let elements = divided_at(Duration::ZERO);
        assert_eq!(elements.members.len(), 24);
        let hosts = |most| -> Vec<usize> {
            let (plans, map) = elements.regions(most, network, ports, divided_at);
            for (region, plan) in plans.iter().enumerate() {
                let hosts = plan.whole.hosts.iter().map(|&host| HostId::new(host));
                assert!(hosts.into_iter().all(|host| map.of_host(host) == region));
            }
            plans.iter().map(|plan| plan.whole.hosts.len()).collect()
        };
        assert_eq!(hosts(1), [200]);
        assert!(hosts(2).iter().all(|&hosts| hosts >= 60), "{:?}", hosts(2));
        assert_eq!(hosts(100).iter().sum::<usize>(), 200);
        assert_eq!(hosts(100).len(), 24);
    }
}
