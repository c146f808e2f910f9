//! What a sender does where routers do not seem to speak VCP.

use skywave_congestion::{Ack, Aimd, AimdConfig, Control, GrowthLaw, Loss};
use skywave_units::{Duration, Instant};

/// A router's code holds for t_rho. Packets that say less before and after one that says overload
/// cannot be closer in time than that, unless what marked it was no VCP router; queues and delayed
/// acknowledgements may bring them together by this factor.
const TOO_SHORT_OVERLOAD: u64 = 2;

/// The window of RFC 5681, which obeys marks as RFC 3168 says.
#[derive(Clone, Debug)]
pub(super) struct Fallback {
    pub(super) window: Aimd,
    /// Marks are answered once in a round-trip time (RFC 3168 section 6.1.2).
    marks_answered_until: Instant,
}

impl Fallback {
    /// Begins with the window as it is.
    pub(super) fn new(now: Instant, cwnd: f64, ssthresh: f64) -> Self {
        let window = Aimd::new(AimdConfig {
            initial_cwnd: cwnd,
            initial_ssthresh: if ssthresh.is_finite() { ssthresh } else { cwnd },
            growth: GrowthLaw::PerPacket { limit: 2 },
            ..AimdConfig::rfc5681(0)
        });
        Self {
            window,
            marks_answered_until: now,
        }
    }

    pub(super) fn on_ack(&mut self, ack: &Ack, marked: bool, rtt: f64) {
        self.window.on_ack(ack);
        if marked && ack.now >= self.marks_answered_until {
            self.window.on_loss(&Loss {
                now: ack.now,
                in_flight: ack.in_flight,
                lost: 0,
                is_repeated: false,
            });
            self.marks_answered_until = ack.now + Duration::from_secs_f64(rtt);
        }
    }
}

/// When packets that say overload, and others, were acknowledged last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overload {
    other: Option<Instant>,
    /// The last packet that said less before those that say overload now.
    before: Option<Instant>,
}

impl Overload {
    /// Whether packets with these codes show an overload too short for a router that changes its
    /// code only once in `interval`.
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
        // Where both came at once, which came first is not known.
        let before = if over { None } else { self.before.take() };
        before.is_some_and(|before| (now - before) * TOO_SHORT_OVERLOAD < interval)
    }
}
