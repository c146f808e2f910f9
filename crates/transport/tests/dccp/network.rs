//! A client and a server that exchange bytes: packets are encoded, carried by two [`Path`]s,
//! decoded, and dropped if their checksum is wrong, as a driver would.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;

use rand::SeedableRng;
use skywave_transport::dccp::{Config, Connection};
use skywave_transport::{Driven, End};
use skywave_units::{Duration, Instant, Random};
use skywave_wire::dccp::Packet;
use skywave_wire::{AddressPair, Checksum, Ecn};

use crate::path::Path;

pub(crate) const CLIENT_PORT: u16 = 40_000;
pub(crate) const SERVER_PORT: u16 = 5_001;

/// One of the two ends; per-end state is indexed by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Client,
    Server,
}

use Side::{Client, Server};

impl Side {
    pub(crate) const BOTH: [Self; 2] = [Client, Server];

    pub(crate) const fn other(self) -> Self {
        match self {
            Client => Server,
            Server => Client,
        }
    }

    pub(crate) const fn port(self) -> u16 {
        match self {
            Client => CLIENT_PORT,
            Server => SERVER_PORT,
        }
    }

    /// The checksum of packets sent by this side.
    pub(crate) fn checksum(self) -> Checksum {
        let from_client = AddressPair::V4 {
            source: [192, 0, 2, 1].into(),
            destination: [198, 51, 100, 2].into(),
        };
        Checksum::Over(match self {
            Client => from_client,
            Server => from_client.reversed(),
        })
    }
}

pub(crate) fn seeded(seed: u64) -> Random {
    Random::seed_from_u64(seed)
}

/// A packet in flight.
#[derive(Debug)]
struct Flight {
    arrival: Instant,
    /// Of two packets that arrive at the same time, the one sent first comes first.
    ordinal: u64,
    to: Side,
    ecn: Ecn,
    bytes: Vec<u8>,
    is_altered: bool,
}

impl Ord for Flight {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.arrival, self.ordinal).cmp(&(other.arrival, other.ordinal))
    }
}

impl PartialOrd for Flight {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Flight {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Flight {}

/// A packet as sent by an end.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) at: Instant,
    pub(crate) from: Side,
    pub(crate) ecn: Ecn,
    pub(crate) packet: Packet,
}

pub(crate) struct Network<E = Connection> {
    pub(crate) now: Instant,
    pub(crate) ends: [Driven<E>; 2],
    /// How far each end's clock is ahead of `now`.
    pub(crate) ahead: [Duration; 2],
    /// The path taken by each end's packets.
    pub(crate) paths: [Path; 2],
    /// When `expire` is due, by each end's own clock.
    deadlines: [Option<Instant>; 2],
    flights: BinaryHeap<Reverse<Flight>>,
    launched: u64,
    rng: Random,
    /// Everything that was sent, if recorded.
    pub(crate) log: Option<Vec<Sent>>,
    /// Whether to print every packet that is sent or arrives.
    pub(crate) is_verbose: bool,
    /// Altered packets that were passed to each side.
    pub(crate) altered: [Vec<Packet>; 2],
    /// Altered packets that were dropped, and (`unseen`) altered packets that were delivered.
    pub(crate) caught: u64,
    pub(crate) unseen: u64,
    /// Events since time last advanced.
    at_once: u32,
}

impl Network {
    /// Client and server at time zero, with the client's Request in flight. `seed` is for the paths
    /// and both ends.
    pub(crate) fn new([client, server]: [Arc<Config>; 2], paths: [Path; 2], seed: u64) -> Self {
        Self::between([client, server], paths, seed, |connection| connection)
    }
}

impl<E: End<Packet = Packet>> Network<E> {
    /// Like [`new`](Network::new), between what `end` makes of the connections.
    pub(crate) fn between(
        [client, server]: [Arc<Config>; 2],
        paths: [Path; 2],
        seed: u64,
        mut end: impl FnMut(Connection) -> E,
    ) -> Self {
        let now = Instant::ZERO;
        let mut rng = seeded(seed);
        let client = Connection::client(
            client,
            CLIENT_PORT,
            SERVER_PORT,
            now,
            Random::from_rng(&mut rng),
        );
        let server = Connection::listen(server, SERVER_PORT, Random::from_rng(&mut rng));
        Self {
            now,
            ends: [client, server].map(|connection| Driven::new(end(connection))),
            ahead: [Duration::ZERO; 2],
            paths,
            deadlines: [None; 2],
            flights: BinaryHeap::new(),
            launched: 0,
            rng,
            log: None,
            is_verbose: false,
            altered: [Vec::new(), Vec::new()],
            caught: 0,
            unseen: 0,
            at_once: 0,
        }
    }

    pub(crate) fn get(&self, side: Side) -> &E {
        self.ends[side as usize].get()
    }

    /// The time by the clock of `side`.
    pub(crate) fn clock(&self, side: Side) -> Instant {
        self.now + self.ahead[side as usize]
    }

