//! The interface of recoveries.

use core::fmt;

use super::{Begin, News, Phase};
use crate::tcp::reassembly::Range;
use crate::tcp::sent_log::SentLog;
use crate::tcp::sequence::Position;

/// Decides what to retransmit, and how much may leave in the meantime.
///
/// All sizes are in bytes; all positions are offsets.
pub(in crate::tcp) trait Recovery: fmt::Debug + Send {
    /// Begins the recovery: the first unacknowledged segment is lost.
    fn begin(&mut self, at: Position, log: &mut SentLog) -> Begin;

    /// Returns whether it has begun and not ended.
    fn is_recovering(&self) -> bool;

    /// Handles a duplicate acknowledgement. Returns whether to retransmit the first unacknowledged
    /// segment. Called only during the recovery.
    fn on_duplicate(&mut self, news: &News, log: &mut SentLog) -> bool;

    /// Handles an acknowledgement of new data. Called only during the recovery.
    fn on_progress(&mut self, news: &News, log: &mut SentLog) -> Phase;

    /// Handles an expired retransmission timer, which ends the recovery.
    fn on_timeout(&mut self, at: Position, log: &mut SentLog);

    /// Reports what is SACKed and lost, after everything else that happens.
    fn note(&mut self, at: Position, log: &SentLog) {
        let _ = (at, log);
    }

    /// Returns whether a timeout sends everything again from the first unacknowledged byte, rather
    /// than that segment and what is marked as lost.
    fn goes_back(&self) -> bool {
        true
    }

    /// Returns the temporary addition to cwnd if `nxt` is the next byte to send; may be negative.
    fn inflation(&self, nxt: u64, log: &SentLog) -> i64 {
        let _ = (nxt, log);
        0
    }

    /// Takes the bytes that deflation has removed from cwnd itself.
    fn take_deficit(&mut self, smss: u64) -> u64 {
        let _ = smss;
        0
    }

    /// Returns whether [`Recovery::next_segment`] decides what may be sent, rather than the window
    /// alone.
    fn counts_pipe(&self) -> bool {
        false
    }

    /// Returns whether a pipe-based recovery may send with a cwnd of `cwnd` bytes.
    fn has_room(&self, cwnd: u64, smss: u64) -> bool {
        let _ = (cwnd, smss);
        false
    }

    /// Returns whether a pipe-based recovery knows of a loss that it has not retransmitted yet.
    fn has_unsent_loss(&self, at: Position, log: &SentLog) -> bool {
        let _ = (at, log);
        false
    }

    /// Returns the next segment of a pipe-based recovery if `cwnd` bytes permit it, and counts it
    /// as sent. `fresh` is the new data that could be sent: a segment, or as much of one as the
    /// receiver's window and the application permit.
    fn next_segment(
        &mut self,
        at: Position,
        cwnd: u64,
        fresh: Range,
        log: &mut SentLog,
    ) -> Option<Range> {
        let _ = (at, cwnd, fresh, log);
        None
    }

    /// Returns where to continue after a timeout if `nxt` is the next byte to send.
    fn skip_received(&self, nxt: u64, log: &SentLog) -> u64 {
        let _ = log;
        nxt
    }

    /// Returns the bytes of heap memory in use.
    fn heap_size(&self) -> usize {
        0
    }
}
