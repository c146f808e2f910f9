//! Loss recovery: what acknowledgements say about loss, what is sent again, and how much the
//! window may open meanwhile.
//!
//! [`RecoveryAlgorithm`] names the algorithms; each has a module. All are told the same three
//! things, a duplicate acknowledgement, one of new data, and a timeout, and answer what the
//! sender shall do. Those that keep a [`scoreboard`] also say which segment is next.

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

/// Duplicate acknowledgements that stand for a loss (RFC 5681 section 3.2).
const DUPLICATE_THRESHOLD: u32 = 3;

/// The state of a recovery algorithm. All sizes are in bytes, all positions are offsets.
#[derive(Clone, Debug)]
pub(super) struct Recovery {
    /// Nothing is lost, late or SACKed: an acknowledgement of new data means nothing to it. So it
    /// is nearly always, and nothing else is looked at then.
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
    fn new(algorithm: RecoveryAlgorithm) -> Self {
        match algorithm {
            RecoveryAlgorithm::Tahoe => Self::Tahoe(Tahoe::default()),
            RecoveryAlgorithm::Reno { once_per_window } => Self::Reno(Reno::new(once_per_window)),
            RecoveryAlgorithm::NewReno => Self::NewReno(NewReno::default()),
            RecoveryAlgorithm::Sack => Self::Sack(Box::new(Sack::new())),
            RecoveryAlgorithm::Sack1 => Self::Sack1(Box::new(Sack1::new())),
            RecoveryAlgorithm::Vegas => Self::Vegas(Box::new(FineTimer::new(Inflation::Lent))),
            RecoveryAlgorithm::Ns2Vegas { .. } => {
                Self::Vegas(Box::new(FineTimer::new(Inflation::PartOfCwnd)))
            }
        }
    }

    /// Whether it would answer progress with [`OnProgress::Ordinary`] and stay as it is.
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
    pub(super) fn new(algorithm: RecoveryAlgorithm) -> Self {
        let algorithm = Algorithm::new(algorithm);
        Self {
            is_quiet: algorithm.is_quiet(),
            algorithm,
        }
    }

    /// Whether [`Recovery::on_progress`] need not be told.
    pub(super) const fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// The handshake took `rtt`.
    pub(super) fn on_handshake(&mut self, rtt: Duration) {
        if let Algorithm::Vegas(vegas) = &mut self.algorithm {
            vegas.on_sample(rtt);
        }
    }

    /// SACK blocks have come with the acknowledgement that is told of next; `at` is the position
    /// before that.
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

    /// A duplicate of the last acknowledgement has come.
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

    /// New data have been acknowledged.
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

    /// The retransmission timer has expired.
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

    /// What is added to cwnd for the time being, in bytes, when `nxt` is next; it may be negative.
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

    /// How many segments limited transmit allows beyond cwnd (RFC 3042).
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

    /// Bytes that are known to be lost when a recovery begins; zero where the algorithm only knows
    /// that something is.
    #[cold]
    pub(super) fn lost(&self, at: Position) -> u64 {
        match &self.algorithm {
            Algorithm::Sack(sack) => sack.lost(at),
            _ => 0,
        }
    }

    /// Takes by how many segments ns-2's Vegas is to inflate cwnd itself; asked after each duplicate.
    pub(super) fn take_inflation_of_cwnd(&mut self) -> u32 {
        match &mut self.algorithm {
            Algorithm::Vegas(vegas) => vegas.take_inflation_of_cwnd(),
            _ => 0,
        }
    }

    /// Whether the inflation of cwnd itself has ended; asked after each progress.
    pub(super) fn take_deflation_of_cwnd(&mut self) -> bool {
        match &mut self.algorithm {
            Algorithm::Vegas(vegas) => vegas.take_deflation_of_cwnd(),
            _ => false,
        }
    }

    /// Whether a fast retransmit doubles the retransmission timeout, as a timeout does.
    pub(super) fn backs_off(&self) -> bool {
        matches!(&self.algorithm, Algorithm::Vegas(vegas) if vegas.backs_off())
    }

    /// Whether a segment that is sent again is still timed, against Karn's rule (RFC 6298 section 3).
    pub(super) fn times_retransmissions(&self) -> bool {
        matches!(&self.algorithm, Algorithm::Vegas(vegas) if vegas.times_retransmissions())
    }

    /// Takes what deflation has cut off cwnd itself, in bytes: ns-2's way of keeping the two apart.
    pub(super) fn take_deficit(&mut self, smss: u64) -> u64 {
        match &mut self.algorithm {
            Algorithm::NewReno(newreno) => newreno.take_deficit(smss),
            _ => 0,
        }
    }

    /// Whether [`Recovery::next_segment`], not the window alone, says what may be sent.
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

    /// Whether `cwnd` bytes let a recovery that counts what is on its way send.
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

    /// Whether a recovery that counts what is on its way knows of a loss that is still to be sent
    /// again.
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

    /// The next segment of a recovery that counts what is on its way, where `cwnd` bytes allow it;
    /// it counts as sent. `fresh` is what could be sent of new data: a segment, or as much as the
    /// receiver's window and the application leave of one.
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

    /// Where to go on after a timeout, when `nxt` is next: behind what has been SACKed.
    #[cold]
    pub(super) fn skip_received(&self, nxt: u64) -> u64 {
        match &self.algorithm {
            Algorithm::Sack(sack) => sack.skip_received(nxt),
            _ => nxt,
        }
    }

    /// Where the stretch that begins at `una`, and has not been received as far as is known, ends.
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

    /// Bytes of heap in use.
    pub(super) fn heap_size(&self) -> usize {
        match &self.algorithm {
            Algorithm::Sack(sack) => size_of::<Sack>() + sack.heap_size(),
            Algorithm::Sack1(sack1) => size_of::<Sack1>() + sack1.heap_size(),
            Algorithm::Vegas(_) => size_of::<FineTimer>(),
            Algorithm::NewReno(_) | Algorithm::Tahoe(_) | Algorithm::Reno(_) => 0,
        }
    }
}
