//! A client and a server, with any configuration, whose packets a hostile network loses, repeats,
//! reorders and forges, whose clocks jump, and whose applications do as they like: nothing panics,
//! nobody sends for ever, every packet can be written down, timers lie ahead, and both ends end.

use std::cell::Cell;
use std::iter;
use std::ops::ControlFlow;

use arbitrary::{Arbitrary, Result, Unstructured};
use bytes::Bytes;
use skywave_mpcp::LoadFactor;
use skywave_transport::dccp::{Ccid, Config, Connection, State};
use skywave_transport::{Driven, End, Transmit};
use skywave_units::rand_core::SeedableRng;
use skywave_units::{Duration, Instant, Random};
use skywave_wire::dccp::{Kind, Packet, SeqNo, ServiceCode};
use skywave_wire::{Checksum, Ecn, Payload};

use crate::handling::handle;
use crate::structured::{kind, options};

const PORTS: [u16; 2] = [40_000, 5_001];

/// The CCIDs that are tried.
const CCIDS: &[Ccid] = &[
    Ccid::TCP_LIKE,
    Ccid::TFRC,
    Ccid::TFRC_SP,
    Ccid::SENDERS_CHOICE,
    LoadFactor::VCP,
    LoadFactor::DPCP,
    LoadFactor::TPCP,
];

/// Packets in flight at most; the oldest is lost.
const FLIGHTS_MAX: usize = 64;
/// Where no timer is waited for: after round trips of years the next one may lie at the end of time,
/// and no connection can end after that.
const LATEST: Instant = Instant::from_nanos(u64::MAX / 2);

/// An end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Client,
    Server,
}

use Side::{Client, Server};

/// What happens next.
#[derive(Debug)]
pub enum Act {
    /// Time goes on by this much.
    Wait(Duration),
    /// The clock jumps back.
    Back(Duration),
    /// Time goes on to the next timer, whichever end's it is.
    Expire,
    /// A packet in flight arrives; it may arrive again.
    Deliver {
        index: u8,
        again: bool,
    },
    /// A packet in flight is lost.
    Lose {
        index: u8,
    },
    /// Any bytes arrive.
    Raw {
        to: Side,
        ecn: Ecn,
        bytes: Vec<u8>,
    },
    /// A forged packet arrives: its numbers are relative to those that both ends have used last,
    /// and `ports` says whether its ports are right.
    Forge {
        to: Side,
        ecn: Ecn,
        ports: bool,
        seq: i64,
        ack: i64,
        packet: Box<Packet>,
    },
    Send {
        by: Side,
        size: u16,
    },
    Read {
        by: Side,
        count: u8,
    },
    Close(Side),
    Abort(Side),
}

fn side(u: &mut Unstructured<'_>) -> Result<Side> {
    Ok(if u.arbitrary()? { Client } else { Server })
}

fn ecn(u: &mut Unstructured<'_>) -> Result<Ecn> {
    Ok(Ecn::from_bits(u.arbitrary()?))
}

/// A number close to what is right, mostly.
fn offset(u: &mut Unstructured<'_>) -> Result<i64> {
    Ok(match u.int_in_range(0..=7u8)? {
        0..=3 => 0,
        4 | 5 => u.int_in_range(-4..=4)?,
        6 => u.arbitrary::<i8>()?.into(),
        _ => u.arbitrary()?,
    })
}

