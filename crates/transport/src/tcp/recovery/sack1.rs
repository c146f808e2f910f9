//! ns-2.35's `Agent/TCP/Sack1`.

use skywave_wire::tcp::SackBlock;

use super::scoreboard::Scoreboard;
use super::{DUPLICATE_THRESHOLD, OnDuplicate, OnProgress, Position};
use crate::tcp::reassembly::Range;
use crate::tcp::sequence::SequenceSpace;

/// See [`super::RecoveryAlgorithm::Sack1`].
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Sack1 {
    board: Scoreboard,
    recovering: bool,
    /// Whether no acknowledgement followed the one that began the recovery. That one releases the
    /// retransmission only.
    has_just_begun: bool,
    /// The offset after the last byte that was outstanding when the recovery or the last timeout
    /// began.
    recover: u64,
    /// The end of the retransmitted data.
    retransmitted: u64,
    /// Segments assumed in flight during recovery.
    pipe: i64,
    /// Duplicate acknowledgements with new SACKs since the last progress.
    duplicates: u32,
    /// Whether the current acknowledgement SACKs something new.
    is_news: bool,
    /// Whether nothing has been acknowledged since a timeout.
    timed_out: bool,
}

impl Sack1 {
    pub(super) fn new() -> Self {
        Self {
            board: Scoreboard::new(),
            recovering: false,
            has_just_begun: false,
            recover: 0,
            retransmitted: 0,
            pipe: 0,
            duplicates: 0,
            is_news: false,
            timed_out: false,
        }
    }

    pub(super) fn on_sack(&mut self, blocks: &[SackBlock], space: SequenceSpace, at: Position) {
        if !self.timed_out {
            self.board.advance(at.una);
            self.is_news = self.board.update(blocks, space, at.una, at.max);
        }
    }

    pub(super) fn on_duplicate(&mut self, at: Position) -> OnDuplicate {
        let is_news = core::mem::take(&mut self.is_news);
        if self.recovering {
            self.has_just_begun = false;
            self.pipe -= 1;
            return OnDuplicate::Wait;
        }
        if !is_news {
            return OnDuplicate::Wait;
        }
        self.duplicates = self.duplicates.saturating_add(1);
        if self.duplicates != DUPLICATE_THRESHOLD || at.una <= self.recover {
            return OnDuplicate::Wait;
        }
        self.recovering = true;
        self.has_just_begun = true;
        self.recover = at.max;
        self.retransmitted = at.una + at.smss;
        let outstanding = (at.max - at.una).div_ceil(at.smss) as i64;
        self.pipe = outstanding - i64::from(DUPLICATE_THRESHOLD);
        OnDuplicate::FastRetransmit
    }

    pub(super) fn on_progress(&mut self, at: Position) -> OnProgress {
        self.is_news = false;
        self.timed_out = false;
        self.duplicates = 0;
        self.board.advance(at.una);
        if !self.recovering {
            self.board.clear();
            return OnProgress::Ordinary;
        }
        if at.una >= self.recover {
            self.recovering = false;
            self.recover = 0;
            self.board.clear();
            return OnProgress::Full;
        }
        self.has_just_begun = false;
        // One segment has left the network, and so has its retransmission.
        self.pipe -= 2;
        OnProgress::Partial {
            retransmit: false,
            restart_timer: true,
        }
    }

    pub(super) fn on_timeout(&mut self, at: Position) {
        self.board.clear();
        self.recovering = false;
        self.recover = at.max;
        self.duplicates = 0;
        self.timed_out = true;
    }

    pub(super) const fn is_recovering(&self) -> bool {
        self.recovering
    }

    /// Whether nothing is lost or late.
    pub(super) fn is_quiet(&self) -> bool {
        !self.recovering
            && !self.timed_out
            && self.duplicates == 0
            && self.board.sacked().is_empty()
    }

    pub(super) fn limited_transmit(&self) -> u32 {
        self.duplicates.min(DUPLICATE_THRESHOLD - 1)
    }

    /// Whether a recovery still has something to retransmit.
    pub(super) fn has_unsent_loss(&self, at: Position) -> bool {
        let from = self.retransmitted.max(at.una);
        self.recovering && self.board.hole(from).is_some()
    }

    pub(super) const fn has_room(&self, cwnd: u64, smss: u64) -> bool {
        !self.has_just_begun && self.pipe < (cwnd / smss) as i64
    }

    pub(super) fn next_segment(&mut self, at: Position, cwnd: u64, fresh: Range) -> Option<Range> {
        if !self.has_room(cwnd, at.smss) {
            return None;
        }
        let hole = self.board.hole(self.retransmitted.max(at.una));
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

    pub(super) fn end_of_hole(&self, una: u64) -> u64 {
        self.board.hole(una).map_or(u64::MAX, |hole| hole.end)
    }

    pub(super) fn heap_size(&self) -> usize {
        self.board.heap_size()
    }
}
