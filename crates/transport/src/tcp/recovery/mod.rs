//! Loss recovery: what acknowledgements say about losses, what to retransmit, and how much the
//! window may open meanwhile.
//!
//! [`RecoveryAlgorithm`] names the algorithms; each has a module. All receive the same three inputs
//! (a duplicate acknowledgement, an acknowledgement of new data, a timeout) and return what the
//! sender must do. Those with a [`scoreboard`] also choose the next segment.

mod algorithm;
mod fast;
mod fine_timer;
mod newreno;
mod reno;
mod sack;
mod sack1;
mod scoreboard;
mod tahoe;
mod words;

use skywave_units::{Duration, Instant};
use skywave_wire::tcp::SackBlock;

pub use self::algorithm::{RecoveryAlgorithm, RecoveryExit};
use self::fine_timer::{FineTimer, Inflation};
use self::newreno::NewReno;
use self::reno::Reno;
use self::sack::Sack;
use self::sack1::Sack1;
use self::tahoe::Tahoe;
pub(super) use self::words::{News, OnDuplicate, OnProgress, Position};
use super::reassembly::Range;
use super::sequence::SequenceSpace;

/// The number of duplicate acknowledgements that indicate a loss (RFC 5681 section 3.2).
const DUPLICATE_THRESHOLD: u32 = 3;

/// The state of a recovery algorithm. All sizes are in bytes; all positions are offsets.
#[derive(Clone, Debug)]
pub(super) struct Recovery {
    /// Whether nothing is lost, late or SACKed, so that an acknowledgement of new data has no
    /// effect. This is the common case, in which nothing else is examined.
    is_quiet: bool,
    algorithm: Algorithm,
}

#[derive(Clone, Debug)]
enum Algorithm {
    Tahoe(Tahoe),
    Reno(Reno),
    NewReno(NewReno),
    Sack(Box<Sack>),
    Sack1(Box<Sack1>),
    Vegas(Box<FineTimer>),
}

impl Algorithm {
    fn new(algorithm: RecoveryAlgorithm, keeps_sacks: bool) -> Self {
        match algorithm {
            RecoveryAlgorithm::Tahoe => Self::Tahoe(Tahoe::default()),
            RecoveryAlgorithm::Reno { once_per_window } => Self::Reno(Reno::new(once_per_window)),
            RecoveryAlgorithm::NewReno => Self::NewReno(NewReno::default()),
            RecoveryAlgorithm::Sack => Self::Sack(Box::new(Sack::new(keeps_sacks))),
            RecoveryAlgorithm::Sack1 => Self::Sack1(Box::new(Sack1::new())),
            RecoveryAlgorithm::Vegas => Self::Vegas(Box::new(FineTimer::new(Inflation::Lent))),
            RecoveryAlgorithm::Ns2Vegas { .. } => {
                Self::Vegas(Box::new(FineTimer::new(Inflation::PartOfCwnd)))
            }
        }
    }

    /// Whether it would answer progress with [`OnProgress::Ordinary`] and stay unchanged.
    fn is_quiet(&self) -> bool {
        match self {
            Self::Tahoe(tahoe) => tahoe.is_quiet(),
            Self::Reno(reno) => reno.fast.is_quiet(),
            Self::NewReno(newreno) => newreno.fast.is_quiet(),
            Self::Sack(sack) => sack.is_quiet(),
            Self::Sack1(sack1) => sack1.is_quiet(),
            Self::Vegas(_) => false,
        }
    }
}

impl Recovery {
    /// Starts with nothing lost. With [`RecoveryAlgorithm::Sack`], `keeps_sacks` says whether SACKs
    /// outlive a timeout.
    pub(super) fn new(algorithm: RecoveryAlgorithm, keeps_sacks: bool) -> Self {
        let algorithm = Algorithm::new(algorithm, keeps_sacks);
        Self {
            is_quiet: algorithm.is_quiet(),
            algorithm,
        }
    }

    /// Whether the call of [`Recovery::on_progress`] can be skipped.
    pub(super) const fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Reports that the handshake took `rtt`.
    pub(super) fn on_handshake(&mut self, rtt: Duration) {
        if let Algorithm::Vegas(vegas) = &mut self.algorithm {
            vegas.on_sample(rtt);
        }
    }

    /// Reports the SACK blocks of the acknowledgement that is reported next. `at` is the position
    /// before it.
    pub(super) fn on_sack(&mut self, blocks: &[SackBlock], space: SequenceSpace, at: Position) {
        self.is_quiet = false;
        match &mut self.algorithm {
            Algorithm::Sack(sack) => sack.on_sack(blocks, space, at),
            Algorithm::Sack1(sack1) => sack1.on_sack(blocks, space, at),
            Algorithm::NewReno(_)
            | Algorithm::Tahoe(_)
            | Algorithm::Reno(_)
            | Algorithm::Vegas(_) => {}
        }
    }

