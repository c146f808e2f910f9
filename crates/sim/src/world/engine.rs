//! The event loop of an element. `rounds` executes element after element, `ends` handles hosts and
//! applications, and `world` is what lies between them and the network.

mod ends;
mod log;
mod rounds;
mod world;

use std::collections::BTreeMap;

use skywave_path::{DropReason, Dropped, Packet};
use skywave_registry::MemberFailure;
use skywave_scenario::{LinkSpec, Scenario};
use skywave_transport::{Drain, Drained, End, Status};
use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;
use skywave_wire::ip::DEFAULT_HOP_LIMIT;
use skywave_wire::quick_start::{self, QuickStart};

use crate::error::RunError;
use crate::error::WireMismatch;
use crate::world::application::Application;
use crate::world::bodies::Bodies;
use crate::world::elements::{Division, Members};
use crate::world::host::Host;
use crate::world::ids::{FlowId, HostId, PortId};
use crate::world::network::{Hop, Network};
use crate::world::observe::{Chronicle, Entry, Observer};
use crate::world::packet::{Body, Frame, IP_HEADER, Port, SimLink};
use crate::world::schedule::{Actor, Schedule};
use crate::world::transport::Transport;
use crate::world::view::{Event, HostView, PacketView, Sample};
use crate::world::wire_check;

use log::Log;
use rounds::Rounds;
pub(crate) use world::{Attached, World};

/// The time between two instants.
const INSTANT: Duration = Duration::from_nanos(1);

/// The number of events between calls of `progress`, at the end of the round in which it is reached.
/// That gives some hundreds of calls per second.
///
/// Few in this crate's own tests, which then end turns early, too.
const EVENTS_PER_REPORT: u64 = if cfg!(test) { 1 << 6 } else { 1 << 15 };

/// The least number of events per host and link between two checks for members that have failed. A
/// check visits all of them, and should cost next to nothing compared with the events.
const EVENTS_PER_VISIT: u64 = 32;

/// A simulation in progress.
///
/// Hosts are in the order of their [`HostId`]s.
pub(crate) struct Simulator<O, W = Attached> {
    hosts: Vec<Host>,
    applications: Vec<Application>,
    plane: Plane<O, W>,
    /// The flows whose controls or sources share state.
    sharing: Vec<FlowId>,
    rounds: Rounds,
    sample_interval: Option<Duration>,
    /// When the last sample was taken.
    sampled: Instant,
    events: u64,
    /// The number of events at which to check for failed members next.
    next_look: u64,
}

/// Everything between hosts. Separate from them, so that a host can be drained into it.
struct Plane<O, W> {
    network: Network,
    /// Where hosts are attached, by [`PortId`].
    ports: Vec<Port>,
    /// Each flow's transport, which defines the tags that routers read; none if no flow has tags.
    transports: Vec<Transport>,
    /// Packets in flight.
    bodies: Bodies,
    /// The Quick-Start options in IP headers, by the keys of the packets' bodies. They are kept
    /// apart from the bodies because few packets have one.
    options: BTreeMap<usize, QuickStart>,
    schedule: Schedule,
    observer: O,
    /// What the observer's chronicle does not have yet; `None` if the network is one element, in
    /// which everything happens in order of time.
    log: Option<Log>,
    verify_wire: bool,
    mismatch: Option<WireMismatch>,
    world: W,
}

/// The reason why a run stopped early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The progress callback asked to stop.
    Interrupted,
    /// The control of a flow failed.
    Control(FlowId, MemberFailure),
    /// The source of a flow failed.
    Source(FlowId, MemberFailure),
    /// The queue or the loss model of a link failed.
    Link(u32, MemberFailure),
    /// A packet differed after encoding and parsing.
    Wire(WireMismatch),
}

