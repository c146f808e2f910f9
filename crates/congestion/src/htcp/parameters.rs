//! The parameters of the control `htcp`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::Duration;

use super::Htcp;
use crate::law::Governed;
use crate::ticks::Ticks;
use crate::{AnyControl, ControlContext, ControlKind};

/// The longest `low_speed_period`.
const LONGEST_PERIOD: Duration = Duration::from_secs(3600);

/// Parameters of the control `htcp`: H-TCP, which grows faster the longer ago the last congestion event
/// was, and gives up less where the queue is short compared with the path.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Htcp")]
#[serde(deny_unknown_fields, default)]
pub struct HtcpParameters {
    /// Delta_L: how long after a congestion event the window grows as Reno's. At most an hour.
    pub low_speed_period: Duration,
    /// The least fraction of the window that a loss or a mark leaves, above 0, and what is left if
    /// the path has changed.
    #[schemars(extend("x-unit" = "1"))]
    pub min_beta: f64,
    /// The largest fraction that it leaves, below 1, and at least `min_beta`.
    #[schemars(extend("x-unit" = "1"))]
    pub max_beta: f64,
    /// Whether growth is in proportion to the round-trip time, so that flows with different ones
    /// share alike.
    pub rtt_scaling: bool,
    /// Whether `min_beta` applies after the throughput has changed by more than a fifth.
    pub bandwidth_switch: bool,
    /// The resolution of the clock that measures time: round-trip times are rounded up to it. At
    /// most 1 s. Absent: 10 ms for TCP's profile `linux`, as in the kernel on virtual time (4 ms in
    /// Debian's); otherwise time is exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick: Option<Duration>,
}

impl Default for HtcpParameters {
    fn default() -> Self {
        Self {
            low_speed_period: Duration::from_secs(1),
            min_beta: 0.5,
            max_beta: 0.8,
            rtt_scaling: true,
            bandwidth_switch: true,
            tick: None,
        }
    }
}

impl ControlKind for HtcpParameters {
    fn check(&self) -> Result<(), ParameterError> {
        let Self {
            low_speed_period,
            min_beta,
            max_beta,
            tick,
            ..
        } = *self;
        ParameterError::unless(
            low_speed_period <= LONGEST_PERIOD,
            "low_speed_period",
            || format!("{low_speed_period}: at most {LONGEST_PERIOD}"),
        )?;
        ParameterError::unless(min_beta > 0.0 && min_beta < 1.0, "min_beta", || {
            format!("{min_beta}: between 0 and 1")
        })?;
        ParameterError::unless(max_beta >= min_beta && max_beta < 1.0, "max_beta", || {
            format!("{max_beta}: at least min_beta, {min_beta}, and below 1")
        })?;
        Ticks::check(tick)
    }

    fn build(&self, context: &ControlContext) -> AnyControl {
        Governed::build(context, Htcp::new(*self, context.linux))
    }
}
