//! A server with many peers, as an endpoint has them: a listener, and the connections that it
//! accepted. Hostile peers send any packets, return cookies rightly and wrongly, and go silent:
//! nothing panics, state stays within its limits, answers are no larger than what they answer allows,
//! and everything ends once the peers are gone.

use std::collections::BTreeMap;

use arbitrary::{Arbitrary, Result, Unstructured};
use skywave_transport::dccp::{
    Action, Config, Connection, Listener, ListenerConfig, Secret, State,
};
use skywave_transport::{Driven, Transmit};
use skywave_units::{Duration, Instant};
use skywave_wire::dccp::{DccpOption, Kind, OptionList, Packet, PacketType, SeqNo, ServiceCode};
use skywave_wire::{Checksum, Ecn, Payload};

use crate::handling::handle;
use crate::structured::{kind, options};

/// The ports that are offered; a third is not.
pub const PORTS: [u16; 3] = [5_001, 5_002, 5_003];
/// As many connections as the endpoint has room for.
const CONNECTIONS_MAX: usize = 16;
/// The largest answer without a connection: a header, a cookie and the handshake's options.
const ANSWER_MAX: usize = 600;

/// A peer's address, its port and the local one.
pub type Ends = (u8, u16, u16);

/// What happens next.
#[derive(Debug)]
pub enum Act {
    Wait(Duration),
    /// A peer sends a packet whose numbers are close to those that it has seen.
    Say {
        ends: Ends,
        ecn: Ecn,
        seq: i8,
        ack: i8,
        packet: Box<Packet>,
    },
    /// A peer completes the handshake that it was offered last, with the cookie that it got.
    Complete {
        ends: Ends,
        /// A byte of the cookie to change.
        damage: Option<u8>,
    },
    Busy(bool),
    Withdraw(u8),
    Offer(u8),
}

fn ends(u: &mut Unstructured<'_>) -> Result<Ends> {
    let peer = u.int_in_range(0..=7)?;
    let port = u.int_in_range(1..=3)?;
    Ok((peer, port, *u.choose(&PORTS)?))
}

fn act(u: &mut Unstructured<'_>) -> Result<Act> {
    Ok(match u.int_in_range(0..=15u8)? {
        0 | 1 => Act::Wait(Duration::from_millis(u.arbitrary::<u32>()?.into())),
        2 => Act::Wait(Duration::from_micros(u.arbitrary::<u16>()?.into())),
        3..=6 => Act::Complete {
            ends: ends(u)?,
            damage: if u.ratio(1, 8)? {
                Some(u.arbitrary()?)
            } else {
                None
            },
        },
        7 => match u.int_in_range(0..=3u8)? {
            0 => Act::Withdraw(u.arbitrary()?),
            1 => Act::Offer(u.arbitrary()?),
            _ => Act::Busy(u.arbitrary()?),
        },
        8..=11 => Act::Say {
            ends: ends(u)?,
            ecn: Ecn::from_bits(u.arbitrary()?),
            seq: u.int_in_range(-2..=2)?,
            ack: 0,
            packet: Box::new(packet(
                Kind::Request {
                    service: ServiceCode(u.int_in_range(0..=2)?),
                },
                options(u)?,
                u.arbitrary()?,
            )),
        },
        _ => {
            let kind = kind(u, SeqNo::ZERO)?;
            Act::Say {
                ends: ends(u)?,
                ecn: Ecn::from_bits(u.arbitrary()?),
                seq: u.int_in_range(-2..=2)?,
                ack: u.int_in_range(-2..=2)?,
                packet: Box::new(packet(kind, options(u)?, u.arbitrary()?)),
            }
        }
    })
}

/// A packet whose ports and number are filled in when it is sent.
pub fn packet(kind: Kind, options: OptionList, size: u8) -> Packet {
    Packet {
        source_port: 0,
        destination_port: 0,
        ccval: 0,
        cscov: 0,
        extended: true,
        seq: SeqNo::ZERO,
        kind,
        options,
        payload: Payload::Synthetic(size.into()),
    }
}

/// What a run is made of.
#[derive(Debug)]
pub struct Input {
    /// How many half-open handshakes are stored.
    pub half_open: usize,
    pub acts: Vec<Act>,
}

