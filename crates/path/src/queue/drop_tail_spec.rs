//! Parameters of drop-tail, and of the unlimited queue.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_units::Bytes;

use super::{AnyQueue, Checked, Conduct, DropTail, Head, Limit, QueueKind};

/// The capacity of a drop-tail queue, in packets or in bytes.
///
/// The packet in transmission does not count. (An ns-2 `queue-limit` of 20 is 19 here.)
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "DropTail")]
#[serde(deny_unknown_fields)]
pub struct DropTailSpec {
    /// Capacity in packets.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    /// Capacity in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
}

impl DropTailSpec {
    pub(super) fn kind<P>(self) -> Checked<P> {
        let limit = Limit::from_parameters(self.packets, self.bytes)?;
        Ok(Arc::new(Kind(limit)))
    }
}

/// The unlimited queue has no parameters.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Unlimited")]
#[serde(deny_unknown_fields)]
pub(super) struct UnlimitedSpec {}

impl UnlimitedSpec {
    pub(super) fn kind<P>(self) -> Checked<P> {
        Ok(Arc::new(Kind(Limit::Unlimited)))
    }
}

struct Kind(Limit);

impl<P> QueueKind<P> for Kind {
    fn conduct(&self) -> Conduct {
        Conduct::fifo(self.0)
    }

    fn build(&self, _head: &Head<'_>) -> AnyQueue<P> {
        DropTail::new(self.0).into()
    }
}
