//! Hands packets and reports of errors to the connection that they are for.

use std::sync::Arc;

use bytes::Bytes;
use skywave_transport::dccp::{self, Connection, Outlet as _, State};
use skywave_transport::{End as _, Transmit};
use skywave_units::Instant;
use skywave_wire::dccp::{Packet, PacketType, ParseError};
use skywave_wire::{Checksum, Ecn};

use crate::config::EndpointConfig;
use crate::error::ConnectionError;
use crate::flow::{Flow, Mailbox, Shared};
use crate::incoming::Arrival;
use crate::locked;
use crate::network_error::{NetworkError, NetworkErrorKind};
use crate::path::{Key, Path, route};
use crate::shared::random_generator;
use crate::table::Found;

impl Shared {
    /// Hands packets that arrived as one to the connections that they are for. Those that have to
    /// [`answer`](Flow::answer) are added to `received`.
    pub(crate) fn dispatch(
        self: &Arc<Self>,
        now: Instant,
        mut arrival: Arrival,
        received: &mut Vec<Arc<Flow>>,
    ) {
        let Arrival { path, ecn, .. } = arrival;
        let checksum = path.checksum(self.socket.encapsulation);
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
                    let is_first = flow.receive(now, |connection| {
                        connection.receive(now, ecn, packet);
                        let malformed = connection.receive_all(now, ecn, checksum, others);
                        self.counters.malformed(malformed);
                    });
                    if is_first {
                        received.push(flow);
                    }
                }
                Found::Listener(mailbox) => self.admit(now, key, ecn, packet, &mailbox),
                Found::TimeWait if is_request => {}
                Found::TimeWait | Found::Nobody => self.at_door(now, key, ecn, packet),
            }
        }
    }

    /// A packet, unless it is none: then it is counted and dropped (RFC 4340 section 8.5, step 1).
    fn parse(&self, bytes: Bytes, checksum: Checksum) -> Result<Packet, ParseError> {
        let packet = Packet::read(bytes, checksum);
        if packet.is_err() {
            self.counters.malformed(1);
        }
        packet
    }

    /// A Request for somebody who listens: remembered as a connection, or answered at the door.
    fn admit(
        self: &Arc<Self>,
        now: Instant,
        key: Key,
        ecn: Ecn,
        request: Packet,
        mailbox: &Arc<Mailbox>,
    ) {
        let EndpointConfig {
            backlog, half_open, ..
        } = self.config;
        if !mailbox.enter(half_open.min(backlog)) {
            let is_full = !mailbox.has_room(backlog);
            if is_full {
                self.counters.too_busy();
            }
            locked(&self.door).set_busy(is_full);
            return self.at_door(now, key, ecn, request);
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
            // The door does not know that service either, and says so.
            return self.at_door(now, key, ecn, stray);
        }
        self.begin(now, key, server, mailbox);
    }

    /// A connection begins that counts against its listener's backlog.
    fn begin(self: &Arc<Self>, now: Instant, key: Key, server: Connection, mailbox: &Arc<Mailbox>) {
        let mtu = route(self.socket.bound(), key.path.peer)
            .ok()
            .map(|route| route.mtu);
        let flow = Flow::new(self, key, Some(Arc::clone(mailbox)), server, mtu);
        let before = locked(&self.table).insert(key, Arc::clone(&flow));
        if let Some(before) = before {
            before.discard();
        }
        flow.flush(now);
    }

    /// A packet that belongs to no connection (RFC 4340 sections 8.1.4 and 8.3.1).
    fn at_door(self: &Arc<Self>, now: Instant, key: Key, ecn: Ecn, packet: Packet) {
        let action = locked(&self.door).receive(now, ecn, &key.path.to_bytes(), packet);
        match action {
            None => self.counters.stray(),
            Some(dccp::Action::Reply(reply)) => self.reply(&key.path, reply),
            Some(dccp::Action::Accepted(server)) => {
                let mailbox = locked(&self.table).listener(key.local_port);
                // Without room the client hears nothing, and asks again.
                if let Some(mailbox) = mailbox
                    && mailbox.enter(self.config.backlog)
                {
                    self.begin(now, key, *server, &mailbox);
                }
            }
        }
    }

    fn reply(&self, path: &Path, reply: Transmit<Packet>) {
        if reply.packet.kind.packet_type() == PacketType::Reset {
            self.counters.stray();
            if !self.config.reset_strays {
                return;
            }
        }
        // A full socket has more important things to send: the peer will ask again.
        let _is_sent = self
            .sender
            .send_all(&self.socket, path, &self.counters, |outgoing| {
                outgoing.packet(reply)
            });
    }

    /// The network has reported an error (RFC 4340 section 14.1, RFC 6773 section 3.6).
    ///
    /// It says more than that a packet is lost in two cases only: the path takes no packets of that
    /// size, or a connection cannot reach its peer that has heard nothing from it yet, or waits for
    /// nothing but the end. An attacker can forge such reports: a connection that carries data
    /// survives them, and believes a router's MTU only where the report quotes a sequence number
    /// sent lately.
    pub(crate) fn network_error(&self, error: &NetworkError) {
        self.counters.network_error();
        let flows = locked(&self.table).flows();
        let concerned = flows.iter().filter(|flow| {
            let Key {
                path,
                local_port,
                remote_port,
            } = flow.key;
            // What this host's own IPv4 says of a packet that is too large names no port.
            path.peer.ip() == error.peer.ip()
                && [0, path.peer.port()].contains(&error.peer.port())
                && error.ports.is_none_or(|ports| {
                    (ports.source, ports.destination) == (local_port, remote_port)
                })
        });
        for flow in concerned {
            match error.kind {
                NetworkErrorKind::TooBig(mtu, Some(quoted)) => {
                    flow.apply(|connection| connection.on_too_big(mtu, quoted));
                }
                NetworkErrorKind::TooBigHere(mtu) => {
                    flow.apply(|connection| connection.on_local_mtu(mtu));
                }
                NetworkErrorKind::Unreachable => {
                    let state = flow.look(Connection::state);
                    if matches!(state, State::Request | State::CloseReq | State::Closing) {
                        flow.abort(ConnectionError::Unreachable);
                    }
                }
                NetworkErrorKind::TooBig(_, None) | NetworkErrorKind::Other => {}
            }
        }
    }
}