impl Arbitrary<'_> for Input {
    fn arbitrary(u: &mut Unstructured<'_>) -> Result<Self> {
        let half_open = u.int_in_range(0..=3)?;
        let mut acts = Vec::new();
        while !u.is_empty() && acts.len() < 400 {
            acts.push(act(u)?);
        }
        Ok(Self { half_open, acts })
    }
}

/// What a peer remembers of its last exchange with one port.
#[derive(Debug, Default)]
struct Memory {
    /// Its last number, and the server's.
    own: u64,
    seen: u64,
    cookies: Vec<DccpOption>,
}

struct World {
    now: Instant,
    listener: Listener,
    half_open: usize,
    connections: BTreeMap<Ends, Driven<Connection>>,
    memories: BTreeMap<Ends, Memory>,
}

impl World {
    fn new(half_open: usize) -> Self {
        let config = ListenerConfig {
            half_open,
            resets_per_second: 4,
            ..ListenerConfig::default()
        };
        let mut world = Self {
            now: Instant::ZERO,
            listener: Listener::new(config, Secret::new([7; 32])),
            half_open,
            connections: BTreeMap::new(),
            memories: BTreeMap::new(),
        };
        world.offer(0);
        world.offer(1);
        world
    }

    fn offer(&mut self, which: u8) {
        let config = Config {
            service_codes: vec![ServiceCode(0), ServiceCode(1)],
            idle_timeout: Some(Duration::from_secs(600)),
            ..Config::default()
        };
        // It may be offered already.
        let _ = self.listener.offer(PORTS[usize::from(which) % 2], config);
    }

    /// A packet from a peer arrives, as an endpoint would handle it.
    fn arrive(&mut self, ends: Ends, ecn: Ecn, mut packet: Packet) {
        let (peer, source_port, destination_port) = ends;
        (packet.source_port, packet.destination_port) = (source_port, destination_port);
        let Ok(bytes) = packet.to_bytes(Checksum::Ignored) else {
            return;
        };
        self.memories.entry(ends).or_default().own = packet.seq.get();
        let mut sent = None;
        let action = handle(1, || {
            let packet = Packet::parse(&bytes, Checksum::Ignored).ok()?;
            let Some(connection) = self.connections.get_mut(&ends) else {
                return self.listener.receive(self.now, ecn, &[peer], packet);
            };
            connection.receive(self.now, ecn, packet, |drain| drain.postpone());
            sent = Some(transmit(connection, self.now));
            None
        });
        match action {
            None => {}
            Some(Action::Reply(reply)) => {
                let length = check(&reply);
                assert!(length <= ANSWER_MAX, "{length} bytes: {reply:?}");
                self.hear(ends, &reply.packet);
            }
            Some(Action::Accepted(connection)) => {
                assert_eq!(connection.state(), State::Open);
                if self.connections.len() < CONNECTIONS_MAX {
                    self.connections.insert(ends, Driven::new(*connection));
                    self.drain(ends);
                }
            }
        }
        if let Some(sent) = sent {
            self.settle(ends, &sent);
        }
        assert!(self.listener.half_open() <= self.half_open);
    }

    fn hear(&mut self, ends: Ends, answer: &Packet) {
        let memory = self.memories.entry(ends).or_default();
        memory.seen = answer.seq.get();
        if answer.kind.packet_type() == PacketType::Response {
            let is_cookie = |option: &&DccpOption| matches!(option, DccpOption::InitCookie(_));
            memory.cookies = answer.options.iter().filter(is_cookie).cloned().collect();
        }
    }

    fn drain(&mut self, ends: Ends) {
        if let Some(connection) = self.connections.get_mut(&ends) {
            let sent = transmit(connection, self.now);
            self.settle(ends, &sent);
        }
    }

    /// A connection has sent these packets.
    fn settle(&mut self, ends: Ends, sent: &[Packet]) {
        let connection = self.connections[&ends].get();
        assert!(connection.queued_bytes() <= 4_000_000 + 65_535);
        if matches!(connection.state(), State::Closed | State::TimeWait) {
            self.connections.remove(&ends);
        }
        for packet in sent {
            self.hear(ends, packet);
        }
    }

