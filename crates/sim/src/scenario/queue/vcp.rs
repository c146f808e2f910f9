//! A VCP or MPCP router's queue.

use serde::{Deserialize, Serialize};
use skywave_congestion::load::{MAX_PACKETS, Marker, MeterConfig, QueueAverage};
use skywave_units::{Bytes, Duration};

use super::{ScenarioError, check, check_limit};
use crate::scenario::vcp::chain_range;

/// A drop-tail queue that writes its link's load factor on what leaves. The link's nominal rate is
/// what load is compared with; a weighted sub-queue's share of it, where it is one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VcpRouterSpec {
    /// Packets that may wait: give this or `bytes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    /// Bytes that may wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// t_rho: how often the load factor is computed.
    pub interval: Duration,
    /// t_q: how often the queue is sampled.
    pub sampling: Duration,
    /// kappa_q: the share of the persistent queue that counts as load.
    pub queue_share: f64,
    /// gamma: the target utilisation.
    pub target_utilisation: f64,
    /// How the persistent queue is averaged.
    pub average: QueueAverageSpec,
    /// How many packets tell a load factor: 1 for VCP, n for MPCP(n).
    pub chain: u8,
    /// Flows of which a router remembers where their chains stand, where they have more than one
    /// packet; further ones take over the memory of others.
    pub flows: u32,
}

/// Flows that a router remembers by default: 64 KiB.
const FLOWS: u32 = 4096;
/// Flows that it may be asked to remember: 16 MiB.
const MOST_FLOWS: u32 = 1 << 20;

/// How a VCP router averages its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueAverageSpec {
    /// Each sample by 1/8 (Chen, Yang and Hong 2010).
    Samples,
    /// The mean of an interval's samples by 1/4 (VCP's authors' code for ns-2).
    Means,
}

impl Default for VcpRouterSpec {
    fn default() -> Self {
        let defaults = MeterConfig::default();
        Self {
            packets: None,
            bytes: None,
            interval: defaults.interval,
            sampling: defaults.sampling,
            queue_share: defaults.queue_share,
            target_utilisation: defaults.target,
            average: QueueAverageSpec::Samples,
            chain: 1,
            flows: FLOWS,
        }
    }
}

impl VcpRouterSpec {
    pub(super) fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        check_limit(self.packets, self.bytes, field)?;
        let Self {
            interval,
            sampling,
            queue_share,
            target_utilisation: target,
            chain,
            flows,
            ..
        } = *self;
        check(
            (1..=MAX_PACKETS).contains(&chain),
            &format!("{field}.chain"),
            || chain_range(chain),
        )?;
        check(
            (1..=MOST_FLOWS).contains(&flows),
            &format!("{field}.flows"),
            || format!("{flows} flows to remember: 1 to {MOST_FLOWS}"),
        )?;
        check(
            !sampling.is_zero() && sampling <= interval,
            &format!("{field}.sampling"),
            || {
                format!(
                    "{sampling} between samples: above zero, at most the interval of {interval}"
                )
            },
        )?;
        check(
            target > 0.0 && target <= 1.0,
            &format!("{field}.target_utilisation"),
            || format!("{target}: above 0, at most 1"),
        )?;
        check(
            (0.0..=1.0).contains(&queue_share),
            &format!("{field}.queue_share"),
            || format!("{queue_share}: between 0 and 1"),
        )
    }

    /// What the router writes by.
    pub(crate) fn marker(&self) -> Marker {
        Marker::new(self.chain, self.flows as usize)
    }

    /// What the router measures by.
    pub(crate) const fn config(&self) -> MeterConfig {
        MeterConfig {
            interval: self.interval,
            sampling: self.sampling,
            queue_share: self.queue_share,
            target: self.target_utilisation,
            average: match self.average {
                QueueAverageSpec::Samples => QueueAverage::Samples,
                QueueAverageSpec::Means => QueueAverage::Means,
            },
        }
    }
}
