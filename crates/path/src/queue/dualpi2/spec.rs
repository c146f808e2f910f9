//! DualPI2 as written in a file.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::{Bytes, Duration};

use super::{DualPi2, DualPi2Config, DualPi2Scheduler};
use crate::queue::parameters::{check_above_zero, check_probability};
use crate::{AnyQueue, Checked, Conduct, Head, Limit, Packet, QueueKind, Writes};

/// The shortest update period; with shorter ones, updates would dominate the run time.
const LEAST_UPDATE: Duration = Duration::from_micros(1);

/// The largest weight: the maximum number of packets that a Classic packet may have to wait for.
const MOST_WEIGHT: u32 = 1000;

/// Parameters of DualPI2, as written in a file. The defaults are those of RFC 9332 Appendix A. That
/// recommends a capacity of 250 ms at the rate of the link.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "DualPi2")]
#[serde(deny_unknown_fields, default)]
pub struct DualPi2Spec {
    /// Capacity of both queues together, in packets; give this or `bytes`.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    /// Capacity of both queues together, in bytes; at least `mtu`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// The coupling factor: the marking probability of L4S packets is k times the square root of
    /// the drop probability of Classic packets (RFC 9332 section 2.1).
    #[schemars(extend("x-unit" = "1"))]
    pub k: f64,
    /// The target delay of the Classic queue.
    pub target: Duration,
    /// The period of updates of the base probability.
    pub t_update: Duration,
    /// The change of the base probability per update and second of delay above the target.
    #[schemars(extend("x-unit" = "1/s"))]
    pub alpha: f64,
    /// The change of the base probability per second by which the delay has grown since the last
    /// update.
    #[schemars(extend("x-unit" = "1/s"))]
    pub beta: f64,
    /// The drop probability from which on Classic packets are dropped even if they could be marked
    /// (RFC 9332 Appendix A.2). Default: 1/k^2, at most 1.
    #[schemars(extend("x-unit" = "1"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_c_max: Option<f64>,
    /// The delay of the L4S queue above which it marks by itself.
    pub min_th: Duration,
    /// How much longer than `min_th` the delay of the L4S queue must be for all packets to be
    /// marked; `0 s` makes a step of the ramp.
    pub range: Duration,
    /// While the L4S queue has at most this many packets, it does not mark by itself.
    #[schemars(extend("x-unit" = "packets"))]
    pub th_len: u32,
    /// The maximum packet size: the room that a packet needs to be accepted.
    pub mtu: Bytes,
    /// The bytes that the L4S queue sends per byte of the Classic queue while both have packets
    /// waiting (RFC 9332 section 4.2.2).
    #[schemars(extend("x-unit" = "1"))]
    pub weight: u32,
    /// The maximum extra delay of Classic packets. If given, the scheduler is a time-shifted FIFO
    /// (RFC 9332 section 4.2.2) instead of weighted round robin, and `weight` has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tshift: Option<Duration>,
}

impl Default for DualPi2Spec {
    fn default() -> Self {
        let defaults = DualPi2Config::default();
        let (weight, tshift) = match defaults.scheduler {
            DualPi2Scheduler::Wrr { weight } => (weight, None),
            DualPi2Scheduler::TsFifo { tshift } => (1, Some(tshift)),
        };
        Self {
            packets: None,
            bytes: None,
            k: defaults.k,
            target: defaults.target,
            t_update: defaults.t_update,
            alpha: defaults.alpha,
            beta: defaults.beta,
            p_c_max: defaults.p_c_max,
            min_th: defaults.min_th,
            range: defaults.range,
            th_len: defaults.th_len,
            mtu: Bytes::new(u64::from(defaults.mtu)),
            weight,
            tshift,
        }
    }
}

impl DualPi2Spec {
    pub(in crate::queue) fn kind<P: Packet + Send + 'static>(self) -> Checked<P> {
        let limit = Limit::from_parameters(self.packets, self.bytes)?;
        let (mtu, weight) = (self.mtu, self.weight);
        ParameterError::unless((1..=65_535).contains(&mtu.get()), "mtu", || {
            format!("{mtu} is not a packet: between 1 B and 65535 B")
        })?;
        ParameterError::unless(self.bytes.is_none_or(|bytes| bytes >= mtu), "bytes", || {
            format!("a queue smaller than `mtu`, {mtu}, holds nothing: give more")
        })?;
        ParameterError::unless(self.k > 0.0 && self.k.is_finite(), "k", || {
            format!(
                "{} couples nothing: above 0 (RFC 9332 recommends 2)",
                self.k
            )
        })?;
        check_above_zero(self.target, "target")?;
        ParameterError::unless(self.t_update >= LEAST_UPDATE, "t_update", || {
            format!("{} between updates: at least {LEAST_UPDATE}", self.t_update)
        })?;
        check_gain(self.alpha, "alpha")?;
        check_gain(self.beta, "beta")?;
        if let Some(p_c_max) = self.p_c_max {
            check_probability(p_c_max, "p_c_max")?;
        }
        ParameterError::unless((1..=MOST_WEIGHT).contains(&weight), "weight", || {
            format!("{weight}: between 1 and {MOST_WEIGHT}")
        })?;
        let config = DualPi2Config {
            k: self.k,
            target: self.target,
            t_update: self.t_update,
            alpha: self.alpha,
            beta: self.beta,
            p_c_max: self.p_c_max,
            min_th: self.min_th,
            range: self.range,
            th_len: self.th_len,
            mtu: mtu.get() as u32,
            scheduler: match self.tshift {
                None => DualPi2Scheduler::Wrr { weight },
                Some(tshift) => DualPi2Scheduler::TsFifo { tshift },
            },
        };
        Ok(Arc::new(Kind { limit, config }))
    }
}

/// Checks a gain. Without gain, the base probability would never change.
fn check_gain(gain: f64, field: &str) -> Result<(), ParameterError> {
    ParameterError::unless(gain > 0.0 && gain.is_finite(), field, || {
        format!("{gain} is not a gain: above 0")
    })
}

struct Kind {
    limit: Limit,
    config: DualPi2Config,
}

impl<P: Packet + Send + 'static> QueueKind<P> for Kind {
    fn conduct(&self) -> Conduct {
        Conduct {
            // A small packet is refused if an MTU would not fit.
            one_limit: !matches!(self.limit, Limit::Bytes(_)),
            fifo: false,
            drops_early: true,
            drops_inside: true,
            writes: Writes::Marks,
            ..Conduct::fifo(self.limit)
        }
    }

    fn build(&self, _head: &Head<'_>) -> AnyQueue<P> {
        AnyQueue::keeps(DualPi2::new(self.limit, self.config))
    }
}
