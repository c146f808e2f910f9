//! Profiles of protocols.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose rules a protocol follows where the RFCs leave a choice or a simulator departs from them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// The RFCs' recommendations.
    #[default]
    Rfc,
    /// ns-2.35, as shipped; the differences are listed in validation/ns2/README.md.
    Ns2,
}
