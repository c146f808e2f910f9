//! The fallback for paths whose routers do not seem to support VCP.

use skywave_congestion::{Ack, Aimd, AimdConfig, Control, Mark};
use skywave_units::{Duration, Instant};

/// A router keeps a code for t_rho. If packets reporting less load precede and follow an overload
/// within a shorter time, the mark did not come from a VCP router; but queues and delayed
/// acknowledgements may shorten the time by this factor.
const TOO_SHORT_OVERLOAD: u64 = 2;

/// The window of RFC 5681, which responds to marks as in RFC 3168.
#[derive(Clone, Debug)]
pub(super) struct Fallback {
    pub(super) window: Aimd,
    /// Marks are answered once per round-trip time (RFC 3168 section 6.1.2).
    marks_answered_until: Instant,
}

impl Fallback {
    /// Starts with the current window.
    pub(super) fn new(now: Instant, cwnd: f64, ssthresh: f64) -> Self {
        let window = Aimd::new(AimdConfig {
            initial_cwnd: cwnd,
            initial_ssthresh: if ssthresh.is_finite() { ssthresh } else { cwnd },
            ..AimdConfig::rfc5681(0)
        });
        Self {
            window,
            marks_answered_until: now,
        }
    }

    pub(super) fn on_ack(&mut self, ack: &Ack, marked: u32, rtt: f64) {
        self.window.on_ack(ack);
        if marked > 0 && ack.now >= self.marks_answered_until {
            self.window
                .on_mark(&Mark::new(ack.now, ack.in_flight, marked));
            self.marks_answered_until = ack.now + Duration::from_secs_f64(rtt);
        }
    }
}

/// When packets reporting overload, and others, were last acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overload {
    other: Option<Instant>,
    /// When the last packet reporting less load was acknowledged before the current overload.
    before: Option<Instant>,
}

impl Overload {
    /// Returns whether packets with these codes show an overload too short for a router that
    /// changes its code only once per `interval`.
    pub(super) fn is_too_short(
        &mut self,
        now: Instant,
        over: bool,
        others: bool,
        interval: Duration,
    ) -> bool {
        if over {
            self.before = self.before.or(self.other);
        }
        if !others {
            return false;
        }
        self.other = Some(now);
        // If both arrived in one acknowledgement, their order is unknown.
        let before = if over { None } else { self.before.take() };
        before.is_some_and(|before| (now - before) * TOO_SHORT_OVERLOAD < interval)
    }
}