    /// Performs an action of the application, which gets its clock's time.
    pub(crate) fn apply<T>(&mut self, side: Side, action: impl FnOnce(&mut E, Instant) -> T) -> T {
        let now = self.clock(side);
        let end = &mut self.ends[side as usize];
        let (answer, ()) = end.apply(now, |end| action(end, now), |drain| drain.postpone());
        self.drain(side);
        answer
    }

    /// Makes the clock of `side` jump ahead, like that of a suspended machine.
    pub(crate) fn jump(&mut self, side: Side, time: Duration) {
        self.ahead[side as usize] += time;
    }

    /// Delivers a packet to `to` and sends its answers.
    pub(crate) fn hand_over(&mut self, to: Side, ecn: Ecn, packet: Packet) {
        let now = self.clock(to);
        if self.is_verbose {
            println!("{} {to:?} gets {packet}", self.now);
        }
        self.ends[to as usize].receive(now, ecn, packet, |drain| drain.postpone());
        self.drain(to);
    }

    /// Takes what `side` sends, and its deadline.
    pub(crate) fn drain(&mut self, side: Side) {
        let now = self.clock(side);
        let (sent, deadline) = self.ends[side as usize].drain(now, |mut drain| {
            let mut sent = Vec::new();
            while let Some(transmit) = drain.transmit() {
                sent.push(transmit);
                assert!(sent.len() < 20_000, "{side:?} never stops sending");
            }
            drain.finish().map(|deadline| (sent, deadline))
        });
        self.deadlines[side as usize] = deadline;
        for transmit in sent {
            let packet = transmit.packet;
            let bytes = match packet.to_bytes(side.checksum()) {
                Ok(bytes) => bytes,
                Err(error) => panic!("{side:?} cannot encode a packet: {error}: {packet}"),
            };
            let copies =
                self.paths[side as usize].carry(self.now, transmit.ecn, &bytes, &mut self.rng);
            for copy in copies {
                self.launched += 1;
                self.flights.push(Reverse(Flight {
                    arrival: self.now + copy.delay,
                    ordinal: self.launched,
                    to: side.other(),
                    ecn: copy.ecn,
                    bytes: copy.bytes,
                    is_altered: copy.is_altered,
                }));
            }
            if self.is_verbose {
                println!("{} {side:?} sends {packet}", self.now);
            }
            if let Some(log) = &mut self.log {
                log.push(Sent {
                    at: self.now,
                    from: side,
                    ecn: transmit.ecn,
                    packet,
                });
            }
        }
        assert!(self.flights.len() < 20_000, "packets multiply without end");
    }

    /// When `side` wants to be woken, by the network's clock.
    fn wake(&self, side: Side) -> Option<Instant> {
        let at = self.deadlines[side as usize]?;
        Some((at - self.ahead[side as usize]).max(self.now))
    }

    /// Handles the next packet or timer; false if there is none before `end`.
    pub(crate) fn step(&mut self, end: Instant) -> bool {
        let arrival = self.flights.peek().map(|Reverse(flight)| flight.arrival);
        let timer = Side::BOTH
            .into_iter()
            .filter_map(|side| Some((self.wake(side)?, side)))
            .min();
        let next = [arrival, timer.map(|(at, _)| at)]
            .into_iter()
            .flatten()
            .min();
        let Some(next) = next.filter(|&next| next < end) else {
            return false;
        };
        self.at_once = if next > self.now { 0 } else { self.at_once + 1 };
        assert!(self.at_once < 20_000, "time stands still at {next}");
        self.now = self.now.max(next);
        if let Some((at, side)) = timer
            && at <= next
        {
            let now = self.clock(side);
            self.ends[side as usize].expire(now, |drain| drain.postpone());
            self.drain(side);
            let deadline = self.deadlines[side as usize];
            assert!(
                deadline.is_none_or(|at| at > now),
                "{side:?} has a timer at {deadline:?}, in the past at {now}"
            );
        } else if let Some(Reverse(flight)) = self.flights.pop() {
            self.arrive(flight);
        }
        true
    }

    fn arrive(&mut self, flight: Flight) {
        let to = flight.to;
        match Packet::parse(&flight.bytes.into(), to.other().checksum()) {
            Ok(packet) => {
                if flight.is_altered {
                    self.unseen += 1;
                    self.altered[to as usize].push(packet.clone());
                }
                self.hand_over(to, flight.ecn, packet);
            }
            Err(_) => {
                assert!(flight.is_altered, "a sent packet cannot be decoded");
                self.caught += 1;
            }
        }
    }

    /// Runs until `end`, or until nothing is pending.
    pub(crate) fn run_until(&mut self, end: Instant) {
        while self.step(end) {}
        self.now = self.now.max(end);
    }

    pub(crate) fn run_for(&mut self, time: Duration) {
        self.run_until(self.now + time);
    }

    /// Whether neither packets nor timers are left.
    pub(crate) fn is_silent(&self) -> bool {
        self.flights.is_empty() && self.deadlines == [None; 2]
    }

    /// Drains both ends: call it once before the first step.
    pub(crate) fn start(&mut self) {
        for side in Side::BOTH {
            self.drain(side);
        }
    }

    /// When an end must be woken; `None` if it has no timer.
    pub(crate) fn deadline(&self, side: Side) -> Option<Instant> {
        self.get(side).deadline()
    }
}
