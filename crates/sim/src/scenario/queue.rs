//! Queue disciplines of a scenario.

use serde::{Deserialize, Serialize};
use skywave_units::Bytes;

use super::ScenarioError;
use super::check::check;

/// A queue discipline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueueSpec {
    /// First in, first out, never full.
    #[default]
    Unlimited,
    /// First in, first out; drops what does not fit.
    DropTail(DropTailSpec),
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
        let QueueSpec::DropTail(DropTailSpec { packets, bytes }) = self else {
            return Ok(());
        };
        let field = format!("{field}.drop-tail");
        check(packets.is_some() != bytes.is_some(), &field, || {
            "give either `packets` or `bytes`".to_owned()
        })?;
        check(*packets != Some(0), &format!("{field}.packets"), || {
            "a queue of 0 packets holds nothing: use 1 or more, or leave the queue out".to_owned()
        })?;
        check(
            bytes.is_none_or(|bytes| bytes.get() > 0),
            &format!("{field}.bytes"),
            || "a queue of 0 B holds nothing: give more, or leave the queue out".to_owned(),
        )
    }
}
