//! The one description of an experiment.
//!
//! A [`Scenario`] is what TOML and JSON files hold, what the Python builders produce and what a
//! worker receives. Quantities are texts with units (`"300 ms"`); a key that is not known is an
//! error; every error names the field.

mod dumbbell;
mod error;
mod validate;

pub use dumbbell::Dumbbell;
pub use error::ScenarioError;

use serde::{Deserialize, Serialize};
use skywave_units::{Bytes, Duration, Rate};

/// An experiment: a network, the flows on it, what to measure, for how long.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A short name, for summaries and reports.
    pub name: String,
    /// What the experiment shows.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Simulated time.
    pub duration: Duration,
    /// Seed of every random stream. Streams are named, so a flow that is added does not change the
    /// draws of another.
    #[serde(default)]
    pub seed: u64,
    /// Nodes, beside those of `dumbbell`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
    /// Links, beside those of `dumbbell`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkSpec>,
    /// Short for the classic topology of two routers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dumbbell: Option<Dumbbell>,
    /// The flows.
    pub flows: Vec<FlowSpec>,
    /// What is measured.
    #[serde(default)]
    pub probes: Probes,
    /// Encodes and parses every packet on its way and compares it with the typed one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verify_wire: bool,
}

/// A link between two nodes; both directions unless `one_way`.
///
/// A direction is named after its ends: `r1->r2`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// The node at which the forward direction starts.
    pub from: String,
    /// The node at which it ends.
    pub to: String,
    /// Rate of each direction.
    pub rate: Rate,
    /// Propagation delay of each direction.
    pub delay: Duration,
    /// Queue of each direction.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Losses of the forward direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossSpec>,
    /// Whether there is no way back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub one_way: bool,
}

/// A queue discipline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueueSpec {
    /// First in, first out, never full.
    #[default]
    Unlimited,
    /// First in, first out; drops what does not fit.
    DropTail(DropTailSpec),
}

/// How much a drop-tail queue holds: packets or bytes, one of the two.
///
/// The packet in transmission does not count. (An ns-2 `queue-limit` of 20 is 19 here.)
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DropTailSpec {
    /// Packets that may wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    /// Bytes that may wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
}

/// Losses that are not the queue's.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossSpec {
    /// The packets with these arrival ordinals at the link, counted from 1.
    Packets(Vec<u64>),
}

/// A flow from one node to another.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// A name, unique in the scenario.
    pub name: String,
    /// The sending node.
    pub from: String,
    /// The receiving node.
    pub to: String,
    /// When the sender's application starts.
    #[serde(default)]
    pub start: Duration,
    /// When it stops; the end of the run where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// The transport protocol and its parameters.
    pub transport: TransportSpec,
    /// The application.
    pub source: SourceSpec,
}

/// A transport protocol.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum TransportSpec {
    /// TCP.
    Tcp(TcpSpec),
    /// DCCP.
    Dccp(DccpSpec),
}

/// An application.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SourceSpec {
    /// Always has data: as much as the transport will take, or `size` in all.
    Ftp(FtpSpec),
    /// Datagrams of one size at a constant rate.
    Cbr(CbrSpec),
}

/// Parameters of an FTP source.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FtpSpec {
    /// The length of the file; without end where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Datagram size, for transports that carry datagrams.
    #[serde(default = "FtpSpec::default_datagram")]
    pub datagram: Bytes,
}

impl FtpSpec {
    const fn default_datagram() -> Bytes {
        Bytes::new(1000)
    }
}

/// Parameters of a constant-bit-rate source.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CbrSpec {
    /// Rate of application data.
    pub rate: Rate,
    /// Size of each datagram.
    pub datagram: Bytes,
}

/// TCP's parameters. What is absent is taken from the profile.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TcpSpec {
    /// Whose rules.
    pub profile: Profile,
    /// Data bytes of a full segment (SMSS).
    pub segment: Bytes,
    /// Initial window, in segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_cwnd: Option<u32>,
    /// Initial slow-start threshold, in segments. Both profiles: unbounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<u32>,
    /// The receiver's window, in segments.
    pub receive_window: u32,
    /// Delayed acknowledgements: how long the receiver waits for a second segment. Every segment
    /// is acknowledged at once where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<Duration>,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
    /// Granularity of the retransmission timer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick: Option<Duration>,
    /// Retransmission timeout before the first round-trip time sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_rto: Option<Duration>,
    /// Smallest retransmission timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rto: Option<Duration>,
}

impl Default for TcpSpec {
    fn default() -> Self {
        Self {
            profile: Profile::Rfc,
            segment: Bytes::new(1000),
            initial_cwnd: None,
            initial_ssthresh: None,
            receive_window: 1000,
            delayed_ack: None,
            limited_transmit: true,
            tick: None,
            initial_rto: None,
            min_rto: None,
        }
    }
}

/// Whose rules a protocol follows where the RFCs leave a choice or a simulator departs from them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// The RFCs' recommendations.
    #[default]
    Rfc,
    /// ns-2.35, as shipped; the differences are listed in validation/ns2/README.md.
    Ns2,
}

/// DCCP's parameters. What is absent is taken from the profile.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DccpSpec {
    /// Congestion control: 2 (TCP-like), 3 (TFRC; `ns2` has its rules from RFC 3448) or 4 (TFRC for
    /// small packets).
    pub ccid: u8,
    /// Whose rules.
    pub profile: Profile,
    /// Initial congestion window, in packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_cwnd: Option<u32>,
    /// Initial slow-start threshold, in packets. Both profiles: unbounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<u32>,
    /// Window growth law.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// Datagrams that may wait in the sender; more are refused. `rfc`: 64, `ns2`: 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_queue: Option<u32>,
    /// Whether 24-bit sequence numbers are used. `rfc`: no; `ns2`: yes, for that module's header
    /// sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_seqnos: Option<bool>,
    /// Whether ECN is used.
    pub ecn: bool,
    /// Initial Ack Ratio.
    pub ack_ratio: u16,
    /// Whether the receiver acknowledges at once when packets are missing or marked (RFC 4340
    /// section 11.3). `rfc`: yes, `ns2`: no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub immediate_acks: Option<bool>,
    /// Longest delay of an acknowledgement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<Duration>,
    /// Timeout before the first round-trip time sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_rto: Option<Duration>,
    /// Smallest timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rto: Option<Duration>,
}

impl Default for DccpSpec {
    fn default() -> Self {
        Self {
            ccid: 2,
            profile: Profile::Rfc,
            initial_cwnd: None,
            initial_ssthresh: None,
            growth: None,
            send_queue: None,
            short_seqnos: None,
            ecn: true,
            ack_ratio: 2,
            immediate_acks: None,
            delayed_ack: None,
            initial_rto: None,
            min_rto: None,
        }
    }
}

/// CCID 2's window growth laws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// RFC 4341 section 5: in slow start one packet for every two that are acknowledged.
    #[serde(rename = "rfc4341")]
    Rfc4341,
    /// ns-2's TCPlike agent: in slow start one packet for every packet that is acknowledged, up to
    /// the Ack Ratio for each acknowledgement.
    #[serde(rename = "ns2-tcplike")]
    Ns2TcpLike,
}

/// What is measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Probes {
    /// Distance between samples of flows and links.
    pub interval: Duration,
    /// Links to sample, as `"r1->r2"`; all where empty.
    pub links: Vec<String>,
    /// cwnd, ssthresh and pipe at each change.
    pub windows: bool,
    /// Every packet at every link and endpoint: large.
    pub packets: bool,
}

impl Default for Probes {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(1),
            links: Vec::new(),
            windows: false,
            packets: false,
        }
    }
}
