//! Nodes and links by name, and routes as sequences of hops.

use std::collections::BTreeMap;

use thiserror::Error;

use super::routes::{Fewest, Routes};

/// The nodes of a network and the routes between them, in one flat table of hops.
///
/// A hop is the next step of a packet, such as entering a link. There is one hop per link, and one
/// that ends every route. The hops of a route are adjacent in the table, so a packet that knows the
/// index of its hop finds the next one right after it.
#[derive(Clone, Debug)]
pub struct Topology<H> {
    nodes: Vec<String>,
    /// The index of each node.
    index: BTreeMap<String, u32>,
    routes: Routes,
    /// The hop onto each link.
    onto: Vec<H>,
    /// The hop at the end of a route.
    end: H,
    hops: Vec<H>,
    /// The routes requested so far. The key says whether the request names the nodes of the route,
    /// and lists those nodes or else the two ends.
    asked: BTreeMap<(bool, Vec<u32>), Way>,
}

/// A route through a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The index of its first hop in the table of hops.
    pub hop: u32,
    /// Whether another route has as few links.
    pub has_equal: bool,
}

/// The reason why there is no route.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NoRoute {
    /// No links lead from one node to the other.
    #[error("there is no route from \"{from}\" to \"{to}\"")]
    Unreachable {
        /// The node at which the route begins.
        from: String,
        /// The node at which it ends.
        to: String,
    },
    /// No link connects two successive nodes of the requested route.
    #[error("there is no link \"{from}->{to}\"")]
    Link {
        /// The first of the two.
        from: String,
        /// The second.
        to: String,
    },
    /// A node of the requested route does not exist.
    #[error("there is no node \"{0}\"")]
    Node(String),
}

impl<H: Copy> Topology<H> {
    /// Creates a topology of these nodes without links. Each route ends with the hop `end`.
    pub fn new(nodes: Vec<String>, end: H) -> Self {
        Self {
            index: nodes.iter().cloned().zip(0..).collect(),
            routes: Routes::new(nodes.len()),
            nodes,
            onto: Vec::new(),
            end,
            hops: Vec::new(),
            asked: BTreeMap::new(),
        }
    }

    /// Adds a link from one node to another, onto which `hop` leads. Returns its index; links count
    /// from zero. Routes requested earlier remain unchanged.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn add_link(&mut self, from: u32, to: u32, hop: H) -> u32 {
        self.onto.push(hop);
        self.routes.add_link(from, to)
    }

    /// Returns the index of a node.
    pub fn node(&self, name: &str) -> Option<u32> {
        self.index.get(name).copied()
    }

    /// Returns the names of the nodes, in the order of their indices.
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// Returns the route between two nodes: through the nodes of `through`, or if that is `None`,
    /// the route with the fewest links; among equals, the one whose links were added first.
    ///
    /// # Errors
    /// [`NoRoute`] if there is none.
    ///
    /// # Panics
    /// If `from` or `to` is not the index of a node.
    pub fn route(
        &mut self,
        from: u32,
        to: u32,
        through: Option<&[String]>,
    ) -> Result<Way, NoRoute> {
        let mut nodes = vec![from];
        for name in through.unwrap_or_default() {
            let node = self.node(name);
            nodes.push(node.ok_or_else(|| NoRoute::Node(name.clone()))?);
        }
        nodes.push(to);
        let key = (through.is_some(), nodes);
        if let Some(&way) = self.asked.get(&key) {
            return Ok(way);
        }
        let name = |node: u32| self.nodes[node as usize].clone();
        let found = match through {
            None => self
                .routes
                .fewest_links(from, to)
                .ok_or_else(|| NoRoute::Unreachable {
                    from: name(from),
                    to: name(to),
                })?,
            Some(_) => Fewest {
                links: self
                    .routes
                    .along(&key.1)
                    .map_err(|(from, to)| NoRoute::Link {
                        from: name(from),
                        to: name(to),
                    })?,
                has_equal: false,
            },
        };
        let way = Way {
            hop: self.hops.len() as u32,
            has_equal: found.has_equal,
        };
        let hops = found.links.iter().map(|&link| self.onto[link as usize]);
        self.hops.extend(hops.chain([self.end]));
        self.asked.insert(key, way);
        Ok(way)
    }

    /// Returns the hop with this index in the table.
    ///
    /// # Panics
    /// If there is none.
    #[inline(always)]
    pub fn hop(&self, index: u32) -> H {
        self.hops[index as usize]
    }

    /// Returns the hops from this index on: the rest of its route, followed by other routes.
    ///
    /// # Panics
    /// If there is none.
    pub fn hops_from(&self, index: u32) -> &[H] {
        &self.hops[index as usize..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates links from a to b and c, and from both to d. A link's hop is ten times its index.
    fn diamond() -> Topology<u32> {
        let nodes = ["a", "b", "c", "d"].map(str::to_owned);
        let mut topology = Topology::new(nodes.to_vec(), 99);
        for (link, (from, to)) in (0..).zip([(0, 1), (0, 2), (1, 3), (2, 3)]) {
            assert_eq!(topology.add_link(from, to, 10 * link), link);
        }
        topology
    }

    #[test]
    fn a_route_is_a_run_of_hops() {
        let mut topology = diamond();
        let through = ["c".to_owned()];
        let named = topology.route(0, 3, Some(&through)).unwrap();
        let fewest = topology.route(0, 3, None).unwrap();
        assert!(fewest.has_equal && !named.has_equal);
        assert_eq!(topology.hops_from(named.hop)[..3], [10, 30, 99]);
        assert_eq!(topology.hops_from(fewest.hop), [0, 20, 99]);
        assert_eq!(topology.hop(fewest.hop + 1), 20);
        // The table has each route once.
        assert_eq!(topology.route(0, 3, Some(&through)), Ok(named));
        assert_eq!(topology.hops_from(0).len(), 6);
    }

    #[test]
    fn why_there_is_no_route_is_said_by_name() {
        let mut topology = diamond();
        let mut refused = |from, to, through: Option<&str>| {
            let through = through.map(|name| [name.to_owned()]);
            let through = through.as_ref().map(|names| &names[..]);
            topology.route(from, to, through).unwrap_err().to_string()
        };
        assert_eq!(refused(3, 0, None), "there is no route from \"d\" to \"a\"");
        assert_eq!(refused(0, 3, Some("d")), "there is no link \"a->d\"");
        assert_eq!(refused(0, 3, Some("x")), "there is no node \"x\"");
        // A cached route with the fewest links does not answer a request that names its nodes.
        topology.route(0, 3, None).expect("links lead there");
        let refused = topology.route(0, 3, Some(&[])).unwrap_err();
        assert_eq!(refused.to_string(), "there is no link \"a->d\"");
    }
}