    /// Handles a duplicate acknowledgement.
    pub(super) fn on_duplicate(&mut self, news: &News) -> OnDuplicate {
        self.is_quiet = false;
        match &mut self.algorithm {
            Algorithm::NewReno(newreno) => newreno.on_duplicate(news.at),
            Algorithm::Tahoe(tahoe) => tahoe.on_duplicate(news.at),
            Algorithm::Reno(reno) => reno.on_duplicate(news.at),
            Algorithm::Sack(sack) => sack.on_duplicate(news.at),
            Algorithm::Sack1(sack1) => sack1.on_duplicate(news.at),
            Algorithm::Vegas(vegas) => vegas.on_duplicate(news),
        }
    }

    /// Handles an acknowledgement of new data.
    pub(super) fn on_progress(&mut self, news: &News) -> OnProgress {
        let progress = match &mut self.algorithm {
            Algorithm::Tahoe(tahoe) => tahoe.on_progress(),
            Algorithm::Reno(reno) => reno.on_progress(),
            Algorithm::NewReno(newreno) => newreno.on_progress(news),
            Algorithm::Sack(sack) => sack.on_progress(news.at),
            Algorithm::Sack1(sack1) => sack1.on_progress(news.at),
            Algorithm::Vegas(vegas) => vegas.on_progress(news),
        };
        self.is_quiet = self.algorithm.is_quiet();
        progress
    }

    /// Handles an expired retransmission timer.
    pub(super) fn on_timeout(&mut self, now: Instant, at: Position) {
        self.is_quiet = false;
        match &mut self.algorithm {
            Algorithm::NewReno(newreno) => newreno.on_timeout(at),
            Algorithm::Tahoe(tahoe) => tahoe.on_timeout(at),
            Algorithm::Reno(reno) => reno.on_timeout(at),
            Algorithm::Sack(sack) => sack.on_timeout(at),
            Algorithm::Sack1(sack1) => sack1.on_timeout(at),
            Algorithm::Vegas(vegas) => vegas.on_timeout(now, at),
        }
    }

    /// The temporary addition to cwnd in bytes if `nxt` is the next byte to send; may be negative.
    #[inline(always)]
    pub(super) fn inflation(&self, nxt: u64) -> i64 {
        if self.is_quiet {
            0
        } else {
            self.inflation_of_algorithm(nxt)
        }
    }

    #[inline(never)]
    fn inflation_of_algorithm(&self, nxt: u64) -> i64 {
        match &self.algorithm {
            Algorithm::NewReno(newreno) => newreno.fast.inflation,
            Algorithm::Tahoe(_) | Algorithm::Sack1(_) => 0,
            Algorithm::Reno(reno) => reno.fast.inflation,
            Algorithm::Sack(sack) => sack.inflation(nxt),
            Algorithm::Vegas(vegas) => vegas.inflation(),
        }
    }

    /// The number of segments that limited transmit permits beyond cwnd (RFC 3042).
    #[inline(always)]
    pub(super) fn limited_transmit(&self) -> u32 {
        if self.is_quiet {
            0
        } else {
            self.limited_transmit_of_algorithm()
        }
    }

    #[inline(never)]
    fn limited_transmit_of_algorithm(&self) -> u32 {
        match &self.algorithm {
            Algorithm::NewReno(newreno) => newreno.fast.limited_transmit(),
            Algorithm::Tahoe(tahoe) => tahoe.limited_transmit(),
            Algorithm::Reno(reno) => reno.fast.limited_transmit(),
            Algorithm::Sack(sack) => sack.limited_transmit(),
            Algorithm::Sack1(sack1) => sack1.limited_transmit(),
            Algorithm::Vegas(vegas) => vegas.limited_transmit(),
        }
    }

    /// Whether a fast recovery is under way: of Reno or NewReno, which send within the window.
    #[cold]
    pub(super) fn is_recovering(&self) -> bool {
        match &self.algorithm {
            Algorithm::NewReno(newreno) => newreno.fast.recovering,
            Algorithm::Reno(reno) => reno.fast.recovering,
            _ => false,
        }
    }

    /// Bytes known to be lost when a recovery begins; zero if the algorithm only knows that
    /// something was lost.
    #[cold]
    pub(super) fn lost(&self, at: Position) -> u64 {
        match &self.algorithm {
            Algorithm::Sack(sack) => sack.lost(at),
            _ => 0,
        }
    }

    /// Takes the number of segments by which ns-2's Vegas inflates cwnd itself. Call after each
    /// duplicate.
    pub(super) fn take_inflation_of_cwnd(&mut self) -> u32 {
        match &mut self.algorithm {
            Algorithm::Vegas(vegas) => vegas.take_inflation_of_cwnd(),
            _ => 0,
        }
    }

    /// Takes whether the inflation of cwnd itself has ended. Call after each progress.
    pub(super) fn take_deflation_of_cwnd(&mut self) -> bool {
        match &mut self.algorithm {
            Algorithm::Vegas(vegas) => vegas.take_deflation_of_cwnd(),
            _ => false,
        }
    }

