//! States, and what begins with them (section 4).

use skywave_units::Instant;

use super::C4;
use super::parameters::{ERAS_WITHOUT_INCREASE, LOW_PUSH_ALPHA, PUSH_ALPHA, SUCCESSFUL_PUSHES};
use super::signals::Smoothed;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Initial,
    Recovery,
    Cruising,
    Pushing,
}

impl State {
    /// Returns a number for plots, in the order of a connection's life.
    pub(super) const fn number(self) -> f64 {
        self as u8 as f64
    }
}

/// A round trip: it lasts until the first packet sent in it is acknowledged (section 3.4).
#[derive(Clone, Copy, Debug)]
pub(super) struct Era {
    pub(super) start: Instant,
    /// alpha_current and alpha_previous.
    pub(super) alpha: f64,
    pub(super) alpha_previous: f64,
    /// The nominal rate at the start.
    pub(super) rate: f64,
}

/// What the last push led to (section 4.3).
#[derive(Clone, Copy, Debug)]
pub(super) struct Push {
    /// Successful pushes in a row.
    pub(super) successes: u32,
    /// alpha_prior, until the recovery after a push has judged it.
    alpha: Option<f64>,
    /// The nominal rate at the end of the last recovery.
    rate: f64,
}

impl Push {
    pub(super) const NONE: Self = Self {
        successes: 0,
        alpha: None,
        rate: 0.0,
    };
}

impl C4 {
    fn start_era(&mut self, now: Instant, alpha: f64) {
        self.era = Era {
            start: now,
            alpha,
            alpha_previous: self.era.alpha,
            rate: self.nominal_rate,
        };
        self.delays.start_era();
    }

    fn enter_initial(&mut self, now: Instant) {
        self.state = State::Initial;
        self.received = 0;
        self.eras_without_increase = 0;
        self.push = Push::NONE;
        self.start_era(now, 2.0);
    }

    /// Enters Recovery, from a congestion signal or at the end of an era.
    pub(super) fn enter_recovery(&mut self, now: Instant, is_congested: bool) {
        if self.state != State::Pushing {
            self.push.successes = 0;
        }
        self.state = State::Recovery;
        self.is_congested = is_congested;
        self.start_era(now, 15.0 / 16.0);
    }

    fn enter_cruising(&mut self, now: Instant) {
        self.state = State::Cruising;
        self.cruising_left = if self.follows_picoquic() && self.push.successes > 0 {
            1
        } else {
            self.config.cruising_eras
        };
        self.start_era(now, 1.0);
    }

    fn enter_pushing(&mut self, now: Instant) {
        let alpha = if self.push.successes > 0 {
            PUSH_ALPHA
        } else {
            LOW_PUSH_ALPHA
        };
        self.state = State::Pushing;
        self.push.alpha = Some(alpha);
        self.start_era(now, alpha);
    }

    /// Ends an era, because the first packet sent in it is acknowledged.
    pub(super) fn end_era(&mut self, now: Instant) {
        if self.state == State::Initial {
            return self.end_initial_era(now);
        }
        if self.era.alpha_previous <= 1.0 {
            self.delays.end_era(self.config.max_jitter.as_secs_f64());
            if self.delays.are_jittery() && !self.has_restarted {
                self.has_restarted = true;
                return self.enter_initial(now);
            }
        }
        match self.state {
            State::Recovery => self.end_recovery(now),
            State::Pushing => self.enter_recovery(now, false),
            State::Initial | State::Cruising => {
                self.cruising_left = self.cruising_left.saturating_sub(1);
                if self.cruising_left == 0 && !self.is_application_limited {
                    self.enter_pushing(now);
                } else {
                    self.start_era(now, 1.0);
                }
            }
        }
    }

    /// Section 4.2. As in section 4.3, an increase is one of a fourth of the expected one, which
    /// doubles the rate.
    fn end_initial_era(&mut self, now: Instant) {
        if self.nominal_rate > 1.25 * self.era.rate {
            self.eras_without_increase = 0;
        } else if !self.is_application_limited {
            self.eras_without_increase += 1;
        }
        if self.eras_without_increase >= ERAS_WITHOUT_INCREASE {
            self.enter_recovery(now, false);
        } else {
            self.start_era(now, 2.0);
        }
    }

    /// Judges the last push, and decides what follows (section 4.3).
    fn end_recovery(&mut self, now: Instant) {
        if let Some(alpha) = self.push.alpha.take() {
            let expected = if alpha > LOW_PUSH_ALPHA {
                (alpha - 1.0) / 4.0
            } else {
                0.0
            };
            let is_success =
                !self.is_congested && self.nominal_rate > self.push.rate * (1.0 + expected);
            self.push.successes = if is_success {
                self.push.successes + 1
            } else {
                0
            };
        }
        self.push.rate = self.nominal_rate;
        if self.follows_picoquic() {
            self.loss_rate = Smoothed::default();
            self.ce_rate = Smoothed::default();
        }
        if self.push.successes >= SUCCESSFUL_PUSHES {
            self.enter_initial(now);
        } else {
            self.enter_cruising(now);
        }
    }
}
