//! The engine in an open world, which carries packets between ends and network.

use skywave_path::Packet;
use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;

use super::plane::Plane;
use super::region::Region;
use super::{EVENTS_PER_REPORT, INSTANT, Simulator, World};
use crate::world::host::Host;
use crate::world::ids::{HostId, PortId};
use crate::world::observe::{Chronicle, Observer};
use crate::world::packet::{Body, Frame};
use crate::world::schedule::Actor;
use crate::world::view::{Event, HostView};

impl<O: Observer + Chronicle, W: World> Simulator<O, W> {
    /// Executes the events up to `now`.
    pub(crate) fn advance(&mut self, now: Instant) {
        while let Some(at) = self.next_sample().filter(|&at| at <= now) {
            self.run_whole(at);
            self.sample(at);
        }
        self.run_whole(now);
    }

    fn run_whole(&mut self, end: Instant) {
        let horizon = end + INSTANT;
        while self.whole().run_events(horizon, EVENTS_PER_REPORT) < horizon {}
    }

    /// Returns the only region.
    fn whole(&mut self) -> &mut Region<O, W> {
        &mut self.regions[0]
    }

    /// Returns when an event is due of which the outside could learn, unless a packet enters
    /// earlier: a packet that is on its way between two routers can wait. `to_ends` has for each link
    /// the least time from an arrival at its far end until an arrival at a host.
    pub(crate) fn deadline(&self, to_ends: &[Duration]) -> Option<Instant> {
        let plane = &self.regions[0].plane;
        let arrivals = plane.network.links.iter().zip(to_ends);
        let arrivals = arrivals.filter_map(|(link, &rest)| Some(link.deadline()? + rest));
        let timer = plane.schedule.first_timer();
        let timer = timer.map(|_| plane.schedule.first_timer_at());
        arrivals.chain(timer).chain(self.next_sample()).min()
    }

    /// Sends a packet for this host into the network.
    pub(crate) fn enter(&mut self, now: Instant, to: HostId, ecn: Ecn, body: Body, bytes: Vec<u8>) {
        let plane = &mut self.whole().plane;
        let size = bytes.len() as u32;
        let key = plane.bodies.insert(now, body);
        plane.world.keep(key as usize, bytes);
        let from = plane.ports[PortId::of(to).index()].peer;
        plane.post(now, from, ecn, key, size);
    }

    /// Delivers a packet to this host's socket.
    pub(crate) fn receive(&mut self, now: Instant, to: HostId, ecn: Ecn, body: Body) {
        let region = self.whole();
        let host = &mut region.hosts[to.index()];
        region.plane.receive_apart(now, to, ecn, host, body, None);
        region.settle(now, to);
    }

    /// Lets a link take what its queue, outside, has released.
    pub(crate) fn released(&mut self, now: Instant, index: u32) {
        let plane = &mut self.whole().plane;
        let link = &mut plane.network.links[index as usize];
        link.ask_again(now);
        if let Some(at) = link.deadline() {
            plane.schedule.set(Actor::Link(index), at);
        }
        plane.drop_kept(now, index);
    }

    /// Returns the world.
    pub(crate) fn world(&mut self) -> &mut W {
        &mut self.whole().plane.world
    }

    /// Asks what the kernel reports about its ends.
    pub(super) fn ask_outside(&mut self, now: Instant) {
        let Region { hosts, plane, .. } = self.whole();
        for (id, host) in (0..).map(HostId::new).zip(&mut *hosts) {
            if let Host::Kernel(end) = host {
                end.stats = plane.world.stats(id);
                plane.observer.settled(now, HostView::new(id, host));
            }
        }
    }
}

impl<O: Observer + Chronicle, W: World> Plane<O, W> {
    /// Hands a frame at the end of its route to the world.
    pub(super) fn leave(&mut self, now: Instant, frame: Frame) {
        let left = self
            .world
            .deliver(now, frame.body(), frame.to().host(), frame.ecn());
        self.tell(left, Event::Receive, &frame);
        self.bodies.remove(frame.body());
    }
}
