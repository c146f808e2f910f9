//! Configuration of the two endpoints.

use skywave_congestion::RtoConfig;
use skywave_units::Duration;

use super::algorithm::RecoveryOptions;
use super::{EcnUse, ReceiveWindow, RecoveryAlgorithm, RecoveryExit};

/// The ports of an endpoint and of its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    /// This endpoint's port.
    pub local: u16,
    /// The peer's port.
    pub remote: u16,
}

/// The segment that each of the first two duplicate acknowledgements may send beyond cwnd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedTransmit {
    /// Nothing.
    Off,
    /// New data (RFC 3042).
    NewData,
    /// The next segment, which may be a retransmission during go-back-N after a timeout: ns-2's
    /// `singledup_`.
    Any,
}

/// The window that a loss or a timeout reduces, unless cwnd is smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReducedWindow {
    /// FlightSize (RFC 5681 section 3.1).
    Flight,
    /// The receiver's window, regardless of how much is in flight: ns-2.
    Receiver,
}

/// Parameters of a [`super::Sender`]. The initial and maximum window, and how it grows and shrinks,
/// are parameters of its [`SenderControl`](super::SenderControl).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderConfig {
    /// Bytes of data in a full segment (SMSS), unless the receiver's MSS option is smaller.
    /// Timestamps take 12 bytes more.
    pub segment_size: u16,
    /// Whether the SYN carries options (MSS, window scale). Without them it is 40 bytes long,
    /// windows are not scaled, and both ends are assumed to agree on `segment_size`. With them, a
    /// receiver that sends no MSS gets segments of 536 bytes (RFC 9293 section 3.7.1).
    pub syn_options: bool,
    /// Whether to ask for timestamps (RFC 7323 section 3), which time retransmissions too. Needs
    /// `syn_options`.
    pub timestamps: bool,
    /// The window that this end announces. It receives no data, so the window shows only in
    /// captures, where both hosts of a flow should look alike.
    pub window: ReceiveWindow,
    /// How losses are detected and retransmitted.
    pub recovery: RecoveryAlgorithm,
    /// Whether SACKs outlive a retransmission timeout, so that only missing data is sent again.
    /// Applies to [`RecoveryAlgorithm::Sack`]. RFC 2018 section 5 recommends that the sender forget
    /// them, because the receiver may have discarded the data; RFC 6675 section 5.1 reports that
    /// they can be kept "as long as robust tests for reneging are present". Here they are forgotten
    /// if the receiver waits for data that it has SACKed.
    pub keep_sacks: bool,
    /// Whether an unnecessary retransmission timeout is detected and its response undone: F-RTO with
    /// SACK (RFC 5682 section 3). Applies to [`RecoveryAlgorithm::Rack`].
    pub forward_rto: bool,
    /// The value of cwnd when a recovery ends. Does not apply to Tahoe and Vegas, which have no
    /// recovery phase.
    pub recovery_exit: RecoveryExit,
    /// The segment that each of the first two duplicate acknowledgements may send beyond cwnd.
    pub limited_transmit: LimitedTransmit,
    /// The maximum number of segments that an acknowledgement may release during NewReno's
    /// recovery, besides the retransmission after a partial acknowledgement; `None` for as many as
    /// the window permits. RFC 6582 section 6 mentions such a limit.
    pub recovery_burst: Option<u16>,
    /// The window that a loss or a timeout reduces, unless cwnd is smaller.
    pub reduced: ReducedWindow,
    /// Whether cwnd may grow although it is not used up, as long as it stays within what the largest
    /// FlightSize since the last reduction justifies
    /// (draft-ietf-ccwg-ratelimited-increase, August 2026). Otherwise it does not grow then (RFC 9438
    /// section 5.8).
    pub rate_limited_increase: bool,
    /// Whether cwnd is validated (RFC 7661). A cwnd of which less than half was used for a while then
    /// outlives pauses of up to five minutes, does not grow unless it is used up, is paced, and falls
    /// further after a loss. Otherwise a pause of an RTO ends it (RFC 5681 section 4.1). Not for
    /// controls that model the path ([`Wants::models_path`](skywave_congestion::Wants::models_path)).
    pub cwnd_validation: bool,
    /// Maximum random delay before sending data that the window permits. Nothing leaves during the
    /// delay; afterwards everything that the window permits leaves at once. Fast retransmits,
    /// retransmissions on partial acknowledgements, the SYN and limited transmit are not delayed.
    /// The delay breaks the phase effects of drop-tail queues (Floyd and Jacobson 1992) and is not
    /// part of any measured round-trip time. This is ns-2's `overhead_`.
    pub send_jitter: Duration,
    /// The use of the ECN bits.
    pub ecn: EcnUse,
    /// Whether packets are spread over the round trip, once its time is known, while the control
    /// names no pacing of its own ([`Pacing::of_window`](skywave_congestion::Pacing::of_window)).
    pub pacing: bool,
    /// Whether every acknowledgement of segments that were sent once gives a round-trip time sample,
    /// rather than one segment per round trip (RFC 6298 section 3). The sample is that of the first
    /// segment that it acknowledges or, if there is none, SACKs, as in Linux. Only for recoveries and
    /// controls that record sending times.
    pub samples_every_ack: bool,
    /// Whether the last of several segments that leave together has PSH, as in Linux. Such a segment is
    /// acknowledged at once by a receiver with [`ReceiverConfig::quick_acks`].
    pub pushes_bursts: bool,
    /// The retransmission timeout.
    pub rto: RtoConfig,
}