    fn say(&mut self, ends: Ends, ecn: Ecn, seq: i8, ack: i8, mut packet: Packet) {
        let memory = self.memories.entry(ends).or_default();
        packet.seq = SeqNo::new(memory.own.wrapping_add_signed(1 + i64::from(seq)));
        let ack = SeqNo::new(memory.seen.wrapping_add_signed(ack.into()));
        packet.kind = with_ack(packet.kind, ack);
        self.arrive(ends, ecn, packet);
    }

    fn complete(&mut self, ends: Ends, damage: Option<u8>) {
        let memory = self.memories.entry(ends).or_default();
        let mut options = OptionList::new();
        for cookie in &memory.cookies {
            let mut cookie = cookie.clone();
            if let (DccpOption::InitCookie(value), Some(damage)) = (&mut cookie, damage)
                && let Some(byte) = value.get_mut(usize::from(damage))
            {
                *byte ^= 1;
            }
            options.push(cookie);
        }
        let ack = SeqNo::new(memory.seen);
        let seq = SeqNo::new(memory.own.wrapping_add(1));
        let ack = Packet {
            seq,
            ..packet(Kind::Ack { ack }, options, 0)
        };
        self.arrive(ends, Ecn::NotEct, ack);
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        for (_, reset) in self.listener.expire(self.now) {
            check(&reset);
        }
        let all: Vec<Ends> = self.connections.keys().copied().collect();
        for ends in all {
            if let Some(connection) = self.connections.get_mut(&ends) {
                connection.expire(self.now, |drain| drain.postpone());
                self.drain(ends);
            }
        }
    }
}

/// Takes what a connection sends.
fn transmit(connection: &mut Driven<Connection>, now: Instant) -> Vec<Packet> {
    let mut sent = Vec::new();
    connection.drain(now, |mut drain| {
        while let Some(transmit) = drain.transmit() {
            check(&transmit);
            sent.push(transmit.packet);
            assert!(sent.len() < 1_000, "it never stops sending");
        }
        drain.finish()
    });
    sent
}

/// Every packet can be encoded. Returns its length.
fn check(transmit: &Transmit<Packet>) -> usize {
    let bytes = transmit.packet.to_bytes(Checksum::Ignored);
    bytes.expect("it can be sent").len()
}

/// The same kind of packet, with this acknowledgement number if it has one.
fn with_ack(kind: Kind, ack: SeqNo) -> Kind {
    match kind {
        Kind::Response { service, .. } => Kind::Response { ack, service },
        Kind::Ack { .. } => Kind::Ack { ack },
        Kind::DataAck { .. } => Kind::DataAck { ack },
        Kind::CloseReq { .. } => Kind::CloseReq { ack },
        Kind::Close { .. } => Kind::Close { ack },
        Kind::Reset { code, data, .. } => Kind::Reset { ack, code, data },
        Kind::Sync { .. } => Kind::Sync { ack },
        Kind::SyncAck { .. } => Kind::SyncAck { ack },
        other @ (Kind::Request { .. } | Kind::Data | Kind::Listen { .. }) => other,
    }
}

/// Does what the input says.
fn play(input: Input) -> World {
    let mut world = World::new(input.half_open);
    for act in input.acts {
        match act {
            Act::Wait(time) => world.wait(time),
            Act::Say {
                ends,
                ecn,
                seq,
                ack,
                packet,
            } => world.say(ends, ecn, seq, ack, *packet),
            Act::Complete { ends, damage } => world.complete(ends, damage),
            Act::Busy(busy) => world.listener.set_busy(busy),
            Act::Withdraw(which) => {
                let port = PORTS[usize::from(which) % 2];
                world
                    .listener
                    .withdraw(port, ServiceCode(u32::from(which) / 2 % 2));
            }
            Act::Offer(which) => world.offer(which),
        }
    }
    world
}

/// Does what the input says, without what comes once the peers are gone.
pub fn replay(input: Input) {
    play(input);
}

/// Does what the input says, until the peers are gone.
pub fn fuzz(input: Input) {
    let mut world = play(input);
    for _ in 0..40 {
        world.wait(Duration::from_secs(30));
    }
    assert_eq!(world.listener.half_open(), 0);
    assert_eq!(world.connections.len(), 0, "a connection outlives its peer");
}
