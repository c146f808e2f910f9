//! Queue disciplines of a scenario.

use skywave_path::QueueSpec;

use crate::{Backend, Registry};
use crate::{Scenario, ScenarioError};

impl Scenario {
    /// Puts in what the queues' parameters leave out.
    pub(crate) fn complete_queues<B: Backend>(
        &mut self,
        registry: &Registry<B>,
    ) -> Result<(), ScenarioError> {
        if let Some(dumbbell) = &mut self.dumbbell {
            let back = dumbbell.back.as_mut();
            let back = back.and_then(|back| back.queue.as_mut());
            complete(&mut dumbbell.queue, back, "dumbbell", registry)?;
        }
        for (index, link) in self.links.iter_mut().enumerate() {
            let back = link.back.as_mut().and_then(|back| back.queue.as_mut());
            complete(&mut link.queue, back, &format!("links[{index}]"), registry)?;
        }
        Ok(())
    }
}

/// Both queues of a link.
fn complete<B: Backend>(
    queue: &mut QueueSpec,
    back: Option<&mut QueueSpec>,
    field: &str,
    registry: &Registry<B>,
) -> Result<(), ScenarioError> {
    let complete = |queue: &mut QueueSpec, field: String| match queue.complete(&registry.queues) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.within(&field).into()),
    };
    complete(queue, format!("{field}.queue"))?;
    back.map_or(Ok(()), |back| complete(back, format!("{field}.back.queue")))
}

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
