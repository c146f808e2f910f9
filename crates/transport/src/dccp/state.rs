//! The states of a connection and the application's view of it.

use core::ops::AddAssign;

use skywave_units::{Duration, Rate};
use skywave_wire::Payload;
use skywave_wire::dccp::ResetCode;
use thiserror::Error;

/// The states of a connection, in the increasing order of RFC 4340 section 4.3, plus those that RFC
/// 5596 section 2.2.2 adds next to LISTEN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// No connection.
    Closed,
    /// A server waiting for a Request.
    Listen,
    /// A server waiting for the Request of one client, which it invites with Listen packets.
    Invited,
    /// A server waiting for the Request of one client, which it no longer invites.
    Listen1,
    /// A client has sent a Request.
    Request,
    /// A server has sent a Response.
    Respond,
    /// A client has received the Response but does not know yet that the server knows.
    PartOpen,
    /// Data flows.
    Open,
    /// A server has asked its client to close.
    CloseReq,
    /// A Close has been sent.
    Closing,
    /// The connection is over; its ports are held so that they are not reused too soon.
    TimeWait,
}

impl State {
    /// Returns its name in the RFCs, such as `OPEN`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "CLOSED",
            Self::Listen => "LISTEN",
            Self::Invited => "INVITED",
            Self::Listen1 => "LISTEN1",
            Self::Request => "REQUEST",
            Self::Respond => "RESPOND",
            Self::PartOpen => "PARTOPEN",
            Self::Open => "OPEN",
            Self::CloseReq => "CLOSEREQ",
            Self::Closing => "CLOSING",
            Self::TimeWait => "TIMEWAIT",
        }
    }

    /// Returns whether this is a server that waits for a Request.
    pub(crate) const fn is_passive(self) -> bool {
        matches!(self, Self::Listen | Self::Invited | Self::Listen1)
    }
}

/// Which side of the handshake an endpoint is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The side that sends the Request.
    Client,
    /// The side that answers it.
    Server,
}

/// Which endpoint ended a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// This endpoint sent the Reset.
    Local,
    /// The peer sent the Reset.
    Remote,
}

/// A change that an application may want to know about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The handshake is complete.
    Connected,
    /// The send queue has room again after a [`SendError::QueueFull`].
    Writable,
    /// The peer's application has stopped reading (Drop Code 1, RFC 4340 section 11.7.2); nothing
    /// more will be sent.
    PeerNotListening,
    /// The path's packet size limit has changed (section 14).
    PathMtu {
        /// The new Maximum Packet Size, in bytes of data.
        mps: u32,
        /// How many queued datagrams were discarded because they are now too large.
        discarded: usize,
    },
    /// The connection is over.
    Closed {
        /// The reason; [`ResetCode::CLOSED`] for an orderly close.
        code: ResetCode,
        /// Who ended it.
        origin: Origin,
    },
}

/// Why [`Connection::send`](super::Connection::send) did not accept a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SendError {
    /// The send queue is full: wait for [`Event::Writable`], or drop data.
    #[error("the send queue is full; wait until it is writable or drop the datagram")]
    QueueFull,
    /// Larger than the Maximum Packet Size (RFC 4340 section 14).
    #[error("a datagram of {size} bytes is larger than the maximum packet size of {mps}; split it")]
    TooLarge {
        /// Bytes of the datagram.
        size: usize,
        /// Maximum Packet Size in bytes.
        mps: u32,
    },
    /// The connection is closing or closed.
    #[error("the connection is closed; open another one")]
    Closed,
    /// The peer's application has stopped reading (Drop Code 1).
    #[error("the peer's application no longer listens; close the connection")]
    PeerNotListening,
}

/// A datagram from the peer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Datagram {
    /// The data; may be empty (RFC 4340 section 5.4).
    pub payload: Payload,
    /// Whether it failed its Data Checksum (section 9.3). Such data is delivered only if
    /// [`Config::deliver_corrupted`](super::Config::deliver_corrupted) is set.
    pub corrupted: bool,
}

/// Counters of a connection and the state of its congestion control.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Counters since the connection began.
    pub counters: Counters,
    /// Quick-Start requests since the connection began.
    pub quick_start: QuickStartStats,
    /// Datagrams in the send queue.
    pub queued: usize,
    /// Smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Duration>,
    /// Transmit timeouts (RFC 4341 section 5), or expirations of the nofeedback timer that lowered
    /// the rate (RFC 5348 section 4.4).
    pub timeouts: u64,
    /// What limits the data that this endpoint sends.
    pub congestion: Congestion,
}

/// The state of congestion control for the data that an endpoint sends.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Congestion {
    /// A window: CCID 2.
    Window(WindowStats),
    /// A rate: CCIDs 3 and 4.
    Rate(RateStats),
}

impl Default for Congestion {
    fn default() -> Self {
        Self::Window(WindowStats::default())
    }
}

impl Congestion {
    /// Returns the number of data packets that the peer received but whose data it says it dropped.
    pub const fn dropped_by_peer(&self) -> u64 {
        match self {
            Self::Window(window) => window.dropped_by_peer,
            Self::Rate(rate) => rate.dropped_by_peer,
        }
    }

