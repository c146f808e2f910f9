//! The control `hybla`: TCP Hybla.
//!
//! Caini and Firrincieli, "TCP Hybla: A TCP Enhancement for Heterogeneous Networks" (2004), by the
//! equations that the course notes of S.-Y. Cheung (Emory University, CS 558) quote: with rho = RTT /
//! RTT0, each acknowledgement increases cwnd by 2^rho - 1 in slow start and by rho^2 / cwnd in
//! congestion avoidance, and a connection begins with rho packets. Then its rate does not depend on
//! RTT. That rho is at least 1, and follows the shortest smoothed round-trip time, is from Linux
//! 6.12, as are all rounding and the bounds of the profile `linux`; they were read in the kernel's
//! module. The estimate of the bandwidth and the pacing that the paper adds are absent, as in Linux.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::Duration;

use crate::law::{Congestion, Governed, Law};
use crate::window::{Phase, Window};
use crate::{Ack, AnyControl, ControlContext, ControlKind};

/// The weight of a sample in the smoothed round-trip time (RFC 6298 section 2).
const SRTT_GAIN: f64 = 1.0 / 8.0;
/// Linux's fixed point: the steps from 0 to 1 of rho, and those of what increases cwnd.
const RHO_STEPS: f64 = 8.0;
const CWND_STEPS: f64 = 128.0;
/// The largest whole part of rho that counts in Linux's slow start.
const MOST_DOUBLINGS: f64 = 16.0;
/// The largest cwnd, as in Linux. On a path whose rho is 20, an acknowledgement adds a million.
const MOST_CWND: f64 = 65_535.0;
/// The longest `rtt0`.
const LONGEST_RTT0: Duration = Duration::from_secs(60);

/// Parameters of the control `hybla`: TCP Hybla, which grows on long paths as Reno does on a short
/// one.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Hybla")]
#[serde(deny_unknown_fields, default)]
pub struct HyblaParameters {
    /// RTT0: the round-trip time of the path on which Reno grows as this window does. On shorter paths, it is
    /// Reno. Above 0, at most 60 s.
    pub rtt0: Duration,
}

impl Default for HyblaParameters {
    fn default() -> Self {
        Self {
            rtt0: Duration::from_millis(25),
        }
    }
}

impl ControlKind for HyblaParameters {
    fn check(&self) -> Result<(), ParameterError> {
        let rtt0 = self.rtt0;
        let is_in_range = !rtt0.is_zero() && rtt0 <= LONGEST_RTT0;
        ParameterError::unless(is_in_range, "rtt0", || {
            format!("{rtt0}: above 0, at most {LONGEST_RTT0}")
        })
    }

    fn build(&self, context: &ControlContext) -> AnyControl {
        Governed::build(context, Hybla::new(*self, context.linux))
    }
}

/// Hybla's laws.
#[derive(Clone, Debug)]
struct Hybla {
    rtt0: Duration,
    is_linux: bool,
    rho: f64,
    /// Smoothed round-trip time in nanoseconds, and the shortest one so far.
    srtt: Option<f64>,
    min_srtt: f64,
    /// What has not yet increased cwnd in Linux, whose cwnd is whole.
    fraction: f64,
    /// Acknowledgements that have not increased cwnd.
    idle_acks: f64,
}

impl Hybla {
    fn new(parameters: HyblaParameters, is_linux: bool) -> Self {
        Self {
            rtt0: parameters.rtt0,
            is_linux,
            rho: 1.0,
            srtt: None,
            min_srtt: f64::INFINITY,
            fraction: 0.0,
            idle_acks: 0.0,
        }
    }

    fn measure(&mut self, rtt: Duration) {
        let rtt = rtt.as_nanos() as f64;
        let srtt = self
            .srtt
            .map_or(rtt, |srtt| srtt + SRTT_GAIN * (rtt - srtt));
        self.srtt = Some(srtt);
        if srtt < self.min_srtt {
            self.min_srtt = srtt;
            let rho = self.rounded(srtt / self.rtt0.as_nanos() as f64, RHO_STEPS);
            self.rho = rho.max(1.0);
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

    /// Returns 2^rho - 1.
    fn slow_start(&self) -> f64 {
        if !self.is_linux {
            return self.rho.exp2() - 1.0;
        }
        let whole = self.rho.floor();
        let part = self.rounded((self.rho - whole).exp2(), CWND_STEPS);
        whole.min(MOST_DOUBLINGS).exp2() * part - 1.0
    }

    /// Returns rho^2 / cwnd.
    fn congestion_avoidance(&self, cwnd: f64) -> f64 {
        self.rounded(self.rho * self.rho / cwnd, CWND_STEPS)
    }

    /// Returns the whole packets by which `increment` increases Linux's cwnd, and keeps the rest.
    fn whole(&mut self, increment: f64, cwnd: f64) -> f64 {
        let total = increment + self.fraction;
        self.fraction = total.fract();
        if increment < 1.0 {
            self.idle_acks += 1.0;
        }
        if self.fraction < total {
            self.idle_acks = 0.0;
        }
        // So large a window that the increment is rounded down to nothing.
        if increment == 0.0 && self.idle_acks >= cwnd {
            self.idle_acks = 0.0;
            return total.trunc() + 1.0;
        }
        total.trunc()
    }

    fn grow(&mut self, window: &mut Window) {
        let cwnd = window.cwnd();
        let slow_start = window.in_slow_start();
        let increment = if slow_start {
            self.slow_start()
        } else {
            self.congestion_avoidance(cwnd)
        };
        let increment = if self.is_linux {
            self.whole(increment, cwnd)
        } else {
            increment
        };
        let room = if slow_start {
            window.ssthresh() - cwnd
        } else {
            f64::INFINITY
        };
        window.grow_by(increment.min(room));
        window.limit_cwnd(MOST_CWND);
    }
}

impl Law for Hybla {
    fn on_handshake(&mut self, window: &mut Window, rtt: Duration) {
        self.measure(rtt);
        window.begin_with(if self.is_linux {
            self.rho.floor()
        } else {
            self.rho.max(window.cwnd())
        });
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack, phase: Phase) {
        if let Some(rtt) = ack.rtt.filter(|rtt| !rtt.is_zero()) {
            self.measure(rtt);
        }
        if !window.may_grow(ack, phase) {
            return;
        }
        if phase == Phase::Repairing {
            window.grow_as_reno(ack);
        } else {
            self.grow(window);
        }
    }

    fn rest(&mut self, window: &Window, congestion: Congestion) -> f64 {
        self.idle_acks = 0.0;
        window.used(congestion.in_flight) / 2.0
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        record("rho", self.rho);
        if self.min_srtt.is_finite() {
            record("min_srtt_s", self.min_srtt / 1e9);
        }
    }
}

#[cfg(test)]
mod tests;