impl Stop {
    /// Returns the error of a run that it ends.
    pub(crate) fn of_run(self, scenario: &Scenario) -> RunError {
        let of = |flow: FlowId| format!("flow {:?}", scenario.flows[flow.index()].name);
        let (kind, place, failure) = match self {
            Self::Interrupted => return RunError::Interrupted,
            Self::Wire(mismatch) => return mismatch.into(),
            Self::Control(flow, failure) => ("congestion control", of(flow), failure),
            Self::Source(flow, failure) => ("source", of(flow), failure),
            Self::Link(link, failure) => {
                let (_, specs) = scenario.topology();
                let mut directions = specs.iter().flat_map(LinkSpec::directions);
                let direction = directions.nth(link as usize).expect("links do not change");
                let place = format!("link {:?}", direction.name());
                ("queue or loss model", place, failure)
            }
        };
        RunError::Member {
            scenario: scenario.name.clone(),
            kind,
            place,
            failure,
        }
    }
}

/// The parts of a simulation.
pub(crate) struct Parts<O, W> {
    pub(crate) network: Network,
    pub(crate) hosts: Vec<Host>,
    pub(crate) applications: Vec<Application>,
    pub(crate) ports: Vec<Port>,
    pub(crate) transports: Vec<Transport>,
    /// The flows whose controls or sources share state.
    pub(crate) sharing: Vec<FlowId>,
    pub(crate) observer: O,
    /// The interval between samples; `None` disables sampling.
    pub(crate) sample_interval: Option<Duration>,
    pub(crate) division: Division,
    pub(crate) verify_wire: bool,
    pub(crate) world: W,
}

impl<O: Observer + Chronicle, W: World> Simulator<O, W> {
    /// Creates a simulation at time zero.
    pub(crate) fn new(parts: Parts<O, W>) -> Self {
        let Parts {
            network,
            hosts,
            applications,
            ports,
            transports,
            observer,
            world,
            ..
        } = parts;
        let (links, ends) = (network.links.len(), hosts.len());
        let mut schedule = Schedule::new(&[Members::whole(links, ends)], links, ends);
        for (flow, application) in (0..).map(FlowId::new).zip(&applications) {
            if let Some(at) = application.next() {
                schedule.set(Actor::Application(flow), at);
            }
        }
        let has_tags = ports.iter().any(|port| port.has_tags);
        let plane = Plane {
            network,
            ports,
            transports: if has_tags { transports } else { Vec::new() },
            bodies: Bodies::default(),
            options: BTreeMap::new(),
            schedule,
            observer,
            log: None,
            verify_wire: parts.verify_wire,
            mismatch: None,
            world,
        };
        let mut simulator = Self {
            hosts,
            applications,
            plane,
            sharing: parts.sharing,
            rounds: Rounds::new(parts.division),
            sample_interval: parts.sample_interval,
            sampled: Instant::ZERO,
            events: 0,
            next_look: 0,
        };
        if parts.division.is_fixed() {
            simulator.divide();
        }
        simulator
    }

    /// Runs until `end`, including events at `end`. Calls `progress` regularly with the current
    /// time; the run stops if it returns false.
    pub(crate) fn run(
        &mut self,
        end: Instant,
        mut progress: impl FnMut(Instant) -> bool,
    ) -> Result<(), Stop> {
        while let Some(at) = self.next_sample().filter(|&at| at <= end) {
            self.run_rounds(at, &mut progress)?;
            self.events += 1;
            self.sample(at);
        }
        self.run_rounds(end, &mut progress)?;
        self.plane.keep_chronicle(self.rounds.until, true);
        self.check()
    }

    /// Returns when the next sample is due. It comes after everything else at that time, and so
    /// sees its effects.
    fn next_sample(&self) -> Option<Instant> {
        self.sample_interval.map(|interval| self.sampled + interval)
    }

