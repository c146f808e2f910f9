//! CoDel and FQ-CoDel.

use serde::{Deserialize, Serialize};
use skywave_path::{CoDelConfig, FqCoDelConfig};
use skywave_units::{Bytes, Duration};

use super::{MOST_PACKETS, ScenarioError, check, check_limit};

/// Queues of one FQ-CoDel, at most (Linux's limit too).
const MOST_FLOWS: u32 = 65_536;

/// CoDel's parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CoDelSpec {
    /// Packets that may wait: give this or `bytes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    /// Bytes that may wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// Acceptable standing delay.
    pub target: Duration,
    /// How long the delay must stay above the target before anything is dropped.
    pub interval: Duration,
    /// Whether packets that can be marked are marked instead of dropped.
    pub ecn: bool,
}

impl Default for CoDelSpec {
    fn default() -> Self {
        let CoDelConfig {
            target,
            interval,
            ecn,
        } = CoDelConfig::default();
        Self {
            packets: None,
            bytes: None,
            target,
            interval,
            ecn,
        }
    }
}

impl CoDelSpec {
    pub(super) fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        check_limit(self.packets, self.bytes, field)?;
        check_times(self.target, self.interval, field)
    }

    /// What the discipline is told.
    pub(crate) const fn config(&self) -> CoDelConfig {
        CoDelConfig {
            target: self.target,
            interval: self.interval,
            ecn: self.ecn,
        }
    }
}

/// FQ-CoDel's parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FqCoDelSpec {
    /// Packets that may wait, in all queues together.
    pub packets: u32,
    /// Queues into which flows are hashed.
    pub flows: u32,
    /// Bytes that each queue may send in a round.
    pub quantum: Bytes,
    /// Acceptable standing delay of each queue.
    pub target: Duration,
    /// How long the delay must stay above the target before anything is dropped.
    pub interval: Duration,
    /// Whether packets that can be marked are marked instead of dropped.
    pub ecn: bool,
}

impl Default for FqCoDelSpec {
    fn default() -> Self {
        let FqCoDelConfig {
            codel,
            limit,
            flows,
            quantum,
        } = FqCoDelConfig::default();
        Self {
            packets: limit,
            flows,
            quantum: Bytes::new(u64::from(quantum)),
            target: codel.target,
            interval: codel.interval,
            ecn: codel.ecn,
        }
    }
}

impl FqCoDelSpec {
    pub(super) fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        check(
            (1..=MOST_PACKETS).contains(&self.packets),
            &format!("{field}.packets"),
            || format!("{} packets: between 1 and {MOST_PACKETS}", self.packets),
        )?;
        check(
            (1..=MOST_FLOWS).contains(&self.flows),
            &format!("{field}.flows"),
            || format!("{} queues: between 1 and {MOST_FLOWS}", self.flows),
        )?;
        check(
            (64..=1_000_000).contains(&self.quantum.get()),
            &format!("{field}.quantum"),
            || format!("{}: between 64 B and 1 MB", self.quantum),
        )?;
        check_times(self.target, self.interval, field)
    }

    /// What the discipline is told.
    pub(crate) const fn config(&self) -> FqCoDelConfig {
        FqCoDelConfig {
            codel: CoDelConfig {
                target: self.target,
                interval: self.interval,
                ecn: self.ecn,
            },
            limit: self.packets,
            flows: self.flows,
            quantum: self.quantum.get() as u32,
        }
    }
}

fn check_times(target: Duration, interval: Duration, field: &str) -> Result<(), ScenarioError> {
    check(!target.is_zero(), &format!("{field}.target"), || {
        "0 s: give a time above zero".to_owned()
    })?;
    check(target < interval, &format!("{field}.interval"), || {
        format!("{interval} is not above `target`, {target}")
    })
}
