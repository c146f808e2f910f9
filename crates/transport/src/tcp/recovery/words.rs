//! The vocabulary of recovery algorithms: their inputs and outputs.

use skywave_units::{Duration, Instant};

use crate::tcp::sent_log::SentSegment;

/// A sender's position in the sequence space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) struct Position {
    /// The first unacknowledged byte.
    pub(in crate::tcp) una: u64,
    /// The byte after the last one ever sent.
    pub(in crate::tcp) max: u64,
    /// Bytes in a full segment.
    pub(in crate::tcp) smss: u64,
}

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
    /// The first unacknowledged segment, if sending times are recorded.
    pub(in crate::tcp) oldest: Option<SentSegment>,
}

/// The response to a duplicate acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum OnDuplicate {
    /// Send only what the window permits.
    Wait,
    /// Reduce the window and retransmit the first unacknowledged segment.
    FastRetransmit,
    /// Reduce the window. The first unacknowledged segment has already been retransmitted.
    Reduce,
    /// The same for a segment that was already retransmitted.
    RepeatedRetransmit,
    /// Retransmit the first unacknowledged segment without changing the window.
    Retransmit,
    /// Reduce the window, then set it to one segment, and go back to the first unacknowledged
    /// segment.
    Restart,
}

/// The response to an acknowledgement of new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum OnProgress {
    /// No recovery is in progress.
    Ordinary,
    /// No recovery was in progress, but the first unacknowledged segment is lost: reduce the window
    /// and retransmit it, unless that has already been done.
    Loss {
        /// Whether to retransmit it.
        retransmit: bool,
    },
    /// No recovery is in progress, but the first unacknowledged segment is overdue: retransmit it.
    Overdue,
    /// The recovery continues.
    Partial {
        /// Whether to retransmit the first unacknowledged segment.
        retransmit: bool,
        /// Whether to restart the retransmission timer.
        restart_timer: bool,
    },
    /// The recovery has ended.
    Full,
}