impl Default for SenderConfig {
    /// Returns the RFCs' recommendations, with segments of 1460 bytes.
    fn default() -> Self {
        Self {
            segment_size: 1460,
            syn_options: true,
            timestamps: false,
            window: ReceiveWindow::default(),
            recovery: RecoveryAlgorithm::NewReno,
            keep_sacks: true,
            forward_rto: false,
            recovery_exit: RecoveryExit::FlightSize,
            limited_transmit: LimitedTransmit::NewData,
            recovery_burst: None,
            reduced: ReducedWindow::Flight,
            rate_limited_increase: false,
            cwnd_validation: false,
            send_jitter: Duration::ZERO,
            ecn: EcnUse::Off,
            pacing: false,
            samples_every_ack: false,
            pushes_bursts: false,
            rto: RtoConfig::rfc6298(),
        }
    }
}

impl SenderConfig {
    /// Returns the configuration that the RFCs recommend for `recovery`.
    pub fn rfc(recovery: RecoveryAlgorithm) -> Self {
        let recovery_exit = match recovery {
            RecoveryAlgorithm::NewReno => RecoveryExit::FlightSize,
            _ => RecoveryExit::Ssthresh,
        };
        Self {
            recovery,
            recovery_exit,
            ..Self::default()
        }
    }

    /// Returns what the recovery leaves open. If `obeys_control`, the control decides on cwnd in a
    /// recovery.
    pub(super) const fn recovery_options(&self, obeys_control: bool) -> RecoveryOptions {
        RecoveryOptions {
            exit: self.recovery_exit,
            keep_sacks: self.keep_sacks,
            obeys_control,
            detects_spurious_timeouts: self.forward_rto,
        }
    }

    /// Returns the configuration of Linux's TCP as far as it differs from the RFCs' recommendations.
    pub fn linux(recovery: RecoveryAlgorithm) -> Self {
        let rfc = Self::rfc(recovery);
        Self {
            timestamps: true,
            recovery_exit: match recovery {
                RecoveryAlgorithm::Rack => RecoveryExit::Reported,
                _ => rfc.recovery_exit,
            },
            samples_every_ack: true,
            pushes_bursts: true,
            forward_rto: true,
            rate_limited_increase: true,
            rto: RtoConfig::linux(),
            ..rfc
        }
    }

