//! What belongs to the process that opened it.
//!
//! A fork inherits sockets and memory, but none of the threads that drive connections; locks may be
//! held by a thread that it does not have. Packets of two processes on one connection would break
//! it for both. So a fork may neither use nor end what it inherits.

use std::mem::forget;
use std::process;

use pyo3::prelude::*;

use super::error::ForkedError;
use crate::control::callback;

/// Something of this process, as Python holds it. It is dropped with the interpreter released,
/// because dropping a connection locks it, and the current owner of that lock may be calling a
/// control in Python, which needs the interpreter. While one is called, perhaps by this thread, it
/// is dropped in another thread.
pub(super) struct OfProcess<T: Send + 'static> {
    held: Option<T>,
    opener: u32,
}

impl<T: Send + 'static> OfProcess<T> {
    pub(super) fn new(held: T) -> Self {
        Self {
            held: Some(held),
            opener: process::id(),
        }
    }

    /// What is held. Use it with the interpreter released. A control's callback is refused.
    pub(super) fn get(&self) -> PyResult<&T> {
        callback::refuse_here()?;
        self.look()
    }

    /// What is held, for what locks nothing.
    pub(super) fn look(&self) -> PyResult<&T> {
        check(self.opener)?;
        Ok(self
            .held
            .as_ref()
            .expect("it holds something until it is dropped"))
    }
}

impl<T: Send + 'static> Drop for OfProcess<T> {
    fn drop(&mut self) {
        let held = self.held.take();
        if check(self.opener).is_err() {
            forget(held);
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

/// Checks that this process is the one with the id `opener`, and not a fork of it.
pub(super) fn check(opener: u32) -> PyResult<()> {
    let here = process::id();
    if here == opener {
        return Ok(());
    }
    Err(ForkedError::new_err(format!(
        "it belongs to process {opener}, of which this process ({here}) is a fork: open an \
         endpoint here, and use its connections"
    )))
}
