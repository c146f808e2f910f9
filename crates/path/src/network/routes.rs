//! Routes over links: the fewest links between two nodes, or the nodes that a flow names.

use std::collections::{BTreeMap, VecDeque};

/// The maximum number of trees kept, one per node at which many routes start. Each takes memory for
/// every node.
const MOST_TREES: usize = 64;

/// The directed links of a network, each with the nodes at its ends.
#[derive(Clone, Debug)]
pub(super) struct Routes {
    ends: Vec<(u32, u32)>,
    /// Outgoing links of each node, in the order in which they were added.
    outgoing: Vec<Vec<u32>>,
    trees: BTreeMap<u32, Tree>,
}

/// The routes with the fewest links from one node to all others.
#[derive(Clone, Debug)]
struct Tree {
    /// The link by which each node is reached; `None` if it is unreachable, and for the root.
    came_by: Vec<Option<u32>>,
    /// Whether another route has as few links.
    has_equal: Vec<bool>,
}

/// A route with the fewest links.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fewest {
    /// The indices of its links, in order.
    pub(super) links: Vec<u32>,
    /// Whether another route has as few links.
    pub(super) has_equal: bool,
}

impl Routes {
    /// Creates `nodes` nodes without links.
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            ends: Vec::new(),
            outgoing: vec![Vec::new(); nodes],
            trees: BTreeMap::new(),
        }
    }

    /// Adds a link, by the indices of the nodes at its ends. Returns its index.
    pub(super) fn add_link(&mut self, from: u32, to: u32) -> u32 {
        let link = self.ends.len() as u32;
        self.ends.push((from, to));
        self.outgoing[from as usize].push(link);
        self.trees.clear();
        link
    }

    /// Returns the route with the fewest links; among equals, the one whose links were added
    /// first.
    pub(super) fn fewest_links(&mut self, from: u32, to: u32) -> Option<Fewest> {
        // A host has one link, so the routes of all hosts at a router share the router's tree.
        if let &[only] = &self.outgoing[from as usize][..] {
            let next = self.ends[only as usize].1;
            let mut rest = self.by_tree(next, to)?;
            rest.links.insert(0, only);
            return Some(rest);
        }
        self.by_tree(from, to)
    }

    /// Returns the indices of the links along these nodes.
    ///
    /// # Errors
    /// The first two consecutive nodes without a link.
    pub(super) fn along(&self, nodes: &[u32]) -> Result<Vec<u32>, (u32, u32)> {
        let pairs = nodes.windows(2).map(|pair| (pair[0], pair[1]));
        pairs
            .map(|(from, to)| {
                let mut links = self.outgoing[from as usize].iter();
                let link = links.find(|&&link| self.ends[link as usize].1 == to);
                link.copied().ok_or((from, to))
            })
            .collect()
    }

    fn by_tree(&mut self, root: u32, to: u32) -> Option<Fewest> {
        if !self.trees.contains_key(&root) {
            if self.trees.len() >= MOST_TREES {
                self.trees.clear();
            }
            let tree = self.tree(root);
            self.trees.insert(root, tree);
        }
        let tree = &self.trees[&root];
        let (mut links, mut has_equal, mut node) = (Vec::new(), false, to);
        while node != root {
            let link = tree.came_by[node as usize]?;
            has_equal |= tree.has_equal[node as usize];
            links.push(link);
            node = self.ends[link as usize].0;
        }
        links.reverse();
        Some(Fewest { links, has_equal })
    }

    /// Builds the tree by breadth-first search.
    fn tree(&self, root: u32) -> Tree {
        let nodes = self.outgoing.len();
        let mut tree = Tree {
            came_by: vec![None; nodes],
            has_equal: vec![false; nodes],
        };
        let mut distance = vec![u32::MAX; nodes];
        distance[root as usize] = 0;
        let mut frontier = VecDeque::from([root]);
        while let Some(node) = frontier.pop_front() {
            for &link in &self.outgoing[node as usize] {
                let next = self.ends[link as usize].1;
                let further = distance[node as usize] + 1;
                if distance[next as usize] == u32::MAX {
                    distance[next as usize] = further;
                    tree.came_by[next as usize] = Some(link);
                    frontier.push_back(next);
                } else if distance[next as usize] == further {
                    tree.has_equal[next as usize] = true;
                }
            }
        }
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routes(nodes: usize, ends: &[(u32, u32)]) -> Routes {
        let mut routes = Routes::new(nodes);
        for &(from, to) in ends {
            routes.add_link(from, to);
        }
        routes
    }

    fn fewest(links: Vec<u32>, has_equal: bool) -> Option<Fewest> {
        Some(Fewest { links, has_equal })
    }

    #[test]
    fn takes_the_fewest_links_and_the_first_of_equals() {
        // a is 0, b 1, c 2, d 3.
        let mut routes = routes(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
        assert_eq!(routes.fewest_links(0, 3), fewest(vec![0, 2], true));
        assert_eq!(routes.fewest_links(0, 2), fewest(vec![1], false));
        assert_eq!(routes.fewest_links(3, 0), None);
        assert_eq!(routes.add_link(0, 3), 4);
        assert_eq!(routes.fewest_links(0, 3), fewest(vec![4], false));
    }

    /// A route that extends one of two equally short routes also has an equal.
    #[test]
    fn equals_on_the_way_are_equals_at_the_end() {
        let mut routes = routes(5, &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]);
        assert_eq!(routes.fewest_links(0, 4), fewest(vec![0, 2, 4], true));
    }

    #[test]
    fn a_host_shares_the_tree_of_its_router() {
        let mut routes = routes(4, &[(0, 1), (1, 0), (1, 2), (2, 1), (3, 1), (1, 3)]);
        assert_eq!(routes.fewest_links(0, 2), fewest(vec![0, 2], false));
        assert_eq!(routes.fewest_links(3, 2), fewest(vec![4, 2], false));
        assert_eq!(routes.fewest_links(3, 1), fewest(vec![4], false));
        assert_eq!(routes.trees.len(), 1);
    }

    #[test]
    fn follows_the_nodes_that_are_named() {
        let routes = routes(4, &[(0, 1), (1, 2), (2, 3)]);
        assert_eq!(routes.along(&[0, 1, 2, 3]), Ok(vec![0, 1, 2]));
        assert_eq!(routes.along(&[0, 2, 3]), Err((0, 2)));
    }
}
