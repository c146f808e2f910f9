//! The vocabulary of loss detection and recovery: their inputs and outputs.

use skywave_congestion::DeliveryRate;
use skywave_units::{Duration, Instant};

use crate::tcp::reassembly::Range;
use crate::tcp::sent_log::SentSegment;
use crate::tcp::sequence::Position;

/// An acknowledgement that reports something, and when it arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) struct News {
    pub(in crate::tcp) now: Instant,
    /// The position after it.
    pub(in crate::tcp) at: Position,
    /// How far `una` has advanced.
    pub(in crate::tcp) acked: u64,
    /// The round-trip time of the last acknowledged segment, if it was sent only once and sending
    /// times are recorded.
    pub(in crate::tcp) rtt: Option<Duration>,
    /// Whether it SACKs something for the first time.
    pub(in crate::tcp) has_sacked: bool,
    /// The duplicate data that it reports (RFC 2883), if the recovery marks segments.
    pub(in crate::tcp) dsack: Option<Range>,
    /// The first unacknowledged segment, if sending times are recorded.
    pub(in crate::tcp) oldest: Option<SentSegment>,
}

/// What the segments that an acknowledgement covers tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::tcp) struct Acked {
    /// The round-trip time of the first one that no SACK had reported, if all were sent only once.
    pub(in crate::tcp) first_rtt: Option<Duration>,
    /// The round-trip time of the last one that no SACK had reported, if it was sent only once.
    pub(in crate::tcp) last_rtt: Option<Duration>,
    /// The bytes that no SACK had reported.
    pub(in crate::tcp) delivered: u64,
    /// The delivery rate, if it is measured.
    pub(in crate::tcp) delivery_rate: Option<DeliveryRate>,
}

/// The result of a [`Detection`](super::Detection).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum Found {
    /// No further loss.
    Nothing,
    /// The first unacknowledged segment is lost.
    Loss {
        /// Whether it had been retransmitted.
        is_repeated: bool,
    },
    /// The first unacknowledged segment is lost, but was sent before the last reduction of the
    /// window, which covers it.
    Covered,
    /// A tail loss probe has repaired a loss, to which the window must respond.
    Repaired,
    /// The last retransmission timeout was spurious: nothing is lost.
    SpuriousTimeout,
    /// Acknowledgements have stopped.
    TailLoss {
        /// Whether a tail loss probe may be sent.
        probe: bool,
    },
}

/// The times that decide when a tail loss probe is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) struct Timing {
    pub(in crate::tcp) now: Instant,
    pub(in crate::tcp) srtt: Option<Duration>,
    /// When the retransmission timer expires.
    pub(in crate::tcp) rto_at: Instant,
    /// Outstanding segments.
    pub(in crate::tcp) in_flight: u32,
}

/// How a [`Recovery`](super::Recovery) begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum Begin {
    /// With a retransmission of the first unacknowledged segment.
    Retransmit,
    /// Without one, because it has already been retransmitted.
    Wait,
    /// With one segment, from the first unacknowledged byte.
    Restart,
}

/// How a [`Recovery`](super::Recovery) continues after an acknowledgement of new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum Phase {
    /// It continues.
    Partial {
        /// Whether to retransmit the first unacknowledged segment.
        retransmit: bool,
        /// Whether to restart the retransmission timer.
        restart_timer: bool,
    },
    /// It has ended.
    Full,
}

/// The response to a duplicate acknowledgement, or to an expired timer of the detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum OnDuplicate {
    /// Send only what the window permits.
    Wait,
    /// Reduce the window, and begin a recovery.
    Loss {
        begin: Begin,
        /// Whether the lost segment had been retransmitted.
        is_repeated: bool,
    },
    /// Retransmit the first unacknowledged segment without changing the window.
    Retransmit,
    /// Undo the response to the last timeout.
    SpuriousTimeout,
    /// Restart the retransmission timer, after a tail loss probe if one may be sent.
    TailLoss { probe: bool },
}

/// The response to an acknowledgement of new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum OnProgress {
    /// No recovery is in progress.
    Ordinary,
    /// No recovery was in progress, but the first unacknowledged segment is lost: reduce the
    /// window, and begin a recovery.
    Loss(Begin),
    /// No recovery is in progress, but the first unacknowledged segment is overdue: retransmit it.
    Overdue,
    /// No recovery is in progress. Undo the response to the last timeout.
    SpuriousTimeout,
    /// No recovery is in progress, but a tail loss probe has repaired a loss: reduce the window.
    Repaired,
    /// A recovery has ended, but data sent after its start is lost: reduce the window again, and
    /// begin the next one.
    NextLoss(Begin),
    /// A recovery was in progress.
    Recovery(Phase),
}

/// How a detection changes cwnd itself: see
/// [`RecoveryAlgorithm::Ns2Vegas`](crate::tcp::RecoveryAlgorithm::Ns2Vegas).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum CwndChange {
    /// Adds this many segments.
    Inflate(u32),
    /// Removes the segments that were added.
    Deflate,
}
