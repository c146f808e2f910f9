//! What the words of a scenario stand for.

use skywave_path::Queues;

use crate::packet::Frame;

/// The open sets that a scenario chooses from by name.
///
/// [`Registry::default`] holds what this crate comes with. A member of one's own is registered by
/// the same functions as those are, and a scenario then names it as it names them.
#[derive(Clone, Debug)]
pub struct Registry {
    /// The queue disciplines.
    pub queues: Queues<Frame>,
}

impl Default for Registry {
    fn default() -> Self {
        let mut queues = Queues::new("queue discipline");
        skywave_path::register_built_in(&mut queues);
        Self { queues }
    }
}
