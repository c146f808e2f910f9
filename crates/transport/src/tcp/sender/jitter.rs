//! Random delays of what the window lets go.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::Rng;
use skywave_units::{Duration, Instant};

/// ns-2's `overhead_`: see [`crate::tcp::SenderConfig::send_jitter`].
#[derive(Clone, Debug)]
pub(super) struct SendJitter {
    most: Duration,
    rng: SplitMix64,
    gate: Gate,
    /// One segment does not wait.
    lets_one_pass: bool,
}

#[derive(Clone, Copy, Debug)]
enum Gate {
    /// What can be sent next will wait.
    Shut,
    /// It waits until then.
    Until(Instant),
    /// Whatever the window allows leaves now.
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

    /// A duplicate acknowledgement lets a segment out (limited transmit): it leaves at once.
    pub(super) const fn let_one_pass(&mut self) {
        self.lets_one_pass = true;
    }

    /// Whether what could be sent now waits.
    #[inline(always)]
    pub(super) fn holds(&mut self, now: Instant) -> bool {
        !self.most.is_zero() && self.draws_or_waits(now)
    }

    #[inline(never)]
    fn draws_or_waits(&mut self, now: Instant) -> bool {
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
                // A product of 128 bits, and its upper half: at most `most`.
                let range = u128::from(self.most.as_nanos()) + 1;
                let nanos = (u128::from(self.rng.next_u64()) * range) >> 64;
                self.gate = Gate::Until(now + Duration::from_nanos(nanos as u64));
                true
            }
        }
    }

    /// The window, or the application, has nothing more to let go.
    #[inline(always)]
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

    /// When the wait ends.
    pub(super) const fn wake(&self) -> Option<Instant> {
        match self.gate {
            Gate::Until(at) => Some(at),
            Gate::Shut | Gate::Open => None,
        }
    }
}
