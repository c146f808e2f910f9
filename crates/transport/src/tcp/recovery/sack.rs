//! SACK-based loss recovery (RFC 6675).

use skywave_wire::tcp::SackBlock;

use super::scoreboard::Scoreboard;
use super::{DUPLICATE_THRESHOLD, OnDuplicate, OnProgress, Position};
use crate::tcp::reassembly::Range;
use crate::tcp::sequence::SequenceSpace;

/// RFC 6675, with the RFC's variable names. Where the RFC names a byte, the offset here is that of
/// the byte after it.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Sack {
    board: Scoreboard,
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
    pipe: u64,
    /// DupAcks.
    duplicates: u32,
    /// Whether the current acknowledgement SACKs something new.
    is_news: bool,
    /// Whether a timeout keeps the scoreboard.
    keeps_sacks: bool,
}

/// Data above a recovery's RecoveryPoint that it has retransmitted. The next recovery, which it
/// causes to begin, must not repeat it at once.
#[derive(Clone, Copy, Debug)]
struct Retransmitted {
    /// HighRxt at the end of the recovery.
    end: u64,
    /// What was sent from here on was sent later.
    high_data: u64,
}

impl Sack {
    /// At a timeout, the scoreboard is kept if `keeps_sacks`, unless the receiver has reneged.
    pub(super) fn new(keeps_sacks: bool) -> Self {
        Self {
            keeps_sacks,
            board: Scoreboard::new(),
            recovering: false,
            recovery_point: 0,
            high_rxt: 0,
            high_data: 0,
            earlier: None,
            rescue_rxt: 0,
            pipe: 0,
            duplicates: 0,
            is_news: false,
        }
    }

    pub(super) fn on_sack(&mut self, blocks: &[SackBlock], space: SequenceSpace, at: Position) {
        self.board.advance(at.una);
        self.is_news = self.board.update(blocks, space, at.una, at.max);
    }

    /// Section 5. An acknowledgement that SACKs nothing new is not a duplicate (section 2).
    pub(super) fn on_duplicate(&mut self, at: Position) -> OnDuplicate {
        if !core::mem::take(&mut self.is_news) {
            return OnDuplicate::Wait;
        }
        if self.recovering {
            let repeat = self.repeats(at);
            self.set_pipe(at);
            return if repeat {
                OnDuplicate::Retransmit
            } else {
                OnDuplicate::Wait
            };
        }
        self.duplicates = self.duplicates.saturating_add(1);
        if self.finds_loss(at) {
            if self.enter(at) {
                OnDuplicate::FastRetransmit
            } else {
                OnDuplicate::Reduce
            }
        } else {
            OnDuplicate::Wait
        }
    }

    /// Bytes between `una` and `max` that are lost.
    pub(super) fn lost(&self, at: Position) -> u64 {
        let below = self.board.lost_below(at.smss);
        below.saturating_sub(at.una + self.board.sacked_before(below))
    }

    pub(super) fn on_progress(&mut self, at: Position) -> OnProgress {
        self.board.advance(at.una);
        let is_news = core::mem::take(&mut self.is_news);
        if self.recovering {
            if at.una >= self.recovery_point {
                self.recovering = false;
                self.duplicates = 0;
                return OnProgress::Full;
            }
            let retransmit = self.repeats(at);
            self.set_pipe(at);
            return OnProgress::Partial {
                retransmit,
                restart_timer: true,
            };
        }
        self.duplicates = u32::from(is_news);
        if is_news && self.finds_loss(at) {
            let retransmit = self.enter(at);
            return OnProgress::Loss { retransmit };
        }
        OnProgress::Ordinary
    }

    /// Section 5.1.
    pub(super) fn on_timeout(&mut self, at: Position) {
        if !self.keeps_sacks || self.board.shows_reneging(at.una) {
            self.board.clear();
        }
        self.high_rxt = 0;
        self.earlier = None;
        self.recovering = false;
        self.recovery_point = at.max;
        self.duplicates = 0;
    }

    /// Section 5, steps 1 and 2.
    fn finds_loss(&self, at: Position) -> bool {
        at.una >= self.recovery_point
            && (self.duplicates >= DUPLICATE_THRESHOLD || at.una < self.board.lost_below(at.smss))
    }

