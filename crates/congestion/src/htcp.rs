//! The control `htcp`: H-TCP.
//!
//! Leith and Shorten, "H-TCP: TCP for High-Speed and Long-Distance Networks" (2004), and
//! draft-leith-tcp-htcp-06, by the equations that FreeBSD's `cc_htcp` quotes from the draft:
//! - alpha (Delta) = 1 + 10 (Delta - Delta_L) + ((Delta - Delta_L) / 2)^2, Delta seconds after the
//!   last congestion event, and 1 up to Delta_L;
//! - alpha times 2 (1 - beta), so that flows with different beta share alike, and times the
//!   round-trip time / 100 ms, within 0.1 and 2;
//! - beta = RTTmin / RTTmax, within 0.5 and 0.8, and 0.5 at the first event; RTTmax approaches RTTmin
//!   by 5 % at each event.
//!
//! That beta is 0.5 after the throughput has changed by more than a fifth, how throughput is
//! measured, which round-trip times count for RTTmax, and all rounding are those of Linux 6.12, read
//! in the kernel's module.

mod parameters;
mod throughput;

use skywave_units::{Duration, Instant};

pub use self::parameters::HtcpParameters;
use self::throughput::Throughput;
use crate::Ack;
use crate::law::{Congestion, Law};
use crate::ticks::Ticks;
use crate::window::{Phase, Window};

/// RTT_ref, with which the round-trip time is compared.
const RTT_REF: Duration = Duration::from_millis(100);
/// The bounds of the round-trip time divided by RTT_ref.
const SCALES: (f64, f64) = (0.1, 2.0);
/// What is left of RTTmax - RTTmin at a congestion event.
const FADING: f64 = 0.95;
/// By how much a round-trip time may exceed RTTmax and still count.
const LARGEST_STEP: Duration = Duration::from_millis(20);
/// Round-trip times up to this are too short for Linux to compare.
const SHORTEST_RTT: Duration = Duration::from_millis(10);
/// Linux's fixed point: the steps from 0 to 1 of beta.
const BETA_STEPS: f64 = 128.0;
/// And those of RTT_ref divided by the round-trip time.
const SCALE_STEPS: f64 = 8.0;

/// H-TCP's laws.
#[derive(Clone, Debug)]
struct Htcp {
    parameters: HtcpParameters,
    is_linux: bool,
    ticks: Ticks,
    alpha: f64,
    beta: f64,
    /// Whether beta may exceed its minimum at the next event.
    adapts: bool,
    min_rtt: Option<Duration>,
    max_rtt: Duration,
    /// Packets acknowledged since the last increase, which Linux counts.
    acked: f64,
    /// When the last congestion event ended; `None` before the first acknowledgement.
    last_congestion: Option<Instant>,
    /// Its value before the last event.
    undo: Option<Instant>,
    throughput: Throughput,
}

impl Htcp {
    fn new(parameters: HtcpParameters, is_linux: bool) -> Self {
        Self {
            ticks: Ticks::new(parameters.tick, is_linux),
            alpha: 1.0,
            beta: parameters.min_beta,
            parameters,
            is_linux,
            adapts: false,
            min_rtt: None,
            max_rtt: Duration::ZERO,
            acked: 0.0,
            last_congestion: None,
            undo: None,
            throughput: Throughput::default(),
        }
    }

    fn measure_rtt(&mut self, rtt: Duration, phase: Phase) {
        let rtt = self.ticks.ceil(rtt);
        let min_rtt = self.min_rtt.map_or(rtt, |min| min.min(rtt));
        self.min_rtt = Some(min_rtt);
        if phase == Phase::Open {
            self.max_rtt = self.max_rtt.max(min_rtt);
            if rtt <= self.max_rtt + LARGEST_STEP {
                self.max_rtt = self.max_rtt.max(rtt);
            }
        }
    }

    fn measure_throughput(&mut self, window: &Window, ack: &Ack, now: Instant) {
        let Some(min_rtt) = self.min_rtt else {
            return self.throughput.restart(now);
        };
        let since = now - self.last_congestion.unwrap_or(now);
        // "Just after backoff": the window still fills what it emptied.
        let is_fresh = since < min_rtt * 4;
        let window = window.cwnd() - self.alpha.floor().max(1.0);
        self.throughput
            .on_ack(now, ack.newly_acked, window, min_rtt, is_fresh);
    }

    /// Rounds down in Linux.
    fn rounded(&self, value: f64) -> f64 {
        if self.is_linux { value.floor() } else { value }
    }

