//! The Base AQM: a PI controller of the base probability p'.

use skywave_units::{Duration, Instant};

use super::DualPi2Config;

/// The Base AQM (RFC 9332 Figure 8).
#[derive(Clone, Copy, Debug)]
pub(super) struct BaseAqm {
    /// p'.
    pub(super) probability: f64,
    /// The queue delay at the last update, in seconds.
    prevq: f64,
    next_update: Instant,
}

impl BaseAqm {
    pub(super) const fn new(t_update: Duration) -> Self {
        Self {
            probability: 0.0,
            prevq: 0.0,
            next_update: Instant::from_nanos(t_update.as_nanos()),
        }
    }

    pub(super) const fn probability(&self) -> f64 {
        self.probability
    }

    /// Performs the updates up to `now`; `delay` returns the queue delay at a time since the last
    /// call, and `is_empty` says whether it has been zero since then.
    pub(super) fn update(
        &mut self,
        now: Instant,
        is_empty: bool,
        config: &DualPi2Config,
        delay: impl Fn(Instant) -> Duration,
    ) {
        while self.next_update <= now {
            if is_empty && self.probability == 0.0 && self.prevq == 0.0 {
                // Nothing changes until the next packet.
                let updates = (now - self.next_update).as_nanos() / config.t_update.as_nanos() + 1;
                self.next_update += config.t_update * updates;
            } else {
                self.step(delay(self.next_update).as_secs_f64(), config);
                self.next_update += config.t_update;
            }
        }
    }

    fn step(&mut self, curq: f64, config: &DualPi2Config) {
        let probability = self.probability
            + config.alpha * (curq - config.target.as_secs_f64())
            + config.beta * (curq - self.prevq);
        self.probability = probability.clamp(0.0, 1.0);
        self.prevq = curq;
    }
}
