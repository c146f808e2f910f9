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
    /// RescueRxt: no rescue retransmission until more than this is acknowledged.
    rescue_rxt: u64,
    /// Bytes assumed in flight during recovery.
    pipe: u64,
    /// DupAcks.
    duplicates: u32,
    /// Whether the current acknowledgement SACKs something new.
    is_news: bool,
}

impl Sack {
    pub(super) fn new() -> Self {
        Self {
            board: Scoreboard::new(),
            recovering: false,
            recovery_point: 0,
            high_rxt: 0,
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
            self.set_pipe(at);
            return OnDuplicate::Wait;
        }
        self.duplicates = self.duplicates.saturating_add(1);
        if self.finds_loss(at) {
            self.enter(at);
            OnDuplicate::FastRetransmit
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
            self.set_pipe(at);
            return OnProgress::Partial {
                retransmit: false,
                restart_timer: true,
            };
        }
        self.duplicates = u32::from(is_news);
        if is_news && self.finds_loss(at) {
            self.enter(at);
            return OnProgress::Loss;
        }
        OnProgress::Ordinary
    }

    /// Section 5.1. Forgets all SACKs, as RFC 2018 section 8 advises.
    pub(super) fn on_timeout(&mut self, at: Position) {
        self.board.clear();
        self.recovering = false;
        self.recovery_point = at.max;
        self.duplicates = 0;
    }

    /// Section 5, steps 1 and 2.
    fn finds_loss(&self, at: Position) -> bool {
        at.una >= self.recovery_point
            && (self.duplicates >= DUPLICATE_THRESHOLD || at.una < self.board.lost_below(at.smss))
    }

    /// Section 5, step 4.
    fn enter(&mut self, at: Position) {
        self.recovering = true;
        self.recovery_point = at.max;
        self.high_rxt = self.board.hole(at.una).map_or(at.max, |hole| hole.end);
        self.high_rxt = self.high_rxt.min(at.una + at.smss);
        self.rescue_rxt = self.high_rxt;
        self.set_pipe(at);
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