    /// Returns the factor by which the minimum round-trip time scales `growth`, applied to it.
    fn scaled(&self, growth: f64) -> f64 {
        let Some(min_rtt) = self.min_rtt.filter(|_| self.parameters.rtt_scaling) else {
            return growth;
        };
        let (least, most) = SCALES;
        let inverse = RTT_REF.as_nanos() as f64 / min_rtt.as_nanos() as f64;
        let inverse = self.rounded(SCALE_STEPS * inverse) / SCALE_STEPS;
        let inverse = inverse.clamp(most.recip(), least.recip());
        self.rounded(growth / inverse).max(1.0)
    }

    fn update_alpha(&mut self, now: Instant) {
        let since = now - self.last_congestion.unwrap_or(now);
        let beyond = since.saturating_sub(self.parameters.low_speed_period);
        let beyond = beyond.as_secs_f64();
        let growth = self.rounded(1.0 + 10.0 * beyond + beyond * beyond / 4.0);
        self.alpha = 2.0 * (1.0 - self.beta) * self.scaled(growth);
    }

    fn update_beta(&mut self) {
        let HtcpParameters {
            min_beta,
            max_beta,
            bandwidth_switch,
            ..
        } = self.parameters;
        let is_steady = self.throughput.on_congestion();
        let shortest = if self.is_linux {
            SHORTEST_RTT
        } else {
            Duration::ZERO
        };
        let min_rtt = self.min_rtt.filter(|&rtt| rtt > shortest);
        self.beta = min_beta;
        if bandwidth_switch && !is_steady {
            self.adapts = false;
        } else if let Some(min_rtt) = min_rtt.filter(|_| self.adapts) {
            let ratio = min_rtt.as_secs_f64() / self.max_rtt.max(min_rtt).as_secs_f64();
            let ratio = self.rounded(BETA_STEPS * ratio) / BETA_STEPS;
            let most = self.rounded(BETA_STEPS * max_beta) / BETA_STEPS;
            self.beta = ratio.clamp(min_beta, most.max(min_beta));
        } else {
            self.adapts = true;
        }
    }

    fn avoid_congestion(&mut self, window: &mut Window, ack: &Ack, phase: Phase, now: Instant) {
        let acked = f64::from(ack.newly_acked);
        if !self.is_linux {
            self.update_alpha(now);
            return window.grow_by(self.alpha * acked.min(window.cwnd()) / window.cwnd());
        }
        // An acknowledgement increases cwnd by at most a packet, for those before it.
        if (self.acked * self.alpha).floor() >= window.cwnd() {
            window.grow_by(1.0);
            self.acked = 0.0;
            self.update_alpha(now);
        } else {
            self.acked += if phase == Phase::Open { acked } else { 1.0 };
        }
    }
}

impl Law for Htcp {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack, phase: Phase) {
        let now = self.ticks.read(ack.now);
        let began = ack.rtt.map_or(now, |rtt| now - self.ticks.ceil(rtt));
        self.last_congestion.get_or_insert(began);
        if let Some(rtt) = ack.rtt.filter(|rtt| !rtt.is_zero()) {
            self.measure_rtt(rtt, phase);
        }
        if phase == Phase::Open {
            self.measure_throughput(window, ack, now);
        } else {
            self.throughput.restart(now);
        }
        if phase == Phase::Recovered && self.undo.take().is_some() {
            self.last_congestion = Some(now);
        }
        if !window.may_grow(ack, phase) {
            return;
        }
        if window.in_slow_start() {
            window.slow_start(ack);
        } else {
            self.avoid_congestion(window, ack, phase, now);
        }
    }

    fn rest(&mut self, window: &Window, congestion: Congestion) -> f64 {
        let now = self.ticks.read(congestion.now);
        self.update_beta();
        self.update_alpha(now);
        if let Some(min_rtt) = self.min_rtt {
            let excess = self.max_rtt.saturating_sub(min_rtt).as_secs_f64();
            let left = Duration::from_secs_f64(FADING * excess);
            self.max_rtt = min_rtt + self.ticks.floor(left);
        }
        self.throughput.restart(now);
        self.acked = 0.0;
        self.undo = self.last_congestion.replace(now);
        window.used(congestion.in_flight) * self.beta
    }

    fn on_spurious_loss(&mut self) {
        if let Some(last_congestion) = self.undo.take() {
            self.last_congestion = Some(last_congestion);
        }
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        record("alpha_packets", self.alpha);
        record("beta", self.beta);
        if let Some(min_rtt) = self.min_rtt {
            record("min_rtt_s", min_rtt.as_secs_f64());
            record("max_rtt_s", self.max_rtt.as_secs_f64());
        }
    }
}

#[cfg(test)]
mod tests;
