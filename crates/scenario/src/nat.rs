//! Network address translators.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A NAT in front of both directions of a link: what it does to TCP segments besides translating
/// addresses and ports, which nothing in a simulation reads. It leaves DCCP and UDP alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Nat")]
#[serde(deny_unknown_fields, default)]
pub struct NatSpec {
    /// Whether it tracks connections and drops segments whose sequence or acknowledgement number is
    /// outside the window, as stateful packet filters do (van Rooij, "Real Stateful TCP Packet
    /// Filtering in IP Filter", 2000).
    pub tracking: bool,
    /// How it updates TCP's checksum.
    pub checksum: NatChecksum,
}

/// How a NAT updates TCP's checksum after it has translated addresses and ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NatChecksum {
    /// By the difference that the translation makes (RFC 3022 section 4.2). A checksum that the
    /// sender made wrong on purpose stays wrong by the same amount.
    #[default]
    Adjusted,
    /// From scratch, as with checksum offload. A checksum that was wrong on purpose becomes right.
    Recomputed,
}

impl Default for NatSpec {
    fn default() -> Self {
        Self {
            tracking: true,
            checksum: NatChecksum::default(),
        }
    }
}
