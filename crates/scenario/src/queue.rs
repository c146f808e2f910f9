//! Queue disciplines of a scenario.

use skywave_path::QueueSpec;

use crate::ScenarioError;
use crate::{Backend, Registry};

/// Whether the queue is known and its parameters are right.
pub(crate) fn check_queue<B: Backend>(
    queue: &QueueSpec,
    field: &str,
    registry: &Registry<B>,
) -> Result<(), ScenarioError> {
    match queue.read(&registry.queues) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.within(field).into()),
    }
}
