//! The common part of endpoints and listeners.

use std::sync::Arc;

use crate::flow::Shared;
use crate::sync::Ordering;

/// Keeps the drivers running, as connections do.
#[derive(Debug)]
pub(crate) struct Handle {
    pub(crate) shared: Arc<Shared>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.is_orphaned.store(true, Ordering::Release);
        self.shared.wake_drivers();
    }
}
