//! The queue disciplines of a scenario.

use skywave_path::QueueSpec;

use crate::ScenarioError;
use crate::{Backend, Registry};

/// Checks that the queue discipline is registered and its parameters are valid.
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