    /// Returns the window, if the CCID uses one.
    pub const fn window(&self) -> Option<&WindowStats> {
        match self {
            Self::Window(window) => Some(window),
            Self::Rate(_) => None,
        }
    }

    /// Returns the rate, if the CCID uses one.
    pub const fn rate(&self) -> Option<&RateStats> {
        match self {
            Self::Window(_) => None,
            Self::Rate(rate) => Some(rate),
        }
    }
}

/// The state of window-based congestion control.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct WindowStats {
    /// Congestion window in packets; zero before there is a connection.
    pub cwnd: f64,
    /// Slow-start threshold in packets; may be infinite.
    pub ssthresh: f64,
    /// Data packets outstanding, as the CCID estimates them.
    pub pipe: u32,
    /// Data packets that the peer has acknowledged.
    pub acked: u64,
    /// Data packets known to be lost. Packets outstanding at a timeout are not counted until
    /// acknowledgements show that they were lost.
    pub lost: u64,
    /// Data packets known to have been marked (CE).
    pub marked: u64,
    /// Data packets that the peer received but whose data it says it dropped (RFC 4340 section
    /// 11.7), for example because its application does not keep up.
    pub dropped_by_peer: u64,
}

/// The state of rate-based congestion control (RFC 5348). The sender learns of loss events, not of
/// lost packets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RateStats {
    /// X_inst, the instantaneous sending rate without headers: X, reduced as in section 4.5 while
    /// the round-trip time is above its mean.
    pub rate: Rate,
    /// X: the allowed rate.
    pub allowed_rate: Rate,
    /// X_recv, the receive rate in the peer's latest report.
    pub receive_rate: Rate,
    /// p, the loss event rate; zero before the first loss.
    pub loss_event_rate: f64,
    /// Reports received from the peer.
    pub reports: u64,
    /// Loss events in those reports.
    pub loss_events: u64,
    /// Data packets whose data the peer says it dropped, as for windows.
    pub dropped_by_peer: u64,
}

/// Quick-Start requests of a connection (RFC 5634).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuickStartStats {
    /// Requests sent (section 2.1).
    pub requests: u64,
    /// Requests approved, at any rate (section 2.3).
    pub approvals: u64,
}

/// Counters of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Packets sent, of every type.
    pub packets_sent: u64,
    /// Data packets among them.
    pub data_packets_sent: u64,
    /// Bytes of application data in them.
    pub bytes_sent: u64,
    /// Packets received that passed all checks, of every type.
    pub packets_received: u64,
    /// Data packets among them.
    pub data_packets_received: u64,
    /// Bytes of application data in them.
    pub bytes_received: u64,
    /// Datagrams given to the application's queue.
    pub datagrams_delivered: u64,
    /// Datagrams that were accepted for sending, but discarded: because the path turned out not to
    /// carry packets of their size ([`Event::PathMtu`]), or because the connection ended, the peer
    /// stopped listening, or [`Config::linger`](super::Config::linger) ran out before they could be
    /// sent.
    pub datagrams_discarded: u64,
    /// Datagrams received but dropped, each reported to the peer with a Drop Code.
    pub datagrams_dropped: u64,
    /// Packets received with ECN Congestion Experienced.
    pub ce_received: u64,
    /// Packets that arrived twice.
    pub duplicates: u64,
    /// Packets ignored because a check failed (RFC 4340 section 8.5, steps 1 to 7).
    pub invalid_packets: u64,
    /// Syncs sent, except those that probe the path.
    pub syncs_sent: u64,
    /// Syncs received.
    pub syncs_received: u64,
    /// Syncs among the packets sent that probe the path for its MTU (RFC 4340 section 14.1, RFC
    /// 8899).
    pub mtu_probes_sent: u64,
    /// Resets sent.
    pub resets_sent: u64,
    /// Resets received.
    pub resets_received: u64,
    /// Packets with a Slow Receiver option received (section 11.6).
    pub slow_receiver_reports: u64,
}

/// The counters of several connections together.
impl AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        // Without `..`, so that no counter is forgotten.
        let Self {
            packets_sent,
            data_packets_sent,
            bytes_sent,
            packets_received,
            data_packets_received,
            bytes_received,
            datagrams_delivered,
            datagrams_discarded,
            datagrams_dropped,
            ce_received,
            duplicates,
            invalid_packets,
            syncs_sent,
            syncs_received,
            mtu_probes_sent,
            resets_sent,
            resets_received,
            slow_receiver_reports,
        } = other;
        self.packets_sent += packets_sent;
        self.data_packets_sent += data_packets_sent;
        self.bytes_sent += bytes_sent;
        self.packets_received += packets_received;
        self.data_packets_received += data_packets_received;
        self.bytes_received += bytes_received;
        self.datagrams_delivered += datagrams_delivered;
        self.datagrams_discarded += datagrams_discarded;
        self.datagrams_dropped += datagrams_dropped;
        self.ce_received += ce_received;
        self.duplicates += duplicates;
        self.invalid_packets += invalid_packets;
        self.syncs_sent += syncs_sent;
        self.syncs_received += syncs_received;
        self.mtu_probes_sent += mtu_probes_sent;
        self.resets_sent += resets_sent;
        self.resets_received += resets_received;
        self.slow_receiver_reports += slow_receiver_reports;
    }
}
