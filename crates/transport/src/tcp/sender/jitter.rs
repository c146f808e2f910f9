//! Random delays before sending data that the window permits.

use rand_xoshiro::SplitMix64;
use skywave_units::rand_core::Rng;
use skywave_units::{Duration, Instant};

/// ns-2's `overhead_`: see [`crate::tcp::SenderConfig::send_jitter`].
#[derive(Clone, Debug)]
pub(super) struct SendJitter {
    most: Duration,
    rng: SplitMix64,
    gate: Gate,
    /// Whether one segment may bypass the delay.
    lets_one_pass: bool,
}

#[derive(Clone, Copy, Debug)]
enum Gate {
    /// The next segment that could be sent starts a delay.
    Shut,
    /// A delay runs until this time.
    Until(Instant),
    /// The delay is over: everything that the window permits leaves now.
    Open,
}

impl SendJitter {
    pub(super) const fn new(most: Duration, rng: SplitMix64) -> Self {
        Self {
            most,
            rng,
            gate: Gate::Shut,
            lets_one_pass: false,
        }
    }

    /// Lets the next segment bypass the delay: limited transmit on a duplicate acknowledgement.
    pub(super) const fn let_one_pass(&mut self) {
        self.lets_one_pass = true;
    }

    /// Returns whether data that could be sent now must wait.
    pub(super) fn holds(&mut self, now: Instant) -> bool {
        if core::mem::take(&mut self.lets_one_pass) {
            return false;
        }
        match self.gate {
            Gate::Open => false,
            Gate::Until(at) if at <= now => {
                self.gate = Gate::Open;
                false
            }
            Gate::Until(_) => true,
            Gate::Shut => {
                // The upper half of a 128-bit product is at most `most`.
                let range = u128::from(self.most.as_nanos()) + 1;
                let nanos = (u128::from(self.rng.next_u64()) * range) >> 64;
                self.gate = Gate::Until(now + Duration::from_nanos(nanos as u64));
                true
            }
        }
    }

    /// Reports that the window or the application permits nothing more.
    pub(super) fn on_nothing_to_send(&mut self, now: Instant) {
        self.lets_one_pass = false;
        let is_over = match self.gate {
            Gate::Shut => false,
            Gate::Until(at) => at <= now,
            Gate::Open => true,
        };
        if is_over {
            self.gate = Gate::Shut;
        }
    }

    pub(super) const fn is_waiting(&self) -> bool {
        matches!(self.gate, Gate::Until(_))
    }

    /// Returns when the delay ends.
    pub(super) const fn wake(&self) -> Option<Instant> {
        match self.gate {
            Gate::Until(at) => Some(at),
            Gate::Shut | Gate::Open => None,
        }
    }
}