fn act(u: &mut Unstructured<'_>) -> Result<Act> {
    Ok(match u.int_in_range(0..=22u8)? {
        0 | 1 => Act::Wait(Duration::from_micros(u.arbitrary::<u16>()?.into())),
        2 => Act::Wait(Duration::from_millis(u.arbitrary::<u32>()?.into())),
        3 => Act::Back(Duration::from_millis(u.arbitrary::<u16>()?.into())),
        4 | 5 => Act::Expire,
        6..=9 => Act::Deliver {
            index: u.arbitrary()?,
            again: u.ratio(1, 8)?,
        },
        10 => Act::Lose {
            index: u.arbitrary()?,
        },
        11 => {
            let len = u.int_in_range(0..=64usize)?;
            Act::Raw {
                to: side(u)?,
                ecn: ecn(u)?,
                bytes: u.bytes(len.min(u.len()))?.to_vec(),
            }
        }
        12..=16 => {
            let kind = kind(u, SeqNo::ZERO)?;
            Act::Forge {
                to: side(u)?,
                ecn: ecn(u)?,
                ports: !u.ratio(1, 16)?,
                seq: offset(u)?,
                ack: offset(u)?,
                packet: Box::new(Packet {
                    source_port: 0,
                    destination_port: 0,
                    ccval: u.int_in_range(0..=15)?,
                    cscov: if u.ratio(1, 4)? { 1 } else { 0 },
                    extended: !u.ratio(1, 4)?,
                    seq: SeqNo::ZERO,
                    kind,
                    options: options(u)?,
                    payload: Payload::Synthetic(u.arbitrary::<u8>()?.into()),
                }),
            }
        }
        17..=19 => Act::Send {
            by: side(u)?,
            size: u.arbitrary()?,
        },
        20 => Act::Read {
            by: side(u)?,
            count: u.arbitrary()?,
        },
        21 => Act::Close(side(u)?),
        _ => Act::Abort(side(u)?),
    })
}

/// Most options as they are by default; what [`Config::check`] would refuse among the others.
fn config(u: &mut Unstructured<'_>) -> Result<Config> {
    let mut config = Config::default();
    for mechanism in skywave_mpcp::ccids() {
        config.ccids.enter_shared(mechanism);
    }
    let ccids = |u: &mut Unstructured<'_>| -> Result<Vec<Ccid>> {
        let len = u.int_in_range(0..=CCIDS.len() + 1)?;
        (0..len).map(|_| u.choose(CCIDS).copied()).collect()
    };
    if u.ratio(1, 4)? {
        config.sender_ccids = ccids(u)?;
        config.receiver_ccids = ccids(u)?;
    }
    if u.ratio(1, 8)? {
        let len = u.int_in_range(0..=2usize)?;
        let codes = (0..len).map(|_| Ok(ServiceCode(u.int_in_range(0..=2)?)));
        config.service_codes = codes.collect::<Result<_>>()?;
    }
    if u.ratio(1, 8)? {
        config.sequence_window = u.arbitrary()?;
        config.ack_ratio = u.arbitrary()?;
        config.checksum_coverage = u.arbitrary()?;
        config.minimum_checksum_coverage = u.arbitrary()?;
        config.syncs_per_second = u.arbitrary()?;
        config.resets_per_second = u.arbitrary()?;
        for time in [
            &mut config.request_retry,
            &mut config.backoff_limit,
            &mut config.request_give_up,
            &mut config.handshake_give_up,
            &mut config.partopen_retry,
            &mut config.timewait,
            &mut config.linger,
        ] {
            *time = Duration::from_millis(u.arbitrary::<u16>()?.into());
        }
        for limit in [
            &mut config.keepalive,
            &mut config.silence_timeout,
            &mut config.idle_timeout,
        ] {
            let time = Duration::from_millis(u.arbitrary::<u16>()?.into());
            *limit = u.arbitrary::<bool>()?.then_some(time);
        }
        config.send_queue_bytes = u.arbitrary::<u16>()?.into();
        config.receive_queue_bytes = u.arbitrary::<u16>()?.into();
        config.follow_client_ccids = u.arbitrary()?;
        // With less, an end that gives up late tries a great many times.
        config.backoff_limit += Duration::from_secs(1);
    } else {
        config.sequence_window = u.int_in_range(32..=200)?;
        config.ack_ratio = u.int_in_range(1..=4)?;
        config.checksum_coverage = u.int_in_range(0..=3)?;
        config.minimum_checksum_coverage = u.int_in_range(0..=3)?;
    }
    let flags: u16 = u.arbitrary()?;
    let flag = |bit: u32| flags >> bit & 1 == 1;
    config.allow_short_seqnos = flag(0);
    config.ecn_incapable = flag(1) && flag(2);
    config.ecn_nonces = flag(3);
    config.send_ack_vector = !(flag(4) && flag(5) && flag(6));
    config.request_ndp_count = flag(7);
    config.send_data_checksum = flag(8);
    config.check_data_checksum = flag(9);
    config.deliver_corrupted = flag(10);
    config.server_holds_timewait = flag(11);
    config.detect_optimistic_acks = !flag(12);
    config.mps = u32::from(u.arbitrary::<u8>()?) * 8;
    config.send_queue = u.int_in_range(0..=40)?;
    config.receive_queue = u.int_in_range(0..=40)?;
    Ok(config)
}

