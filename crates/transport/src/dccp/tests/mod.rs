//! Two connections and a network between them, and packets made by hand.

mod data;
mod delayed_acks;
mod discovery;
mod ecn;
mod handshake;
mod invitation;
#[path = "../../../tests/support/kind.rs"]
mod kind;
mod limits;
mod listener;
mod liveness;
#[path = "../../../tests/support/load_vectors.rs"]
mod load_vectors;
mod model;
mod negotiation;
mod options;
mod path;
mod quick_start;
mod random;
mod sequences;
mod termination;
mod tfrc;
mod train;
mod wants;

use skywave_units::rand_core::SeedableRng;
use skywave_units::{Duration, Instant, Random};
use skywave_wire::dccp::{
    DccpOption, FeatureNumber, FeatureSide, Kind, OptionType, Packet, PacketType, ResetCode, SeqNo,
    ServiceCode,
};
use skywave_wire::ip::DEFAULT_HOP_LIMIT;
use skywave_wire::quick_start::{QuickStart, RateRequest};
use skywave_wire::{Checksum, Ecn, Payload};

use self::kind::kind;
use super::{Config, Connection, Event, RateStats, State, Stats, WindowStats};
use crate::{Driven, Transmit};

const CLIENT_PORT: u16 = 40_000;
const SERVER_PORT: u16 = 5_001;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

use Side::{Client, Server};

/// The window of an endpoint that runs CCID 2.
fn window(stats: &Stats) -> WindowStats {
    *stats.congestion.window().unwrap()
}

impl Side {
    fn other(self) -> Self {
        match self {
            Client => Server,
            Server => Client,
        }
    }
}

/// What the network does to a packet.
enum Fate {
    Deliver,
    Drop,
    Duplicate,
    Delay(Duration),
    Mark,
}

/// A packet sent by one side.
#[derive(Clone, Debug)]
struct Sent {
    at: Instant,
    from: Side,
    ecn: Ecn,
    packet: Packet,
    /// In its IP header.
    quick_start: Option<QuickStart>,
}

impl Sent {
    fn kind(&self) -> PacketType {
        self.packet.kind.packet_type()
    }

    fn option(&self, kind: OptionType) -> Option<&DccpOption> {
        self.packet
            .options
            .iter()
            .find(|option| option.option_type() == kind)
    }
}

struct Flight {
    arrival: Instant,
    to: Side,
    ecn: Ecn,
    packet: Packet,
    quick_start: Option<QuickStart>,
}

/// A packet to send, and the Quick-Start option for its IP header.
type WithOption = (Transmit<Packet>, Option<QuickStart>);

type Network = Box<dyn FnMut(&Sent) -> Fate>;

/// A client and a server, `latency` apart, with their own clock.
struct Pair {
    client: Driven<Connection>,
    server: Driven<Connection>,
    now: Instant,
    latency: Duration,
    flights: Vec<Flight>,
    network: Network,
    /// What the path's only router does to a Quick-Start request.
    router: fn(&mut RateRequest),
    /// Everything that was sent, including lost packets.
    log: Vec<Sent>,
}

fn rng(seed: u64) -> Random {
    Random::seed_from_u64(seed)
}

fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn secs(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn request(seq: u64) -> Packet {
    packet(
        Client,
        seq,
        Kind::Request {
            service: ServiceCode::NONE,
        },
    )
}

/// A packet from `from`, with 48-bit numbers.
fn packet(from: Side, seq: u64, kind: Kind) -> Packet {
    let (source_port, destination_port) = match from {
        Client => (CLIENT_PORT, SERVER_PORT),
        Server => (SERVER_PORT, CLIENT_PORT),
    };
    Packet {
        source_port,
        destination_port,
        ccval: 0,
        cscov: 0,
        extended: true,
        seq: SeqNo::new(seq),
        kind,
        options: Default::default(),
        payload: Payload::EMPTY,
    }
}

fn with_options(mut packet: Packet, options: &[DccpOption]) -> Packet {
    packet.options.extend(options.iter().cloned());
    packet
}

fn with_data(mut packet: Packet, size: u32) -> Packet {
    packet.payload = Payload::Synthetic(size);
    packet
}

pub(super) fn change(side: FeatureSide, feature: u8, value: &[u8]) -> DccpOption {
    DccpOption::Change {
        side,
        feature: FeatureNumber(feature),
        value: value.into(),
    }
}

pub(super) fn confirm(side: FeatureSide, feature: u8, value: &[u8]) -> DccpOption {
    DccpOption::Confirm {
        side,
        feature: FeatureNumber(feature),
        value: value.into(),
    }
}

/// Nonce Echo and cells of the packet's first Ack Vector.
fn ack_vector(packet: &Packet) -> Option<(bool, &[u8])> {
    packet.options.iter().find_map(|option| match option {
        DccpOption::AckVector { nonce, cells } => Some((*nonce, cells.as_slice())),
        _ => None,
    })
}

fn reset_code(packet: &Packet) -> Option<(ResetCode, [u8; 3])> {
    match packet.kind {
        Kind::Reset { code, data, .. } => Some((code, data)),
        _ => None,
    }
}

impl Pair {
    fn new(client: Config, server: Config) -> Self {
        Self {
            client: Driven::new(Connection::client(
                client,
                CLIENT_PORT,
                SERVER_PORT,
                Instant::ZERO,
                rng(1),
            )),
            server: Driven::new(Connection::listen(server, SERVER_PORT, rng(2))),
            now: Instant::ZERO,
            latency: millis(50),
            flights: Vec::new(),
            network: Box::new(|_| Fate::Deliver),
            router: |request| request.ttl = request.ttl.wrapping_sub(1),
            log: Vec::new(),
        }
    }

    fn default() -> Self {
        Self::new(Config::default(), Config::default())
    }

    /// Both sides OPEN and nothing in flight.
    fn open(client: Config, server: Config) -> Self {
        let mut pair = Self::new(client, server);
        pair.run_for(secs(1));
        assert_eq!(pair.states(), (State::Open, State::Open));
        pair.events(Client);
        pair.events(Server);
        pair
    }

    fn opened() -> Self {
        Self::open(Config::default(), Config::default())
    }

    fn driven(&mut self, side: Side) -> &mut Driven<Connection> {
        match side {
            Client => &mut self.client,
            Server => &mut self.server,
        }
    }

    fn get(&self, side: Side) -> &Connection {
        match side {
            Client => self.client.get(),
            Server => self.server.get(),
        }
    }

    fn window(&self, side: Side) -> WindowStats {
        window(&self.get(side).stats())
    }

    fn rate(&self, side: Side) -> RateStats {
        *self.get(side).stats().congestion.rate().unwrap()
    }

    fn states(&self) -> (State, State) {
        (self.get(Client).state(), self.get(Server).state())
    }

    /// Lets `side` send into the network. Returns its next deadline.
    fn drain(&mut self, side: Side) -> Option<Instant> {
        let now = self.now;
        let (sent, deadline) = drain_with_options(self.driven(side), now);
        for (Transmit { ecn, packet }, mut quick_start) in sent {
            let sent = Sent {
                at: now,
                from: side,
                ecn,
                packet,
                quick_start,
            };
            if let Some(QuickStart::Request(request)) = &mut quick_start {
                (self.router)(request);
            }
            self.log.push(sent.clone());
            let to = side.other();
            let mut fly = |ecn, delay| {
                let arrival = now + delay;
                self.flights.push(Flight {
                    arrival,
                    to,
                    ecn,
                    packet: sent.packet.clone(),
                    quick_start,
                });
            };
            match (self.network)(&sent) {
                Fate::Deliver => fly(ecn, self.latency),
                Fate::Drop => {}
                Fate::Duplicate => {
                    fly(ecn, self.latency);
                    fly(ecn, self.latency);
                }
                Fate::Delay(extra) => fly(ecn, self.latency + extra),
                Fate::Mark => fly(Ecn::Ce, self.latency),
            }
        }
        deadline
    }

    fn run_until(&mut self, end: Instant) {
        let mut rounds = 0u32;
        loop {
            let mut next = [self.drain(Client), self.drain(Server)]
                .into_iter()
                .flatten()
                .min();
            if let Some(arrival) = self.flights.iter().map(|flight| flight.arrival).min() {
                next = Some(next.map_or(arrival, |next| next.min(arrival)));
            }
            assert!(self.flights.len() < 1_000, "packets multiply without end");
            let Some(next) = next.filter(|&next| next <= end) else {
                break;
            };
            rounds = if next > self.now { 0 } else { rounds + 1 };
            assert!(
                rounds < 1_000,
                "time stands still at {next}: {:?}",
                self.client
            );
            self.now = self.now.max(next);
            let now = self.now;
            let mut index = 0;
            while index < self.flights.len() {
                if self.flights[index].arrival > now {
                    index += 1;
                    continue;
                }
                let flight = self.flights.remove(index);
                let Some(option) = flight.quick_start else {
                    self.receive(flight.to, flight.ecn, flight.packet);
                    continue;
                };
                let Flight { ecn, packet, .. } = flight;
                let ttl = DEFAULT_HOP_LIMIT - 1;
                self.apply(flight.to, |to| {
                    to.receive_with_quick_start(now, ecn, packet, option, ttl);
                });
                self.drain(flight.to);
            }
            for side in [Client, Server] {
                self.driven(side).expire(now, |drain| drain.postpone());
                self.drain(side);
            }
        }
        self.now = end;
    }

    fn run_for(&mut self, time: Duration) {
        self.run_until(self.now + time);
    }

    fn receive(&mut self, to: Side, ecn: Ecn, packet: Packet) {
        let now = self.now;
        self.driven(to)
            .receive(now, ecn, packet, |drain| drain.postpone());
        self.drain(to);
    }

    /// Passes `packet` to `side`. Returns its response, which does not reach the other side.
    fn inject(&mut self, side: Side, packet: Packet) -> Vec<Packet> {
        self.inject_ecn(side, Ecn::Ect0, packet)
    }

    fn inject_ecn(&mut self, side: Side, ecn: Ecn, packet: Packet) -> Vec<Packet> {
        let now = self.now;
        self.driven(side)
            .receive(now, ecn, packet, |drain| drain.postpone());
        let (sent, _) = drain(self.driven(side), now);
        sent.into_iter().map(|transmit| transmit.packet).collect()
    }

    fn apply<T>(&mut self, side: Side, action: impl FnOnce(&mut Connection) -> T) -> T {
        let now = self.now;
        let (answer, ()) = self
            .driven(side)
            .apply(now, action, |drain| drain.postpone());
        answer
    }

    fn send(&mut self, side: Side, size: u32) {
        self.apply(side, |connection| connection.send(Payload::Synthetic(size)))
            .unwrap();
    }

    fn close(&mut self, side: Side) {
        let now = self.now;
        self.apply(side, |connection| connection.close(now));
    }

    /// Sizes of the datagrams that `side` has received.
    fn received(&mut self, side: Side) -> Vec<usize> {
        self.apply(side, |connection| {
            std::iter::from_fn(|| connection.recv())
                .map(|data| data.payload.len())
                .collect()
        })
    }

    fn events(&mut self, side: Side) -> Vec<Event> {
        self.apply(side, |connection| {
            std::iter::from_fn(|| connection.event()).collect()
        })
    }

    /// Sequence number of the last packet that `side` sent.
    fn gss(&self, side: Side) -> u64 {
        let mut sent = self.log.iter().rev().filter(|sent| sent.from == side);
        let last = sent.next().expect("nothing sent yet");
        assert!(
            last.packet.extended,
            "ask for gss only where numbers are long"
        );
        last.packet.seq.get()
    }

    /// The packets sent by `side` since the log had `from` entries.
    fn sent_by(&self, side: Side, from: usize) -> Vec<&Sent> {
        self.log[from..]
            .iter()
            .filter(|sent| sent.from == side)
            .collect()
    }

    fn kinds(&self, side: Side) -> Vec<PacketType> {
        self.sent_by(side, 0)
            .iter()
            .map(|sent| sent.kind())
            .collect()
    }
}

fn drain(
    driven: &mut Driven<Connection>,
    now: Instant,
) -> (Vec<Transmit<Packet>>, Option<Instant>) {
    let (sent, deadline) = drain_with_options(driven, now);
    let sent = sent.into_iter().map(|(transmit, _)| transmit);
    (sent.collect(), deadline)
}

/// Like [`drain`], with the Quick-Start options of IP headers.
fn drain_with_options(
    driven: &mut Driven<Connection>,
    now: Instant,
) -> (Vec<WithOption>, Option<Instant>) {
    driven.drain(now, |mut drain| {
        let mut sent = Vec::new();
        while let Some(transmit) = drain.transmit() {
            // D5.8-1: every packet can be encoded.
            if let Err(error) = transmit.packet.to_bytes(Checksum::Ignored) {
                panic!("{error}: {:?}", transmit.packet);
            }
            let quick_start = drain.quick_start();
            sent.push((transmit, quick_start));
            assert!(sent.len() < 10_000, "an end that never stops sending");
        }
        drain.finish().map(|deadline| (sent, deadline))
    })
}
