//! One end of a DCCP connection.
//!
//! - this module: the connection's state and its constructors;
//! - [`application`]: the application's interface;
//! - [`receive`]: the sixteen steps of RFC 4340 section 8.5, in order;
//! - [`train`]: fast paths for packets that arrive or leave together;
//! - [`options`]: option processing of step 8;
//! - [`deliver`]: application data, step 16;
//! - [`path`]: the Path MTU and path changes;
//! - [`discovery`]: the search for the Path MTU (DPLPMTUD);
//! - [`ecn`]: ECN bits, and whether the path can carry them;
//! - [`quick_start`]: Quick-Start requests and responses;
//! - [`transmit`]: chooses the next packet to send;
//! - [`compose`]: builds it;
//! - [`optimistic`]: sequence numbers skipped to catch optimistic acknowledgements;
//! - [`lifecycle`]: state transitions, timers, closing.

mod application;
mod compose;
mod deliver;
mod discovery;
mod ecn;
mod lifecycle;
mod optimistic;
mod options;
mod path;
mod quick_start;
mod receive;
mod train;
mod transmit;

use std::collections::VecDeque;
use std::sync::Arc;

use rand::Rng;
use skywave_units::{Duration, Instant, Random};
use skywave_wire::dccp::{OptionBytes, Packet, SeqNo, ServiceCode};
use skywave_wire::quick_start::QuickStart;
use skywave_wire::{Ecn, Payload};

use self::discovery::PathDiscovery;
use self::ecn::EcnPath;
use self::lifecycle::Handshake;
use self::optimistic::SkippedNumbers;
use self::path::EarlierPaths;
pub use self::train::{Outlet, Train};
use self::transmit::Outbox;
use super::ackvec::AckVectorBuffer;
use super::ccid::{HcReceiver, HcSender};
use super::data_dropped::DataDropped;
use super::features::Features;
use super::half::{self, Sender};
use super::liveness::Liveness;
use super::mechanism::ReceiverHalf;
use super::queue::{Limit, Queue};
use super::quick_start::Exchange;
use super::sequence::{SequenceNumbers, Windows};
use super::stray::Strays;
use super::timer::{Backoff, RateLimit, TimerTable};
use super::timing::{DEFAULT_RTT, PendingEcho};
use super::{Config, Counters, Datagram, Event, Role, State};
use crate::{End, Transmit};

/// The lower bound of the round-trip time used for timers, so that none fires again at once.
const MIN_RTT: Duration = Duration::from_millis(1);

/// One end of a DCCP connection (RFC 4340), client or server.
///
/// Drive it as an [`End`]. The application uses [`send`](Self::send), [`recv`](Self::recv),
/// [`event`](Self::event) and [`close`](Self::close). A closed connection keeps answering stray
/// packets, as RFC 4340 requires, until it is dropped.
#[derive(Debug)]
pub struct Connection {
    config: Arc<Config>,
    rng: Random,
    role: Role,
    state: State,
    local_port: u16,
    /// Zero in LISTEN state.
    remote_port: u16,
    /// The Service Code of this connection; unset in LISTEN state.
    service: ServiceCode,

    seq: SequenceNumbers,
    features: Features,
    ack_vector: AckVectorBuffer,
    /// Our latest packets with acknowledgement options, oldest first. Once the peer has received
    /// one, older state need not be repeated.
    carriers: VecDeque<SeqNo>,
    sender: Sender,
    receiver: ReceiverHalf,
    /// Present after a path change.
    earlier_paths: Option<Box<EarlierPaths>>,
    /// In bytes; IP cannot describe longer packets.
    path_mtu: u16,
    /// Present on a path that the driver has described.
    discovery: Option<Box<PathDiscovery>>,
    ecn_path: EcnPath,
    /// In bytes.
    lower_headers: u16,

    outbox: Outbox,
    timers: TimerTable,
    backoff: Backoff,
    feature_backoff: Backoff,
    sync_limit: RateLimit,
    strays: Strays,
    handshake: Handshake,
    /// Listens sent by a server, or obeyed by a client (RFC 5596).
    listens: u8,
    /// When the last valid packet arrived.
    last_valid: Option<Instant>,
    liveness: Liveness,
    /// The sequence number of the last data packet sent; one before the first packet's if there is
    /// none.
    last_data: SeqNo,
    /// The greatest acknowledgement number on a packet other than a SyncAck, whose number says that
    /// the Sync arrived, not the data before it.
    data_acked: SeqNo,
    /// When the Ack Ratio or the Sequence Window was last requested.
    last_declared: Option<Instant>,
    /// When pacing permits the next datagram.
    paced_until: Option<Instant>,

