//! What can be set on the two endpoints.

use skywave_congestion::RtoConfig;
use skywave_units::Duration;

use super::{EcnUse, RecoveryAlgorithm, RecoveryExit};

/// The ports of an endpoint and of its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    /// This endpoint's port.
    pub local: u16,
    /// The peer's port.
    pub remote: u16,
}

/// What the first and the second duplicate acknowledgement let out beyond cwnd: a segment each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedTransmit {
    /// Nothing.
    Off,
    /// New data: RFC 3042.
    NewData,
    /// Whatever is next, retransmissions too while the sender goes back over what was outstanding at
    /// a timeout: ns-2's `singledup_`.
    Any,
}

/// What a loss or a timeout reduces: cwnd, or this where it is smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReducedWindow {
    /// FlightSize (RFC 5681 section 3.1).
    Flight,
    /// The receiver's window, however much is in flight: ns-2.
    Receiver,
}

/// Parameters of a [`super::Sender`]. The first and the largest window, and how it grows and
/// shrinks, are the parameters of its [`SenderControl`](super::SenderControl).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderConfig {
    /// Bytes of data in a full segment (SMSS), where the receiver's MSS option allows it.
    pub segment_size: u16,
    /// Whether the SYN carries options (MSS, window scale). Without them it is 40 bytes long,
    /// windows are not scaled, and both ends are taken to agree on `segment_size`; with them a
    /// receiver that sends no MSS gets 536 bytes (RFC 9293 section 3.7.1).
    pub syn_options: bool,
    /// How lost segments are found and sent again.
    pub recovery: RecoveryAlgorithm,
    /// What becomes of cwnd when a recovery ends; Tahoe and Vegas have none that ends.
    pub recovery_exit: RecoveryExit,
    /// What the first and the second duplicate acknowledgement let out.
    pub limited_transmit: LimitedTransmit,
    /// What is reduced when a loss is noticed, where cwnd is larger.
    pub reduced: ReducedWindow,
    /// By up to so much, drawn at random, the sender comes late to what the window lets go. Until
    /// then nothing leaves; then all leaves that the window allows. What a fast retransmit or a
    /// partial acknowledgement sends again leaves at once, and so do the SYN and limited transmit. It breaks the phase effects of drop-tail
    /// queues (Floyd and Jacobson 1992), and no measured round-trip time contains it: ns-2's
    /// `overhead_`.
    pub send_jitter: Duration,
    /// What is done with the ECN bits.
    pub ecn: EcnUse,
    /// The retransmission timeout.
    pub rto: RtoConfig,
}

impl Default for SenderConfig {
    /// What the RFCs recommend, in segments of 1460 bytes.
    fn default() -> Self {
        Self {
            segment_size: 1460,
            syn_options: true,
            recovery: RecoveryAlgorithm::NewReno,
            recovery_exit: RecoveryExit::FlightSize,
            limited_transmit: LimitedTransmit::NewData,
            reduced: ReducedWindow::Flight,
            send_jitter: Duration::ZERO,
            ecn: EcnUse::Off,
            rto: RtoConfig::rfc6298(),
        }
    }
}

impl SenderConfig {
    /// What the RFCs recommend for `recovery`.
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

    /// The TCPs of ns-2.35, with segments of 1000 bytes and `singledup_` 0; to be used with
    /// [`skywave_congestion::AimdConfig::ns2_tcp`] or [`skywave_congestion::Vegas`].
    pub const fn ns2(recovery: RecoveryAlgorithm) -> Self {
        let recovery_exit = match recovery {
            RecoveryAlgorithm::Sack1 => RecoveryExit::Ssthresh,
            _ => RecoveryExit::Deflated,
        };
        Self {
            segment_size: 1000,
            syn_options: false,
            recovery,
            recovery_exit,
            limited_transmit: LimitedTransmit::Off,
            reduced: ReducedWindow::Receiver,
            send_jitter: Duration::ZERO,
            ecn: EcnUse::Off,
            rto: RtoConfig::ns2_tcp(),
        }
    }
}

/// Parameters of a [`super::Receiver`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverConfig {
    /// Largest segment that it accepts, in bytes of data; announced in the MSS option.
    pub max_segment_size: u16,
    /// Bytes that it accepts beyond those acknowledged, at most 2^30. Without window scaling no
    /// more than 65535 are announced.
    pub window: u32,
    /// Whether the SYN-ACK carries options (MSS, and window scale where the SYN has it).
    pub syn_options: bool,
    /// How many blocks a SACK option holds at most (RFC 2018); none is sent where it is zero. The
    /// SYN must have permitted it, unless `syn_options` is off and both ends are taken to agree.
    /// There is room for 4.
    pub sack_blocks: u8,
    /// How long the acknowledgement of a single segment may wait for a second one; `None`
    /// acknowledges every segment at once. No more than 500 ms are taken (RFC 5681 section 4.2).
    pub delayed_ack: Option<Duration>,
    /// What is done with the ECN bits; RFC 3168 only where the sender asks for it.
    pub ecn: EcnUse,
}

impl Default for ReceiverConfig {
    /// Segments of 1460 bytes, a window of 4 MiB, SACK, acknowledgements delayed by up to 200 ms.
    fn default() -> Self {
        Self {
            max_segment_size: 1460,
            window: 4 << 20,
            syn_options: true,
            sack_blocks: 4,
            delayed_ack: Some(Duration::from_millis(200)),
            ecn: EcnUse::Off,
        }
    }
}
