//! Recovery that counts the bytes in flight (RFC 6675).

use super::{Begin, News, Phase, Recovery};
use crate::tcp::reassembly::Range;
use crate::tcp::sent_log::{Scoreboard, SentLog};
use crate::tcp::sequence::Position;

/// The recovery of RFC 6675, with the RFC's variable names. Where the RFC names a byte, the offset
/// here is that of the byte after it.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Pipe {
    recovering: bool,
    /// Once this is acknowledged, the recovery ends, or another one may begin after a timeout.
    recovery_point: u64,
    /// HighRxt: the end of the retransmitted data.
    high_rxt: u64,
    /// HighData when HighRxt was last raised.
    high_data: u64,
    /// Retransmissions of the last recovery that may still be under way.
    earlier: Option<Retransmitted>,
    /// RescueRxt: no rescue retransmission until more than this is acknowledged.
    rescue_rxt: u64,
    /// Bytes assumed in flight during recovery.
    pub(super) pipe: u64,
    /// Whether a timeout keeps the SACKs.
    keeps_sacks: bool,
}

/// Data above its RecoveryPoint that a recovery has retransmitted. The next recovery, which begins
/// because of this data, must not repeat it at once.
#[derive(Clone, Copy, Debug)]
struct Retransmitted {
    /// HighRxt at the end of the recovery.
    end: u64,
    /// Data from this offset on was sent later.
    high_data: u64,
}

impl Pipe {
    /// Creates a recovery. If `keeps_sacks`, a timeout keeps the SACKs unless the receiver has
    /// reneged.
    pub(in crate::tcp) const fn new(keeps_sacks: bool) -> Self {
        Self {
            recovering: false,
            recovery_point: 0,
            high_rxt: 0,
            high_data: 0,
            earlier: None,
            rescue_rxt: 0,
            pipe: 0,
            keeps_sacks,
        }
    }

    fn retransmit_first(&mut self, at: Position, board: &Scoreboard) {
        let hole_end = board.hole(at.una).map_or(at.max, |hole| hole.end);
        self.high_rxt = hole_end.min(at.una + at.smss);
        self.high_data = at.max;
    }

    /// Returns whether to retransmit the first unacknowledged segment again, because the
    /// retransmission by an earlier recovery is lost: enough data sent after it has arrived. The
    /// other unacknowledged retransmissions are lost as well.
    fn repeats(&mut self, at: Position, board: &Scoreboard) -> bool {
        let is_lost = |sent: &mut Retransmitted| {
            at.una < sent.end && board.is_passed(sent.high_data, at.smss)
        };
        let repeats = self.earlier.take_if(is_lost).is_some();
        if repeats {
            self.retransmit_first(at, board);
        }
        repeats
    }

    fn set_pipe(&mut self, at: Position, board: &Scoreboard) {
        self.pipe = board.pipe(at.una, at.max, self.high_rxt, at.smss);
    }

    /// Returns the next segment to send: NextSeg () of section 4.
    fn next_seg(&mut self, at: Position, fresh: Range, board: &Scoreboard) -> Option<Range> {
        let from = self.high_rxt.max(at.una);
        let hole = board.hole(from).map(|hole| Range {
            start: hole.start,
            end: hole.end.min(hole.start + at.smss),
        });
        let is_lost = |hole: &Range| hole.start < board.lost_below(at.smss);
        // Rules 1, 2 and 3.
        if let Some(hole) = hole.filter(|hole| is_lost(hole) || fresh.start >= fresh.end) {
            self.high_rxt = hole.end;
            self.high_data = at.max;
            return Some(hole);
        }
        if fresh.start < fresh.end {
            return Some(fresh);
        }
        // Rule 4.
        if at.una <= self.rescue_rxt {
            return None;
        }
        self.rescue_rxt = self.recovery_point;
        let last = board.last_unsacked(at.una, at.max)?;
        Some(Range {
            start: last.start.max(last.end.saturating_sub(at.smss)),
            end: last.end,
        })
    }
}

impl Recovery for Pipe {
    /// Begins a recovery (section 5, step 4).
    fn begin(&mut self, at: Position, log: &mut SentLog) -> Begin {
        let board = log.sacks();
        self.recovering = true;
        self.recovery_point = at.max;
        self.earlier = (at.una < self.high_rxt).then_some(Retransmitted {
            end: self.high_rxt,
            high_data: self.high_data,
        });
        let retransmit = self.earlier.is_none();
        if retransmit {
            self.retransmit_first(at, board);
        }
        let retransmit = retransmit || self.repeats(at, board);
        self.rescue_rxt = self.high_rxt;
        self.set_pipe(at, board);
        if retransmit {
            Begin::Retransmit
        } else {
            Begin::Wait
        }
    }

    fn is_recovering(&self) -> bool {
        self.recovering
    }

    fn on_duplicate(&mut self, news: &News, log: &mut SentLog) -> bool {
        if !news.has_sacked {
            return false;
        }
        let repeats = self.repeats(news.at, log.sacks());
        self.set_pipe(news.at, log.sacks());
        repeats
    }

    fn on_progress(&mut self, news: &News, log: &mut SentLog) -> Phase {
        if news.at.una >= self.recovery_point {
            self.recovering = false;
            return Phase::Full;
        }
        let retransmit = self.repeats(news.at, log.sacks());
        self.set_pipe(news.at, log.sacks());
        Phase::Partial {
            retransmit,
            restart_timer: true,
        }
    }

    /// Resets the state at a timeout (section 5.1).
    fn on_timeout(&mut self, at: Position, log: &mut SentLog) {
        if !self.keeps_sacks || log.sacks().shows_reneging(at.una) {
            log.forget_sacks();
        }
        self.high_rxt = 0;
        self.earlier = None;
        self.recovering = false;
        self.recovery_point = at.max;
    }

    /// Returns the SACKed data before `nxt`, which is not in flight, during recovery from a
    /// timeout.
    fn inflation(&self, nxt: u64, log: &SentLog) -> i64 {
        if self.recovering || log.sacks().sacked().is_empty() {
            return 0;
        }
        let filled = nxt.min(self.recovery_point);
        i64::try_from(log.sacks().sacked_before(filled)).unwrap_or(i64::MAX)
    }

    fn counts_pipe(&self) -> bool {
        self.recovering
    }

    /// Returns whether cwnd has room for a segment (section 5, step C).
    fn has_room(&self, cwnd: u64, smss: u64) -> bool {
        cwnd >= self.pipe + smss
    }

    fn has_unsent_loss(&self, at: Position, log: &SentLog) -> bool {
        let hole = log.sacks().hole(self.high_rxt.max(at.una));
        let lost_below = log.sacks().lost_below(at.smss);
        self.recovering && hole.is_some_and(|hole| hole.start < lost_below)
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
        let segment = self.next_seg(at, fresh, log.sacks())?;
        self.pipe += segment.end - segment.start;
        Some(segment)
    }

    fn skip_received(&self, nxt: u64, log: &SentLog) -> u64 {
        log.sacks().skip(nxt)
    }
}

#[cfg(test)]
mod tests;
