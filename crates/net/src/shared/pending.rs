//! The connections that have left their sending to a driver, and the driver's waker.

use std::sync::Arc;
use std::task::Waker;

use crate::sync::{Mutex, locked};

/// The connections for which a driver must send, and its waker.
#[derive(Debug)]
pub(crate) struct Pending<F> {
    flows: Mutex<Vec<Arc<F>>>,
    driver: Mutex<Option<Waker>>,
}

impl<F> Default for Pending<F> {
    fn default() -> Self {
        Self {
            flows: Mutex::default(),
            driver: Mutex::default(),
        }
    }
}

impl<F> Pending<F> {
    /// Leaves it to the driver to send the packets that `flow` has queued.
    pub(crate) fn defer(&self, flow: Arc<F>) {
        let mut flows = locked(&self.flows);
        flows.push(flow);
        let is_first = flows.len() == 1;
        drop(flows);
        if is_first {
            self.wake();
        }
    }

    /// Takes the connections left to the driver.
    pub(crate) fn take(&self, into: &mut Vec<Arc<F>>) {
        core::mem::swap(&mut *locked(&self.flows), into);
    }

    pub(crate) fn is_empty(&self) -> bool {
        locked(&self.flows).is_empty()
    }

    /// Wakes the driver.
    pub(crate) fn wake(&self) {
        if let Some(waker) = &*locked(&self.driver) {
            waker.wake_by_ref();
        }
    }

    /// Sets the waker to use from now on. The driver calls this before it looks for work, so that
    /// work arriving later wakes it.
    pub(crate) fn driven_by(&self, waker: &Waker) {
        let mut driver = locked(&self.driver);
        if !driver.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *driver = Some(waker.clone());
        }
    }
}
