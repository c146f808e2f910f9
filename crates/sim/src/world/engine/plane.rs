//! The network between hosts: what sends packets onto links and moves them on.

use std::collections::BTreeMap;
use std::sync::Arc;

use skywave_path::{DropReason, Dropped};
use skywave_transport::{Drain, Drained, End};
use skywave_units::Instant;
use skywave_wire::Ecn;
use skywave_wire::ip::DEFAULT_HOP_LIMIT;
use skywave_wire::quick_start::{self, QuickStart};

use super::World;
use super::log::Log;
use crate::error::WireMismatch;
use crate::world::bodies::Bodies;
use crate::world::ids::{HostId, PortId};
use crate::world::network::{Hop, Network};
use crate::world::observe::{Chronicle, Entry, Observer};
use crate::world::packet::{Body, Frame, IP_HEADER, Port};
use crate::world::schedule::{Actor, Schedule};
use crate::world::transport::Transport;
use crate::world::view::{Event, PacketView};
use crate::world::wire_check;

/// Everything between hosts. Separate from them, so that a host can be drained into it.
pub(super) struct Plane<O, W> {
    pub(super) network: Network,
    /// Where hosts are attached, by [`PortId`].
    pub(super) ports: Arc<[Port]>,
    /// Each flow's transport, which defines the tags that routers read; none if no flow has tags.
    pub(super) transports: Arc<[Transport]>,
    /// Packets in flight.
    pub(super) bodies: Bodies,
    /// The Quick-Start options in IP headers, by the keys of the packets' bodies. They are kept
    /// apart from the bodies because few packets have one.
    pub(super) options: BTreeMap<usize, QuickStart>,
    pub(super) schedule: Schedule,
    pub(super) observer: O,
    /// What the observer's chronicle does not have yet; `None` if the whole network is one element,
    /// in which everything happens in order of time.
    pub(super) log: Option<Log>,
    pub(super) verify_wire: bool,
    pub(super) mismatch: Option<WireMismatch>,
    pub(super) world: W,
}

