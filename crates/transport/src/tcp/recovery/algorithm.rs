//! The algorithms by name.

/// How lost segments are found and sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecoveryAlgorithm {
    /// 4.3BSD-Tahoe (Jacobson 1988): the third duplicate acknowledgement starts over like a
    /// timeout, with one segment from the first unacknowledged byte on. Duplicates that this
    /// brings about are no loss.
    Tahoe,
    /// RFC 5681 section 3.2: fast retransmit, and fast recovery until new data are acknowledged.
    /// Duplicates that a timeout brings about are no loss.
    Reno {
        /// Whether a second fast retransmit waits until all that was outstanding at the first has
        /// been acknowledged: ns-2 with `bugFix_`. Several losses in one window then end in a
        /// timeout instead of halving the window several times.
        once_per_window: bool,
    },
    /// RFC 6582: fast retransmit and fast recovery that lasts until all that was outstanding has
    /// been acknowledged. The variant that restarts the retransmission timer at the first partial
    /// acknowledgement only ("impatient").
    NewReno,
    /// RFC 6675: what the receiver has got is known from its SACK options, and a count of what is
    /// on its way decides when to send. [`RecoveryAlgorithm::NewReno`] where the receiver does not
    /// permit SACK.
    Sack,
    /// `Agent/TCP/Sack1` of ns-2.35. Unlike RFC 6675 it
    /// - sends again whatever lies below a SACKed segment, lost or only late;
    /// - counts what is on its way up and down by segments and never counts it anew;
    /// - forgets SACKs at acknowledgements outside of a recovery, and ignores them after a timeout;
    /// - has no rescue retransmission.
    Sack1,
    /// The retransmission of TCP Vegas, as `Agent/TCP/Vegas` of ns-2.35 has it: a duplicate
    /// acknowledgement, and the two acknowledgements after a retransmission, look whether the
    /// first unacknowledged segment is older than a finely measured timeout. The third duplicate
    /// is a loss as well. The window is not reduced again for a segment sent before its last
    /// reduction.
    Vegas,
    /// The same to the letter. Unlike [`RecoveryAlgorithm::Vegas`] it
    /// - makes its inflation part of cwnd, and takes it back only where duplicates have followed
    ///   the third one (to be used with [`SenderControl::Ns2Vegas`](crate::tcp::SenderControl::Ns2Vegas));
    /// - doubles the retransmission timeout with each fast retransmit;
    /// - does not obey Karn's rule in the samples for that timeout: a segment that is timed and
    ///   sent again as overdue is still timed from when it was sent first. A fast retransmit ends the
    ///   timing, as does a timeout;
    /// - has no limited transmit;
    /// - takes a segment that has not been sent for overdue: where one of the two acknowledgements
    ///   after a retransmission leaves nothing outstanding, the next segment leaves twice;
    /// - keeps when and how often segments were sent in a table, which an acknowledgement clears from its
    ///   first segment's place to its last one's. Where the last one's comes first, nothing
    ///   is cleared, and the next segments there count as sent again.
    Ns2Vegas {
        /// Places in the table: the receiver's window, in segments.
        table: u32,
    },
}

impl RecoveryAlgorithm {
    /// Whether it needs the receiver's SACK option (RFC 2018).
    pub const fn uses_sack(self) -> bool {
        matches!(self, Self::Sack | Self::Sack1)
    }

    /// The places in which ns-2's Vegas keeps how often segments were sent.
    pub(in crate::tcp) const fn sending_table(self) -> Option<u32> {
        match self {
            Self::Ns2Vegas { table } => Some(table),
            _ => None,
        }
    }

    /// Whether it needs to know when each outstanding segment was sent.
    pub(in crate::tcp) const fn uses_sending_times(self) -> bool {
        matches!(self, Self::Vegas | Self::Ns2Vegas { .. })
    }
}

/// What becomes of cwnd when a recovery ends (RFC 6582 section 3.2, step 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryExit {
    /// min(ssthresh, max(FlightSize, SMSS) + SMSS): option 1 of the RFC, which cannot burst.
    FlightSize,
    /// ssthresh: option 2 of the RFC, and RFC 5681 section 3.2, step 6.
    Ssthresh,
    /// What partial acknowledgements have left of it, and the acknowledgement that ends the
    /// recovery makes it grow like any other: ns-2 with `exit_recovery_fix_` 0.
    Deflated,
}
