//! Parameters and constants of BBR ("Core Algorithm Design Parameters").

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::Duration;

use super::Bbr;
use crate::{AnyControl, ControlContext, ControlKind, Wants};

/// BBR.PacingMarginPercent as a factor ("Pacing State and Parameters").
pub(super) const PACING_MARGIN: f64 = 0.99;
/// BBR.MinPipeCwnd, in packets ("Core Algorithm Design Parameters").
pub(super) const MIN_PIPE_CWND: f64 = 4.0;
/// BBR.MaxBwFilterLen, in cycles ("Estimating BBR.max_bw").
pub(super) const MAX_BW_FILTER_LEN: u64 = 2;
/// BBR.ExtraAckedFilterLen, in rounds ("Estimating BBR.extra_acked").
pub(super) const EXTRA_ACKED_FILTER_LEN: u64 = 10;
/// BBRStartupFullLossCnt ("Exiting Startup Based on Packet Loss").
pub(super) const STARTUP_FULL_LOSS_COUNT: u32 = 6;
/// BBR.MinRTTFilterLen ("Parameters for Estimating BBR.min_rtt").
pub(super) const MIN_RTT_FILTER_LEN: Duration = Duration::from_secs(10);
/// BBR.ProbeRTTDuration ("Parameters for Scheduling ProbeRTT").
pub(super) const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);
/// BBR.ProbeRTTInterval ("Parameters for Scheduling ProbeRTT").
pub(super) const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);

/// Parameters of [`Bbr`] ("Core Algorithm Design Parameters").
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BbrConfig {
    /// C.SMSS: bytes of application data in a full packet.
    pub packet_size: u32,
    /// C.InitialCwnd, in packets.
    pub initial_cwnd: f64,
    /// BBR.LossThresh: the loss rate of a round trip up to which a bandwidth probe goes on. In
    /// (0, 1).
    pub loss_threshold: f64,
    /// BBR.Beta: the fraction of the short-term model left after a round trip with a loss. In
    /// (0, 1).
    pub beta: f64,
    /// BBR.Headroom: the fraction of BBR.inflight_longterm left free for other flows. In [0, 1).
    pub headroom: f64,
}

impl BbrConfig {
    /// Creates a configuration with the draft's constants and an initial window of `initial_cwnd`
    /// packets of `packet_size` bytes.
    pub const fn new(packet_size: u32, initial_cwnd: f64) -> Self {
        Self {
            packet_size,
            initial_cwnd,
            loss_threshold: 0.02,
            beta: 0.7,
            headroom: 0.15,
        }
    }
}

/// Parameters of the control `bbr`.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Bbr")]
#[serde(deny_unknown_fields, default)]
pub struct BbrParameters {
    /// BBR.LossThresh: the loss rate of a round trip above which a probe for bandwidth ends.
    /// Between 0 and 1.
    #[schemars(extend("x-unit" = "1"))]
    pub loss_threshold: f64,
    /// BBR.Beta: the fraction of the short-term limits left after a round trip with a loss. Between
    /// 0 and 1.
    #[schemars(extend("x-unit" = "1"))]
    pub beta: f64,
    /// BBR.Headroom: the fraction of the data that the path can hold without loss that is left free
    /// for other flows. From 0 to less than 1.
    #[schemars(extend("x-unit" = "1"))]
    pub headroom: f64,
}

impl Default for BbrParameters {
    fn default() -> Self {
        let BbrConfig {
            loss_threshold,
            beta,
            headroom,
            ..
        } = BbrConfig::new(0, 0.0);
        Self {
            loss_threshold,
            beta,
            headroom,
        }
    }
}

impl ControlKind for BbrParameters {
    fn check(&self) -> Result<(), ParameterError> {
        for (name, value) in [("loss_threshold", self.loss_threshold), ("beta", self.beta)] {
            if !(value > 0.0 && value < 1.0) {
                let message = format!("{value}: between 0 and 1");
                return Err(ParameterError::new(name, message));
            }
        }
        if !(self.headroom >= 0.0 && self.headroom < 1.0) {
            let message = format!("{}: from 0 to less than 1", self.headroom);
            return Err(ParameterError::new("headroom", message));
        }
        Ok(())
    }

    /// Returns a request for pacing, and for RACK-TLP, whose SACKs the estimates need ("TCP
    /// Connections without SACK").
    fn wants(&self) -> Wants {
        Wants::default()
            .with_rack()
            .with_pacing()
            .with_model_of_path()
    }

    fn build(&self, context: &ControlContext) -> AnyControl {
        AnyControl::new(Bbr::new(BbrConfig {
            packet_size: context.packet_size,
            initial_cwnd: context.initial_cwnd,
            loss_threshold: self.loss_threshold,
            beta: self.beta,
            headroom: self.headroom,
        }))
    }
}