    /// Whether a fast retransmit doubles the retransmission timeout, like a timeout.
    pub(super) fn backs_off(&self) -> bool {
        matches!(&self.algorithm, Algorithm::Vegas(vegas) if vegas.backs_off())
    }

    /// Whether a retransmitted segment is still timed, in violation of Karn's rule (RFC 6298
    /// section 3).
    pub(super) fn times_retransmissions(&self) -> bool {
        matches!(&self.algorithm, Algorithm::Vegas(vegas) if vegas.times_retransmissions())
    }

    /// Takes the bytes that deflation has removed from cwnd itself, which is how ns-2 combines the
    /// two.
    pub(super) fn take_deficit(&mut self, smss: u64) -> u64 {
        match &mut self.algorithm {
            Algorithm::NewReno(newreno) => newreno.take_deficit(smss),
            _ => 0,
        }
    }

    /// Whether [`Recovery::next_segment`] decides what may be sent, rather than the window alone.
    #[inline(always)]
    pub(super) fn counts_pipe(&self) -> bool {
        if self.is_quiet {
            false
        } else {
            self.counts_pipe_of_algorithm()
        }
    }

    #[inline(never)]
    fn counts_pipe_of_algorithm(&self) -> bool {
        match &self.algorithm {
            Algorithm::Sack(sack) => sack.is_recovering(),
            Algorithm::Sack1(sack1) => sack1.is_recovering(),
            Algorithm::NewReno(_)
            | Algorithm::Tahoe(_)
            | Algorithm::Reno(_)
            | Algorithm::Vegas(_) => false,
        }
    }

    /// Whether a pipe-based recovery may send with a cwnd of `cwnd` bytes.
    pub(super) fn has_room(&self, cwnd: u64, smss: u64) -> bool {
        match &self.algorithm {
            Algorithm::Sack(sack) => sack.has_room(cwnd, smss),
            Algorithm::Sack1(sack1) => sack1.has_room(cwnd, smss),
            Algorithm::NewReno(_)
            | Algorithm::Tahoe(_)
            | Algorithm::Reno(_)
            | Algorithm::Vegas(_) => false,
        }
    }

    /// Whether a pipe-based recovery knows of a loss it has not retransmitted yet.
    pub(super) fn has_unsent_loss(&self, at: Position) -> bool {
        match &self.algorithm {
            Algorithm::Sack(sack) => sack.has_unsent_loss(at),
            Algorithm::Sack1(sack1) => sack1.has_unsent_loss(at),
            Algorithm::NewReno(_)
            | Algorithm::Tahoe(_)
            | Algorithm::Reno(_)
            | Algorithm::Vegas(_) => false,
        }
    }

    /// Returns the next segment of a pipe-based recovery if `cwnd` bytes permit it, and counts it
    /// as sent. `fresh` is the new data that could be sent: a segment, or as much of one as the
    /// receiver's window and the application permit.
    pub(super) fn next_segment(&mut self, at: Position, cwnd: u64, fresh: Range) -> Option<Range> {
        match &mut self.algorithm {
            Algorithm::Sack(sack) => sack.next_segment(at, cwnd, fresh),
            Algorithm::Sack1(sack1) => sack1.next_segment(at, cwnd, fresh),
            Algorithm::NewReno(_)
            | Algorithm::Tahoe(_)
            | Algorithm::Reno(_)
            | Algorithm::Vegas(_) => None,
        }
    }

    /// Where to continue after a timeout if `nxt` is the next byte to send: behind SACKed data.
    #[cold]
    pub(super) fn skip_received(&self, nxt: u64) -> u64 {
        match &self.algorithm {
            Algorithm::Sack(sack) => sack.skip_received(nxt),
            _ => nxt,
        }
    }

    /// The end of the hole that begins at `una`, as far as is known.
    #[cold]
    pub(super) fn end_of_hole(&self, una: u64) -> u64 {
        match &self.algorithm {
            Algorithm::Sack(sack) => sack.end_of_hole(una),
            Algorithm::Sack1(sack1) => sack1.end_of_hole(una),
            Algorithm::NewReno(_)
            | Algorithm::Tahoe(_)
            | Algorithm::Reno(_)
            | Algorithm::Vegas(_) => u64::MAX,
        }
    }

    /// Bytes of heap memory in use.
    pub(super) fn heap_size(&self) -> usize {
        match &self.algorithm {
            Algorithm::Sack(sack) => size_of::<Sack>() + sack.heap_size(),
            Algorithm::Sack1(sack1) => size_of::<Sack1>() + sack1.heap_size(),
            Algorithm::Vegas(_) => size_of::<FineTimer>(),
            Algorithm::NewReno(_) | Algorithm::Tahoe(_) | Algorithm::Reno(_) => 0,
        }
    }
}
