//! What RED is told, and what it works out for itself.

use skywave_units::{Duration, Rate};

use crate::Limit;

/// What RED is told. Thresholds are in packets of mean size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedConfig {
    /// How much the queue holds.
    pub limit: Limit,
    /// Average queue from which packets are dropped at random. Where absent: half of what the link
    /// sends in `target_delay`, and 5 at least.
    pub min_threshold: Option<f64>,
    /// Average queue from which all are dropped, or, if `gentle`, ever more; above the minimum.
    /// Where absent: three times the minimum.
    pub max_threshold: Option<f64>,
    /// The queue delay that thresholds are derived from where they are absent.
    pub target_delay: Duration,
    /// Drop probability at the maximum threshold, in (0, 1] (ns-2's `1/linterm_`).
    pub max_p: f64,
    /// Weight of the average queue.
    pub weight: RedWeight,
    /// Bytes of a mean packet; at least 1.
    pub mean_packet: u32,
    /// Whether the drop probability rises from `max_p` at the maximum threshold to 1 at its double.
    pub gentle: bool,
    /// Whether a drop is followed by at least as many packets without one as the reciprocal of the
    /// drop probability says.
    pub wait: bool,
    /// Whether the queue is measured in bytes (RFC 7141 section 4.1).
    pub queue_in_bytes: bool,
    /// Whether larger packets are likelier to be dropped (RFC 7141 section 2.2 advises against it).
    pub drop_by_bytes: bool,
    /// Whether packets that can be marked are marked where chance picks them.
    pub ecn: bool,
    /// The drop probability above which packets that could be marked are dropped. With it chance
    /// decides about every packet, even where the probability is 1. Where absent (ns-2's
    /// `use_mark_p_` off), all that chance picks are marked, and there is no chance from the maximum
    /// threshold on, or its double if `gentle`: packets are dropped without a draw.
    pub mark_p: Option<f64>,
    /// How `max_p` adapts itself, where it does.
    pub adaptive: Option<AdaptiveRed>,
}

impl RedConfig {
    /// ns-2's defaults, but measured in packets and without regard to their size.
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

    /// The thresholds, in packets.
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

/// Average queues at which RED changes its behaviour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedThresholds {
    /// Below it nothing is dropped.
    pub min: f64,
    /// Above it all is dropped, or, if gentle, ever more.
    pub max: f64,
}

/// The weight of the average queue, `w_q` in the papers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RedWeight {
    /// This weight, in (0, 1].
    Fixed(f64),
    /// The weight that makes the average's time constant ten round-trip times of 100 ms, or of three
    /// times the link's delay where that is longer (ns-2's `q_weight_` of -1; Floyd, Gummadi and
    /// Shenker 2001, section 4.1).
    RoundTrips,
    /// The weight that gives this time constant (ns-2's 0 is one second, -2 a tenth).
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

/// How adaptive RED moves `max_p` (Floyd, Gummadi and Shenker 2001, section 3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveRed {
    /// Least time between two changes.
    pub interval: Duration,
    /// What is added, and at most a quarter of `max_p`.
    pub increase: f64,
    /// What it is multiplied with.
    pub decrease: f64,
    /// No further increase from here on.
    pub most_max_p: f64,
    /// No further decrease from here on. Where absent: 0.01, or one packet in a window of 1000-byte
    /// packets that fills the link for 100 ms, where that is less.
    pub least_max_p: Option<f64>,
}

impl Default for AdaptiveRed {
    /// The paper's values, and ns-2's.
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
