//! A region: what one thread executes of a network, and its event loop.

use std::collections::BTreeMap;

use skywave_path::Packet;
use skywave_transport::Status;
use skywave_units::Instant;

use super::border::Border;
use super::plane::Plane;
use super::rounds::Rounds;
use super::{Parts, Stop, World};
use crate::world::application::Application;
use crate::world::bodies::Bodies;
use crate::world::elements::Members;
use crate::world::host::Host;
use crate::world::ids::{FlowId, HostId};
use crate::world::observe::{Chronicle, Observer};
use crate::world::packet::{Body, Frame};
use crate::world::schedule::{Actor, Schedule};
use crate::world::view::{Event, HostView};

/// A region of a network, or the whole.
///
/// Tables have the indices of the whole network, with stand-ins for what is in other regions.
pub(super) struct Region<O, W> {
    /// In the order of their [`HostId`]s.
    pub(super) hosts: Vec<Host>,
    pub(super) applications: Vec<Application>,
    pub(super) plane: Plane<O, W>,
    /// The flows whose controls or sources share state.
    pub(super) sharing: Vec<FlowId>,
    pub(super) rounds: Rounds,
    pub(super) border: Border,
    /// The number of events so far.
    pub(super) events: u64,
}

impl<O: Observer + Chronicle, W: World> Region<O, W> {
    /// Creates the only region of a network.
    pub(super) fn new(parts: Parts<O, W>) -> Self {
        let (links, hosts) = (parts.network.links.len(), parts.hosts.len());
        let whole = Members::whole(links, hosts);
        let has_tags = parts.ports.iter().any(|port| port.has_tags);
        let mut region = Self {
            hosts: parts.hosts,
            applications: parts.applications,
            plane: Plane {
                network: parts.network,
                ports: parts.ports.into(),
                transports: if has_tags {
                    parts.transports
                } else {
                    Vec::new()
                }
                .into(),
                bodies: Bodies::default(),
                options: BTreeMap::new(),
                schedule: Schedule::new(&[whole], links, hosts),
                observer: parts.observer,
                log: None,
                verify_wire: parts.verify_wire,
                mismatch: None,
                world: parts.world,
            },
            sharing: parts.sharing,
            rounds: Rounds::new(parts.division),
            border: Border::default(),
            events: 0,
        };
        region.set_applications();
        region
    }

    /// Sets when the applications act first.
    pub(super) fn set_applications(&mut self) {
        for (flow, application) in (0..).map(FlowId::new).zip(&self.applications) {
            if let Some(at) = application.next() {
                self.plane.schedule.set(Actor::Application(flow), at);
            }
        }
    }

    /// Returns the number of its hosts and links.
    pub(super) fn members(&self) -> u64 {
        (self.hosts.len() + self.plane.network.links.len()) as u64
    }

    /// Executes up to `most` events before `horizon` of the element whose turn it is. Returns the
    /// time before which everything has happened. It checks nothing else, because a check here would
    /// be paid for with every event.
    #[inline(never)]
    pub(super) fn run_events(&mut self, horizon: Instant, most: u64) -> Instant {
        let mut left = most;
        let until = loop {
            let next = self.plane.schedule.peek();
            let Some((now, actor)) = next.filter(|&(at, _)| at < horizon) else {
                break horizon;
            };
            if left == 0 {
                break now;
            }
            left -= 1;
            if O::IS_KEPT
                && let Some(log) = &mut self.plane.log
            {
                log.begin(now, self.plane.schedule.rank(actor));
            }
            match actor {
                Actor::Link(link) => {
                    if let Some(frame) = self.plane.serve_link(now, link) {
                        if W::IS_OPEN {
                            self.plane.leave(now, frame);
                        } else {
                            self.host_receives(now, frame);
                        }
                    }
                }
                timer => self.expire(now, timer),
            }
        };
        self.events += most - left;
        until
    }

    /// Does what [`run_events`](Self::run_events) does, in an element in which a single link from
    /// another element ends.
    #[inline(never)]
    pub(super) fn scan(&mut self, link: u32, horizon: Instant, most: u64) -> Instant {
        let mut left = most;
        let until = loop {
            // A packet that arrives when the timer is due comes first.
            let end = horizon.min(self.plane.schedule.after_first_timer());
            if left == 0 {
                let arrival = self.plane.network.links[link as usize].deadline();
                let timer = self.plane.schedule.first_timer_at();
                break arrival.unwrap_or(horizon).min(timer).min(horizon);
            }
            left -= 1;
            if let Some((now, frame)) = self.plane.network.links[link as usize].dequeue_before(end)
            {
                if O::IS_KEPT
                    && let Some(log) = &mut self.plane.log
                {
                    log.begin(now, self.plane.schedule.rank(Actor::Link(link)));
                }
                if let Some(frame) = self.plane.pass_on(now, link, frame) {
                    self.host_receives(now, frame);
                }
            } else if let Some((timer, actor)) = self.plane.schedule.peek()
                && timer < horizon
            {
                if O::IS_KEPT
                    && let Some(log) = &mut self.plane.log
                {
                    log.begin(timer, self.plane.schedule.rank(actor));
                }
                self.expire(timer, actor);
            } else {
                left += 1;
                break horizon;
            }
        };
        self.events += most - left;
        until
    }

