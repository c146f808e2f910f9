//! Sub-queues that share a link by weight.

use serde::{Deserialize, Serialize};

use super::{QueueSpec, ScenarioError, check};
use crate::packet::CLASSES;

/// The largest weight. The smallest sub-queue waits while the others send so many packets.
const MOST_WEIGHT: u32 = 1000;

/// Sub-queues in the order of the traffic classes that they serve; flows say their `class`. Classes
/// beyond the last sub-queue share it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightedSpec {
    /// The sub-queues.
    pub queues: Vec<SubQueueSpec>,
}

/// One sub-queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubQueueSpec {
    /// Its share of the link while all have packets waiting, relative to the others' weights.
    pub weight: u32,
    /// Its discipline.
    #[serde(default)]
    pub queue: QueueSpec,
}

impl WeightedSpec {
    pub(super) fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        let count = self.queues.len();
        check(
            (1..=CLASSES).contains(&count),
            &format!("{field}.queues"),
            || format!("{count} sub-queues: between 1 and {CLASSES}, one for each class"),
        )?;
        for (index, sub) in self.queues.iter().enumerate() {
            let field = format!("{field}.queues[{index}]");
            check(
                (1..=MOST_WEIGHT).contains(&sub.weight),
                &format!("{field}.weight"),
                || format!("{}: between 1 and {MOST_WEIGHT}", sub.weight),
            )?;
            let field = format!("{field}.queue");
            check(!matches!(sub.queue, QueueSpec::Weighted(_)), &field, || {
                "a weighted queue has no weighted sub-queues: name all in the outer one".to_owned()
            })?;
            sub.queue.validate(&field)?;
        }
        Ok(())
    }
}
