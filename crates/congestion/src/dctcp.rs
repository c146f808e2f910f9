//! The control `dctcp`: Data Center TCP (RFC 8257).
//!
//! Sections 3.3 to 3.5 and 4.2 were read in the RFC. What Linux 6.12 does otherwise is noted at
//! each place; it was read in the kernel's module.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;

use crate::law::{Cause, Congestion, Governed, Law};
use crate::marked_fraction::MarkedFraction;
use crate::window::{Phase, Window};
use crate::{Ack, AnyControl, ControlContext, ControlKind, Ect, Wants};

/// The steps from 0 to 1 in which Linux computes alpha.
const LINUX_STEPS: f64 = 1024.0;

/// Parameters of the control `dctcp`: Data Center TCP (RFC 8257), a Reno that responds to marks in
/// proportion to the fraction of packets marked. It requires routers that mark early, and a receiver
/// that reports every mark.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Dctcp")]
#[serde(deny_unknown_fields, default)]
pub struct DctcpParameters {
    /// g: the weight of the latest round trip in alpha, the average fraction of marked packets
    /// (RFC 8257 section 4.2). Between 0 and 1.
    #[schemars(extend("x-unit" = "1"))]
    pub gain: f64,
    /// Alpha before the first round trip: 1 in RFC 8257 section 3.3, so that the first mark halves
    /// the window. From 0 to 1.
    #[schemars(extend("x-unit" = "1"))]
    pub initial_alpha: f64,
}

impl Default for DctcpParameters {
    fn default() -> Self {
        Self {
            gain: 1.0 / 16.0,
            initial_alpha: 1.0,
        }
    }
}

impl ControlKind for DctcpParameters {
    fn check(&self) -> Result<(), ParameterError> {
        let Self {
            gain,
            initial_alpha,
        } = *self;
        ParameterError::unless(gain > 0.0 && gain < 1.0, "gain", || {
            format!("{gain}: between 0 and 1")
        })?;
        ParameterError::unless(
            (0.0..=1.0).contains(&initial_alpha),
            "initial_alpha",
            || format!("{initial_alpha}: from 0 to 1"),
        )
    }

    /// Returns a request for ECN with exact feedback (RFC 8257 section 3.2).
    fn wants(&self) -> Wants {
        Wants::default().with_ecn(Ect::Zero).with_accurate_ecn()
    }

    fn build(&self, context: &ControlContext) -> AnyControl {
        Governed::build(context, self.law(context))
    }
}

impl DctcpParameters {
    fn law(&self, context: &ControlContext) -> Dctcp {
        let fraction = MarkedFraction::new(self.gain, self.initial_alpha);
        Dctcp(if context.linux {
            fraction.in_steps(LINUX_STEPS)
        } else {
            fraction
        })
    }
}

/// Reno, except that a mark takes alpha / 2 of the window.
#[derive(Clone, Debug)]
struct Dctcp(MarkedFraction);

impl Law for Dctcp {
    fn on_packet_acked(&mut self) {
        self.0.on_packet_acked();
    }

    fn on_packets_marked(&mut self, packets: u32) {
        self.0.on_packets_marked(packets);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack, phase: Phase) {
        self.0.on_ack(ack.in_flight);
        if window.may_grow(ack, phase) {
            window.grow_as_reno(ack);
        }
    }

    fn rest(&mut self, window: &Window, congestion: Congestion) -> f64 {
        match congestion.cause {
            // Section 3.3, step 9. Linux rounds what it takes away.
            Cause::Mark => {
                let taken = window.cwnd() * self.0.average() / 2.0;
                let is_linux = window.is_linux();
                window.cwnd() - if is_linux { taken.floor() } else { taken }
            }
            // Section 3.5: "in the same way as conventional TCP".
            Cause::Loss | Cause::Timeout => window.used(congestion.in_flight) / 2.0,
        }
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        record("alpha", self.0.average());
    }
}

#[cfg(test)]
mod tests;
