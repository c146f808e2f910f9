//! Profiles of protocols.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rules that apply where the RFCs leave a choice or ns-2 departs from them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// The RFCs' recommendations.
    #[default]
    Rfc,
    /// ns-2.35, as shipped. validation/ns2/README.md lists the differences.
    Ns2,
}
