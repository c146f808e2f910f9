//! CUBIC (RFC 9438).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::{Duration, Instant};

use crate::control::borne;
use crate::slow_start::SlowStart;
use crate::{
    Ack, AnyControl, Control, ControlContext, ControlKind, Interests, Loss, Mark, Wants,
    rfc3390_window,
};

/// The lower bound of ssthresh, and of cwnd after a loss (RFC 9438 section 4.6).
const MIN_SSTHRESH: f64 = 2.0;
/// The lower bound of cwnd after marks (section 4.6).
const LEAST_CWND: f64 = 1.0;

/// Parameters of [`Cubic`]. Windows are in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubicConfig {
    /// The initial cwnd, and the upper bound of cwnd after an idle period.
    pub initial_cwnd: f64,
    /// The initial ssthresh; infinite for "arbitrarily high".
    pub initial_ssthresh: f64,
    /// C of RFC 9438 section 5, in packets per cubic second.
    pub c: f64,
    /// beta_cubic: the fraction of the window left after a loss or a mark. In (0, 1).
    pub beta: f64,
    /// Fast convergence: whether a window reduced before it regained its previous maximum releases
    /// bandwidth to others (section 4.7).
    pub fast_convergence: bool,
    /// Whether the first slow start may end before a loss, by HyStart++ (RFC 9406).
    pub hystart: bool,
    /// Whether it may end by HyStart as in Linux 6.12, if `hystart` is off.
    pub linux_hystart: bool,
    /// The least number of packets by which an acknowledged packet increases cwnd in congestion avoidance
    /// as long as no loss has shown W_max: 0 in the RFC, 1/20 in Linux 6.12.
    pub growth_before_loss: f64,
    /// Whether W_est, once it has reached cwnd_prior, grows by a packet per round trip as Reno does
    /// (section 4.3). Linux 6.12 keeps its slower growth, as RFC 8312 did.
    pub regains_reno_growth: bool,
    /// The packets by which an acknowledgement may increase cwnd in slow start: 1 in RFC 5681
    /// section 3.1, infinite in Linux.
    pub slow_start_limit: f64,
    /// Whether congestion leaves whole packets of cwnd, rounded down, as in Linux; otherwise it leaves
    /// a part of the flight (section 4.6).
    pub leaves_whole_packets: bool,
}

impl CubicConfig {
    /// Creates a configuration with RFC 9438's constants and RFC 3390's initial window for packets
    /// of `packet_size` bytes.
    pub fn rfc9438(packet_size: u32) -> Self {
        Self {
            initial_cwnd: rfc3390_window(packet_size),
            initial_ssthresh: f64::INFINITY,
            c: 0.4,
            beta: 0.7,
            fast_convergence: true,
            hystart: false,
            linux_hystart: false,
            growth_before_loss: 0.0,
            regains_reno_growth: true,
            slow_start_limit: 1.0,
            leaves_whole_packets: false,
        }
    }
}

/// Parameters of the control `cubic`.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Cubic")]
#[serde(deny_unknown_fields, default)]
pub struct CubicParameters {
    /// C of RFC 9438 section 5, in packets per cubic second.
    #[schemars(extend("x-unit" = "packets/s^3"))]
    pub c: f64,
    /// beta_cubic: the fraction of the window left after a loss or a mark. Between 0 and 1.
    #[schemars(extend("x-unit" = "1"))]
    pub beta: f64,
    /// Fast convergence: whether a window reduced before it regained its previous maximum releases
    /// bandwidth to others (section 4.7).
    pub fast_convergence: bool,
    /// Whether the first slow start may end before a loss, because delays grow: HyStart++
    /// (draft-ietf-tcpm-hystartplusplus-04, which became RFC 9406). Absent: HyStart as in Linux 6.12,
    /// by delays and by trains of acknowledgements, for TCP's profile `linux`; neither otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hystart: Option<bool>,
}

impl Default for CubicParameters {
    fn default() -> Self {
        let CubicConfig {
            c,
            beta,
            fast_convergence,
            ..
        } = CubicConfig::rfc9438(0);
        Self {
            c,
            beta,
            fast_convergence,
            hystart: None,
        }
    }
}

impl ControlKind for CubicParameters {
    fn check(&self) -> Result<(), ParameterError> {
        let Self { c, beta, .. } = *self;
        if !(c > 0.0 && c.is_finite()) {
            return Err(ParameterError::new("c", format!("{c}: above 0")));
        }
        if !(beta > 0.0 && beta < 1.0) {
            let message = format!("{beta}: between 0 and 1");
            return Err(ParameterError::new("beta", message));
        }
        Ok(())
    }

    /// Returns a request for SACK, which the systems whose default control is CUBIC use (RFC 9438
    /// section 1).
    fn wants(&self) -> Wants {
        Wants::default().with_sack()
    }

