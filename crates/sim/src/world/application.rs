//! The application at the sending end of a flow: its source, and when that acts and stops.

use skywave_registry::MemberFailure;
use skywave_scenario::{Scenario, stream};
use skywave_traffic::{Journal, SendingEnd, Setup, Source, SourceKind};
use skywave_units::Instant;

use crate::world::connect::{Connector, Opened, start_of};
use crate::world::transport::Transport;

/// The application at the sending end of a flow.
#[derive(Debug)]
pub(crate) struct Application {
    /// When it acts next.
    next: Option<Instant>,
    stop: Option<Instant>,
    /// When it handed over its last data, or was stopped.
    ended: Option<Instant>,
    source: Box<dyn Source>,
    connections: Option<Box<Connections>>,
}

/// The connections of a source that opens its own.
#[derive(Debug)]
struct Connections {
    connector: Connector,
    opened: usize,
}

/// Stands for the source of a flow whose sender is in another region of the network.
#[derive(Debug)]
struct Elsewhere;

impl Source for Elsewhere {
    fn begins(&self) -> Instant {
        unreachable!("it is not asked")
    }

    fn act(&mut self, _: Instant, _: &mut dyn SendingEnd) -> Option<Instant> {
        unreachable!("it never acts")
    }
}

impl Application {
    /// Creates the application of the flow at `index`, before its start. Its counts use the probes'
    /// intervals.
    pub(crate) fn new(
        scenario: &Scenario,
        index: usize,
        kind: &dyn SourceKind,
        transport: &Transport,
    ) -> Self {
        let (flow, seed) = (&scenario.flows[index], scenario.seed);
        let named = |purpose: &str| stream(seed, &format!("{}/{purpose}", flow.name));
        let setup = Setup::new(start_of(flow, seed), scenario.probes.interval, &named);
        let source = kind.build(&setup);
        let connections = kind.opens_connections().then(|| {
            let connector = Connector {
                flow: flow.clone(),
                transport: transport.clone(),
                index,
                flows: scenario.flows.len(),
                seed,
            };
            Box::new(Connections {
                connector,
                opened: 0,
            })
        });
        let stop = flow.stop.map(|stop| Instant::ZERO + stop);
        let begins = source.begins();
        Self {
            next: Some(stop.map_or(begins, |stop| begins.min(stop))),
            stop,
            ended: None,
            source,
            connections,
        }
    }

    /// Returns what stands for an application in another region of the network. It takes no memory
    /// of its own.
    pub(crate) fn elsewhere() -> Self {
        Self {
            next: None,
            stop: None,
            ended: None,
            source: Box::new(Elsewhere),
            connections: None,
        }
    }

    /// Returns when it acts next.
    pub(crate) const fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Returns when it handed over its last data, or was stopped; `None` if it still sends.
    pub(crate) const fn ended(&self) -> Option<Instant> {
        self.ended
    }

    /// Returns what it has done.
    pub(crate) fn journal(&self) -> Journal {
        self.source.journal()
    }

    /// Returns why its source can no longer decide, or `None` as long as it can.
    pub(crate) fn failure(&self) -> Option<MemberFailure> {
        self.source.failure()
    }

    /// Opens and returns the next connection, if it is due.
    pub(crate) fn opens(&mut self, now: Instant) -> Option<Opened> {
        let connections = self.connections.as_mut()?;
        let is_over = self.stop.is_some_and(|stop| now >= stop);
        if is_over || !self.source.opens(now) {
            return None;
        }
        connections.opened += 1;
        Some(connections.connector.open(connections.opened, now))
    }

    /// Handles the end of its connection, through which `delivered` bytes have arrived.
    pub(crate) fn transfer_ended(&mut self, now: Instant, delivered: u64) {
        let next = self.source.ended(now, delivered);
        self.next = match (next, self.stop) {
            (_, Some(stop)) if stop <= now => None,
            (Some(next), Some(stop)) => Some(next.min(stop)),
            (next, stop) => next.or(stop),
        };
    }

    /// Stops acting: its last connection is over, and it opens no others.
    pub(crate) const fn rest(&mut self) {
        self.next = None;
    }

    /// Acts on the sending end of its transport.
    pub(crate) fn act(&mut self, now: Instant, transport: &mut dyn SendingEnd) {
        if self.stop.is_some_and(|stop| now >= stop) {
            self.next = None;
            self.ended.get_or_insert(now);
            self.source.stop();
            transport.close(now);
            return;
        }
        let next = self.source.act(now, transport);
        self.note_end(now);
        self.next = match (next, self.stop) {
            (Some(next), Some(stop)) => Some(next.min(stop)),
            (next, stop) => next.or(stop),
        };
    }

    /// Lets the source hand over more datagrams, and returns how many the transport accepted.
    pub(crate) fn refill(&mut self, now: Instant, transport: &mut dyn SendingEnd) -> usize {
        let accepted = self.source.refill(now, transport);
        self.note_end(now);
        accepted
    }

    fn note_end(&mut self, now: Instant) {
        if self.source.is_done() {
            self.ended.get_or_insert(now);
        }
    }
}