    send_queue: Queue<Payload>,
    receive_queue: Queue<Datagram>,
    events: VecDeque<Event>,
    /// GAR when data last had to wait for the Sequence Window; initially ISS.
    full_at: SeqNo,
    /// The number of consecutive non-data packets sent last (section 7.7).
    non_data_run: u64,
    /// Present once the connection is open, if numbers are skipped.
    skipped: Option<Box<SkippedNumbers>>,
    echo: Option<PendingEcho>,
    /// Present after a datagram was dropped.
    dropped: Option<Box<DataDropped>>,
    /// Present if we may send Quick-Start requests, or have received one.
    quick_start: Option<Box<Exchange>>,
    /// The Init Cookies of the latest Response (section 8.1.4).
    cookies: Box<[OptionBytes]>,
    /// Whether the application has asked to close.
    closing: bool,
    /// Whether closing waits only for acknowledgements: everything queued was sent.
    settling: bool,
    /// Whether it ended because it carried no data for [`Config::idle_timeout`].
    ended_idle: bool,
    /// The most bytes of data in both queues together, as the driver's memory allows; at most 4
    /// GiB.
    most_queued: u32,
    /// Whether a datagram was refused because the queue was full.
    was_full: bool,
    peer_not_listening: bool,
    /// Whether the application still reads.
    is_listening: bool,
    /// Whether the application has trouble keeping up.
    is_slow: bool,
    /// Whether the data of a Request or Response was delivered or refused: at most one is
    /// delivered.
    handshake_data_settled: bool,
    /// Whether a datagram does not fit next to the options required in PARTOPEN.
    waits_for_open: bool,
    counters: Counters,
    #[cfg(test)]
    pub(in crate::dccp) trains: train::Trains,
}

/// What to do with the data of the Request that a server answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dccp) enum RequestData {
    /// Deliver it to the application.
    Take,
    /// Drop it, and report Drop Code 0 (section 8.1.3).
    Refuse,
}

impl Connection {
    /// Creates a client that connects to `remote_port`. Its first packet is a Request.
    ///
    /// `rng` draws the initial sequence number, ECN nonces, and the numbers to skip. Seed it from a
    /// source that an attacker cannot guess, if attackers are possible (RFC 4340 section 7.2). If the
    /// same addresses and ports are reused within four minutes, a random initial sequence number
    /// overlaps the old ones with a probability of about W / 2^47.
    pub fn client(
        config: impl Into<Arc<Config>>,
        local_port: u16,
        remote_port: u16,
        now: Instant,
        mut rng: Random,
    ) -> Self {
        let iss = SeqNo::new(rng.next_u64());
        let mut client = Self::new(config.into(), Role::Client, local_port, iss, rng);
        client.remote_port = remote_port;
        client.service = client.first_service();
        client.enter_request(now);
        client
    }

    /// Creates a server in LISTEN state, which becomes the connection of the first valid Request.
    /// `rng` is as for [`client`](Self::client).
    pub fn listen(config: impl Into<Arc<Config>>, port: u16, mut rng: Random) -> Self {
        let iss = SeqNo::new(rng.next_u64());
        Self::new(config.into(), Role::Server, port, iss, rng)
    }

    /// Creates a server for one client whose port is known by other means (RFC 5596). It sends up
    /// to three Listens, so that middleboxes let the client's Request through, and answers no other
    /// client. It offers only the first of [`Config::service_codes`].
    ///
    /// An ICMP error in response to a Listen is no reason to give up, so the driver need not report
    /// it.
    pub fn invite(
        config: impl Into<Arc<Config>>,
        local_port: u16,
        remote_port: u16,
        mut rng: Random,
    ) -> Self {
        let iss = SeqNo::new(rng.next_u64());
        let mut server = Self::new(config.into(), Role::Server, local_port, iss, rng);
        server.remote_port = remote_port;
        server.service = server.first_service();
        server.enter_invited();
        server
    }

    /// Creates the server's end of the connection that `request` opens.
    ///
    /// If `request` is refused, the connection stays in LISTEN state and has a Reset to send.
    pub fn server(
        config: impl Into<Arc<Config>>,
        port: u16,
        rng: Random,
        now: Instant,
        ecn: Ecn,
        request: Packet,
    ) -> Self {
        let mut server = Self::listen(config, port, rng);
        server.receive(now, ecn, request);
        server
    }

    /// Creates a server like [`server`](Self::server), with the initial sequence number `iss`.
    pub(in crate::dccp) fn respond(
        config: Arc<Config>,
        iss: SeqNo,
        rng: Random,
        data: RequestData,
        now: Instant,
        ecn: Ecn,
        request: Packet,
    ) -> Self {
        let mut server = Self::new(config, Role::Server, request.destination_port, iss, rng);
        server.handshake_data_settled = data == RequestData::Refuse;
        // The Response may leave before a driver has described the path.
        server.ecn_path.set_validated(server.config.ecn_validation);
        server.receive(now, ecn, request);
        server
    }

