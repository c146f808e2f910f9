//! The interface of loss detections.

use core::fmt;

use skywave_units::{Duration, Instant};

use super::{CwndChange, Found, News, Timing};
use crate::tcp::sent_log::SentLog;
use crate::tcp::sequence::Position;

/// Decides when sent data is lost.
///
/// It sees every acknowledgement, even during a recovery. A loss that it finds during a recovery
/// belongs to that recovery.
pub(in crate::tcp) trait Detection: fmt::Debug + Send {
    /// Handles a duplicate acknowledgement.
    fn on_duplicate(&mut self, news: &News, log: &mut SentLog) -> Found;

    /// Handles an acknowledgement of new data.
    fn on_progress(&mut self, news: &News, log: &mut SentLog) -> Found;

    /// Handles an expired retransmission timer.
    fn on_timeout(&mut self, now: Instant, at: Position, log: &mut SentLog);

    /// Reports that a recovery begins because of the loss that was found.
    fn on_recovery(&mut self, at: Position) {
        let _ = at;
    }

    /// Reports that a recovery has ended because all the data that it covers has been acknowledged.
    fn on_recovered(&mut self) {}

    /// Reports that the handshake took `rtt`.
    fn on_handshake(&mut self, now: Instant, rtt: Duration) {
        let _ = (now, rtt);
    }

    /// Returns the least round-trip time, if the detection measures it.
    fn min_rtt(&self) -> Option<Duration> {
        None
    }

    /// Returns when [`Detection::expire`] is due.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// Handles an expired deadline.
    fn expire(&mut self, now: Instant, at: Position, log: &mut SentLog) -> Found {
        let _ = (now, at, log);
        Found::Nothing
    }

    /// Reports the sender's times, after new data was sent or acknowledged.
    fn on_timing(&mut self, timing: &Timing, log: &SentLog) {
        let _ = (timing, log);
    }

    /// Reports that a tail loss probe was sent, after which everything before `end` has been sent.
    fn on_probe(&mut self, end: u64, is_retransmission: bool) {
        let _ = (end, is_retransmission);
    }

    /// Returns the offset below which everything that is not SACKed is lost; zero if the detection
    /// finds no other loss than that of the first unacknowledged segment.
    fn lost_below(&self, at: Position, log: &SentLog) -> u64 {
        let _ = (at, log);
        0
    }

    /// Returns the number of segments that limited transmit permits beyond cwnd (RFC 3042), outside
    /// of a recovery.
    fn limited_transmit(&self) -> u32 {
        0
    }

    /// Returns the bytes that duplicate acknowledgements permit beyond cwnd, outside of a recovery.
    fn inflation(&self) -> i64 {
        0
    }

    /// Takes the pending change of cwnd itself. Called after each acknowledgement.
    fn take_cwnd_change(&mut self) -> Option<CwndChange> {
        None
    }

    /// Returns whether nothing is lost, late or SACKed, so that an acknowledgement of new data would
    /// find nothing and change nothing.
    fn is_quiet(&self, log: &SentLog) -> bool;

    /// Returns the bytes of heap memory in use.
    fn heap_size(&self) -> usize;
}
