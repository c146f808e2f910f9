//! Configuration of a connection.

use skywave_units::Duration;
use skywave_wire::dccp::ServiceCode;
use thiserror::Error;

use super::ccid::Ccid;
use super::mechanism::{Ccids, HalfContext, Mechanism};
use crate::dplpmtud::PMTU_RAISE_TIMER;

/// The CCIDs accepted by default, most preferred first: those of [`Ccids::default`].
const ACCEPTED: [Ccid; 4] = [
    Ccid::TCP_LIKE,
    Ccid::TFRC,
    Ccid::TFRC_SP,
    Ccid::SENDERS_CHOICE,
];

/// The longest packet, less the longest header (RFC 4340 section 5.1).
const MPS_MAX: u32 = 65_535 - 1_020;

/// The smallest Path MTU accepted from an ICMP error, because an attacker may have forged it. Every
/// host accepts packets of this length (RFC 791 section 3.1).
pub(crate) const PATH_MTU_MIN: u32 = 576;
/// The longest packet that IP's length fields can describe.
const PATH_MTU_MAX: u32 = 65_535;

/// The options of a connection. They apply to clients and servers alike unless noted.
///
/// A connection shares its configuration (`Arc<Config>`), so thousands of connections may use one.
///
/// ```
/// use skywave_transport::dccp::Config;
///
/// let config = Config { allow_short_seqnos: true, send_queue: 16, ..Config::default() };
/// assert!(config.check().is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    /// A client requests the first; a server accepts any of them (RFC 4340 section 8.1.2). Default:
    /// one, [`ServiceCode::NONE`].
    pub service_codes: Vec<ServiceCode>,
    /// The CCIDs that this endpoint supports, with their parameters. Default: 2, 3, 4 and 251.
    pub ccids: Ccids,
    /// The CCIDs accepted for the data that this endpoint sends, most preferred first (section 10).
    /// Default: 2, 3, 4, 251.
    pub sender_ccids: Vec<Ccid>,
    /// The CCIDs accepted for the data that this endpoint receives, most preferred first (section
    /// 10). Default: 2, 3, 4, 251.
    pub receiver_ccids: Vec<Ccid>,
    /// Whether a server has no preference of its own among the CCIDs that it accepts, and takes the
    /// client's. Otherwise the server's order counts (section 6.3.1). Default: yes.
    pub follow_client_ccids: bool,
    /// Parameters of CCID 2 (RFC 4341).
    pub ccid2: super::ccid2::Config,
    /// Parameters of CCIDs 3 and 4 (RFC 5348, RFC 4342, RFC 5622). The CCID determines the
    /// small-packet settings. Quick-Start needs a driver that writes options into IP headers
    /// ([`End::quick_start`](crate::End::quick_start)). Default: RFC 5348.
    pub tfrc: skywave_congestion::tfrc::Config,

    /// Whether to send, and to let the peer send, 24-bit sequence numbers on Data, Ack and DataAck
    /// packets (section 7.6.1). Default: no.
    pub allow_short_seqnos: bool,
    /// The Sequence Window for the packets that this endpoint sends, in packets (section 7.5.2). It
    /// is the initial value and the lower bound for later requests of a CCID. From 32 to 2^46 - 1.
    /// Default: 100.
    pub sequence_window: u64,
    /// Whether ECN is unavailable here, so that incoming ECN bits cannot be read; outgoing packets
    /// are then sent as not ECN-capable (section 12.1). Default: no.
    pub ecn_incapable: bool,
    /// Whether packets stop being ECN-capable if the path appears to drop such packets, or to mark
    /// all of them (RFC 9000 section 13.4.2 does the same for QUIC). Applies to paths that a driver
    /// has described with [`Connection::set_path`](super::Connection::set_path), not to simulated
    /// ones. Default: yes.
    pub ecn_validation: bool,
    /// Whether data packets carry a random ECN nonce, ECT(0) or ECT(1) (section 12.2). RFC 8311
    /// section 6 restricts this to experiments; without it they carry ECT(0). Default: no.
    pub ecn_nonces: bool,
    /// Whether to skip a sequence number now and then, which a peer that acknowledges packets
    /// before they have arrived acknowledges too. A peer caught twice is reset with code 11,
    /// "Aggression Penalty" (section 12.3). Applies to CCIDs whose receivers name packets, such as
    /// CCID 2. Honest peers lose nothing: to them the number is that of a lost packet without data.
    /// Default: yes.
    pub detect_optimistic_acks: bool,
    /// The initial Ack Ratio, in data packets per acknowledgement (section 11.3); the CCID may
    /// change it. At least 1. Default: 2.
    pub ack_ratio: u16,
    /// Whether to send Ack Vectors if the peer asks for them (section 11.5). CCID 2 requires them.
    /// Default: yes.
    pub send_ack_vector: bool,
    /// Whether to ask the peer for NDP Counts (section 7.7.2). They are always sent if the peer
    /// asks. Default: no.
    pub request_ndp_count: bool,
    /// Whether to ask the peer to report its round-trip time with each data packet under CCID 3 or
    /// 4 (RFC 6323), instead of inferring it from window counters. It is always sent if the peer
    /// asks. Default: no.
    pub request_rtt_estimate: bool,

    /// The Checksum Coverage of the packets that this endpoint sends (section 9.2): 0 covers all
    /// data, n > 0 covers (n - 1) * 4 bytes. Packets have full coverage until the peer agrees. At
    /// most 15. Default: 0.
    pub checksum_coverage: u8,
    /// The smallest Checksum Coverage accepted from the peer (section 9.2.1): 0 accepts full
    /// coverage only. The data of packets with less coverage is dropped. At most 15. Default: 0.
    pub minimum_checksum_coverage: u8,
    /// Whether to send a Data Checksum with each data packet and to ask the peer to check it
    /// (section 9.3). Default: no.
    pub send_data_checksum: bool,
    /// Whether to check received Data Checksums (section 9.3.1). Default: yes.
    pub check_data_checksum: bool,
    /// Whether data that fails its Data Checksum is delivered, marked as corrupted, rather than
    /// dropped (section 9.3). Default: no.
    pub deliver_corrupted: bool,

    /// The most data that one datagram may carry, in bytes: the upper limit of
    /// [`Connection::mps`](super::Connection::mps). Default: 64,000, which leaves the limit to the
    /// path.
    pub mps: u32,
    /// Whether to find out what the path carries (DPLPMTUD, RFC 8899): the Path MTU falls within
    /// seconds where larger packets vanish, and rises again with the path. Without it, only ICMP
    /// and the local link change the Path MTU. Applies to paths that a driver has described with
    /// [`Connection::set_path`](super::Connection::set_path), not to simulated ones. Default: yes.
    pub path_mtu_discovery: bool,
    /// The time from one search for a larger Path MTU to the next (PMTU_RAISE_TIMER, RFC 8899
    /// section 5.1.1). Default: 10 min.
    pub path_mtu_raise: Duration,
    /// The initial Path MTU, normally that of the interface, in bytes including the headers of all
    /// layers (section 14.1). 576 to 65,535. A driver with better knowledge calls
    /// [`Connection::set_path`](super::Connection::set_path). Default: 65,535, no limit.
    pub path_mtu: u32,
    /// Bytes of headers in front of DCCP's: 20 for IPv4, 40 for IPv6, plus 8 for UDP (RFC 6773
    /// section 3.7). Default: 20.
    pub lower_headers: u32,
    /// The capacity of the send queue, in datagrams, at least 1; further ones are refused with
    /// [`SendError::QueueFull`](super::SendError::QueueFull). Default: 1000, which a 100 Mbit/s
    /// path drains in 120 ms at 1500 bytes per packet. Memory is allocated as the queue fills.
    pub send_queue: usize,
    /// The capacity of the send queue, in bytes of data. An empty queue takes a datagram of any
    /// size. Default: 4 MB.
    pub send_queue_bytes: usize,
    /// The capacity of the receive queue, in datagrams, at least 1; further ones are dropped and reported to
    /// the peer with Drop Code 2 (section 11.7). Default: 1000, which lets a reader lag by fifteen
    /// batches of 64, the most a socket reads at once. Memory is allocated as the queue fills.
    pub receive_queue: usize,
    /// The capacity of the receive queue, in bytes of data; further datagrams are dropped and
    /// reported likewise. An empty queue takes a datagram of any size. Default: 4 MB.
    pub receive_queue_bytes: usize,
    /// Whether a closing server holds TIMEWAIT state itself (by sending a Close) instead of leaving
    /// it to the client (by sending a CloseReq; section 8.3). Default: no.
    pub server_holds_timewait: bool,

    /// Time until the first retransmission of a Request (section 8.1.1); doubles each time.
    /// Default: 1 s.
    pub request_retry: Duration,
    /// The longest interval between retransmissions of a Request, a Change, a CloseReq or a Close
    /// (sections 6.6.3, 8.1.1 and 8.3). Default: 64 s.
    pub backoff_limit: Duration,
    /// When a client in REQUEST gives up (section 8.1.1). Default: 3 min.
    pub request_give_up: Duration,
    /// When an endpoint in RESPOND or PARTOPEN gives up: 4MSL (sections 8.1.3 and 8.1.5). In
    /// PARTOPEN, [`silence_timeout`](Self::silence_timeout) comes first if it is shorter. Also in
    /// CLOSEREQ and CLOSING without `silence_timeout`. Default: 8 min.
    pub handshake_give_up: Duration,
    /// Time until a client in PARTOPEN repeats its acknowledgement (section 8.1.5). Default: 200
    /// ms.
    pub partopen_retry: Duration,
    /// Whether every packet of a client in PARTOPEN carries its Confirms, instead of only the
    /// first. Section 6.6.3 does not require it, but otherwise Linux resets a connection whose
    /// first Ack is lost or reordered. Default: yes.
    pub repeat_confirms: bool,
    /// Whether a Change or Confirm waits for the next data packet or acknowledgement, instead of
    /// leaving at once in an acknowledgement of its own (section 6.6.1 allows both), and a Change is
    /// repeated as soon as a later packet has been acknowledged without its Confirm, as in
    /// Mattsson's DCCP module for ns-2. Default: no.
    pub features_wait: bool,
    /// How long TIMEWAIT lasts: 2MSL (section 8.3). Default: 4 min.
    pub timewait: Duration,
    /// How long `close` keeps sending queued datagrams, and then waits for their acknowledgement,
    /// before it discards the rest. Default: 30 s, in which a full queue leaves at 400 kbit/s with
    /// 1500-byte packets.
    pub linger: Duration,
    /// After this long without a packet from the peer, a Sync asks for one; `None` for never. It
    /// finds peers that are gone while neither end has data to send, and keeps the bindings of
    /// middleboxes alive. RFC 8085 section 3.5 advises against less than 15 s. Each connection
    /// shortens it at random, by up to a sixteenth, so that many do not ask at once. Default: 2 min.
    pub keepalive: Option<Duration>,
    /// How long the peer may stay silent although it owes an answer, to the end of the handshake,
    /// data, a Sync, a CloseReq or a Close, before the connection is reset with code 2, "Aborted".
    /// `None` for no limit, except in PARTOPEN, CLOSEREQ and CLOSING, where `handshake_give_up`
    /// applies. In PARTOPEN and OPEN, Syncs ask for an answer after one, two and three quarters of
    /// this time. Default: 30 s.
    pub silence_timeout: Option<Duration>,
    /// How long a connection may carry no data in either direction before it is reset with code 2,
    /// "Aborted"; `None` for no limit. It also ends connections with a peer that answers but sends
    /// nothing. Default: none.
    pub idle_timeout: Option<Duration>,
    /// The most Syncs sent per second in response to invalid packets (section 7.5.4). Default: 8.
    pub syncs_per_second: u32,
    /// The most Resets sent per second outside a connection (section 8.1.3). Default: 1024.
    pub resets_per_second: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            service_codes: vec![ServiceCode::NONE],
            ccids: Ccids::default(),
            sender_ccids: ACCEPTED.to_vec(),
            receiver_ccids: ACCEPTED.to_vec(),
            follow_client_ccids: true,
            ccid2: super::ccid2::Config::default(),
            tfrc: skywave_congestion::tfrc::Config::default(),
            allow_short_seqnos: false,
            sequence_window: 100,
            ecn_incapable: false,
            ecn_validation: true,
            ecn_nonces: false,
            detect_optimistic_acks: true,
            ack_ratio: 2,
            send_ack_vector: true,
            request_ndp_count: false,
            request_rtt_estimate: false,
            checksum_coverage: 0,
            minimum_checksum_coverage: 0,
            send_data_checksum: false,
            check_data_checksum: true,
            deliver_corrupted: false,
            mps: 64_000,
            path_mtu_discovery: true,
            path_mtu_raise: PMTU_RAISE_TIMER,
            path_mtu: PATH_MTU_MAX,
            lower_headers: 20,
            send_queue: 1000,
            send_queue_bytes: 4_000_000,
            receive_queue: 1000,
            receive_queue_bytes: 4_000_000,
            server_holds_timewait: false,
            request_retry: Duration::from_secs(1),
            backoff_limit: Duration::from_secs(64),
            request_give_up: Duration::from_secs(180),
            handshake_give_up: Duration::from_secs(480),
            partopen_retry: Duration::from_millis(200),
            repeat_confirms: true,
            features_wait: false,
            timewait: Duration::from_secs(240),
            linger: Duration::from_secs(30),
            keepalive: Some(Duration::from_secs(120)),
            silence_timeout: Some(Duration::from_secs(30)),
            idle_timeout: None,
            syncs_per_second: 8,
            resets_per_second: 1024,
        }
    }
}

