//! The control `illinois`: TCP-Illinois.
//!
//! Liu, Başar and Srikant, "TCP-Illinois: A Loss- and Delay-Based Congestion Control Algorithm for
//! High-Speed Networks" (2006 and 2008), by the equations that Wikipedia and ns-3's documentation
//! quote. alpha falls from its maximum to its minimum, and beta rises, as the average queueing delay
//! approaches the largest one seen. The constants are those of the paper, as ns-3's documentation
//! has them. How round trips are delimited, and in the profile `linux` the constants that differ,
//! the count of good round trips and all rounding, are those of Linux 6.12, read in the kernel's
//! module.

mod delays;
mod parameters;

use self::delays::Delays;
pub use self::parameters::IllinoisParameters;
use crate::Ack;
use crate::law::{Cause, Congestion, Law};
use crate::window::{Phase, Window};

/// alpha and beta of a small window, and after a timeout: Reno's.
const BASE: (f64, f64) = (1.0, 0.5);
/// Linux's fixed point: the steps from 0 to 1 of alpha and beta.
const ALPHA_STEPS: f64 = 128.0;
const BETA_STEPS: f64 = 64.0;

/// TCP-Illinois's laws.
#[derive(Clone, Debug)]
struct Illinois {
    parameters: IllinoisParameters,
    alpha_min: f64,
    window_threshold: f64,
    is_linux: bool,
    alpha: f64,
    beta: f64,
    delays: Delays,
    /// Packets to be acknowledged until the round trip ends.
    left: u32,
    /// Whether the delay has exceeded d1 since alpha was last at its maximum.
    was_above: bool,
    /// Round trips with a delay up to d1 since then: in a row, or in total in Linux.
    good: u32,
    /// Packets acknowledged since the last increase, which Linux counts.
    acked: f64,
}

impl Illinois {
    fn new(parameters: IllinoisParameters, is_linux: bool) -> Self {
        Self {
            alpha_min: parameters.alpha_min(is_linux),
            window_threshold: parameters.window_threshold(is_linux),
            is_linux,
            alpha: parameters.alpha_max,
            beta: BASE.1,
            parameters,
            delays: Delays::default(),
            left: 0,
            was_above: false,
            good: 0,
            acked: 0.0,
        }
    }

    /// Rounds down to a multiple of `1 / steps` in Linux.
    fn rounded(&self, value: f64, steps: f64) -> f64 {
        if self.is_linux {
            (value * steps).floor() / steps
        } else {
            value
        }
    }

    /// Returns kappa_1 / (kappa_2 + d_a) for a delay above d1. It is alpha_max at d1, and alpha_min
    /// at d_m.
    fn alpha_of(&self, average: f64, largest: f64) -> f64 {
        let (min, max) = (self.alpha_min, self.parameters.alpha_max);
        let d1 = self.parameters.eta_1 * largest;
        let range = (largest - d1).max(f64::MIN_POSITIVE);
        let share = (average - d1) / range;
        max / (1.0 + share * (max - min) / min)
    }

    /// Returns beta_min up to d2, beta_max from d3 on, and kappa_3 + kappa_4 d_a between them.
    fn beta_of(&self, average: f64, largest: f64) -> f64 {
        let IllinoisParameters {
            beta_min,
            beta_max,
            eta_2,
            eta_3,
            ..
        } = self.parameters;
        let (d2, d3) = (eta_2 * largest, eta_3 * largest);
        if average <= d2 {
            return beta_min;
        }
        if average >= d3 {
            return beta_max;
        }
        beta_min + (beta_max - beta_min) * (average - d2) / (d3 - d2)
    }

    fn update_alpha(&mut self, average: f64, largest: f64) {
        if average > self.parameters.eta_1 * largest {
            self.was_above = true;
            if !self.is_linux {
                self.good = 0;
            }
            let alpha = self.alpha_of(average, largest);
            self.alpha = self.rounded(alpha, ALPHA_STEPS);
            return;
        }
        // One good round trip is no reason for a sudden increase.
        if self.was_above {
            self.good += 1;
            if self.good < self.parameters.theta {
                return;
            }
        }
        self.good = 0;
        self.was_above = false;
        self.alpha = self.parameters.alpha_max;
    }

    fn end_round_trip(&mut self, cwnd: f64) {
        if cwnd < self.window_threshold {
            (self.alpha, self.beta) = BASE;
        } else if let Some((average, largest)) = self.delays.average_and_largest() {
            self.update_alpha(average, largest);
            let beta = self.beta_of(average, largest);
            self.beta = self.rounded(beta, BETA_STEPS);
        }
        self.delays.restart();
    }

    fn avoid_congestion(&mut self, window: &mut Window, acked: f64) {
        let cwnd = window.cwnd();
        if !self.is_linux {
            return window.grow_by(self.alpha * acked.min(cwnd) / cwnd);
        }
        self.acked += acked;
        let due = (self.acked * self.alpha).floor();
        if due >= cwnd {
            window.grow_by((due / cwnd).floor());
            self.acked = 0.0;
        }
    }
}

impl Law for Illinois {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack, phase: Phase) {
        if let Some(rtt) = ack.rtt {
            self.delays.add(rtt);
        }
        // In Linux, a reduction ends first.
        if ack.newly_acked > 0 && phase != Phase::Reducing {
            let ends = self.left < ack.newly_acked;
            self.left = self.left.saturating_sub(ack.newly_acked);
            if ends {
                self.end_round_trip(window.cwnd());
                self.left = ack.in_flight;
            }
        }
        if !window.may_grow(ack, phase) {
            return;
        }
        if window.in_slow_start() {
            window.slow_start(ack);
        } else {
            self.avoid_congestion(window, f64::from(ack.newly_acked));
        }
    }

    fn rest(&mut self, window: &Window, congestion: Congestion) -> f64 {
        let taken = window.used(congestion.in_flight) * self.beta;
        let taken = self.rounded(taken, 1.0);
        let rest = window.used(congestion.in_flight) - taken;
        self.acked = 0.0;
        // What is in flight now is acknowledged before the next acknowledgement after a recovery.
        self.left = 0;
        if congestion.cause == Cause::Timeout {
            (self.alpha, self.beta) = BASE;
            self.good = 0;
            self.was_above = false;
            self.delays.restart();
        }
        rest
    }

    /// Linux's average includes what a recovery measures.
    fn wants_every_rtt(&self) -> bool {
        self.is_linux
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        record("alpha_packets", self.alpha);
        record("beta", self.beta);
        if let Some((base, largest)) = self.delays.base_and_largest() {
            record("base_rtt_s", base);
            record("max_delay_s", largest);
        }
    }
}

#[cfg(test)]
mod tests;