impl<O: Observer + Chronicle, W: World> Plane<O, W> {
    /// Takes what an end has to send, and sets its timer.
    pub(super) fn drain<E>(&mut self, host: HostId, mut drain: Drain<'_, E>) -> Drained<()>
    where
        E: End,
        E::Packet: Into<Body>,
    {
        let now = drain.now();
        while let Some(transmit) = drain.transmit() {
            let option = drain.quick_start();
            self.send(now, host, transmit.ecn, transmit.packet.into(), option);
        }
        drain.finish().map(|deadline| {
            if let Some(at) = deadline {
                self.schedule.wake_by(Actor::Host(host), at);
            }
        })
    }

    /// Notifies the observer of an event of a packet.
    #[inline(always)]
    pub(super) fn tell(&mut self, now: Instant, event: Event, frame: &Frame) {
        let packet = PacketView::new(frame, &self.bodies);
        self.observer.packet(now, event, packet);
        if O::IS_KEPT
            && let Some(entry) = Entry::new(now, event, frame, &self.bodies)
        {
            match &mut self.log {
                None => self.observer.enter(&entry, packet),
                Some(log) => log.push(&entry),
            }
        }
    }

    /// Removes the body of a packet that has been received.
    #[inline(always)]
    pub(super) fn take_body(&mut self, frame: &Frame) -> Body {
        match &self.log {
            None => self.bodies.remove(frame.body()),
            Some(_) => self.bodies.take(frame.body()),
        }
    }

    #[inline(always)]
    fn send(
        &mut self,
        now: Instant,
        host: HostId,
        ecn: Ecn,
        mut body: Body,
        option: Option<QuickStart>,
    ) {
        if W::IS_OPEN {
            return self.world.send(host, ecn, &body);
        }
        let mut size = IP_HEADER + body.size();
        if self.verify_wire {
            body = self.verified(body, ecn);
        }
        let body = self.bodies.insert(now, body);
        if let Some(option) = option {
            size += quick_start::OPTION_LEN;
            self.options.insert(body as usize, option);
        }
        self.post(now, PortId::of(host), ecn, body, size);
    }

    /// Puts a packet that leaves from this port onto the first link of its route. `body` is the key
    /// of its body.
    #[inline(always)]
    pub(super) fn post(&mut self, now: Instant, from: PortId, ecn: Ecn, body: u32, size: u32) {
        let port = self.ports[from.index()];
        let tag = if port.has_tags {
            self.transports[from.host().flow().index()].tag(&self.bodies[body as usize])
        } else {
            0
        };
        let frame = Frame::new(body, port, size, ecn).tagged(tag);
        self.tell(now, Event::Send, &frame);
        match self.network.hop(frame.hop()) {
            Hop::Link(link) => self.enqueue(now, link, frame),
            Hop::Nat(link) => self.translate(now, link, frame),
            Hop::Host => unreachable!("the ends of a flow are different nodes"),
        }
    }

    /// Removes the Quick-Start option of a frame that is at the end of its route. Returns it with
    /// the frame's IP TTL, which each link has decremented.
    pub(super) fn take_option(&mut self, frame: &Frame) -> Option<(QuickStart, u8)> {
        if self.options.is_empty() {
            return None;
        }
        let option = self.options.remove(&frame.body())?;
        let from = self.ports[frame.to().index()].peer;
        let links = frame.hop() - self.ports[from.index()].hop;
        Some((option, DEFAULT_HOP_LIMIT.wrapping_sub(links as u8)))
    }

    /// Returns `body` after encoding and parsing.
    #[cold]
    #[inline(never)]
    fn verified(&mut self, body: Body, ecn: Ecn) -> Body {
        wire_check::round_trip(&body, ecn).unwrap_or_else(|mismatch| {
            self.mismatch.get_or_insert(mismatch);
            body
        })
    }

    /// Processes a link's event. Moves the frame that has arrived at its end, if any, to the next
    /// link, or returns it if it is at the end of its route.
    pub(super) fn serve_link(&mut self, now: Instant, index: u32) -> Option<Frame> {
        let link = &mut self.network.links[index as usize];
        let frame = if link.keeps() {
            self.serve_keeping_link(now, index)?
        } else {
            self.take_arrived(now, index)?
        };
        self.pass_on(now, index, frame)
    }

    /// Moves a frame that has arrived at the end of a link to the next link, or returns it if it is
    /// at the end of its route.
    #[inline(always)]
    pub(super) fn pass_on(&mut self, now: Instant, index: u32, mut frame: Frame) -> Option<Frame> {
        self.tell(now, Event::Arrive { link: index }, &frame);
        frame = frame.moved_on();
        match self.network.hop(frame.hop()) {
            Hop::Host => Some(frame),
            Hop::Link(next) => {
                self.enqueue(now, next, frame);
                None
            }
            Hop::Nat(next) => {
                self.translate(now, next, frame);
                None
            }
        }
    }

    /// Passes a frame through the NAT in front of a link, and onto the link.
    #[cold]
    #[inline(never)]
    fn translate(&mut self, now: Instant, link: u32, mut frame: Frame) {
        let from = self.ports[frame.to().index()].peer;
        let body = &mut self.bodies[frame.body()];
        if !self.network.nat(link).pass(from.host(), body) {
            let event = Event::Drop {
                link,
                reason: DropReason::Nat,
                entered: false,
            };
            return self.drop(now, event, &frame);
        }
        if self.ports[from.index()].has_tags {
            frame = frame.retagged(self.transports[from.host().flow().index()].tag(body));
        }
        self.enqueue(now, link, frame);
    }

    /// Takes the frame that has arrived at the end of a link, and sets the link's next event.
    #[inline(always)]
    fn take_arrived(&mut self, now: Instant, index: u32) -> Option<Frame> {
        let link = &mut self.network.links[index as usize];
        let arrived = link.dequeue(now);
        match link.deadline() {
            Some(at) => self.schedule.set(Actor::Link(index), at),
            None => self.schedule.cancel(Actor::Link(index)),
        }
        arrived
    }

    /// Serves a link whose queue keeps packets, which may also have begun a transmission, and
    /// dropped packets before it.
    #[inline(never)]
    fn serve_keeping_link(&mut self, now: Instant, index: u32) -> Option<Frame> {
        let arrived = self.take_arrived(now, index);
        self.drop_kept(now, index);
        arrived
    }

    #[inline(always)]
    fn enqueue(&mut self, now: Instant, index: u32, frame: Frame) {
        let link = &mut self.network.links[index as usize];
        if let Some(router) = link.quick_start()
            && let Some(QuickStart::Request(request)) = self.options.get_mut(&frame.body())
        {
            router.decide(now, request);
        }
        match link.enqueue(now, frame) {
            Ok(woken) => {
                let keeps = woken && link.keeps();
                if woken && let Some(at) = link.deadline() {
                    self.schedule.set_arrival(index, at);
                }
                self.tell(now, Event::Enqueue { link: index }, &frame);
                if keeps {
                    self.drop_kept(now, index);
                }
            }
            Err(Dropped { packet, reason, .. }) => {
                let event = Event::Drop {
                    link: index,
                    reason,
                    entered: false,
                };
                self.drop(now, event, &packet);
                if self.network.links[index as usize].keeps() {
                    self.drop_kept(now, index);
                }
            }
        }
    }

    /// Processes the frames that a queue has dropped after accepting them.
    #[inline(never)]
    pub(super) fn drop_kept(&mut self, now: Instant, index: u32) {
        while let Some(Dropped { packet, reason, .. }) =
            self.network.links[index as usize].dropped()
        {
            let event = Event::Drop {
                link: index,
                reason,
                entered: true,
            };
            self.drop(now, event, &packet);
        }
    }

    #[cold]
    fn drop(&mut self, now: Instant, event: Event, packet: &Frame) {
        self.tell(now, event, packet);
        // Otherwise, the log frees it.
        if self.log.is_none() {
            self.bodies.free(packet.body());
        }
        self.options.remove(&packet.body());
        self.world.forget(packet.body());
    }
}
