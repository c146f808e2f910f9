//! Queue disciplines of a scenario.

mod codel;
mod pie;
mod red;
mod vcp;
mod weighted;

pub use codel::{CoDelSpec, FqCoDelSpec};
pub use pie::PieSpec;
pub use red::RedSpec;
pub use vcp::{QueueAverageSpec, VcpRouterSpec};
pub use weighted::{SubQueueSpec, WeightedSpec};

use serde::{Deserialize, Serialize};
use skywave_units::Bytes;

use super::ScenarioError;
use super::check::check;

/// Packets that a queue may be asked to hold: all of them take memory at one instant.
const MOST_PACKETS: u32 = 10_000_000;

/// A queue discipline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueueSpec {
    /// First in, first out, never full.
    #[default]
    Unlimited,
    /// First in, first out; drops what does not fit.
    DropTail(DropTailSpec),
    /// Drops or marks at random, by the average queue.
    Red(RedSpec),
    /// RED that adapts its drop probability to a target (Floyd, Gummadi and Shenker 2001).
    AdaptiveRed(RedSpec),
    /// Drops or marks what has waited too long for too long (RFC 8289).
    #[serde(rename = "codel")]
    CoDel(CoDelSpec),
    /// A CoDel queue for each flow, served in turn (RFC 8290).
    #[serde(rename = "fq-codel")]
    FqCoDel(FqCoDelSpec),
    /// Drops or marks at random, by the delay (RFC 8033).
    Pie(PieSpec),
    /// First in, first out; writes its link's load factor on packets (VCP).
    Vcp(VcpRouterSpec),
    /// A sub-queue for each class of traffic, which share the link by weight.
    Weighted(WeightedSpec),
}

/// How much a drop-tail queue holds: packets or bytes, one of the two.
///
/// The packet in transmission does not count. (An ns-2 `queue-limit` of 20 is 19 here.)
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DropTailSpec {
    /// Packets that may wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    /// Bytes that may wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
}

impl QueueSpec {
    pub(super) fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        match self {
            Self::Unlimited => Ok(()),
            Self::DropTail(spec) => {
                check_limit(spec.packets, spec.bytes, &format!("{field}.drop-tail"))
            }
            Self::Red(spec) => spec.validate(&format!("{field}.red")),
            Self::AdaptiveRed(spec) => spec.validate(&format!("{field}.adaptive-red")),
            Self::CoDel(spec) => spec.validate(&format!("{field}.codel")),
            Self::FqCoDel(spec) => spec.validate(&format!("{field}.fq-codel")),
            Self::Pie(spec) => spec.validate(&format!("{field}.pie")),
            Self::Vcp(spec) => spec.validate(&format!("{field}.vcp")),
            Self::Weighted(spec) => spec.validate(&format!("{field}.weighted")),
        }
    }
}

/// A limit is in packets or in bytes, and not zero.
fn check_limit(
    packets: Option<u32>,
    bytes: Option<Bytes>,
    field: &str,
) -> Result<(), ScenarioError> {
    check(packets.is_some() != bytes.is_some(), field, || {
        "give either `packets` or `bytes`".to_owned()
    })?;
    check(packets != Some(0), &format!("{field}.packets"), || {
        "a queue of 0 packets holds nothing: use 1 or more, or leave the queue out".to_owned()
    })?;
    check(
        bytes.is_none_or(|bytes| bytes.get() > 0),
        &format!("{field}.bytes"),
        || "a queue of 0 B holds nothing: give more, or leave the queue out".to_owned(),
    )
}

/// The size of a mean packet.
fn check_mean_packet(size: Bytes, field: &str) -> Result<(), ScenarioError> {
    check(
        (1..=65_535).contains(&size.get()),
        &format!("{field}.mean_packet"),
        || format!("{size} is not a packet: between 1 B and 65535 B"),
    )
}
