//! Quick-Start: for a few round-trip times, X is a rate that the routers of the path have approved
//! (RFC 5634 section 3.2).

use skywave_units::{Duration, Instant};

/// H: the header bytes of a data packet in an approved rate (RFC 5634 equation 2). 20 of IPv4 and
/// 16 of a DCCP-Data packet with 48-bit numbers; with 24-bit numbers there are four fewer.
pub(super) const HEADERS: f64 = 36.0;

/// The Quick-Start Validation Time, in round-trip times (section 3.2.4).
const VALIDATION_TIME: u64 = 2;

/// An approved rate in use. It begins in the Quick-Start Mode; the Validation Phase follows.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuickStart {
    /// QS_sendrate, in bytes per second.
    pub(super) rate: f64,
    /// The congestion-controlled rate at the start, in bytes per second.
    pub(super) rate_before: f64,
    began: Instant,
    /// When the Quick-Start Mode ends, or has ended.
    mode_ends: Instant,
    /// When the latest Quick-Start Packet left: a packet sent in the Quick-Start Mode.
    last_sent: Option<Instant>,
    /// Whether feedback has arrived in the Validation Phase.
    pub(super) heard: bool,
    /// R at the start.
    rtt: Duration,
}

impl QuickStart {
    /// Enters the Quick-Start Mode, which lasts for at most one round-trip time (section 3.2.3).
    pub(super) fn new(now: Instant, rate: f64, rate_before: f64, rtt: Duration) -> Self {
        Self {
            rate,
            rate_before,
            began: now,
            mode_ends: now + rtt,
            last_sent: None,
            heard: false,
            rtt,
        }
    }

    /// Records that a data packet leaves.
    pub(super) fn on_sent(&mut self, now: Instant) {
        if now < self.mode_ends {
            self.last_sent = Some(now);
        }
    }

    /// Handles feedback without news of congestion on packets up to one sent at `sent_at`. Feedback
    /// on a Quick-Start Packet ends the Quick-Start Mode (section 3.2.3). Returns whether the
    /// Validation Phase is over because all Quick-Start Packets are acknowledged (section 3.2.4).
    pub(super) fn on_feedback(&mut self, now: Instant, sent_at: Instant) -> bool {
        if now >= self.mode_ends {
            self.heard = true;
        } else if self.last_sent.is_some() && sent_at >= self.began {
            self.mode_ends = now;
        }
        now >= self.mode_ends && self.last_sent.is_none_or(|last| sent_at >= last)
    }

    /// Returns when the Validation Phase has lasted for the Quick-Start Validation Time.
    pub(super) fn deadline(&self) -> Instant {
        self.mode_ends + self.rtt * VALIDATION_TIME
    }
}