/// What a run is made of.
#[derive(Debug)]
pub struct Input {
    pub start: Instant,
    /// The client's and the server's.
    pub configs: [Config; 2],
    /// Whether the handshake takes place before the acts.
    pub opened: bool,
    pub driver: Driver,
    pub acts: Vec<Act>,
}

/// How packets are handed over and taken.
#[derive(Clone, Copy, Debug)]
pub enum Driver {
    /// One by one.
    Singly,
    /// In trains; of those that leave no more than so many at a time.
    Together(usize),
}

impl Arbitrary<'_> for Input {
    fn arbitrary(u: &mut Unstructured<'_>) -> Result<Self> {
        let start = Duration::from_secs(u.arbitrary::<u32>()?.into());
        let configs = [config(u)?, config(u)?];
        let opened = !u.ratio(1, 4)?;
        let driver = if u.ratio(1, 4)? {
            Driver::Singly
        } else {
            Driver::Together(u.int_in_range(1..=64)?)
        };
        let mut acts = Vec::new();
        while !u.is_empty() && acts.len() < 400 {
            acts.push(act(u)?);
        }
        Ok(Self {
            start: Instant::ZERO + start,
            configs,
            opened,
            driver,
            acts,
        })
    }
}

struct Flight {
    to: Side,
    ecn: Ecn,
    bytes: Bytes,
}

struct World {
    now: Instant,
    ends: [Driven<Connection>; 2],
    /// What each end's driver would have set its timer to.
    deadlines: [Option<Instant>; 2],
    flights: Vec<Flight>,
    /// The latest sequence number of each end.
    numbers: [u64; 2],
    delivers: bool,
    driver: Driver,
}

impl World {
    fn new(start: Instant, [client, server]: [Config; 2], driver: Driver) -> Self {
        let rng = Random::seed_from_u64;
        let client = Connection::client(client, PORTS[0], PORTS[1], start, rng(1));
        let server = Connection::listen(server, PORTS[1], rng(2));
        let mut world = Self {
            now: start,
            ends: [Driven::new(client), Driven::new(server)],
            deadlines: [None; 2],
            flights: Vec::new(),
            numbers: [0; 2],
            delivers: true,
            driver,
        };
        world.drain(Client);
        world
    }

    fn drain(&mut self, side: Side) {
        self.transmit(side);
        self.check(side);
    }

    /// Takes what an end sends, and its next deadline.
    fn transmit(&mut self, side: Side) {
        let mut sent = 0;
        let (numbers, flights, delivers) = (&mut self.numbers, &mut self.flights, self.delivers);
        let mut carry = |transmit: Transmit<Packet>| {
            sent += 1;
            assert!(sent < 5_000, "{side:?} never stops sending");
            let packet = &transmit.packet;
            let bytes = packet.to_bytes(Checksum::Ignored).expect("it can be sent");
            if packet.extended {
                numbers[side as usize] = packet.seq.get();
            }
            if delivers {
                if flights.len() == FLIGHTS_MAX {
                    flights.remove(0);
                }
                let to = if side == Client { Server } else { Client };
                flights.push(Flight {
                    to,
                    ecn: transmit.ecn,
                    bytes,
                });
            }
            sent
        };
        let driver = self.driver;
        self.deadlines[side as usize] = self.ends[side as usize].drain(self.now, |mut drain| {
            match driver {
                Driver::Singly => iter::from_fn(|| drain.transmit()).for_each(|transmit| {
                    carry(transmit);
                }),
                Driver::Together(most) => {
                    let is_broken_off = Cell::new(false);
                    let mut breaks_off = |transmit| {
                        assert!(!is_broken_off.get(), "nobody is there to take {transmit:?}");
                        is_broken_off.set(carry(transmit) % most == 0);
                        if is_broken_off.get() {
                            ControlFlow::Break(())
                        } else {
                            ControlFlow::Continue(())
                        }
                    };
                    while drain.transmit_all(&mut breaks_off).is_break() {
                        assert!(is_broken_off.take());
                    }
                }
            }
            drain.finish()
        });
    }