/// A value of [`Config`] that RFC 4340 does not allow.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// No Service Code.
    #[error("service_codes is empty; give at least one, 0 for none in particular")]
    NoServiceCode,
    /// Service Code 4294967295.
    #[error("service code 4294967295 is invalid (RFC 4340 section 8.1.2); choose another")]
    InvalidServiceCode,
    /// An empty list of CCIDs.
    #[error("{0} is empty; give at least one CCID")]
    NoCcid(&'static str),
    /// A CCID that is not in [`Config::ccids`].
    #[error("{name} has unknown CCID {ccid}: {}", listed(.known))]
    UnknownCcid {
        /// The field that lists it.
        name: &'static str,
        /// The CCID.
        ccid: Ccid,
        /// The CCIDs in the table.
        known: Vec<Ccid>,
    },
    /// A CCID that writes its own codes into the ECN field, or whose control asks for ECN, combined
    /// with [`Config::ecn_incapable`].
    #[error("{name} has CCID {ccid}, which needs the ECN field: turn ecn_incapable off")]
    NeedsEcn {
        /// The field that lists it.
        name: &'static str,
        /// The number.
        ccid: Ccid,
    },
    /// A Sequence Window out of range.
    #[error("sequence_window {0} is out of range; give 32 to 2^46 - 1 packets")]
    SequenceWindow(u64),
    /// A Maximum Packet Size that leaves no room for headers.
    #[error("mps {0} leaves no room for headers in a packet; give at most 64515 bytes")]
    Mps(u32),
    /// A Path MTU out of range.
    #[error("path_mtu {0} is out of range; give 576 to 65535 bytes")]
    PathMtu(u32),
    /// A timeout or interval of zero.
    #[error("{0} is zero; give a time, or none to switch it off")]
    ZeroTimeout(&'static str),
    /// A queue without room.
    #[error("{0} is 0; give room for at least 1 datagram")]
    EmptyQueue(&'static str),
    /// Ack Ratio zero.
    #[error("ack_ratio is zero; give at least 1 data packet per acknowledgement")]
    AckRatio,
    /// A Checksum Coverage above 15.
    #[error("{name} is {value}; checksum coverage is at most 15")]
    ChecksumCoverage {
        /// The field.
        name: &'static str,
        /// Its value.
        value: u8,
    },
}

/// Lists the CCIDs as advice: "use 2, 3 or 4".
fn listed(ccids: &[Ccid]) -> String {
    match ccids.split_last() {
        Some((last, [])) => format!("use {last}"),
        Some((last, others)) => {
            let others: Vec<_> = others.iter().map(Ccid::to_string).collect();
            format!("use {} or {last}", others.join(", "))
        }
        None => "the table is empty".to_owned(),
    }
}

impl Config {
    /// Returns this configuration with `mechanism` as the only CCID, in both directions.
    #[must_use]
    pub fn with_ccid(mut self, mechanism: impl Mechanism + 'static) -> Self {
        let ccid = mechanism.row().ccid;
        self.ccids.enter(mechanism);
        self.sender_ccids = vec![ccid];
        self.receiver_ccids = vec![ccid];
        self
    }

    /// Returns the part of the configuration that a CCID sees when it creates a half.
    pub(crate) const fn half_context(&self, mps: u32, ack_ratio: u16) -> HalfContext<'_> {
        HalfContext {
            ccid2: &self.ccid2,
            tfrc: &self.tfrc,
            allow_short_seqnos: self.allow_short_seqnos,
            mps,
            ack_ratio,
        }
    }

    /// Checks the ranges set by RFC 4340.
    ///
    /// # Errors
    ///
    /// The first field whose value is not allowed. A connection created from such a configuration
    /// works safely, but its peer may refuse it.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.service_codes.is_empty() {
            return Err(ConfigError::NoServiceCode);
        }
        if self.service_codes.contains(&ServiceCode::INVALID) {
            return Err(ConfigError::InvalidServiceCode);
        }
        for (name, list) in [
            ("sender_ccids", &self.sender_ccids),
            ("receiver_ccids", &self.receiver_ccids),
        ] {
            if list.is_empty() {
                return Err(ConfigError::NoCcid(name));
            }
            for &ccid in list {
                let Some(mechanism) = self.ccids.get(ccid) else {
                    let known = self.ccids.numbers().collect();
                    return Err(ConfigError::UnknownCcid { name, ccid, known });
                };
                let needs_ecn =
                    mechanism.row().data_ecn.is_some() || mechanism.wants().ecn.is_some();
                if self.ecn_incapable && needs_ecn {
                    return Err(ConfigError::NeedsEcn { name, ccid });
                }
            }
        }
        if !(32..1 << 46).contains(&self.sequence_window) {
            return Err(ConfigError::SequenceWindow(self.sequence_window));
        }
        if self.ack_ratio == 0 {
            return Err(ConfigError::AckRatio);
        }
        if self.mps > MPS_MAX {
            return Err(ConfigError::Mps(self.mps));
        }
        if !(PATH_MTU_MIN..=PATH_MTU_MAX).contains(&self.path_mtu) {
            return Err(ConfigError::PathMtu(self.path_mtu));
        }
        for (name, capacity) in [
            ("send_queue", self.send_queue),
            ("receive_queue", self.receive_queue),
        ] {
            if capacity == 0 {
                return Err(ConfigError::EmptyQueue(name));
            }
        }
        for (name, value) in [
            ("keepalive", self.keepalive),
            ("silence_timeout", self.silence_timeout),
            ("idle_timeout", self.idle_timeout),
        ] {
            if value == Some(Duration::ZERO) {
                return Err(ConfigError::ZeroTimeout(name));
            }
        }
        for (name, value) in [
            ("checksum_coverage", self.checksum_coverage),
            ("minimum_checksum_coverage", self.minimum_checksum_coverage),
        ] {
            if value > 15 {
                return Err(ConfigError::ChecksumCoverage { name, value });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_field_that_is_wrong() {
        let cases = [
            (
                Config {
                    service_codes: vec![],
                    ..Config::default()
                },
                ConfigError::NoServiceCode,
            ),
            (
                Config {
                    service_codes: vec![ServiceCode(u32::MAX)],
                    ..Config::default()
                },
                ConfigError::InvalidServiceCode,
            ),
            (
                Config {
                    sequence_window: 31,
                    ..Config::default()
                },
                ConfigError::SequenceWindow(31),
            ),
            (
                Config {
                    sequence_window: 1 << 46,
                    ..Config::default()
                },
                ConfigError::SequenceWindow(1 << 46),
            ),
            (
                Config {
                    mps: 64_516,
                    ..Config::default()
                },
                ConfigError::Mps(64_516),
            ),
            (
                Config {
                    path_mtu: 575,
                    ..Config::default()
                },
                ConfigError::PathMtu(575),
            ),
            (
                Config {
                    ack_ratio: 0,
                    ..Config::default()
                },
                ConfigError::AckRatio,
            ),
            (
                Config {
                    send_queue: 0,
                    ..Config::default()
                },
                ConfigError::EmptyQueue("send_queue"),
            ),
            (
                Config {
                    checksum_coverage: 16,
                    ..Config::default()
                },
                ConfigError::ChecksumCoverage {
                    name: "checksum_coverage",
                    value: 16,
                },
            ),
        ];
        for (config, error) in cases {
            assert_eq!(config.check(), Err(error));
        }
        assert_eq!(Config::default().check(), Ok(()));
    }
}
