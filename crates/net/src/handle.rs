//! The common part of endpoints and listeners.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::flow::Shared;

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
