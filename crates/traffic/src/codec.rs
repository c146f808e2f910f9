//! Speech codecs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A speech codec whose effect on the quality of a call is known (ITU-T G.113 Appendix I).
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub enum Codec {
    /// G.711 with concealment of lost packets.
    #[serde(rename = "g711")]
    G711,
    /// G.729A.
    #[serde(rename = "g729a")]
    G729A,
    /// G.723.1 at 6.3 kbit/s.
    #[serde(rename = "g723.1")]
    G7231,
}

impl Codec {
    /// Returns its name in scenarios and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::G711 => "g711",
            Self::G729A => "g729a",
            Self::G7231 => "g723.1",
        }
    }
}
