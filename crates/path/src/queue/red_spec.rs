//! Parameters of RED and adaptive RED.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::{Bytes, Duration};

use super::parameters::{check_above_zero, check_mean_packet, check_probability};
use super::{
    AdaptiveRed, AnyQueue, Checked, Conduct, Head, Limit, QueueKind, Red, RedConfig, RedWeight,
    Writes,
};

/// Parameters of RED, as written in a file; the defaults depend on the link. Thresholds are in
/// packets, of size `mean_packet` if the queue is measured in bytes.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Red")]
#[serde(deny_unknown_fields, default)]
pub struct RedSpec {
    /// Capacity in packets; give this or `bytes`.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    /// Capacity in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// The average queue above which packets are dropped. Default: half of what the link sends in
    /// `target_delay`, at least 5.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_threshold: Option<f64>,
    /// The average queue above which all packets are dropped, or increasingly many if `gentle`.
    /// Default: three times the minimum.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_threshold: Option<f64>,
    /// The delay from which default thresholds are derived.
    pub target_delay: Duration,
    /// The drop probability at the maximum threshold (ns-2's `1/linterm_`); the initial value for
    /// adaptive RED.
    #[schemars(extend("x-unit" = "1"))]
    pub max_p: f64,
    /// The weight of the average. Give this or `time_constant`, or neither for a time constant of
    /// ten round-trip times (ns-2's `q_weight_` of -1).
    #[schemars(extend("x-unit" = "1"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// The time constant of the average.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_constant: Option<Duration>,
    /// The mean packet size.
    pub mean_packet: Bytes,
    /// Whether the drop probability rises from `max_p` to 1 between the maximum threshold and twice
    /// that threshold, instead of jumping.
    pub gentle: bool,
    /// Whether a drop is followed by a minimum number of packets without one.
    pub wait: bool,
    /// Whether the queue is measured in bytes.
    pub queue_in_bytes: bool,
    /// Whether larger packets are more likely to be dropped.
    pub drop_by_bytes: bool,
    /// Whether randomly chosen packets are marked instead of dropped, if they can be marked.
    pub ecn: bool,
    /// The drop probability above which packets are dropped even if they could be marked.
    #[schemars(extend("x-unit" = "1"))]
    pub mark_p: f64,
}

impl Default for RedSpec {
    fn default() -> Self {
        let defaults = RedConfig::new(Limit::Unlimited);
        Self {
            packets: None,
            bytes: None,
            min_threshold: defaults.min_threshold,
            max_threshold: defaults.max_threshold,
            target_delay: defaults.target_delay,
            max_p: defaults.max_p,
            weight: None,
            time_constant: None,
            mean_packet: Bytes::new(u64::from(defaults.mean_packet)),
            gentle: defaults.gentle,
            wait: defaults.wait,
            queue_in_bytes: defaults.queue_in_bytes,
            drop_by_bytes: defaults.drop_by_bytes,
            ecn: defaults.ecn,
            mark_p: defaults.mark_p.unwrap_or(1.0),
        }
    }
}

impl RedSpec {
    pub(super) fn kind<P>(self) -> Checked<P> {
        Ok(Arc::new(self.config(None)?))
    }

    pub(super) fn adaptive_kind<P>(self) -> Checked<P> {
        Ok(Arc::new(self.config(Some(AdaptiveRed::default()))?))
    }

    /// Converts the parameters.
    fn config(&self, adaptive: Option<AdaptiveRed>) -> Result<RedConfig, ParameterError> {
        let limit = Limit::from_parameters(self.packets, self.bytes)?;
        check_mean_packet(self.mean_packet)?;
        self.check_thresholds()?;
        check_probability(self.max_p, "max_p")?;
        check_probability(self.mark_p, "mark_p")?;
        Ok(RedConfig {
            limit,
            min_threshold: self.min_threshold,
            max_threshold: self.max_threshold,
            target_delay: self.target_delay,
            max_p: self.max_p,
            weight: self.average()?,
            mean_packet: self.mean_packet.get() as u32,
            gentle: self.gentle,
            wait: self.wait,
            queue_in_bytes: self.queue_in_bytes,
            drop_by_bytes: self.drop_by_bytes,
            ecn: self.ecn,
            mark_p: Some(self.mark_p),
            adaptive,
        })
    }

    fn check_thresholds(&self) -> Result<(), ParameterError> {
        for (key, threshold) in [
            ("min_threshold", self.min_threshold),
            ("max_threshold", self.max_threshold),
        ] {
            let is_above_zero =
                threshold.is_none_or(|packets| packets.is_finite() && packets > 0.0);
            ParameterError::unless(is_above_zero, key, || {
                "give a number of packets above zero".to_owned()
            })?;
        }
        let Some(max) = self.max_threshold else {
            return Ok(());
        };
        let Some(min) = self.min_threshold else {
            let message = "give `min_threshold` too";
            return Err(ParameterError::new("max_threshold", message));
        };
        ParameterError::unless(min < max, "max_threshold", || {
            format!("{max} is not above `min_threshold`, {min}: give more")
        })
    }

    /// Returns the weight of the average.
    fn average(&self) -> Result<RedWeight, ParameterError> {
        let is_weight = self
            .weight
            .is_none_or(|weight| weight > 0.0 && weight <= 1.0);
        ParameterError::unless(is_weight, "weight", || {
            "a weight is above 0 and at most 1".to_owned()
        })?;
        if let Some(time) = self.time_constant {
            check_above_zero(time, "time_constant")?;
        }
        match (self.weight, self.time_constant) {
            (Some(_), Some(_)) => Err(ParameterError::new(
                "time_constant",
                "give either `weight` or `time_constant`",
            )),
            (Some(weight), None) => Ok(RedWeight::Fixed(weight)),
            (None, Some(time)) => Ok(RedWeight::TimeConstant(time)),
            (None, None) => Ok(RedWeight::RoundTrips),
        }
    }
}

/// The complete parameters of a RED queue.
impl<P> QueueKind<P> for RedConfig {
    fn conduct(&self) -> Conduct {
        Conduct {
            drops_early: true,
            writes: Writes::marks_if(self.ecn),
            ..Conduct::fifo(self.limit)
        }
    }

    fn build(&self, head: &Head<'_>) -> AnyQueue<P> {
        Red::new(*self, head.rate, head.delay, head.random()).into()
    }
}
