//! A network: links, and packets that move over them along routes.
//!
//! A [`Topology`] determines where a packet goes next. The simulator uses only that, because its
//! schedule contains more than links; a driver that needs only links uses [`Network`].

mod routes;
mod topology;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter;

use skywave_registry::MemberFailure;
use skywave_units::Instant;

use crate::{Dropped, Link, Packet};

pub use topology::{NoRoute, Topology, Way};

/// The next hop of a packet in a [`Network`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// Onto this link.
    Link(u32),
    /// The end of the route: the packet has arrived.
    End,
}

/// A packet that carries its position on its route.
pub trait Routed: Packet {
    /// Returns the index of its next hop in the table of the [`Topology`].
    fn hop(&self) -> u32;

    /// Sets the index of its next hop.
    fn set_hop(&mut self, hop: u32);
}

/// Observes packets on links, and takes the dropped ones.
pub trait NetworkObserver<P> {
    /// Reports a packet that arrives at the sending end of a link.
    fn enters(&mut self, link: u32, packet: &mut P);

    /// Reports a packet that has reached the far end of a link.
    fn leaves(&mut self, link: u32, packet: &P);

    /// Reports and hands over a packet that a link has dropped.
    fn dropped(&mut self, link: u32, dropped: Dropped<P>);
}

/// Links, and the packets on them.
///
/// It has no clock: the driver passes the time, and everything happens at the times that the links
/// determine, in order. The lateness of a driver therefore does not add up along a route.
#[derive(Debug)]
pub struct Network<P> {
    topology: Topology<Hop>,
    links: Vec<Scheduled<P>>,
    /// The deadlines of links. Those that differ from [`Scheduled::deadline`] are stale.
    agenda: BinaryHeap<Reverse<(Instant, u32)>>,
    now: Instant,
}

/// A link, and its deadline on the agenda.
#[derive(Debug)]
struct Scheduled<P> {
    link: Link<P>,
    deadline: Option<Instant>,
}

impl<P: Routed> Network<P> {
    /// Creates a network of these nodes without links, at time zero.
    pub fn new(nodes: Vec<String>) -> Self {
        Self {
            topology: Topology::new(nodes, Hop::End),
            links: Vec::new(),
            agenda: BinaryHeap::new(),
            now: Instant::ZERO,
        }
    }

    /// Adds an idle link from one node to another. Returns its index; links count from zero.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn add_link(&mut self, from: u32, to: u32, link: Link<P>) -> u32 {
        let index = self.links.len() as u32;
        self.links.push(Scheduled {
            link,
            deadline: None,
        });
        self.topology.add_link(from, to, Hop::Link(index))
    }

    /// Returns the index of a node.
    pub fn node(&self, name: &str) -> Option<u32> {
        self.topology.node(name)
    }

    /// Returns the route between two nodes, as [`Topology::route`] does.
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
        self.topology.route(from, to, through)
    }

    /// Sends a packet to its next hop, at the time last passed to [`Network::advance`]. Returns it
    /// if that is the end of its route.
    #[must_use]
    pub fn send(&mut self, packet: P, observer: &mut impl NetworkObserver<P>) -> Option<P> {
        self.forward(self.now, packet, observer)
    }

    /// Returns when [`Network::advance`] must next be called.
    pub fn deadline(&self) -> Option<Instant> {
        // A stale entry wakes the driver once, for nothing.
        self.agenda.peek().map(|&Reverse((at, _))| at)
    }

    /// Advances to `now`, and passes the packets that have arrived to `arrived`, in order of
    /// arrival.
    pub fn advance<O: NetworkObserver<P>>(
        &mut self,
        now: Instant,
        observer: &mut O,
        mut arrived: impl FnMut(&mut O, Instant, P),
    ) {
        self.now = self.now.max(now);
        while let Some(&Reverse((at, index))) = self.agenda.peek()
            && at <= self.now
        {
            self.agenda.pop();
            let scheduled = &mut self.links[index as usize];
            if scheduled.deadline != Some(at) {
                continue;
            }
            scheduled.deadline = None;
            while let Some(mut packet) = self.links[index as usize].link.dequeue(at) {
                observer.leaves(index, &packet);
                packet.set_hop(packet.hop() + 1);
                if let Some(packet) = self.forward(at, packet, observer) {
                    arrived(observer, at, packet);
                }
            }
            self.settle(index, None, observer);
        }
    }

    /// Returns the links, in the order in which they were added, as of the time last passed to
    /// [`Network::advance`].
    pub fn links(&mut self) -> impl Iterator<Item = &Link<P>> {
        let now = self.now;
        self.links.iter_mut().map(move |scheduled| {
            scheduled.link.expire(now);
            &scheduled.link
        })
    }

    /// Returns why a queue or a loss model can no longer decide, or `None` as long as all can.
    pub fn failure(&self) -> Option<MemberFailure> {
        self.links
            .iter()
            .find_map(|scheduled| scheduled.link.failure())
    }

    /// Moves a packet to its next hop. Returns it if that is the end of its route.
    fn forward(
        &mut self,
        at: Instant,
        mut packet: P,
        observer: &mut impl NetworkObserver<P>,
    ) -> Option<P> {
        let Hop::Link(index) = self.topology.hop(packet.hop()) else {
            return Some(packet);
        };
        observer.enters(index, &mut packet);
        let refused = self.links[index as usize].link.enqueue(at, packet).err();
        self.settle(index, refused, observer);
        None
    }

    /// Hands over the packets that a link has dropped, and puts its next deadline on the agenda.
    fn settle(
        &mut self,
        index: u32,
        refused: Option<Dropped<P>>,
        observer: &mut impl NetworkObserver<P>,
    ) {
        let Scheduled { link, deadline } = &mut self.links[index as usize];
        let keeps = link.keeps();
        let later = iter::from_fn(|| keeps.then(|| link.dropped()).flatten());
        for dropped in refused.into_iter().chain(later) {
            observer.dropped(index, dropped);
        }
        let next = link.deadline();
        if next != *deadline {
            *deadline = next;
            self.agenda.extend(next.map(|at| Reverse((at, index))));
        }
    }
}
