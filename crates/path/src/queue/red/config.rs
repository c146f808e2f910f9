//! Parameters of RED, and the values derived from them.

use skywave_units::{Duration, Rate};

use crate::Limit;

/// Parameters of RED. Thresholds are in packets of mean size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedConfig {
    /// The capacity.
    pub limit: Limit,
    /// The average queue above which packets are dropped at random. Default: half the packets that
    /// the link sends in `target_delay`, at least 5.
    pub min_threshold: Option<f64>,
    /// The average queue above which all packets are dropped or, if `gentle`, increasingly many;
    /// greater than the minimum. Default: three times the minimum.
    pub max_threshold: Option<f64>,
    /// The queue delay from which default thresholds are derived.
    pub target_delay: Duration,
    /// The drop probability at the maximum threshold, in (0, 1] (ns-2's `1/linterm_`).
    pub max_p: f64,
    /// The weight of the average queue.
    pub weight: RedWeight,
    /// The mean packet size in bytes; at least 1.
    pub mean_packet: u32,
    /// Whether the drop probability rises from `max_p` at the maximum threshold to 1 at twice that
    /// threshold.
    pub gentle: bool,
    /// Whether a drop is followed by at least 1 / (drop probability) packets without one.
    pub wait: bool,
    /// Whether the queue is measured in bytes (RFC 7141 section 4.1).
    pub queue_in_bytes: bool,
    /// Whether larger packets are more likely to be dropped (RFC 7141 section 2.2 advises against
    /// it).
    pub drop_by_bytes: bool,
    /// Whether randomly chosen packets are marked instead of dropped, if they can be marked.
    pub ecn: bool,
    /// The drop probability above which packets are dropped even if they could be marked. If given,
    /// every decision is random, even at probability 1. If `None` (ns-2's `use_mark_p_` off), all
    /// randomly chosen packets are marked, and from the maximum threshold on (twice that if
    /// `gentle`) packets are dropped without a draw.
    pub mark_p: Option<f64>,
    /// How `max_p` adapts; `None` if it does not.
    pub adaptive: Option<AdaptiveRed>,
}

impl RedConfig {
    /// Returns ns-2's defaults, but with the queue measured in packets and packet sizes ignored.
    pub const fn new(limit: Limit) -> Self {
        Self {
            limit,
            min_threshold: None,
            max_threshold: None,
            target_delay: Duration::from_millis(5),
            max_p: 0.1,
            weight: RedWeight::RoundTrips,
            mean_packet: 500,
            gentle: true,
            wait: true,
            queue_in_bytes: false,
            drop_by_bytes: false,
            ecn: false,
            mark_p: Some(0.1),
            adaptive: None,
        }
    }

    pub(super) fn packets_per_second(&self, rate: Rate) -> f64 {
        rate.as_bps() as f64 / (8.0 * f64::from(self.mean_packet))
    }

    /// Returns the thresholds, in packets.
    pub(super) fn thresholds(&self, packets_per_second: f64) -> RedThresholds {
        let target = self.target_delay.as_secs_f64() * packets_per_second;
        let min = self
            .min_threshold
            .unwrap_or_else(|| (target / 2.0).max(5.0));
        RedThresholds {
            min,
            max: self.max_threshold.unwrap_or(3.0 * min),
        }
    }
}

/// The average queues at which RED changes its behaviour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedThresholds {
    /// Below this, nothing is dropped.
    pub min: f64,
    /// Above this, everything is dropped or, if gentle, increasingly many packets.
    pub max: f64,
}

/// The weight of the average queue, `w_q` in the papers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RedWeight {
    /// This weight, in (0, 1].
    Fixed(f64),
    /// The weight for which the average's time constant is ten round-trip times of 100 ms, or of
    /// three times the link's delay if that is longer (ns-2's `q_weight_` of -1; Floyd, Gummadi and
    /// Shenker 2001, section 4.1).
    RoundTrips,
    /// The weight for this time constant (ns-2's 0 is one second, -2 a tenth).
    TimeConstant(Duration),
}

impl RedWeight {
    pub(super) fn resolve(self, packets_per_second: f64, delay: Duration) -> f64 {
        let seconds = match self {
            Self::Fixed(weight) => return weight,
            Self::RoundTrips => {
                10.0 * (3.0 * (delay.as_secs_f64() + 1.0 / packets_per_second)).max(0.1)
            }
            Self::TimeConstant(time) => time.as_secs_f64(),
        };
        1.0 - (-1.0 / (seconds * packets_per_second)).exp()
    }
}

/// How adaptive RED adjusts `max_p` (Floyd, Gummadi and Shenker 2001, section 3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveRed {
    /// The minimum time between adjustments.
    pub interval: Duration,
    /// The increment of an increase, limited to a quarter of `max_p`.
    pub increase: f64,
    /// The factor of a decrease.
    pub decrease: f64,
    /// The upper bound for increases.
    pub most_max_p: f64,
    /// The lower bound for decreases. Default: 0.01, or one packet per window of 1000-byte packets
    /// that fills the link for 100 ms, whichever is less.
    pub least_max_p: Option<f64>,
}

impl Default for AdaptiveRed {
    /// Returns the values of the paper and of ns-2.
    fn default() -> Self {
        Self {
            interval: Duration::from_millis(500),
            increase: 0.01,
            decrease: 0.9,
            most_max_p: 0.5,
            least_max_p: None,
        }
    }
}

impl AdaptiveRed {
    pub(super) fn least_max_p(&self, rate: Rate) -> f64 {
        self.least_max_p
            .unwrap_or_else(|| (80_000.0 / rate.as_bps() as f64).min(0.01))
    }
}
