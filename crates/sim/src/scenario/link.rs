//! Links of a scenario.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use skywave_units::{Duration, Rate};

use super::check::{check_ends, check_rate};
use super::{LossSpec, QueueSpec, ScenarioError};

/// A link between two nodes; both directions unless `one_way`.
///
/// A direction is named after its ends: `r1->r2`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// The node at which the forward direction starts.
    pub from: String,
    /// The node at which it ends.
    pub to: String,
    /// Rate of each direction.
    pub rate: Rate,
    /// Propagation delay of each direction.
    pub delay: Duration,
    /// Queue of each direction.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Losses of the forward direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossSpec>,
    /// Whether there is no way back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub one_way: bool,
}

impl LinkSpec {
    /// The names of its directions.
    pub(super) fn directions(&self) -> impl Iterator<Item = String> + use<> {
        let back = (!self.one_way).then(|| format!("{}->{}", self.to, self.from));
        std::iter::once(format!("{}->{}", self.from, self.to)).chain(back)
    }

    pub(super) fn validate(
        &self,
        field: &str,
        nodes: &BTreeSet<String>,
    ) -> Result<(), ScenarioError> {
        check_ends(&self.from, &self.to, field, nodes)?;
        check_rate(self.rate, &format!("{field}.rate"))?;
        self.queue.validate(&format!("{field}.queue"))?;
        match &self.loss {
            Some(loss) => loss.validate(&format!("{field}.loss")),
            None => Ok(()),
        }
    }
}
