//! PIE.

use serde::{Deserialize, Serialize};
use skywave_path::PieConfig;
use skywave_units::{Bytes, Duration};

use super::{ScenarioError, check, check_limit, check_mean_packet};

/// Shorter periods would be updates and little else.
const LEAST_UPDATE: Duration = Duration::from_micros(1);

/// PIE's parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PieSpec {
    /// Packets that may wait: give this or `bytes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    /// Bytes that may wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// The delay aimed at.
    pub target: Duration,
    /// How often the drop probability is computed.
    pub update: Duration,
    /// How long a burst goes unpunished.
    pub max_burst: Duration,
    /// Size of a mean packet; nothing is dropped while no more than two such packets wait.
    pub mean_packet: Bytes,
    /// Whether packets that can be marked are marked instead of dropped, while drops are rare.
    pub ecn: bool,
    /// Whether drops are kept from bunching (RFC 8033 section 5.4).
    pub derandomise: bool,
    /// Whether a high drop probability rises by small steps only (RFC 8033 section 5.5).
    pub cap: bool,
}

impl Default for PieSpec {
    fn default() -> Self {
        let defaults = PieConfig::default();
        Self {
            packets: None,
            bytes: None,
            target: defaults.target,
            update: defaults.update,
            max_burst: defaults.max_burst,
            mean_packet: Bytes::new(u64::from(defaults.mean_packet)),
            ecn: defaults.ecn,
            derandomise: defaults.derandomise,
            cap: defaults.cap,
        }
    }
}

impl PieSpec {
    pub(super) fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        check_limit(self.packets, self.bytes, field)?;
        check_mean_packet(self.mean_packet, field)?;
        check(!self.target.is_zero(), &format!("{field}.target"), || {
            "0 s: give a time above zero".to_owned()
        })?;
        check(
            self.update >= LEAST_UPDATE,
            &format!("{field}.update"),
            || format!("{} between updates: at least {LEAST_UPDATE}", self.update),
        )
    }

    /// What the discipline is told.
    pub(crate) const fn config(&self) -> PieConfig {
        PieConfig {
            target: self.target,
            update: self.update,
            max_burst: self.max_burst,
            mean_packet: self.mean_packet.get() as u32,
            ecn: self.ecn,
            derandomise: self.derandomise,
            cap: self.cap,
        }
    }
}
