//! What belongs to the process that opened it, as Python holds it.

use pyo3::prelude::*;
use skywave_net::blocking;

use super::error::forked;
use crate::control::callback;

/// A value that belongs to this process, as Python holds it. It is dropped with the interpreter
/// released, because dropping a connection locks it, and the current owner of that lock may be
/// calling a control in Python, which needs the interpreter. While one is called, perhaps by this
/// thread, it is dropped in another thread.
pub(super) struct OfProcess<T: Send + 'static>(Option<blocking::OfProcess<T>>);

impl<T: Send + 'static> OfProcess<T> {
    pub(super) fn new(held: T) -> Self {
        Self(Some(blocking::OfProcess::new(held)))
    }

    /// Returns the held value. Use it with the interpreter released. Refuses a control's callback.
    pub(super) fn get(&self) -> PyResult<&T> {
        callback::refuse_here()?;
        self.look()
    }

    /// Returns the held value, for uses that lock nothing.
    pub(super) fn look(&self) -> PyResult<&T> {
        let held = self.0.as_ref();
        let held = held.expect("it holds something until it is dropped");
        held.get().map_err(forked)
    }
}

impl<T: Send + 'static> Drop for OfProcess<T> {
    fn drop(&mut self) {
        let held = self.0.take();
        if held.as_ref().is_some_and(|held| held.get().is_err()) {
            // A fork does not drop it, so nothing is locked.
            return;
        }
        // A program that is about to end has no interpreter to release.
        let _ended = Python::try_attach(|py| {
            if callback::is_any_running() {
                callback::elsewhere(py, || drop(held));
            } else {
                py.detach(|| drop(held));
            }
        });
    }
}
