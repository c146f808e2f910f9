//! ns-2.35's `Agent/TCP/Sack1`: see
//! [`RecoveryAlgorithm::Sack1`](crate::tcp::RecoveryAlgorithm::Sack1).

use skywave_units::Instant;

use crate::tcp::loss::{Begin, DUPLICATE_THRESHOLD, Detection, Found, News, Phase, Recovery};
use crate::tcp::reassembly::Range;
use crate::tcp::sent_log::SentLog;
use crate::tcp::sequence::Position;

/// Counts duplicates with new SACKs, and ignores SACKs after a timeout.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct Sack1Detection {
    /// The offset after the last byte that was outstanding when the recovery or the last timeout
    /// began.
    recover: u64,
    /// Duplicate acknowledgements with new SACKs since the last progress.
    duplicates: u32,
    /// Whether nothing has been acknowledged since a timeout.
    timed_out: bool,
    recovering: bool,
}

impl Detection for Sack1Detection {
    fn on_duplicate(&mut self, news: &News, log: &mut SentLog) -> Found {
        if self.timed_out {
            log.forget_sacks();
            return Found::Nothing;
        }
        if self.recovering || !news.has_sacked {
            return Found::Nothing;
        }
        self.duplicates = self.duplicates.saturating_add(1);
        if self.duplicates == DUPLICATE_THRESHOLD && news.at.una > self.recover {
            Found::Loss { is_repeated: false }
        } else {
            Found::Nothing
        }
    }

    fn on_progress(&mut self, _news: &News, log: &mut SentLog) -> Found {
        self.timed_out = false;
        self.duplicates = 0;
        if !self.recovering {
            log.forget_sacks();
        }
        Found::Nothing
    }

    fn on_timeout(&mut self, _now: Instant, at: Position, _log: &mut SentLog) {
        self.recovering = false;
        self.recover = at.max;
        self.duplicates = 0;
        self.timed_out = true;
    }

    fn on_recovery(&mut self, at: Position) {
        self.recovering = true;
        self.recover = at.max;
    }

    fn on_recovered(&mut self) {
        self.recovering = false;
        self.recover = 0;
    }

    fn limited_transmit(&self) -> u32 {
        self.duplicates.min(DUPLICATE_THRESHOLD - 1)
    }

    fn is_quiet(&self, log: &SentLog) -> bool {
        !self.timed_out && self.duplicates == 0 && log.sacks().sacked().is_empty()
    }

    fn heap_size(&self) -> usize {
        0
    }
}

/// Counts whole segments in flight, and never recounts them.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct Sack1Recovery {
    recovering: bool,
    /// Whether no acknowledgement has followed the one that began the recovery, which releases only
    /// the retransmission.
    has_just_begun: bool,
    /// The offset after the last byte that was outstanding when the recovery began.
    recover: u64,
    /// The end of the retransmitted data.
    retransmitted: u64,
    /// Segments assumed in flight during recovery.
    pipe: i64,
}

impl Recovery for Sack1Recovery {
    fn begin(&mut self, at: Position, _log: &mut SentLog) -> Begin {
        let outstanding = (at.max - at.una).div_ceil(at.smss) as i64;
        *self = Self {
            recovering: true,
            has_just_begun: true,
            recover: at.max,
            retransmitted: at.una + at.smss,
            pipe: outstanding - i64::from(DUPLICATE_THRESHOLD),
        };
        Begin::Retransmit
    }

    fn is_recovering(&self) -> bool {
        self.recovering
    }

    fn on_duplicate(&mut self, _news: &News, _log: &mut SentLog) -> bool {
        self.has_just_begun = false;
        self.pipe -= 1;
        false
    }

    fn on_progress(&mut self, news: &News, log: &mut SentLog) -> Phase {
        if news.at.una >= self.recover {
            self.recovering = false;
            log.forget_sacks();
            return Phase::Full;
        }
        self.has_just_begun = false;
        // One segment has left the network, and so has its retransmission.
        self.pipe -= 2;
        Phase::Partial {
            retransmit: false,
            restart_timer: true,
        }
    }

    fn on_timeout(&mut self, _at: Position, log: &mut SentLog) {
        log.forget_sacks();
        self.recovering = false;
    }

    fn counts_pipe(&self) -> bool {
        self.recovering
    }

    fn has_room(&self, cwnd: u64, smss: u64) -> bool {
        !self.has_just_begun && self.pipe < (cwnd / smss) as i64
    }

    fn has_unsent_loss(&self, at: Position, log: &SentLog) -> bool {
        let from = self.retransmitted.max(at.una);
        self.recovering && log.sacks().hole(from).is_some()
    }

    fn next_segment(
        &mut self,
        at: Position,
        cwnd: u64,
        fresh: Range,
        log: &mut SentLog,
    ) -> Option<Range> {
        if !self.has_room(cwnd, at.smss) {
            return None;
        }
        let hole = log.sacks().hole(self.retransmitted.max(at.una));
        let segment = match hole {
            Some(hole) => {
                let end = hole.end.min(hole.start + at.smss);
                self.retransmitted = end;
                Range { end, ..hole }
            }
            None if fresh.start < fresh.end => fresh,
            None => return None,
        };
        self.pipe += 1;
        Some(segment)
    }
}