    fn new(config: Arc<Config>, role: Role, local_port: u16, iss: SeqNo, rng: Random) -> Self {
        let path_mtu = path::bytes(config.path_mtu);
        let lower_headers = path::bytes(config.lower_headers);
        let mps = path::mps(&config, path_mtu, lower_headers);
        let initial = half::initial(&config);
        let quick_start = config.tfrc.quick_start.map(|_| Box::default());
        Self {
            features: Features::new(&config, iss),
            sender: Sender::initial(&config, mps),
            receiver: initial.receiver(&config.half_context(mps, 2)),
            path_mtu,
            discovery: None,
            ecn_path: EcnPath::default(),
            lower_headers,
            earlier_paths: None,
            config,
            rng,
            role,
            state: State::Listen,
            local_port,
            remote_port: 0,
            service: ServiceCode::NONE,
            seq: SequenceNumbers::new(iss),
            ack_vector: AckVectorBuffer::new(),
            carriers: VecDeque::new(),
            outbox: Outbox::default(),
            timers: TimerTable::new(),
            backoff: Backoff::default(),
            feature_backoff: Backoff::default(),
            sync_limit: RateLimit::default(),
            strays: Strays::default(),
            handshake: Handshake::default(),
            listens: 0,
            last_valid: None,
            liveness: Liveness::default(),
            last_data: iss.previous(),
            data_acked: iss.previous(),
            last_declared: None,
            paced_until: None,
            send_queue: Queue::default(),
            receive_queue: Queue::default(),
            events: VecDeque::new(),
            full_at: iss,
            non_data_run: 0,
            skipped: None,
            echo: None,
            dropped: None,
            quick_start,
            cookies: Box::default(),
            closing: false,
            settling: false,
            ended_idle: false,
            most_queued: u32::MAX,
            was_full: false,
            peer_not_listening: false,
            is_listening: true,
            is_slow: false,
            handshake_data_settled: false,
            waits_for_open: false,
            counters: Counters::default(),
            #[cfg(test)]
            trains: train::Trains::default(),
        }
    }

    fn first_service(&self) -> ServiceCode {
        let codes = &self.config.service_codes;
        codes.first().copied().unwrap_or_default()
    }

    /// Returns the round-trip time estimate.
    fn rtt(&self) -> Duration {
        let known = self.sender.srtt().or(self.handshake.rtt);
        known.unwrap_or(DEFAULT_RTT)
    }

    /// Returns the round-trip time estimate used for timers.
    fn timer_rtt(&self) -> Duration {
        self.rtt().max(MIN_RTT)
    }

    /// Returns what the send queue may hold.
    #[inline(always)]
    fn send_limit(&self) -> Limit {
        let bytes = (self.most_queued as usize).saturating_sub(self.receive_queue.bytes());
        Limit {
            datagrams: self.config.send_queue,
            bytes: self.config.send_queue_bytes.min(bytes),
        }
    }

    /// Returns what the receive queue may hold.
    #[inline(always)]
    fn receive_limit(&self) -> Limit {
        let bytes = (self.most_queued as usize).saturating_sub(self.send_queue.bytes());
        Limit {
            datagrams: self.config.receive_queue,
            bytes: self.config.receive_queue_bytes.min(bytes),
        }
    }

    /// Returns the current widths of the validity windows.
    const fn windows(&self) -> Windows {
        Windows {
            sequence: self.features.peer.sequence_window,
            acknowledgement: self.features.here.sequence_window,
        }
    }

    /// Returns the acknowledgement number of an ordinary packet: the greatest sequence number
    /// received on an acknowledgeable packet (RFC 4340 section 7.4).
    fn ack_number(&self) -> SeqNo {
        self.ack_vector.ack_number().unwrap_or(self.seq.gsr)
    }

    /// Returns whether data, acknowledgements and feature negotiation may be sent.
    const fn is_established(&self) -> bool {
        matches!(self.state, State::PartOpen | State::Open)
    }
}

impl End for Connection {
    type Packet = Packet;

    fn receive(&mut self, now: Instant, ecn: Ecn, mut packet: Packet) {
        self.process(now, ecn, &mut packet);
    }

    fn transmit(&mut self, now: Instant) -> Option<Transmit<Packet>> {
        self.next_packet(now)
    }

    fn quick_start(&mut self) -> Option<QuickStart> {
        self.quick_start.as_mut()?.option.take()
    }

    // A driver asks after every event; minima need no unpredictable branches.
    fn deadline(&self) -> Option<Instant> {
        let mut earliest = self.timers.earliest();
        if self.is_established() {
            let congestion = [
                self.sender.deadline(),
                self.receiver.deadline(),
                self.paced_until,
            ];
            for at in congestion {
                earliest = earliest.min(at.unwrap_or(Instant::MAX));
            }
            if let Some(discovery) = &self.discovery {
                earliest = earliest.min(discovery.deadline(self.timer_rtt()));
            }
        }
        (earliest != Instant::MAX).then_some(earliest)
    }

    fn expire(&mut self, now: Instant) {
        self.expire_timers(now);
    }
}