    fn build(&self, context: &ControlContext) -> AnyControl {
        AnyControl::new(Cubic::new(CubicConfig {
            initial_cwnd: context.initial_cwnd,
            initial_ssthresh: context.initial_ssthresh,
            c: self.c,
            beta: self.beta,
            fast_convergence: self.fast_convergence,
            hystart: self.hystart.unwrap_or(false),
            linux_hystart: context.linux && self.hystart.is_none(),
            growth_before_loss: if context.linux { 0.05 } else { 0.0 },
            regains_reno_growth: !context.linux,
            slow_start_limit: if context.linux { f64::INFINITY } else { 1.0 },
            leaves_whole_packets: context.linux,
        }))
    }
}

/// A CUBIC window.
///
/// Slow start is RFC 5681's, with HyStart++ (RFC 9406) or Linux's HyStart if asked for. A spurious
/// timeout is undone (section 4.9.1). Marks reduce cwnd to no less than one packet; a sender with one packet does
/// not wait for its retransmission timer (RFC 3168 section 6.1.2).
///
/// The equations, C, beta_cubic and the lower bounds were checked against sections 4.2 to 4.8, 4.10
/// and 5.1 of draft-ietf-tcpm-rfc8312bis, which became the RFC.
#[derive(Clone, Debug)]
pub struct Cubic {
    config: CubicConfig,
    cwnd: f64,
    slow_start: SlowStart,
    /// W_max: cwnd before the last reduction, or less with fast convergence; `None` before the
    /// first reduction and after a timeout.
    w_max: Option<f64>,
    /// cwnd_prior: cwnd before the last reduction.
    cwnd_prior: f64,
    /// The current congestion avoidance stage.
    epoch: Option<Epoch>,
    /// Smoothed round-trip time, in seconds.
    srtt: Option<f64>,
    /// When the application became the bottleneck.
    idle_since: Option<Instant>,
    /// Whether nothing new has been acknowledged since the last timeout.
    timed_out: bool,
    /// The state before the last timeout, until something else reduces the window.
    before_timeout: Option<Box<Self>>,
}

/// The state of a congestion avoidance stage (section 4.2).
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// t_epoch, plus the time in which the application was the bottleneck (section 4.2).
    began: Instant,
    /// K, in seconds.
    k: f64,
    /// W_max of this stage.
    origin: f64,
    /// W_est.
    reno: f64,
}

impl Epoch {
    /// Returns W_cubic (t): equation 1.
    fn window(&self, c: f64, t: f64) -> f64 {
        c * (t - self.k).powi(3) + self.origin
    }
}

impl Cubic {
    /// Creates a window of initial size. Values of `config` out of range are clamped.
    pub fn new(mut config: CubicConfig) -> Self {
        let at_least = |value: f64, least: f64| if value >= least { value } else { least };
        config.initial_cwnd = at_least(config.initial_cwnd, 1.0).min(f64::from(u32::MAX));
        config.c = at_least(config.c, 1e-6);
        config.beta = at_least(config.beta, 0.01).min(0.99);
        config.slow_start_limit = at_least(config.slow_start_limit, 1.0);
        config.growth_before_loss = at_least(config.growth_before_loss, 0.0).min(1.0);
        let slow_start = SlowStart::new(config.initial_ssthresh, MIN_SSTHRESH);
        Self {
            cwnd: config.initial_cwnd,
            slow_start: if config.hystart {
                slow_start.with_hystart()
            } else if config.linux_hystart {
                slow_start.with_linux_hystart()
            } else {
                slow_start
            },
            config,
            w_max: None,
            cwnd_prior: 0.0,
            epoch: None,
            srtt: None,
            idle_since: None,
            timed_out: false,
            before_timeout: None,
        }
    }

    /// Starts a stage now. Without a maximum to return to, it starts at the origin of the cubic
    /// (section 4.8, and 4.10 if slow start ends without a loss).
    fn new_epoch(&self, now: Instant) -> Epoch {
        let origin = self.w_max.filter(|&w_max| w_max > self.cwnd);
        let k = origin.map_or(0.0, |origin| ((origin - self.cwnd) / self.config.c).cbrt());
        Epoch {
            began: now,
            k,
            origin: origin.unwrap_or(self.cwnd),
            reno: self.cwnd,
        }
    }

    fn avoid_congestion(&mut self, now: Instant, acked: f64) {
        let mut epoch = self.epoch.unwrap_or_else(|| self.new_epoch(now));
        // Section 4.3, equation 4.
        let beta = self.config.beta;
        let alpha = if self.config.regains_reno_growth && epoch.reno >= self.cwnd_prior {
            1.0
        } else {
            3.0 * (1.0 - beta) / (1.0 + beta)
        };
        epoch.reno += alpha * acked / self.cwnd;
        let before = self.cwnd;
        let t = (now - epoch.began).as_secs_f64();
        if epoch.window(self.config.c, t) < epoch.reno {
            self.cwnd = self.cwnd.max(epoch.reno);
        } else {
            // Sections 4.2, 4.4 and 4.5.
            let ahead = epoch.window(self.config.c, t + self.srtt.unwrap_or(0.0));
            let target = ahead.clamp(self.cwnd, 1.5 * self.cwnd);
            self.cwnd += (target - self.cwnd) / self.cwnd;
        }
        if self.w_max.is_none() {
            self.cwnd = self
                .cwnd
                .max(before + acked * self.config.growth_before_loss);
        }
        self.epoch = Some(epoch);
    }

