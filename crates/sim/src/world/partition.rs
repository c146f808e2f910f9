//! The partition of a network into regions, which threads execute at the same time.

use std::iter;

use skywave_units::Duration;

use crate::world::elements::{Elements, Members, Place};
use crate::world::ids::HostId;
use crate::world::network::Network;
use crate::world::packet::{Port, SimLink};

/// The most regions. Each has tables as long as those of the whole network.
const MOST_REGIONS: usize = 256;

/// The most lookaheads at which borders are tried.
const CANDIDATES: usize = 16;

/// By what factor the busiest region may have more to do than with the best borders, for a longer
/// lookahead.
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

/// A region of a network: some of its elements, which one thread executes (a logical process, in
/// parallel simulation).
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
    /// which the lookahead is more than a time. The first region has the place `first`.
    ///
    /// The busiest region has about as little to do as possible. Apart from that, borders are at links
    /// with a long lookahead: it is how far a region can advance without news from the others.
    pub(crate) fn regions(
        &self,
        most: usize,
        network: &Network,
        ports: &[Port],
        first: Option<Place>,
        divided_at: impl Fn(Duration) -> Self,
    ) -> (Vec<RegionPlan>, Map) {
        let most = most.min(MOST_REGIONS);
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
        let mut regions: Vec<_> = self.members.iter().map(region_of).collect();
        if let Some(place) = first {
            let first = regions[self.element_of(place)];
            for region in &mut regions {
                *region = match *region {
                    0 => first,
                    region if region == first => 0,
                    region => region,
                };
            }
        }
        self.plans(&regions)
    }

    /// Returns the element of a place.
    fn element_of(&self, place: Place) -> usize {
        let has = |members: &Members| match place {
            Place::Begin(_) => false,
            Place::End(link) => members.links.binary_search(&link).is_ok(),
            Place::Host(host) => members.hosts.binary_search(&host).is_ok(),
        };
        match place {
            Place::Begin(link) => self.begins[link as usize] as usize,
            _ => self.members.iter().position(has).unwrap_or(0),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bench;
    use crate::running::build::Build;
    use crate::watching::backend::Registry;
    use crate::world::elements::Division;
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
        let divided_at = |least| {
            let division = Division::default().coarser(least);
            Elements::new(division, network, ports, &build.hosts, &[])
        };
        let elements = divided_at(Duration::ZERO);
        assert_eq!(elements.members.len(), 24);
        let hosts = |most, first| -> Vec<usize> {
            let (plans, map) = elements.regions(most, network, ports, first, divided_at);
            for (region, plan) in plans.iter().enumerate() {
                let hosts = plan.whole.hosts.iter().map(|&host| HostId::new(host));
                assert!(hosts.into_iter().all(|host| map.of_host(host) == region));
            }
            plans.iter().map(|plan| plan.whole.hosts.len()).collect()
        };
        assert_eq!(hosts(1, None), [200]);
        assert!(
            hosts(2, None).iter().all(|&hosts| hosts >= 60),
            "{:?}",
            hosts(2, None)
        );
        assert_eq!(hosts(100, None).iter().sum::<usize>(), 200);
        assert_eq!(hosts(100, None).len(), 24);
        // What shares state is with the calling thread.
        for host in [0, 77, 199] {
            let first = Some(Place::Host(host));
            let (_, map) = elements.regions(3, network, ports, first, divided_at);
            assert_eq!(map.of_host(HostId::new(host)), 0);
        }
    }
}
