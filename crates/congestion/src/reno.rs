//! The control `reno`: TCP as in RFC 5681.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Aimd, AimdConfig, AnyControl, ControlContext, ControlKind, DecreaseLaw, GrowthLaw};

/// Parameters of the control `reno`.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Reno")]
#[serde(deny_unknown_fields, default)]
pub struct RenoParameters {
    /// Whether the first slow start may end before a loss, because delays grow: HyStart++
    /// (draft-ietf-tcpm-hystartplusplus-04, which became RFC 9406).
    pub hystart: bool,
}

impl RenoParameters {
    /// Returns the window of a new connection.
    pub(crate) fn config(context: &ControlContext) -> AimdConfig {
        let laws = if context.ns2 {
            // The initial ssthresh comes from the context.
            AimdConfig::ns2_tcp(0)
        } else if context.linux {
            AimdConfig {
                growth: GrowthLaw::PerPacket { limit: u32::MAX },
                decrease: DecreaseLaw::Linux,
                ..AimdConfig::rfc5681(context.packet_size)
            }
        } else {
            AimdConfig::rfc5681(context.packet_size)
        };
        AimdConfig {
            initial_cwnd: context.initial_cwnd,
            initial_ssthresh: context.initial_ssthresh,
            ..laws
        }
    }
}

impl ControlKind for RenoParameters {
    fn build(&self, context: &ControlContext) -> AnyControl {
        let config = AimdConfig {
            hystart: self.hystart,
            ..Self::config(context)
        };
        Aimd::new(config).into()
    }
}