    /// Applies sections 4.6 and 4.7 to everything but cwnd. Returns the reduced flight; a flight
    /// larger than cwnd counts as cwnd.
    fn note_congestion(&mut self, in_flight: u32) -> f64 {
        let converges = self.config.fast_convergence && self.w_max.is_some_and(|w| self.cwnd < w);
        self.w_max = Some(if converges {
            self.cwnd * (1.0 + self.config.beta) / 2.0
        } else {
            self.cwnd
        });
        self.cwnd_prior = self.cwnd;
        self.before_timeout = None;
        let rest = if self.config.leaves_whole_packets {
            (self.cwnd.floor() * self.config.beta).floor()
        } else {
            borne(in_flight, self.cwnd) * self.config.beta
        };
        self.slow_start.on_congestion(rest.max(MIN_SSTHRESH));
        self.epoch = None;
        self.idle_since = None;
        rest
    }
}

impl Control for Cubic {
    fn interests(&self) -> Interests {
        Interests {
            packets: self.slow_start.wants_samples(),
            ..Interests::default()
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.as_secs_f64();
            self.srtt = Some(self.srtt.map_or(rtt, |srtt| srtt + (rtt - srtt) / 8.0));
        }
        if ack.newly_acked == 0 {
            return;
        }
        self.timed_out = false;
        self.slow_start.before_growth(self.cwnd, ack);
        if ack.application_limited {
            self.idle_since.get_or_insert(ack.now);
            return self.slow_start.on_ack(self.cwnd, ack);
        }
        let idle = self
            .idle_since
            .take()
            .map_or(Duration::ZERO, |since| ack.now - since);
        if let Some(epoch) = &mut self.epoch {
            epoch.began += idle;
        }
        if ack.reports_marks() {
            return;
        }
        if self.slow_start.is_on(self.cwnd) {
            self.cwnd += self.slow_start.step(ack, self.config.slow_start_limit);
            self.slow_start.on_ack(self.cwnd, ack);
        } else {
            self.avoid_congestion(ack.now, f64::from(ack.newly_acked));
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.note_congestion(loss.in_flight);
        self.cwnd = self.ssthresh();
    }

    fn on_mark(&mut self, mark: &Mark) {
        self.cwnd = self.note_congestion(mark.in_flight).max(LEAST_CWND);
    }

    fn on_timeout(&mut self, _now: Instant, in_flight: u32) {
        // RFC 5681 section 3.1: a second timeout in a row leaves ssthresh unchanged.
        if !self.timed_out {
            self.before_timeout = None;
            let before = Box::new(self.clone());
            self.note_congestion(in_flight);
            self.before_timeout = Some(before);
        }
        self.w_max = None;
        self.epoch = None;
        self.cwnd = 1.0;
        self.timed_out = true;
    }

    /// Restores the state before a spurious timeout (section 4.9.1). The response to other spurious
    /// losses is optional, and not implemented (section 4.9.2).
    fn on_spurious_loss(&mut self, _now: Instant) {
        if let Some(before) = self.before_timeout.take() {
            let cwnd = self.cwnd.max(before.cwnd);
            *self = Self { cwnd, ..*before };
        }
    }

    fn on_restart(&mut self, _now: Instant) {
        self.cwnd = self.cwnd.min(self.config.initial_cwnd);
        self.epoch = None;
        self.idle_since = None;
    }

    fn on_receiver_overload(&mut self, _now: Instant, dropped: u32) {
        self.cwnd = (self.cwnd - f64::from(dropped)).max(1.0);
        self.slow_start
            .on_receiver_overload(self.cwnd, MIN_SSTHRESH);
        self.epoch = None;
    }

    fn limit_cwnd(&mut self, limit: f64) {
        self.cwnd = self.cwnd.min(limit.max(1.0));
    }

    fn on_validation(&mut self, cwnd: f64, ssthresh: f64) {
        self.slow_start.on_validation(ssthresh, MIN_SSTHRESH);
        self.limit_cwnd(cwnd);
        self.epoch = None;
        self.before_timeout = None;
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.slow_start.ssthresh()
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        if let Some(w_max) = self.w_max {
            record("w_max_packets", w_max);
        }
        if let Some(epoch) = &self.epoch {
            record("k_s", epoch.k);
            record("w_est_packets", epoch.reno);
        }
    }
}

#[cfg(test)]
mod tests;
