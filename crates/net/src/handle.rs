//! What an endpoint and its listeners hold in common.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::flow::Shared;

/// What keeps the driver running, beside connections.
#[derive(Debug)]
pub(crate) struct Handle {
    pub(crate) shared: Arc<Shared>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.is_orphaned.store(true, Ordering::Release);
        self.shared.wake_driver();
    }
}
