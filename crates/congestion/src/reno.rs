//! The control `reno`: TCP as in RFC 5681.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Aimd, AimdConfig, AnyControl, ControlContext, ControlKind};

/// Parameters of the control `reno`; there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Reno")]
#[serde(deny_unknown_fields)]
pub struct RenoParameters {}

impl RenoParameters {
    /// Returns the window of a new connection.
    pub(crate) fn config(context: &ControlContext) -> AimdConfig {
        let laws = if context.ns2 {
            // The initial ssthresh comes from the context.
            AimdConfig::ns2_tcp(0)
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
        Aimd::new(Self::config(context)).into()
    }
}