    /// Returns the configuration of ns-2.35's TCPs, with segments of 1000 bytes and `singledup_` 0.
    /// Use with [`skywave_congestion::AimdConfig::ns2_tcp`] or [`skywave_congestion::Vegas`].
    pub const fn ns2(recovery: RecoveryAlgorithm) -> Self {
        let recovery_exit = match recovery {
            RecoveryAlgorithm::Sack1 | RecoveryAlgorithm::Rack => RecoveryExit::Ssthresh,
            _ => RecoveryExit::Deflated,
        };
        Self {
            segment_size: 1000,
            syn_options: false,
            timestamps: false,
            window: ReceiveWindow::Fixed(u16::MAX as u32),
            recovery,
            keep_sacks: false,
            forward_rto: false,
            recovery_exit,
            limited_transmit: LimitedTransmit::Off,
            recovery_burst: match recovery {
                RecoveryAlgorithm::NewReno => Some(2),
                _ => None,
            },
            reduced: ReducedWindow::Receiver,
            rate_limited_increase: false,
            cwnd_validation: false,
            send_jitter: Duration::ZERO,
            ecn: EcnUse::Off,
            pacing: false,
            samples_every_ack: false,
            pushes_bursts: false,
            rto: RtoConfig::ns2_tcp(),
        }
    }
}

/// Parameters of a [`super::Receiver`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverConfig {
    /// The largest segment accepted, in bytes of data; announced in the MSS option, to which the
    /// length of timestamps is added (RFC 9293 section 3.7.1).
    pub max_segment_size: u16,
    /// The receive window. Without window scaling, at most 65,535 bytes are announced.
    pub window: ReceiveWindow,
    /// Whether the SYN-ACK carries options (MSS, and window scale if the SYN has it).
    pub syn_options: bool,
    /// Whether to agree to timestamps (RFC 7323 section 3), by which the receiver then times round
    /// trips and recognises old duplicates. Needs `syn_options`.
    pub timestamps: bool,
    /// The maximum number of blocks in a SACK option (RFC 2018); zero disables SACK. The SYN must
    /// have permitted SACK, unless `syn_options` is off and both ends are assumed to agree. At most
    /// 4 blocks fit.
    pub sack_blocks: u8,
    /// Whether the first block of a SACK option reports duplicate segments (RFC 2883).
    pub dsack: bool,
    /// How long the acknowledgement of a single segment may wait for a second one; `None`
    /// acknowledges every segment at once. Limited to 500 ms (RFC 5681 section 4.2).
    pub delayed_ack: Option<Duration>,
    /// The number of segments acknowledged at once, in spite of `delayed_ack`, when the connection
    /// starts and again from each duplicate segment on. A sender whose window is small, or that has
    /// just retransmitted, gets more acknowledgements by which to grow. Linux's `TCP_MAX_QUICKACKS`,
    /// which also applies after a pause longer than the RTO; that is not implemented here.
    ///
    /// Unless this is zero, an autotuned window grows much as in Linux too (`tcp_grow_window`): by two
    /// full segments with each one that arrives in order, of any length, and all of these are
    /// acknowledged at once, as are segments with PSH, after which there may be no more.
    pub quick_acks: u16,
    /// The use of the ECN bits; RFC 3168 applies only if the sender asks for it.
    pub ecn: EcnUse,
}

impl Default for ReceiverConfig {
    /// Returns a configuration with segments of 1460 bytes, an autotuned window, SACK, and
    /// acknowledgements delayed by up to 200 ms.
    fn default() -> Self {
        Self {
            max_segment_size: 1460,
            window: ReceiveWindow::default(),
            syn_options: true,
            timestamps: false,
            sack_blocks: 4,
            dsack: false,
            delayed_ack: Some(Duration::from_millis(200)),
            quick_acks: 0,
            ecn: EcnUse::Off,
        }
    }
}
