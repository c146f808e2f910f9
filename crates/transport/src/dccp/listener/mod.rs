//! Packets that belong to no connection: Requests and strays (RFC 4340 sections 8.1 and 8.3.1).
//!
//! - this module: who may connect, and what is answered;
//! - [`mod@cookie`]: Init Cookies, for stateless handshakes;
//! - [`secret`]: values derived from the listener's secret.

mod cookie;
mod secret;

use std::collections::BTreeMap;
use std::sync::Arc;

use skywave_units::rand_core::SeedableRng;
use skywave_units::{Duration, Instant, Random};
use skywave_wire::Ecn;
use skywave_wire::dccp::{DccpOption, Kind, Packet, PacketType, ResetCode, SeqNo, ServiceCode};
use thiserror::Error;

use self::cookie::{Cookies, Remembered};
pub use self::secret::Secret;
use super::connection::RequestData;
use super::{Config, Connection, State, Strays};
use crate::{End, Transmit};

/// The options of a [`Listener`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenerConfig {
    /// The most half-open connections kept; further Requests are answered with Init Cookies. With
    /// zero, all are. Default: 256.
    pub half_open: usize,
    /// How long an Init Cookie is valid after the Request. Default: 2 min.
    pub cookie_lifetime: Duration,
    /// The most Resets sent per second outside a connection (section 8.1.3). Default: 1024.
    pub resets_per_second: u32,
}

impl Default for ListenerConfig {
    fn default() -> Self {
        Self {
            half_open: 256,
            cookie_lifetime: Duration::from_secs(120),
            resets_per_second: 1024,
        }
    }
}

/// Why [`Listener::offer`] refused a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OfferError {
    /// No Service Code; a listening socket must have one (RFC 5595 section 2).
    #[error("service_codes is empty; give at least one, or ServiceCode::NONE")]
    NoServiceCode,
    /// Service Code 4294967295.
    #[error("service code 4294967295 is invalid (RFC 4340 section 8.1.2); choose another")]
    InvalidServiceCode,
    /// The service is already offered on that port (RFC 5595 section 3.3).
    #[error("service code {} is offered on port {port}; withdraw it or choose another", service.0)]
    Taken {
        /// The port.
        port: u16,
        /// The service.
        service: ServiceCode,
    },
}

/// What to do about a packet without a connection.
#[derive(Debug)]
pub enum Action {
    /// Send this packet to the peer.
    Reply(Transmit<Packet>),
    /// Take over this connection: its handshake is complete. It is OPEN, may have packets to send,
    /// events and data, and from now on takes the packets between these addresses and ports.
    Accepted(Box<Connection>),
}

/// Counters of a [`Listener`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListenerStats {
    /// Requests received for services on offer.
    pub requests: u64,
    /// Responses sent with an Init Cookie.
    pub cookies_sent: u64,
    /// Handshakes completed, with or without a cookie.
    pub accepted: u64,
    /// Packets whose Init Cookie was forged, expired or already redeemed.
    pub bad_cookies: u64,
    /// Resets sent in response to strays and refused Requests.
    pub resets_sent: u64,
}

/// Handles a host's packets that belong to no connection.
///
/// One listener serves all ports of a host. A port may offer several services, each with its own
/// configuration (RFC 5595 section 3.3). The driver first looks a packet up in its table of
/// connections, by addresses and ports, passes it on if there is no match, and carries out the
/// returned [`Action`].
///
/// While fewer than [`ListenerConfig::half_open`] handshakes are under way, the listener keeps a
/// connection in RESPOND state for each. Beyond that it keeps no state: the Response carries an
/// Init Cookie (RFC 4340 section 8.1.4), and the client's next packet returns what is needed to
/// create the connection. A flood of Requests with forged addresses therefore costs no memory and
/// locks nobody out. Cookies are not used for every handshake because they have drawbacks: the data
/// of a Request cannot be delivered, a lost Reset cannot be repeated, and some clients (Linux's,
/// for example) do not return cookies.
///
/// Both kinds of handshake lead to the same connection. With a cookie, the handshake is replayed
/// from the Request in the cookie with the same numbers, skipping those of Responses to
/// retransmitted Requests.
#[derive(Debug)]
pub struct Listener {
    config: ListenerConfig,
    secret: Secret,
    cookies: Cookies,
    services: BTreeMap<(u16, ServiceCode), Arc<Config>>,
    half_open: BTreeMap<Ends, Connection>,
    /// No timer of a half-open connection is due before this time.
    wake: Option<Instant>,
    strays: Strays,
    busy: bool,
    stats: ListenerStats,
}