    fn check(&self, side: Side) {
        let connection = self.ends[side as usize].get();
        let stats = connection.stats();
        if let Some(window) = stats.congestion.window() {
            assert!(u64::from(window.pipe) <= stats.counters.data_packets_sent);
            assert!(window.cwnd >= 0.0, "{}", window.cwnd);
        }
        if let Some(rate) = stats.congestion.rate() {
            let p = rate.loss_event_rate;
            assert!((0.0..=1.0).contains(&p), "{p}");
        }
        assert!(stats.counters.datagrams_delivered <= stats.counters.data_packets_received);
        if connection.state() == State::Closed {
            assert_eq!(connection.deadline(), None, "a timer is left");
        }
    }

    /// Lets timers that are due expire: then none may be due any more.
    fn expire(&mut self) {
        for side in [Client, Server] {
            if self.deadlines[side as usize].is_some_and(|at| at <= self.now) {
                self.ends[side as usize].expire(self.now, |drain| drain.postpone());
                self.drain(side);
                let deadline = self.deadlines[side as usize];
                assert!(
                    deadline.is_none_or(|at| at > self.now),
                    "{side:?}: {deadline:?} at {}",
                    self.now
                );
            }
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.into_iter().flatten().min()
    }

    fn receive(&mut self, to: Side, ecn: Ecn, bytes: &Bytes) {
        handle(1, || {
            if let Ok(packet) = Packet::parse(bytes, Checksum::Ignored) {
                self.ends[to as usize].receive(self.now, ecn, packet, |drain| drain.postpone());
                self.transmit(to);
            }
        });
        self.check(to);
    }

    fn forge(&mut self, to: Side, ecn: Ecn, ports: bool, seq: i64, ack: i64, packet: Packet) {
        let from = 1 - to as usize;
        let mut packet = packet;
        packet.seq = SeqNo::new(
            self.numbers[from]
                .wrapping_add_signed(1)
                .wrapping_add_signed(seq),
        );
        let ack = SeqNo::new(self.numbers[to as usize].wrapping_add_signed(ack));
        packet.kind = with_ack(packet.kind, ack);
        packet.extended |= !packet.kind.packet_type().allows_short_numbers();
        packet.source_port = PORTS[from] ^ u16::from(!ports);
        packet.destination_port = PORTS[to as usize];
        if let Ok(bytes) = packet.to_bytes(Checksum::Ignored) {
            if packet.extended && seq == 0 {
                // What is forged well is followed up.
                self.numbers[from] = packet.seq.get();
            }
            self.receive(to, ecn, &bytes);
        }
    }

    fn apply<T>(&mut self, side: Side, action: impl FnOnce(&mut Connection) -> T) -> T {
        let (answer, ()) =
            self.ends[side as usize].apply(self.now, action, |drain| drain.postpone());
        self.drain(side);
        answer
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Wait(time) => self.now += time,
            Act::Back(time) => self.now = self.now - time,
            Act::Expire => {
                if let Some(at) = self.next_deadline().filter(|&at| at < LATEST) {
                    self.now = self.now.max(at);
                }
            }
            Act::Deliver { index, again } => {
                if let Some(index) = usize::from(index).checked_rem(self.flights.len()) {
                    let flight = self.flights.remove(index);
                    self.receive(flight.to, flight.ecn, &flight.bytes);
                    if again {
                        self.flights.push(flight);
                    }
                }
            }
            Act::Lose { index } => {
                if let Some(index) = usize::from(index).checked_rem(self.flights.len()) {
                    self.flights.remove(index);
                }
            }
            Act::Raw { to, ecn, bytes } => self.receive(to, ecn, &bytes.into()),
            Act::Forge {
                to,
                ecn,
                ports,
                seq,
                ack,
                packet,
            } => self.forge(to, ecn, ports, seq, ack, *packet),
            Act::Send { by, size } => {
                let _ = self.apply(by, |c| c.send(Payload::Synthetic(size.into())));
            }
            Act::Read { by, count } => self.apply(by, |c| {
                iter::from_fn(|| c.recv()).take(count.into()).for_each(drop);
                iter::from_fn(|| c.event()).for_each(drop);
            }),
            Act::Close(by) => {
                let now = self.now;
                self.apply(by, |c| c.close(now));
            }
            Act::Abort(by) => {
                let now = self.now;
                self.apply(by, |c| c.abort(now));
            }
        }
        self.expire();
    }