    /// Section 5, step 4. Returns whether to retransmit the first unacknowledged segment.
    fn enter(&mut self, at: Position) -> bool {
        self.recovering = true;
        self.recovery_point = at.max;
        self.earlier = (at.una < self.high_rxt).then_some(Retransmitted {
            end: self.high_rxt,
            high_data: self.high_data,
        });
        let retransmit = self.earlier.is_none();
        if retransmit {
            self.retransmit_first(at);
        }
        let retransmit = retransmit || self.repeats(at);
        self.rescue_rxt = self.high_rxt;
        self.set_pipe(at);
        retransmit
    }

    fn retransmit_first(&mut self, at: Position) {
        let hole_end = self.board.hole(at.una).map_or(at.max, |hole| hole.end);
        self.high_rxt = hole_end.min(at.una + at.smss);
        self.high_data = at.max;
    }

    /// Whether to retransmit the first unacknowledged segment again, because the retransmission by
    /// an earlier recovery is lost: enough of what was sent after it has arrived. So are the others
    /// that are unacknowledged.
    fn repeats(&mut self, at: Position) -> bool {
        let lost_below = self.board.lost_below(at.smss);
        let is_lost = |sent: &mut Retransmitted| at.una < sent.end && sent.high_data < lost_below;
        let repeats = self.earlier.take_if(is_lost).is_some();
        if repeats {
            self.retransmit_first(at);
        }
        repeats
    }

    /// Whether a recovery still has a loss to retransmit.
    pub(super) fn has_unsent_loss(&self, at: Position) -> bool {
        let hole = self.board.hole(self.high_rxt.max(at.una));
        self.recovering && hole.is_some_and(|hole| hole.start < self.board.lost_below(at.smss))
    }

    fn set_pipe(&mut self, at: Position) {
        self.pipe = self.board.pipe(at.una, at.max, self.high_rxt, at.smss);
    }

    pub(super) const fn is_recovering(&self) -> bool {
        self.recovering
    }

    /// During recovery from a timeout, SACKed data before `nxt` is not in flight.
    pub(super) fn inflation(&self, nxt: u64) -> i64 {
        if self.recovering || self.board.sacked().is_empty() {
            return 0;
        }
        let filled = nxt.min(self.recovery_point);
        i64::try_from(self.board.sacked_before(filled)).unwrap_or(i64::MAX)
    }

    /// Whether nothing is lost or late.
    pub(super) fn is_quiet(&self) -> bool {
        !self.recovering && self.duplicates == 0 && self.board.sacked().is_empty()
    }

    pub(super) fn limited_transmit(&self) -> u32 {
        self.duplicates.min(DUPLICATE_THRESHOLD - 1)
    }

    /// Section 5, step C.
    pub(super) const fn has_room(&self, cwnd: u64, smss: u64) -> bool {
        cwnd >= self.pipe + smss
    }

    pub(super) fn next_segment(&mut self, at: Position, cwnd: u64, fresh: Range) -> Option<Range> {
        if !self.has_room(cwnd, at.smss) {
            return None;
        }
        let segment = self.next_seg(at, fresh)?;
        self.pipe += segment.end - segment.start;
        Some(segment)
    }

    /// NextSeg () of section 4.
    fn next_seg(&mut self, at: Position, fresh: Range) -> Option<Range> {
        let from = self.high_rxt.max(at.una);
        let hole = self.board.hole(from).map(|hole| Range {
            start: hole.start,
            end: hole.end.min(hole.start + at.smss),
        });
        let is_lost = |hole: &Range| hole.start < self.board.lost_below(at.smss);
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
        let last = self.board.last_unsacked(at.una, at.max)?;
        Some(Range {
            start: last.start.max(last.end.saturating_sub(at.smss)),
            end: last.end,
        })
    }

    pub(super) fn skip_received(&self, nxt: u64) -> u64 {
        self.board.skip(nxt)
    }

    pub(super) fn end_of_hole(&self, una: u64) -> u64 {
        self.board.hole(una).map_or(u64::MAX, |hole| hole.end)
    }

    pub(super) fn heap_size(&self) -> usize {
        self.board.heap_size()
    }
}

#[cfg(test)]
mod tests;