/// The circumstances of an arrival.
#[derive(Clone, Copy, Debug)]
struct Arrival<'a> {
    now: Instant,
    ecn: Ecn,
    peer: &'a [u8],
}

/// The identity of a handshake: the peer's address, its port and the local port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ends {
    peer: Box<[u8]>,
    ports: [u16; 2],
}

impl Ends {
    fn new(peer: &[u8], packet: &Packet) -> Self {
        Self {
            peer: peer.into(),
            ports: [packet.source_port, packet.destination_port],
        }
    }
}

impl Listener {
    /// Creates a listener that offers nothing yet.
    pub fn new(config: ListenerConfig, secret: Secret) -> Self {
        Self {
            cookies: Cookies::new(secret.clone(), config.cookie_lifetime),
            config,
            secret,
            services: BTreeMap::new(),
            half_open: BTreeMap::new(),
            wake: None,
            strays: Strays::default(),
            busy: false,
            stats: ListenerStats::default(),
        }
    }

    /// Offers the services in [`Config::service_codes`] on `port`. [`Connection::service_code`]
    /// says which one a client requested.
    ///
    /// # Errors
    ///
    /// Nothing is offered: there is no valid Service Code, or one of them is already offered on
    /// this port.
    pub fn offer(&mut self, port: u16, config: impl Into<Arc<Config>>) -> Result<(), OfferError> {
        let config = config.into();
        if config.service_codes.is_empty() {
            return Err(OfferError::NoServiceCode);
        }
        for &service in &config.service_codes {
            if service == ServiceCode::INVALID {
                return Err(OfferError::InvalidServiceCode);
            }
            if self.services.contains_key(&(port, service)) {
                return Err(OfferError::Taken { port, service });
            }
        }
        for &service in &config.service_codes {
            self.services.insert((port, service), Arc::clone(&config));
        }
        Ok(())
    }

    /// Withdraws a service. Handshakes under way without a cookie continue.
    pub fn withdraw(&mut self, port: u16, service: ServiceCode) {
        self.services.remove(&(port, service));
    }

    /// Sets whether to refuse all Requests with Reset Code 9 (too busy).
    pub const fn set_busy(&mut self, busy: bool) {
        self.busy = busy;
    }

    /// Returns the number of half-open connections currently kept.
    pub fn half_open(&self) -> usize {
        self.half_open.len()
    }

    /// Returns the counters.
    pub const fn stats(&self) -> ListenerStats {
        self.stats
    }

    /// Handles a packet from `peer` that belongs to no connection. `peer` is the address, in any
    /// unambiguous byte encoding.
    pub fn receive(
        &mut self,
        now: Instant,
        ecn: Ecn,
        peer: &[u8],
        packet: Packet,
    ) -> Option<Action> {
        let packet_type = packet.kind.packet_type();
        if packet_type == PacketType::Listen
            || !(packet.extended || packet_type.allows_short_numbers())
        {
            return None;
        }
        let arrival = Arrival { now, ecn, peer };
        if !self.half_open.is_empty() {
            let ends = Ends::new(peer, &packet);
            if self.half_open.contains_key(&ends) {
                return self.go_on(arrival, &ends, packet);
            }
        }
        if let Kind::Request { service } = packet.kind {
            return self.answer_request(arrival, packet, service);
        }
        let may_bring_cookie = !matches!(packet_type, PacketType::Data | PacketType::Reset);
        let is_cookie = |option: &DccpOption| matches!(option, DccpOption::InitCookie(_));
        if may_bring_cookie
            && packet.options.iter().any(is_cookie)
            && self.is_bound(packet.destination_port)
        {
            return self.take_cookie(arrival, packet);
        }
        self.refuse(now, &packet, ResetCode::NO_CONNECTION)
    }

