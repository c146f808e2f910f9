//! The kinds of members that a scenario may have in Python.

use skywave_scenario::{Backend, Registry};

use crate::control::{Place, look_for_controls};
use crate::losses::look_for_losses;
use crate::member::Live;
use crate::queue::look_for_queues;
use crate::source::look_for_sources;

/// Makes a registry find members in Python too, by `module:Class`: the classes in `live`, and others
/// by importing their modules.
pub(crate) fn look_in_python<B: Backend>(registry: &mut Registry<B>, live: Live<'_>) {
    look_for_controls(&mut registry.controls, live.clone(), Place::Simulator);
    look_for_queues(&mut registry.queues, live.clone());
    look_for_losses(&mut registry.losses, live.clone());
    look_for_sources(&mut registry.sources, live);
}
