//! Parameters and constants of Prague.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::{Duration, Rate};

use super::Prague;
use crate::{AnyControl, ControlContext, ControlKind, Ect, Wants};

/// The least window in packets, below which only pacing reduces the rate; udp_prague has the same.
pub(super) const MIN_CWND: f64 = 2.0;

/// Parameters of [`Prague`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PragueConfig {
    /// Bytes of application data in a full packet.
    pub packet_size: u32,
    /// The initial cwnd, and the upper bound of cwnd after an idle period. In packets.
    pub initial_cwnd: f64,
    /// The initial ssthresh in packets; infinite for "arbitrarily high".
    pub initial_ssthresh: f64,
    /// g: the gain of alpha. In (0, 1].
    pub gain: f64,
    /// alpha before the first round, and after a timeout. In [0, 1].
    pub initial_alpha: f64,
    /// The least RTT_ref.
    pub reference_rtt: Duration,
    /// D: rounds until RTT_ref is more than the round-trip time.
    pub transition_rounds: u32,
    /// MAX_BURST_DELAY: how long a burst may occupy the bottleneck, if it is longer than a packet.
    pub max_burst_delay: Duration,
    /// The rate below which marks and losses do not reduce the window.
    pub min_rate: Rate,
}

impl PragueConfig {
    /// Creates a configuration with the constants of the draft, those of udp_prague for alpha and the
    /// least rate, and an initial window of `initial_cwnd` packets of `packet_size` bytes.
    pub const fn new(packet_size: u32, initial_cwnd: f64) -> Self {
        Self {
            packet_size,
            initial_cwnd,
            initial_ssthresh: f64::INFINITY,
            gain: 1.0 / 16.0,
            initial_alpha: 0.0,
            reference_rtt: Duration::from_millis(25),
            transition_rounds: 500,
            max_burst_delay: Duration::from_micros(250),
            min_rate: Rate::from_bps(100_000),
        }
    }
}

/// Parameters of the control `prague`.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Prague")]
#[serde(deny_unknown_fields, default)]
pub struct PragueParameters {
    /// g: the weight of a round's fraction of marked packets in the average alpha. Above 0, at most
    /// 1.
    #[schemars(extend("x-unit" = "1"))]
    pub gain: f64,
    /// alpha before the first round and after a timeout. From 0 to 1.
    #[schemars(extend("x-unit" = "1"))]
    pub initial_alpha: f64,
    /// The round-trip time, at least, for which a flow acts, so that flows with shorter ones are no
    /// faster.
    pub reference_rtt: Duration,
    /// D: rounds for which a flow acts for its real round-trip time.
    #[schemars(extend("x-unit" = "1"))]
    pub transition_rounds: u32,
    /// How long a burst may occupy the bottleneck; a burst of one packet may always leave.
    pub max_burst_delay: Duration,
    /// The rate below which congestion does not reduce the window; above 0.
    pub min_rate: Rate,
    /// Whether data has ECT(0) instead of ECT(1), for private networks that use it as DCTCP does.
    pub ect0: bool,
}

impl Default for PragueParameters {
    fn default() -> Self {
        let PragueConfig {
            gain,
            initial_alpha,
            reference_rtt,
            transition_rounds,
            max_burst_delay,
            min_rate,
            ..
        } = PragueConfig::new(0, 0.0);
        Self {
            gain,
            initial_alpha,
            reference_rtt,
            transition_rounds,
            max_burst_delay,
            min_rate,
            ect0: false,
        }
    }
}

impl ControlKind for PragueParameters {
    fn check(&self) -> Result<(), ParameterError> {
        if !(self.gain > 0.0 && self.gain <= 1.0) {
            let message = format!("{}: above 0, at most 1", self.gain);
            return Err(ParameterError::new("gain", message));
        }
        if !(0.0..=1.0).contains(&self.initial_alpha) {
            let message = format!("{}: from 0 to 1", self.initial_alpha);
            return Err(ParameterError::new("initial_alpha", message));
        }
        if self.min_rate.as_bps() == 0 {
            let message = format!("{}: above 0", self.min_rate);
            return Err(ParameterError::new("min_rate", message));
        }
        Ok(())
    }

    /// Returns a request for ECT(1) ("Packet Identification"), a report of every mark ("Detecting and
    /// Measuring Congestion"), RACK-TLP ("Scaling Loss Detection with Flow Rate") and pacing.
    fn wants(&self) -> Wants {
        let code = if self.ect0 { Ect::Zero } else { Ect::One };
        Wants::default()
            .with_ecn(code)
            .with_accurate_ecn()
            .with_rack()
            .with_pacing()
    }

    fn build(&self, context: &ControlContext) -> AnyControl {
        AnyControl::new(Prague::new(PragueConfig {
            packet_size: context.packet_size,
            initial_cwnd: context.initial_cwnd,
            initial_ssthresh: context.initial_ssthresh,
            gain: self.gain,
            initial_alpha: self.initial_alpha,
            reference_rtt: self.reference_rtt,
            transition_rounds: self.transition_rounds,
            max_burst_delay: self.max_burst_delay,
            min_rate: self.min_rate,
        }))
    }
}
