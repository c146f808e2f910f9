//! The recovery algorithms by name.

/// How losses are detected and retransmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecoveryAlgorithm {
    /// 4.3BSD-Tahoe (Jacobson 1988): the third duplicate acknowledgement restarts like a timeout,
    /// with one segment from the first unacknowledged byte. Duplicates caused by this are not taken
    /// as losses.
    Tahoe,
    /// RFC 5681 section 3.2: fast retransmit, and fast recovery until new data is acknowledged.
    /// Duplicates caused by a timeout are not taken as losses.
    Reno {
        /// Whether a second fast retransmit must wait until everything outstanding at the first is
        /// acknowledged: ns-2 with `bugFix_`. Several losses in one window then end in a timeout
        /// instead of halving the window several times.
        once_per_window: bool,
    },
    /// RFC 6582: fast retransmit, and fast recovery until everything outstanding at its start is
    /// acknowledged. This is the "impatient" variant, which restarts the retransmission timer only
    /// at the first partial acknowledgement.
    NewReno,
    /// RFC 6675: SACK options tell what has been received, and pipe decides when to send. Falls
    /// back to [`RecoveryAlgorithm::NewReno`] if the receiver does not permit SACK.
    Sack,
    /// `Agent/TCP/Sack1` of ns-2.35. Unlike RFC 6675 it
    /// - retransmits everything below a SACKed segment, whether lost or merely late;
    /// - adjusts pipe by whole segments and never recomputes it;
    /// - forgets SACKs at acknowledgements outside a recovery, and ignores them after a timeout;
    /// - has no rescue retransmission.
    Sack1,
    /// The retransmission of TCP Vegas, as in `Agent/TCP/Vegas` of ns-2.35. On a duplicate
    /// acknowledgement, and on the two acknowledgements after a retransmission, it checks whether
    /// the first unacknowledged segment is older than a fine-grained timeout. The third duplicate
    /// also counts as a loss. A loss of a segment sent before the last reduction does not reduce
    /// the window again.
    Vegas,
    /// An exact copy of ns-2's Vegas. Unlike [`RecoveryAlgorithm::Vegas`] it
    /// - makes its inflation part of cwnd, and reverts it only if duplicates followed the third one
    ///   (use with [`SenderControl::Ns2Vegas`](crate::tcp::SenderControl::Ns2Vegas));
    /// - doubles the retransmission timeout with each fast retransmit;
    /// - violates Karn's rule in the samples for that timeout: a timed segment that is
    ///   retransmitted as overdue is still timed from its first transmission. A fast retransmit or
    ///   a timeout ends the timing;
    /// - has no limited transmit;
    /// - treats an unsent segment as overdue: if one of the two acknowledgements after a
    ///   retransmission leaves nothing outstanding, the next segment is sent twice;
    /// - records when and how often segments were sent in a circular table, which an
    ///   acknowledgement clears from its first segment's place to its last one's. If the last one's
    ///   place comes first, nothing is cleared, and the next segments at those places count as
    ///   retransmitted.
    Ns2Vegas {
        /// The size of the table: the receiver's window, in segments.
        table: u32,
    },
}

impl RecoveryAlgorithm {
    /// Whether it needs the receiver's SACK option (RFC 2018).
    pub const fn uses_sack(self) -> bool {
        matches!(self, Self::Sack | Self::Sack1)
    }

    /// The size of the table in which ns-2's Vegas records transmissions.
    pub(in crate::tcp) const fn sending_table(self) -> Option<u32> {
        match self {
            Self::Ns2Vegas { table } => Some(table),
            _ => None,
        }
    }

    /// Whether it needs the sending time of each outstanding segment.
    pub(in crate::tcp) const fn uses_sending_times(self) -> bool {
        matches!(self, Self::Vegas | Self::Ns2Vegas { .. })
    }
}

/// The value of cwnd when a recovery ends (RFC 6582 section 3.2, step 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryExit {
    /// min(ssthresh, max(FlightSize, SMSS) + SMSS): option 1 of the RFC, which cannot burst.
    FlightSize,
    /// ssthresh: option 2 of the RFC, and RFC 5681 section 3.2, step 6.
    Ssthresh,
    /// Whatever partial acknowledgements have left of it; the acknowledgement that ends the
    /// recovery grows it like any other. This is ns-2 with `exit_recovery_fix_` 0.
    Deflated,
}
