//! Delivers packets and error reports to their connections.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use skywave_transport::dccp::{self, Connection, Outlet as _, State};
use skywave_transport::session::Session;
use skywave_transport::{End as _, Transmit};
use skywave_units::{Duration, Instant};
use skywave_wire::dccp::{Packet, PacketType, ParseError};
use skywave_wire::{Checksum, Ecn};
use tracing::{debug, trace};

use crate::error::ConnectionError;
use crate::flow::{Flow, Mailbox, Shared};
use crate::path::{Key, route};
use crate::shared::random_generator;
use crate::shared::shard::Shard;
use crate::shared::table::{Found, Opened};
use crate::sync::locked;
use crate::system::incoming::Arrival;
use crate::system::network_error::{NetworkError, NetworkErrorKind};

/// Received data keeps its buffer instead of being copied if the buffer is at most this many times
/// as large.
const WORTH_KEEPING: usize = 4;

/// How long a half-open handshake keeps its place when there are too many. A client that has not
/// answered the Response by then has most probably forged its address; RFC 4340 section 8.1.3 would
/// keep its state for 8 minutes.
const HALF_OPEN_GRACE: Duration = Duration::from_secs(4);

/// The maximum number of network reports processed per second. Timers and probes work without them,
/// and attackers can forge any number of them.
const REPORTS: u32 = 1_000;

impl Shared {
    /// Delivers packets that arrived together to their connections. Adds connections that need to
    /// [`answer`](Flow::answer) to `received`.
    pub(crate) fn dispatch(
        self: &Arc<Self>,
        now: Instant,
        mut arrival: Arrival,
        received: &mut Vec<Arc<Flow>>,
    ) {
        let Arrival {
            path, ecn, kept, ..
        } = arrival;
        let checksum = path.checksum(self.local.encapsulation);
        while let Some(bytes) = arrival.pop() {
            let Ok(packet) = self.parse(bytes, checksum) else {
                continue;
            };
            let key = Key {
                path,
                local_port: packet.destination_port,
                remote_port: packet.source_port,
            };
            let is_request = packet.kind.packet_type() == PacketType::Request;
            let found = locked(&self.table).find(&key, is_request, now);
            match found {
                Found::Flow(flow) if flow.is_met_by_cookie(&packet) => {
                    self.at_door(now, key, ecn, packet);
                }
                Found::Flow(flow) => {
                    let others = core::iter::from_fn(|| arrival.pop_for(&key));
                    let is_first = flow.receive(now, |session, mut log| {
                        if let Some(log) = &mut log {
                            log.received(now, ecn, &packet);
                        }
                        let others = others.inspect(|bytes| {
                            if let Some(log) = &mut log {
                                log.received_bytes(now, ecn, bytes, checksum);
                            }
                        });
                        let before = session.connection();
                        let (count, bytes) = (before.readable(), before.received_bytes());
                        session.receive(now, ecn, packet);
                        let malformed = session.receive_all(now, ecn, checksum, others);
                        self.counters.malformed(malformed);
                        // Otherwise a peer could make each datagram keep a buffer of its own.
                        let after = session.connection();
                        let new = after.received_bytes() - bytes;
                        if new > 0 && new < kept / WORTH_KEEPING {
                            session.detach_newest(after.readable() - count);
                        }
                    });
                    if is_first {
                        received.push(flow);
                    }
                }
                Found::Listener(mailbox) => self.admit(now, key, ecn, packet, &mailbox),
                Found::TimeWait if is_request => {
                    let refusal = locked(&self.door).reset_stray(now, &packet);
                    self.act(now, key, refusal);
                }
                Found::TimeWait | Found::Nobody => self.at_door(now, key, ecn, packet),
            }
        }
    }

    /// Parses a packet, and counts it if it is malformed (RFC 4340 section 8.5, step 1).
    fn parse(&self, bytes: Bytes, checksum: Checksum) -> Result<Packet, ParseError> {
        let packet = Packet::read(bytes, checksum);
        if let Err(error) = &packet {
            self.counters.malformed(1);
            trace!(%error, "malformed packet");
        }
        packet
    }

    /// Handles a Request for a listener: stores it as a connection, or passes it to the stateless
    /// listener.
    fn admit(
        self: &Arc<Self>,
        now: Instant,
        key: Key,
        ecn: Ecn,
        request: Packet,
        mailbox: &Arc<Mailbox>,
    ) {
        let has_room = mailbox.has_room(self.config.backlog) && self.has_room_for(&key);
        if !has_room || !self.has_room_for_handshake(now, mailbox) {
            if !has_room {
                self.counters.too_busy();
                self.limit_reached(now, "too busy", key.path.peer);
            }
            locked(&self.door).set_busy(!has_room);
            return self.at_door(now, key, ecn, request);
        }
        if !mailbox.enter(self.config.backlog) {
            return;
        }
        let Ok(rng) = random_generator() else {
            mailbox.leave();
            return;
        };
        let config = Arc::clone(&mailbox.config);
        let stray = request.clone();
        let server = Connection::server(config, key.local_port, rng, now, ecn, request);
        if server.state() == State::Listen {
            mailbox.leave();
            // The stateless listener does not offer that service either, and refuses the Request.
            return self.at_door(now, key, ecn, stray);
        }
        self.begin(now, key, server, mailbox, Some((ecn, &stray)));
    }

    fn has_room_for(&self, key: &Key) -> bool {
        locked(&self.table).has_room(key.path.peer.ip(), Opened::ByPeer)
    }

