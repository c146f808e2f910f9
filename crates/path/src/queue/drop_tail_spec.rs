//! The parameters of drop-tail, and of the queue that is never full.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_units::Bytes;

use super::{AnyQueue, Checked, Conduct, DropTail, Head, Limit, QueueKind};

/// How much a drop-tail queue holds: packets or bytes, one of the two.
///
/// The packet in transmission does not count. (An ns-2 `queue-limit` of 20 is 19 here.)
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "DropTail")]
#[serde(deny_unknown_fields)]
pub struct DropTailSpec {
    /// Packets that may wait.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    /// Bytes that may wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
}

impl DropTailSpec {
    pub(super) fn kind<P>(self) -> Checked<P> {
        let limit = Limit::from_parameters(self.packets, self.bytes)?;
        Ok(Arc::new(Kind(limit)))
    }
}

/// A queue that is never full has no parameters.
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
