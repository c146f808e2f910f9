//! Applies congestion window validation (RFC 7661) to the sender.

use skywave_congestion::Control;
use skywave_units::Instant;

use super::Sender;
use crate::tcp::reassembly::Range;
use crate::tcp::window_validation::Windows;

impl Sender {
    /// Returns whether cwnd is not validated.
    pub(super) fn has_lapsed_cwnd(&self) -> bool {
        let validation = self.validation.as_ref();
        validation.is_some_and(|validation| validation.is_lapsed())
    }

    /// Validates cwnd by an acknowledgement of `acked` bytes outside of a recovery, or ends the recovery
    /// from a loss in the non-validated phase.
    #[cold]
    pub(super) fn validate_acked(&mut self, now: Instant, acked: u64, ends_recovery: bool) {
        if self.loss.is_recovering() {
            return;
        }
        self.end_event_without_validation();
        // In whole segments, as it is used.
        let cwnd = self.control.cwnd() as u64 * self.smss;
        if let Some(validation) = &mut self.validation
            && let Some(srtt) = self.rtt.srtt()
            && !ends_recovery
        {
            let acked = Range {
                start: self.una - acked,
                end: self.una,
            };
            validation.on_ack(now, acked, self.max, srtt, cwnd);
        }
    }

    /// Sets the windows with which a recovery from a loss in the non-validated phase ends.
    pub(super) fn end_event_without_validation(&mut self) {
        let validation = self.validation.as_mut();
        if let Some(bytes) = validation.and_then(|validation| validation.on_recovered()) {
            self.set_windows(bytes);
        }
    }

    /// Reduces a cwnd that has not been validated for too long, before new data leaves.
    #[cold]
    pub(super) fn validate_before_sending(&mut self, now: Instant) {
        let windows = Windows {
            cwnd: self.control.cwnd(),
            ssthresh: self.control.ssthresh(),
        };
        if let Some(validation) = &mut self.validation
            && let Some(srtt) = self.rtt.srtt()
            && let Some(Windows { cwnd, ssthresh }) = validation.on_send(now, srtt, windows)
        {
            self.control.on_validation(cwnd, ssthresh);
            self.max_flight = 0;
        }
    }

    /// Ends the non-validated phase because of a loss or a mark. Returns max(pipeACK, LossFlightSize), in
    /// bytes, if the phase lasted. cwnd is then no larger, so that the control responds to what was used.
    pub(super) fn used_without_validation(&mut self, now: Instant, is_mark: bool) -> Option<u64> {
        let flight = self.flight() - u64::from(self.limited);
        let (validation, srtt) = (self.validation.as_mut()?, self.rtt.srtt()?);
        let used = if is_mark {
            validation.on_mark(now, flight, srtt)
        } else {
            validation.on_loss(now, flight, srtt)
        }?;
        self.control.limit_cwnd(used as f64 / self.smss as f64);
        Some(used)
    }

    /// Lowers cwnd to `bytes`, but not below a segment, and sets ssthresh to the same.
    #[cold]
    pub(super) fn set_windows(&mut self, bytes: u64) {
        let segments = (bytes as f64 / self.smss as f64).max(1.0);
        self.control.on_validation(segments, segments);
    }
}