    /// Answers a packet of a connection in TIMEWAIT with a Reset, "No Connection", even if it is a
    /// Request (RFC 4340 section 8.5, step 2).
    pub fn reset_stray(&mut self, now: Instant, packet: &Packet) -> Option<Action> {
        self.refuse(now, packet, ResetCode::NO_CONNECTION)
    }

    /// Returns when [`expire`](Self::expire) must next be called, or `None` for never.
    pub const fn deadline(&self) -> Option<Instant> {
        self.wake
    }

    /// Gives up handshakes that have taken too long. Returns the peer's address and the Reset to
    /// send for each.
    #[must_use = "send the Resets"]
    pub fn expire(&mut self, now: Instant) -> Vec<(Box<[u8]>, Transmit<Packet>)> {
        if self.wake.is_none_or(|at| at > now) {
            return Vec::new();
        }
        let mut resets = Vec::new();
        self.half_open.retain(|ends, connection| {
            connection.expire(now);
            while let Some(transmit) = connection.transmit(now) {
                resets.push((ends.peer.clone(), transmit));
            }
            connection.state() == State::Respond
        });
        let deadlines = self.half_open.values().filter_map(End::deadline);
        self.wake = deadlines.min();
        resets
    }

    /// Continues a handshake without a cookie.
    fn go_on(&mut self, arrival: Arrival<'_>, ends: &Ends, packet: Packet) -> Option<Action> {
        let connection = self.half_open.get_mut(ends)?;
        connection.receive(arrival.now, arrival.ecn, packet);
        if connection.state() == State::Respond {
            return connection.transmit(arrival.now).map(Action::Reply);
        }
        let connection = self.half_open.remove(ends)?;
        if self.half_open.is_empty() {
            self.wake = None;
        }
        self.finish(arrival.now, connection)
    }

    /// Ends a handshake, successful or not.
    fn finish(&mut self, now: Instant, mut connection: Connection) -> Option<Action> {
        if connection.state() == State::Open {
            self.stats.accepted += 1;
            return Some(Action::Accepted(Box::new(connection)));
        }
        connection.transmit(now).map(Action::Reply)
    }

    fn answer_request(
        &mut self,
        arrival: Arrival<'_>,
        request: Packet,
        service: ServiceCode,
    ) -> Option<Action> {
        let port = request.destination_port;
        let Some(config) = self.services.get(&(port, service)).map(Arc::clone) else {
            let code = if self.is_bound(port) {
                ResetCode::BAD_SERVICE_CODE
            } else {
                ResetCode::CONNECTION_REFUSED
            };
            return self.refuse(arrival.now, &request, code);
        };
        self.stats.requests += 1;
        if self.busy {
            return self.refuse(arrival.now, &request, ResetCode::TOO_BUSY);
        }
        if self.half_open.len() >= self.config.half_open {
            return self.answer_with_cookie(arrival, request, config);
        }
        let ends = Ends::new(arrival.peer, &request);
        let mut connection = self.respond(arrival, request, config, RequestData::Take);
        let answer = connection.transmit(arrival.now)?;
        if connection.state() != State::Respond {
            return self.pass_on_refusal(arrival.now, answer);
        }
        let deadlines = [self.wake, connection.deadline()];
        self.wake = deadlines.into_iter().flatten().min();
        self.half_open.insert(ends, connection);
        Some(Action::Reply(answer))
    }

    /// Returns a Response with a cookie, keeping no state.
    fn answer_with_cookie(
        &mut self,
        arrival: Arrival<'_>,
        request: Packet,
        config: Arc<Config>,
    ) -> Option<Action> {
        let Arrival { now, ecn, peer } = arrival;
        let Some(cookie) = self.cookies.seal(now, peer, ecn, &request) else {
            return self.refuse(now, &request, ResetCode::TOO_BUSY);
        };
        let mut connection = self.respond(arrival, request, config, RequestData::Refuse);
        let mut answer = connection.transmit(now)?;
        if connection.state() != State::Respond {
            return self.pass_on_refusal(now, answer);
        }
        answer.packet.options.extend(cookie);
        self.stats.cookies_sent += 1;
        Some(Action::Reply(answer))
    }

