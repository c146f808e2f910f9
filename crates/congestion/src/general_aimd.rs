//! The control `aimd`: AIMD(a, b), Reno with configurable increase and decrease.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;

use crate::{Aimd, AimdConfig, AnyControl, ControlContext, ControlKind, RenoParameters};

/// Parameters of the control `aimd`: AIMD(a, b) as in Floyd, Handley and Padhye 2000, "A Comparison
/// of Equation-Based and AIMD Congestion Control". All else, slow start and timeouts included, is as
/// in the control `reno`, which is AIMD(1, 1/2).
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Aimd")]
#[serde(deny_unknown_fields, default)]
pub struct AimdParameters {
    /// a: packets by which the window grows in a round-trip time of congestion avoidance. Above 0,
    /// at most 10000.
    #[schemars(extend("x-unit" = "packets"))]
    pub increase: f64,
    /// b: the fraction of the window that a loss or a mark takes away, so that 1 - b remains. From
    /// 0.01 to 0.99.
    #[schemars(extend("x-unit" = "1"))]
    pub decrease: f64,
}

impl Default for AimdParameters {
    fn default() -> Self {
        Self {
            increase: 1.0,
            decrease: 0.5,
        }
    }
}

impl ControlKind for AimdParameters {
    fn check(&self) -> Result<(), ParameterError> {
        let Self { increase, decrease } = *self;
        ParameterError::unless(increase > 0.0 && increase <= 10_000.0, "increase", || {
            format!("{increase} packets: above 0, at most 10000")
        })?;
        ParameterError::unless((0.01..=0.99).contains(&decrease), "decrease", || {
            format!("{decrease} is the fraction to take away: from 0.01 to 0.99")
        })
    }

    fn build(&self, context: &ControlContext) -> AnyControl {
        let config = AimdConfig {
            increase: self.increase,
            decrease_factor: 1.0 - self.decrease,
            ..RenoParameters::config(context)
        };
        Aimd::new(config).into()
    }
}

#[cfg(test)]
mod tests {
    use skywave_units::Instant;

    use super::*;
    use crate::testing::loss;
    use crate::{Ack, Control};

    #[test]
    fn it_grows_by_a_in_a_round_trip_time_and_keeps_one_minus_b() {
        let parameters = AimdParameters {
            increase: 4.0,
            decrease: 0.25,
        };
        let mut control = parameters.build(&ControlContext {
            packet_size: 1000,
            initial_cwnd: 16.0,
            initial_ssthresh: 16.0,
            ns2: false,
            linux: false,
        });
        let ack = Ack::new(Instant::ZERO, 1, 15);
        for _ in 1..16 {
            control.on_ack(&ack);
            assert_eq!(control.cwnd(), 16.0);
        }
        control.on_ack(&ack);
        assert_eq!(control.cwnd(), 20.0);
        // RFC 5681's decrease is of the flight: three quarters of 16 packets remain.
        control.on_loss(&loss(Instant::ZERO, 16));
        assert_eq!((control.cwnd(), control.ssthresh()), (12.0, 12.0));
        // A timeout too leaves three quarters as ssthresh, and a window of one packet.
        control.on_timeout(Instant::ZERO, 12);
        assert_eq!((control.cwnd(), control.ssthresh()), (1.0, 9.0));
    }

    #[test]
    fn it_names_the_parameter_that_is_wrong() {
        for (increase, decrease, field) in [
            (0.0, 0.5, "increase"),
            (f64::NAN, 0.5, "increase"),
            (1.0, 1.0, "decrease"),
            (1.0, f64::NAN, "decrease"),
        ] {
            let checked = AimdParameters { increase, decrease }.check();
            assert_eq!(checked.map_err(|error| error.field), Err(field.to_owned()));
        }
    }
}
