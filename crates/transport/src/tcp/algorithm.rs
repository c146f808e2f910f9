//! The recovery algorithms by name, and the components of each.

mod any;

pub(super) use self::any::{AnyDetection, AnyRecovery};
use super::loss::{
    Begin, DuplicateAcks, FineTimer, IsLost, LossRecovery, NewReno, NoPhase, Pipe, Prr, Rack, Reno,
};
use super::ns2;
use super::sent_log::Keeps;

/// The loss detection and recovery of a sender.
pub(super) type AnyLossRecovery = LossRecovery<AnyDetection, AnyRecovery>;

/// How losses are detected and retransmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecoveryAlgorithm {
    /// 4.3BSD-Tahoe (Jacobson 1988): the third duplicate acknowledgement restarts like a timeout,
    /// with one segment from the first unacknowledged byte. Duplicates caused by this are not taken
    /// for losses.
    Tahoe,
    /// RFC 5681 section 3.2: fast retransmit, and fast recovery until new data is acknowledged.
    /// Duplicates caused by a timeout are not taken for losses.
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
    /// RFC 6675: SACK options report what has been received, and pipe decides when to send. Falls
    /// back to [`RecoveryAlgorithm::NewReno`] if the receiver does not permit SACK.
    Sack,
    /// RACK-TLP (RFC 8985) with PRR (RFC 6937), as in Linux: a segment is lost if one sent later has
    /// arrived and the reordering window has passed, even if it is a retransmission. A probe finds
    /// losses at the end of a flight. cwnd falls to ssthresh in proportion to what is delivered.
    /// Falls back to [`RecoveryAlgorithm::NewReno`] if the receiver does not permit SACK.
    Rack,
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
    /// - keeps a circular table of when and how often segments were sent. An acknowledgement clears
    ///   the places from that of its first segment to that of its last one. If the last place comes
    ///   before the first, nothing is cleared, and the next segments at those places count as
    ///   retransmitted.
    Ns2Vegas {
        /// The size of the table: the receiver's window, in segments.
        table: u32,
    },
}

/// What an algorithm leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) struct RecoveryOptions {
    pub(in crate::tcp) exit: RecoveryExit,
    /// Whether SACKs outlive a timeout, for [`RecoveryAlgorithm::Sack`].
    pub(in crate::tcp) keep_sacks: bool,
    /// Whether the control decides on cwnd in a recovery, for [`RecoveryAlgorithm::Rack`].
    pub(in crate::tcp) obeys_control: bool,
    /// Whether to detect spurious timeouts, for [`RecoveryAlgorithm::Rack`].
    pub(in crate::tcp) detects_spurious_timeouts: bool,
}

impl RecoveryAlgorithm {
    /// Returns whether the algorithm needs the receiver's SACK option (RFC 2018).
    pub const fn uses_sack(self) -> bool {
        matches!(self, Self::Sack | Self::Rack | Self::Sack1)
    }

    /// Returns whether a fast retransmit doubles the retransmission timeout, like a timeout.
    pub(in crate::tcp) const fn backs_off(self) -> bool {
        matches!(self, Self::Ns2Vegas { .. })
    }

    /// Returns whether a retransmitted segment is still timed, in violation of Karn's rule (RFC 6298
    /// section 3).
    pub(in crate::tcp) const fn times_retransmissions(self) -> bool {
        matches!(self, Self::Ns2Vegas { .. })
    }

    /// Returns the records that a sender's log must keep for the algorithm.
    pub(in crate::tcp) const fn keeps(self) -> Keeps {
        Keeps {
            times: matches!(self, Self::Rack | Self::Vegas | Self::Ns2Vegas { .. }),
            marks: matches!(self, Self::Rack),
            sacks: self.uses_sack(),
            rates: false,
            vegas_table: match self {
                Self::Ns2Vegas { table } => Some(table),
                _ => None,
            },
        }
    }

    /// Builds the algorithm with the log that `keeps` describes.
    pub(in crate::tcp) fn build(self, keeps: Keeps, options: RecoveryOptions) -> AnyLossRecovery {
        let duplicates = AnyDetection::Duplicates;
        let (detection, recovery) = match self {
            Self::Tahoe => (
                duplicates(DuplicateAcks::tahoe()),
                AnyRecovery::NoPhase(NoPhase(Begin::Restart)),
            ),
            Self::Reno { once_per_window } => (
                duplicates(if once_per_window {
                    DuplicateAcks::once_per_window()
                } else {
                    DuplicateAcks::every_time()
                }),
                AnyRecovery::Reno(Reno::default()),
            ),
            Self::NewReno => (
                duplicates(DuplicateAcks::once_per_window()),
                match options.exit {
                    RecoveryExit::Deflated => AnyRecovery::Ns2NewReno(ns2::NewReno::default()),
                    RecoveryExit::FlightSize | RecoveryExit::Ssthresh | RecoveryExit::Reported => {
                        AnyRecovery::NewReno(NewReno::default())
                    }
                },
            ),
            Self::Sack => (
                AnyDetection::Other(Box::new(IsLost::default())),
                AnyRecovery::Other(Box::new(Pipe::new(options.keep_sacks))),
            ),
            Self::Rack => (
                AnyDetection::Other(Box::new(Rack::new(options.detects_spurious_timeouts))),
                AnyRecovery::Other(Box::new(Prr::new(options.obeys_control))),
            ),
            Self::Sack1 => (
                AnyDetection::Other(Box::new(ns2::Sack1Detection::default())),
                AnyRecovery::Other(Box::new(ns2::Sack1Recovery::default())),
            ),
            Self::Vegas => (
                AnyDetection::Other(Box::new(FineTimer::default())),
                AnyRecovery::NoPhase(NoPhase(Begin::Retransmit)),
            ),
            Self::Ns2Vegas { .. } => (
                AnyDetection::Other(Box::new(ns2::VegasDetection::new())),
                AnyRecovery::NoPhase(NoPhase(Begin::Retransmit)),
            ),
        };
        LossRecovery::from_parts(detection, recovery, keeps)
    }
}

/// The value of cwnd when a recovery ends (RFC 6582 section 3.2, step 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryExit {
    /// min(ssthresh, max(FlightSize, SMSS) + SMSS): option 1 of the RFC, which cannot burst.
    FlightSize,
    /// ssthresh: option 2 of the RFC, and RFC 5681 section 3.2, step 6.
    Ssthresh,
    /// ssthresh, and the acknowledgement that ends the recovery is reported like any other, with
    /// what it delivers: Linux. As [`RecoveryExit::Ssthresh`] unless the recovery is
    /// [`RecoveryAlgorithm::Rack`].
    Reported,
    /// The value that partial acknowledgements have left; the acknowledgement that ends the
    /// recovery increases it like any other. This is ns-2 with `exit_recovery_fix_` 0.
    Deflated,
}