    /// Delivers everything in order while time goes on, for at most `packets`; those of one end
    /// together, or one by one.
    fn run(&mut self, packets: usize) {
        let mut left = packets;
        while left > 0 && !self.flights.is_empty() {
            let (to, ecn) = (self.flights[0].to, self.flights[0].ecn);
            let most = match self.driver {
                Driver::Singly => 1,
                Driver::Together(_) => left,
            };
            let together = self.flights.iter().take(most);
            let count = together
                .take_while(|flight| flight.to == to && flight.ecn == ecn)
                .count();
            left -= count;
            let flights: Vec<_> = self.flights.drain(..count).collect();
            self.now += Duration::from_millis(5);
            match (self.driver, &flights[..]) {
                (Driver::Singly, [flight]) => self.receive(to, ecn, &flight.bytes),
                _ => {
                    let now = self.now;
                    handle(flights.len(), || {
                        let packets = flights.into_iter().map(|flight| flight.bytes);
                        let receive = |c: &mut Connection| {
                            c.receive_all(now, ecn, Checksum::Ignored, packets)
                        };
                        self.ends[to as usize].apply(now, receive, |drain| drain.postpone());
                        self.transmit(to);
                    });
                    self.check(to);
                }
            }
            self.expire();
        }
    }

    /// Both applications close and the network is gone: within the give-up times all is over.
    fn finish(&mut self) {
        self.delivers = false;
        self.flights.clear();
        for side in [Client, Server] {
            let now = self.now;
            self.apply(side, |c| c.close(now));
        }
        for _ in 0..20_000 {
            self.expire();
            match self.next_deadline() {
                Some(at) => self.now = self.now.max(at),
                None => break,
            }
        }
        for side in [Client, Server] {
            let connection = self.ends[side as usize].get();
            assert_eq!(connection.state(), State::Closed, "{side:?} does not end");
        }
    }
}

/// The same type with another acknowledgement number, where it has one.
fn with_ack(mut kind: Kind, number: SeqNo) -> Kind {
    match &mut kind {
        Kind::Request { .. } | Kind::Data | Kind::Listen { .. } => {}
        Kind::Response { ack, .. }
        | Kind::Ack { ack }
        | Kind::DataAck { ack }
        | Kind::CloseReq { ack }
        | Kind::Close { ack }
        | Kind::Reset { ack, .. }
        | Kind::Sync { ack }
        | Kind::SyncAck { ack } => *ack = number,
    }
    kind
}

/// Does what the input says.
fn play(input: Input) -> World {
    let mut world = World::new(input.start, input.configs, input.driver);
    if input.opened {
        world.run(4);
    }
    for act in input.acts {
        world.act(act);
    }
    world
}

/// Does what the input says, without what every connection comes to in the end.
pub fn replay(input: Input) {
    play(input);
}

/// Does what the input says, then lets the connection end.
pub fn fuzz(input: Input) {
    let mut world = play(input);
    world.run(200);
    world.finish();
}