    /// Checks whether a packet has differed, or a control, a source, a queue or a loss model has
    /// failed.
    pub(super) fn check(&self) -> Result<(), Stop> {
        if let Some(mismatch) = &self.plane.mismatch {
            return Err(Stop::Wire(mismatch.clone()));
        }
        let hosts = (0..).map(FlowId::new).zip(self.hosts.chunks(2));
        for (flow, ends) in hosts {
            if let Some(failure) = ends.iter().find_map(|host| host.status().failure()) {
                return Err(Stop::Control(flow, failure));
            }
        }
        for (flow, application) in (0..).map(FlowId::new).zip(&self.applications) {
            if let Some(failure) = application.failure() {
                return Err(Stop::Source(flow, failure));
            }
        }
        for (index, link) in (0..).zip(&self.plane.network.links) {
            if let Some(failure) = link.failure() {
                return Err(Stop::Link(index, failure));
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn host_receives(&mut self, now: Instant, frame: Frame) {
        let plane = &mut self.plane;
        plane.tell(now, Event::Receive, &frame);
        let (to, ecn) = (frame.to().host(), frame.ecn());
        let body = plane.take_body(&frame);
        let host = &mut self.hosts[to.index()];
        let bare = match body {
            Body::Bare(bare) => bare,
            boxed => {
                let option = plane.take_option(&frame);
                plane.receive_apart(now, to, ecn, host, boxed, option);
                return self.settle(now, to);
            }
        };
        match host {
            Host::TcpSender(sender) => {
                sender.receive(now, ecn, bare.into(), |drain| plane.drain(to, drain));
            }
            Host::TcpReceiver(receiver) => {
                receiver.receive(now, ecn, bare.into(), |drain| plane.drain(to, drain));
            }
            Host::Dccp(_)
            | Host::Other(_)
            | Host::Kernel(_)
            | Host::Successive(_)
            | Host::Elsewhere => {
                plane.receive_apart(now, to, ecn, host, Body::Bare(bare), None);
                return self.settle(now, to);
            }
        }
        // Its application reads and writes nothing, so nothing else needs to be settled.
        plane.observer.settled(now, HostView::new(to, host));
    }

    /// Processes an event caused by time rather than by a packet. Separate from the path that every
    /// packet takes.
    #[inline(never)]
    fn expire(&mut self, now: Instant, actor: Actor) {
        match actor {
            Actor::Host(host) => {
                self.plane.schedule.cancel(actor);
                self.host_expires(now, host);
            }
            Actor::Application(flow) => self.application_acts(now, flow),
            Actor::Link(_) => unreachable!("links are served"),
        }
    }

    fn host_expires(&mut self, now: Instant, id: HostId) {
        let host = &mut self.hosts[id.index()];
        self.plane.expire(now, id, host);
        self.settle(now, id);
    }

    fn application_acts(&mut self, now: Instant, flow: FlowId) {
        let sender = flow.sender();
        let application = &mut self.applications[flow.index()];
        if let Some(opened) = application.opens(now) {
            self.plane.world.opened(flow, opened.port);
            let ends = &mut self.hosts[flow.ends()];
            for (end, host) in ends.iter_mut().zip(opened.ends) {
                if let Host::Successive(end) = end {
                    end.open(host, opened.port);
                }
            }
        }
        let host = &mut self.hosts[sender.index()];
        self.plane.act(now, sender, host, application);
        self.set_application(flow);
        self.settle(now, sender);
    }

    fn set_application(&mut self, flow: FlowId) {
        let actor = Actor::Application(flow);
        match self.applications[flow.index()].next() {
            Some(at) => self.plane.schedule.set(actor, at),
            None => self.plane.schedule.cancel(actor),
        }
    }

    /// Completes an input: the receiving application reads what has arrived, a sending one that
    /// always has data fills the free room, and the observer is notified.
    pub(super) fn settle(&mut self, now: Instant, id: HostId) {
        let host = &mut self.hosts[id.index()];
        if matches!(host, Host::Dccp(_) | Host::Other(_) | Host::Successive(_)) {
            let application = &mut self.applications[id.flow().index()];
            self.plane.serve(now, id, host, application);
            self.end_transfer(now, id.flow());
        }
        let host = HostView::new(id, &self.hosts[id.index()]);
        self.plane.observer.settled(now, host);
    }

    /// Drops both ends of a connection of a flow with successive connections, if the sender's end
    /// is over.
    fn end_transfer(&mut self, now: Instant, flow: FlowId) {
        let ends = &mut self.hosts[flow.ends()];
        let [Host::Successive(sender), Host::Successive(receiver)] = ends else {
            return;
        };
        if !sender.is_over() {
            return;
        }
        let delivered = receiver.delivered_bytes();
        sender.close();
        receiver.close();
        self.applications[flow.index()].transfer_ended(now, delivered);
        self.set_application(flow);
    }
}