    /// Handles a returned cookie: creates the connection if the cookie is valid.
    fn take_cookie(&mut self, arrival: Arrival<'_>, packet: Packet) -> Option<Action> {
        let cookie = self.cookies.open(arrival.now, arrival.peer, &packet);
        let redone = cookie.and_then(|cookie| Some((self.redo(arrival, &cookie)?, cookie)));
        let Some((mut connection, cookie)) = redone else {
            self.stats.bad_cookies += 1;
            return self.refuse(arrival.now, &packet, ResetCode::BAD_INIT_COOKIE);
        };
        connection.skip_responses(responses_after(&cookie.request, &packet));
        connection.receive(arrival.now, arrival.ecn, packet);
        if connection.state() == State::Respond {
            // The packet failed the checks. Wait for the client's next one: a Sync would use a
            // sequence number that nothing remembers.
            return None;
        }
        self.cookies.spend(arrival.now, &cookie);
        self.finish(arrival.now, connection)
    }

    /// Recreates the connection in RESPOND state that answered the Request in `cookie`.
    fn redo(&self, arrival: Arrival<'_>, cookie: &Remembered) -> Option<Connection> {
        let request = cookie.request.clone();
        let Kind::Request { service } = request.kind else {
            return None;
        };
        let config = self.services.get(&(request.destination_port, service))?;
        let then = Arrival {
            now: cookie.arrived,
            ecn: cookie.ecn,
            peer: arrival.peer,
        };
        let mut connection = self.respond(then, request, Arc::clone(config), RequestData::Refuse);
        // Discard the Response, which has already been sent.
        connection.transmit(then.now)?;
        Some(connection)
    }

    /// Creates the server's end of the connection that `request` opens. The result depends only on
    /// the arguments and the secret.
    fn respond(
        &self,
        arrival: Arrival<'_>,
        request: Packet,
        config: Arc<Config>,
        data: RequestData,
    ) -> Connection {
        let Arrival { now, ecn, peer } = arrival;
        let ports = [request.source_port, request.destination_port];
        let iss = self.secret.initial_number(peer, ports, request.seq);
        let rng = Random::from_seed(self.secret.derive(
            "generator",
            &[
                peer,
                &iss.get().to_be_bytes(),
                &now.as_nanos().to_be_bytes(),
            ],
        ));
        Connection::respond(config, iss, rng, data, now, ecn, request)
    }

    fn is_bound(&self, port: u16) -> bool {
        let all = (port, ServiceCode(0))..=(port, ServiceCode(u32::MAX));
        self.services.range(all).next().is_some()
    }

    /// Returns the Reset with which a connection refused a Request, if the rate limit allows one.
    fn pass_on_refusal(&mut self, now: Instant, reset: Transmit<Packet>) -> Option<Action> {
        if !self.strays.allows(now, self.config.resets_per_second) {
            return None;
        }
        self.stats.resets_sent += 1;
        Some(Action::Reply(reset))
    }

    /// Returns a Reset in response to `packet`, if the rate limit allows one.
    fn refuse(&mut self, now: Instant, packet: &Packet, code: ResetCode) -> Option<Action> {
        let limit = self.config.resets_per_second;
        let reset = self.strays.answer(now, packet, code, limit)?;
        self.stats.resets_sent += 1;
        Some(Action::Reply(Transmit {
            ecn: Ecn::NotEct,
            packet: reset,
        }))
    }
}

/// Returns the most Responses that may have left after the one to `request`, when `packet` returns
/// its cookie: one for each client sequence number in between, because each may be a retransmitted
/// Request. They use the numbers that follow (see [`Secret`]'s `initial_number`); a later packet
/// with one of those numbers would look like a duplicate to the client.
fn responses_after(request: &Packet, packet: &Packet) -> u64 {
    let seq = if packet.extended {
        packet.seq
    } else {
        SeqNo::extend(packet.seq.short(), request.seq)
    };
    u64::try_from(seq.distance_from(request.seq) - 1).unwrap_or(0)
}
