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

    /// Validates cwnd by an acknowledgement of `acked` bytes, or sets it when a recovery from the
    /// non-validated phase is over.
    #[cold]
    pub(super) fn validate_acked(&mut self, now: Instant, acked: u64) {
        if self.loss.is_recovering() {
            return;
        }
        let cwnd = u64::try_from(self.cwnd()).unwrap_or(0);
        let Some(validation) = &mut self.validation else {
            return;
        };
        if let Some(bytes) = validation.on_recovered() {
            self.set_windows(bytes);
        } else if let Some(srtt) = self.rtt.srtt() {
            let acked = Range {
                start: self.una - acked,
                end: self.una,
            };
            validation.on_ack(now, acked, self.max, srtt, cwnd);
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

    /// Returns max(pipeACK, LossFlightSize), in bytes, if a loss or a mark ends the non-validated phase.
    #[cold]
    pub(super) fn used_without_validation(&mut self, now: Instant) -> Option<u64> {
        let flight = u64::from(self.flight_at_loss()) * self.smss;
        let srtt = self.rtt.srtt()?;
        self.validation.as_mut()?.on_loss(now, flight, srtt)
    }

    /// Sets cwnd and ssthresh to `bytes`, but cwnd to at least a segment.
    #[cold]
    pub(super) fn set_windows(&mut self, bytes: u64) {
        let segments = (bytes as f64 / self.smss as f64).max(1.0);
        self.control.on_validation(segments, segments);
    }
}
