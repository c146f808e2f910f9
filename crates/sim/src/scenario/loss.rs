//! Losses of a scenario's links.

use serde::{Deserialize, Serialize};

use super::ScenarioError;
use super::check::check;

/// Losses that are not the queue's.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossSpec {
    /// The packets with these arrival ordinals at the link, counted from 1.
    Packets(Vec<u64>),
}

impl LossSpec {
    pub(super) fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        match self {
            Self::Packets(ordinals) => {
                check(!ordinals.contains(&0), &format!("{field}.packets"), || {
                    "packets are counted from 1: there is no packet 0".to_owned()
                })
            }
        }
    }
}
