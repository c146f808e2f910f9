//! The sender of the packets: many addresses and sockets, and connections of its own.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use bytes::Bytes;
use rand::{Rng, RngExt};
use skywave_units::Random;
use skywave_units::rand_core::SeedableRng;
use skywave_wire::dccp::{DccpOption, Kind, OptionList, Packet, ResetCode, SeqNo, ServiceCode};
use skywave_wire::{Checksum, Payload};

/// The sockets, each with an address in a different network.
const SOCKETS: u8 = 32;
/// The longest UDP datagram over loopback.
const LONGEST: usize = 65_507;
/// The number of packets that are sent before waiting for their arrival, and their bytes: these fit
/// in the smallest buffer that a system gives a socket.
const BATCH: u64 = 32;
const BATCH_BYTES: usize = 50_000;

/// A connection of the attacker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    socket: usize,
    port: u16,
    listener: u16,
    /// The last sequence numbers of both ends.
    own: u64,
    peers: SeqNo,
}

pub(crate) struct Attacker {
    target: SocketAddr,
    sockets: Vec<UdpSocket>,
    pub(crate) rng: Random,
    /// The DCCP port of the next packet without a connection.
    port: u16,
    /// Connections that a kind keeps.
    held: Vec<Held>,
    sent: u64,
    sent_bytes: usize,
}

impl Attacker {
    pub(crate) fn new(target: SocketAddr) -> Self {
        let socket = |net| {
            let socket = UdpSocket::bind((Ipv4Addr::new(127, 1, net, 1), 0)).unwrap();
            socket
                .set_read_timeout(Some(Duration::from_secs(5)))
                .unwrap();
            socket
        };
        Self {
            target,
            sockets: (0..SOCKETS).map(socket).collect(),
            rng: Random::seed_from_u64(1),
            port: 0,
            held: Vec::new(),
            sent: 0,
            sent_bytes: 0,
        }
    }

    /// Calls `send` until it has sent some packets. Returns how many.
    pub(crate) fn batch(&mut self, send: fn(&mut Self)) -> u64 {
        (self.sent, self.sent_bytes) = (0, 0);
        while self.sent < BATCH && self.sent_bytes < BATCH_BYTES {
            send(self);
        }
        self.sent
    }

    fn give(&mut self, socket: usize, bytes: &[u8]) {
        self.sockets[socket].send_to(bytes, self.target).unwrap();
        self.sent += 1;
        self.sent_bytes += bytes.len();
    }

    fn say(&mut self, from: &Held, kind: Kind, options: OptionList, data: Bytes) {
        let packet = Packet {
            source_port: from.port,
            destination_port: from.listener,
            ccval: 0,
            cscov: 0,
            extended: true,
            seq: SeqNo::new(from.own),
            kind,
            options,
            payload: Payload::Bytes(data),
        };
        let bytes = packet.to_bytes(Checksum::Ignored).unwrap();
        self.give(from.socket, &bytes);
    }

    /// A sender that has sent nothing yet: a different socket and port each time.
    fn stranger(&mut self, listener: u16) -> Held {
        self.port = self.port.wrapping_add(1);
        Held {
            socket: usize::from(self.port) % self.sockets.len(),
            port: self.port,
            listener,
            own: 1,
            peers: SeqNo::ZERO,
        }
    }

    /// Bytes that are not a packet.
    pub(crate) fn garbage(&mut self) {
        let length = self.rng.random_range(0..200);
        let mut bytes = vec![0; length];
        self.rng.fill_bytes(&mut bytes);
        let stranger = self.stranger(0);
        self.give(stranger.socket, &bytes);
    }

    pub(crate) fn request(&mut self, listener: u16, data: usize) {
        let stranger = self.stranger(listener);
        self.request_as(&stranger, data);
    }

    fn request_as(&mut self, stranger: &Held, data: usize) {
        let service = ServiceCode::NONE;
        let data = vec![7; data].into();
        self.say(stranger, Kind::Request { service }, OptionList::new(), data);
    }

    /// A packet of a connection that does not exist.
    pub(crate) fn stray(&mut self, listener: u16, kind: Kind, options: OptionList) {
        let stranger = self.stranger(listener);
        self.say(&stranger, kind, options, Bytes::new());
    }

    /// A Request from a socket that is closed before the answer arrives, so that the system
    /// responds with ICMP: Port Unreachable.
    pub(crate) fn vanishing_request(&mut self, listener: u16) {
        let stranger = self.stranger(listener);
        let gone = UdpSocket::bind((Ipv4Addr::new(127, 2, 1, 1), 0)).unwrap();
        let kept = std::mem::replace(&mut self.sockets[stranger.socket], gone);
        self.request_as(&stranger, 0);
        self.sockets[stranger.socket] = kept;
    }

    /// Returns the answer to `held`, or `None` if that is a Reset or there is none.
    fn answer(&self, held: &Held) -> Option<Packet> {
        let mut buffer = [0; LONGEST];
        loop {
            let length = match self.sockets[held.socket].recv(&mut buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
                Err(error) => panic!("{error}"),
            };
            let bytes = Bytes::copy_from_slice(&buffer[..length]);
            let packet = Packet::parse(&bytes, Checksum::Ignored).unwrap();
            // Answers to others may wait in the socket.
            if packet.destination_port == held.port && packet.source_port == held.listener {
                return match packet.kind {
                    Kind::Response { .. } => Some(packet),
                    Kind::Reset { .. } => None,
                    _ => continue,
                };
            }
        }
    }

    /// Completes a handshake, with the cookie if there is one.
    fn open(&mut self, listener: u16, data: usize) -> Option<Held> {
        let mut held = self.stranger(listener);
        self.request_as(&held, data);
        let response = self.answer(&held)?;
        held.own += 1;
        held.peers = response.seq;
        let ack = held.peers;
        let is_cookie = |option: &&DccpOption| matches!(option, DccpOption::InitCookie(_));
        let cookies = response.options.iter().filter(is_cookie).cloned().collect();
        self.say(&held, Kind::Ack { ack }, cookies, Bytes::new());
        Some(held)
    }

    /// A complete connection: handshake, then Reset.
    pub(crate) fn cycle(&mut self, listener: u16, data: usize) {
        if let Some(held) = self.open(listener, data) {
            self.reset(held);
        }
    }

    fn reset(&mut self, mut held: Held) {
        held.own += 1;
        let reset = Kind::Reset {
            ack: held.peers,
            code: ResetCode::ABORTED,
            data: [0; 3],
        };
        self.say(&held, reset, OptionList::new(), Bytes::new());
    }

    /// A packet in one of several connections, which are opened in advance, and reopened after a
    /// while, because earlier packets may have ended them.
    pub(crate) fn within(
        &mut self,
        listener: u16,
        kind: impl Fn(SeqNo) -> Kind,
        options: OptionList,
        data: usize,
    ) {
        const CONNECTIONS: usize = 8;
        const PACKETS: u64 = 200;
        if self.held.len() < CONNECTIONS {
            let opened = self.open(listener, 0);
            self.held.extend(opened);
            return;
        }
        let index = self.rng.random_range(0..CONNECTIONS);
        if self.held[index].own > PACKETS {
            let held = self.held.swap_remove(index);
            self.reset(held);
            return;
        }
        self.held[index].own += 1;
        let held = self.held[index];
        self.say(&held, kind(held.peers), options, vec![7; data].into());
    }
}