    /// Executes up to `most` events before `horizon` of the element whose turn it is. Returns the
    /// time before which everything has happened. It checks nothing else, because a check here would
    /// be paid for with every event.
    #[inline(never)]
    fn run_events(&mut self, horizon: Instant, most: u64) -> Instant {
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
    fn scan(&mut self, link: u32, horizon: Instant, most: u64) -> Instant {
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

    /// Reports progress, and stops if something has failed.
    #[cold]
    #[inline(never)]
    fn look_outside(
        &mut self,
        now: Instant,
        progress: &mut impl FnMut(Instant) -> bool,
    ) -> Result<(), Stop> {
        if self.events >= self.next_look {
            self.check()?;
            let visits = (self.hosts.len() + self.links().len()) as u64;
            self.next_look = self.events + EVENTS_PER_REPORT.max(visits * EVENTS_PER_VISIT);
        }
        if progress(now) {
            Ok(())
        } else {
            Err(Stop::Interrupted)
        }
    }

    /// Checks whether a packet has differed, or a control, a source, a queue or a loss model has
    /// failed.
    pub(crate) fn check(&self) -> Result<(), Stop> {
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
        for (index, link) in (0..).zip(self.links()) {
            if let Some(failure) = link.failure() {
                return Err(Stop::Link(index, failure));
            }
        }
        Ok(())
    }

    /// Returns the number of events so far.
    pub(crate) const fn events(&self) -> u64 {
        self.events
    }

    /// Returns the hosts.
    pub(crate) fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// Returns the links.
    pub(crate) fn links(&self) -> &[SimLink] {
        &self.plane.network.links
    }

    /// Returns the applications.
    pub(crate) fn applications(&self) -> &[Application] {
        &self.applications
    }

    /// Returns the observer.
    pub(crate) const fn observer(&mut self) -> &mut O {
        &mut self.plane.observer
    }

    /// Ends the simulation and returns its observer.
    pub(crate) fn into_observer(self) -> O {
        self.plane.observer
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
            Host::Dccp(_) | Host::Other(_) | Host::Kernel(_) | Host::Successive(_) => {
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
    fn settle(&mut self, now: Instant, id: HostId) {
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

    /// Samples the part of an interval that has passed at the end of the run. Does nothing at the
    /// end of a whole interval, whose sample has already been taken.
    pub(crate) fn sample_rest(&mut self, end: Instant) {
        if self.sample_interval.is_some() && end > self.sampled {
            self.sample(end);
        }
    }

    fn sample(&mut self, now: Instant) {
        self.sampled = now;
        if W::IS_OPEN {
            self.ask_outside(now);
        }
        let plane = &mut self.plane;
        for link in &mut plane.network.links {
            link.expire(now);
        }
        let sample = Sample::new(&plane.network.links, &self.hosts);
        plane.observer.sample(now, sample);
    }
}

impl<O: Observer + Chronicle, W: World> Plane<O, W> {
    /// Takes what an end has to send, and sets its timer.
    fn drain<E>(&mut self, host: HostId, mut drain: Drain<'_, E>) -> Drained<()>
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
    fn tell(&mut self, now: Instant, event: Event, frame: &Frame) {
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
    fn take_body(&mut self, frame: &Frame) -> Body {
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
        let body = self.bodies.insert(body);
        if let Some(option) = option {
            size += quick_start::OPTION_LEN;
            self.options.insert(body as usize, option);
        }
        self.post(now, PortId::of(host), ecn, body, size);
    }

    /// Puts a packet that leaves from this port onto the first link of its route. `body` is the key
    /// of its body.
    #[inline(always)]
    fn post(&mut self, now: Instant, from: PortId, ecn: Ecn, body: u32, size: u32) {
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
    fn take_option(&mut self, frame: &Frame) -> Option<(QuickStart, u8)> {
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
    fn serve_link(&mut self, now: Instant, index: u32) -> Option<Frame> {
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
    fn pass_on(&mut self, now: Instant, index: u32, mut frame: Frame) -> Option<Frame> {
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
    fn drop_kept(&mut self, now: Instant, index: u32) {
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
