//! What a sender tells a recovery algorithm, and what it is told to do.

use skywave_units::{Duration, Instant};

use crate::tcp::sent_log::SentSegment;

/// Where a sender stands in the sequence space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) struct Position {
    /// The first byte not acknowledged.
    pub(in crate::tcp) una: u64,
    /// The byte after the last one ever sent.
    pub(in crate::tcp) max: u64,
    /// Bytes in a full segment.
    pub(in crate::tcp) smss: u64,
}

/// An acknowledgement that has told something, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) struct News {
    pub(in crate::tcp) now: Instant,
    /// Position after it.
    pub(in crate::tcp) at: Position,
    /// By how much `una` has advanced.
    pub(in crate::tcp) acked: u64,
    /// A round-trip time: of the last segment acknowledged, where it was sent only once, if sending
    /// times are kept.
    pub(in crate::tcp) rtt: Option<Duration>,
    /// The first segment not acknowledged, where sending times are kept.
    pub(in crate::tcp) oldest: Option<SentSegment>,
}

/// What a duplicate acknowledgement asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum OnDuplicate {
    /// Nothing but what the window allows.
    Wait,
    /// Reduce the window and retransmit the first unacknowledged segment.
    FastRetransmit,
    /// The same for a segment that was sent again before.
    RepeatedRetransmit,
    /// Retransmit the first unacknowledged segment and leave the window as it is.
    Retransmit,
    /// Reduce the window, then to one segment, and go back to the first unacknowledged one.
    Restart,
}

/// What an acknowledgement of new data asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum OnProgress {
    /// No recovery is going on.
    Ordinary,
    /// None was going on, but the first unacknowledged segment is lost: reduce the window and
    /// retransmit it.
    Loss,
    /// None is going on, but the first unacknowledged segment is overdue: retransmit it.
    Overdue,
    /// Recovery goes on.
    Partial {
        /// The first unacknowledged segment is to be sent again.
        retransmit: bool,
        /// The retransmission timer starts anew.
        restart_timer: bool,
    },
    /// Recovery has ended.
    Full,
}