    /// Returns whether another half-open handshake can be stored. Drops the oldest if that one is
    /// long overdue.
    fn has_room_for_handshake(&self, now: Instant, mailbox: &Arc<Mailbox>) -> bool {
        if mailbox.half_open() < self.config.half_open {
            return true;
        }
        let Some(oldest) = mailbox.take_half_open(now, HALF_OPEN_GRACE) else {
            return false;
        };
        self.counters.half_open_dropped();
        self.limit_reached(now, "half-open dropped", oldest.key.path.peer);
        oldest.discard();
        true
    }

    /// Adds a connection that counts against its listener's backlog.
    fn begin(
        self: &Arc<Self>,
        now: Instant,
        key: Key,
        server: Connection,
        mailbox: &Arc<Mailbox>,
        request: Option<(Ecn, &Packet)>,
    ) {
        let mtu = route(&self.local, key.path.peer)
            .ok()
            .map(|route| route.mtu);
        let is_half_open = server.state() == State::Respond;
        let session = Session::new(server);
        let flow = Flow::new(self, key, Some(Arc::clone(mailbox)), session, mtu);
        if let Some((ecn, request)) = request {
            flow.log_request(now, ecn, request);
        }
        if is_half_open {
            mailbox.opens(flow.id, now, &flow);
        }
        let before = locked(&self.table).flow(&key);
        if let Some(before) = before {
            before.discard();
        }
        // The ports are free now, so this replaces no connection.
        let _ = locked(&self.table).insert(key, Arc::clone(&flow), Opened::ByPeer);
        flow.flush(now);
    }

    /// Handles a packet that belongs to no connection (RFC 4340 sections 8.1.4 and 8.3.1).
    fn at_door(self: &Arc<Self>, now: Instant, key: Key, ecn: Ecn, packet: Packet) {
        let action = locked(&self.door).receive(now, ecn, &key.path.to_bytes(), packet);
        self.act(now, key, action);
    }

    /// Carries out the stateless listener's decision on a packet.
    fn act(self: &Arc<Self>, now: Instant, key: Key, action: Option<dccp::Action>) {
        match action {
            None => {
                self.counters.stray();
                trace!(peer = %key.path.peer, "stray packet");
            }
            Some(dccp::Action::Reply(reply)) => self.reply(&key, reply),
            Some(dccp::Action::Accepted(server)) => {
                let mailbox = locked(&self.table).listener(key.local_port);
                // If there is no room, do not answer: the client will retry.
                if let Some(mailbox) = mailbox
                    && self.has_room_for(&key)
                    && mailbox.enter(self.config.backlog)
                {
                    self.begin(now, key, *server, &mailbox, None);
                }
            }
        }
    }

    fn reply(&self, key: &Key, reply: Transmit<Packet>) {
        if reply.packet.kind.packet_type() == PacketType::Reset {
            self.counters.stray();
            if !self.config.reset_strays {
                return;
            }
        }
        // If the socket is full, skip the answer: the peer will ask again.
        let Shard { sender, socket, .. } = &self.shards[self.home(key)];
        let _is_sent = sender.send_all(socket, &key.path, &self.counters, |outgoing| {
            outgoing.packet(reply)
        });
    }

    /// Counts an error reported by the network, and handles it unless there are too many (RFC 4340
    /// section 14.1, RFC 6773 section 3.6).
    ///
    /// Most errors only mean that a packet was lost. Two mean more: the path does not carry packets
    /// of that size, or a connection cannot reach a peer from which it has heard nothing yet, or
    /// from which it only awaits the end. Attackers can forge such reports, so a connection that
    /// carries data survives them, and a report is accepted only if it quotes the ports and a
    /// recent sequence number (RFC 5927 section 4, RFC 8085 section 5.2). Reports from routers that
    /// quote less are ignored, and timers decide.
    pub(crate) fn network_error(&self, error: &NetworkError) {
        self.counters.network_error();
        let is_heeded = locked(&self.reports).allows(self.clock.now(), REPORTS);
        let NetworkError { peer, kind, quoted } = error;
        debug!(%peer, ?kind, is_quoted = quoted.is_some(), is_heeded, "network error");
        if !is_heeded {
            return;
        }
        if let NetworkErrorKind::TooBigHere(mtu) = error.kind {
            // It comes from this host itself, and names no port over IPv4.
            for flow in self.flows_to(error.peer, None) {
                let now = self.clock.now();
                flow.apply(|session| session.on_local_mtu(now, mtu));
            }
            return;
        }
        let Some(quoted) = error.quoted else { return };
        let ports = (quoted.source_port, quoted.destination_port);
        for flow in self.flows_to(error.peer, Some(ports)) {
            match error.kind {
                NetworkErrorKind::TooBig(mtu) => {
                    let now = self.clock.now();
                    flow.apply(|session| session.on_too_big(now, mtu, quoted));
                }
                NetworkErrorKind::Unreachable => {
                    let waits = flow.look(|connection| {
                        let state = connection.state();
                        matches!(state, State::Request | State::CloseReq | State::Closing)
                            && connection.has_sent_recently(quoted)
                    });
                    if waits {
                        flow.abort(ConnectionError::Unreachable);
                    }
                }
                NetworkErrorKind::TooBigHere(_) | NetworkErrorKind::Other => {}
            }
        }
    }

    /// Returns the connections to a peer, whose UDP port may be unknown (zero), between these DCCP
    /// ports if they are known.
    fn flows_to(&self, peer: SocketAddr, ports: Option<(u16, u16)>) -> Vec<Arc<Flow>> {
        let mut flows = locked(&self.table).flows_to(peer.ip(), ports);
        flows.retain(|flow| [0, flow.key.path.peer.port()].contains(&peer.port()));
        flows
    }
}
