//! Values that belong to the process that opened them.

use std::mem::forget;
use std::process::id;

use thiserror::Error;

/// The value belongs to the process that this one was forked from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "it belongs to process {opener}, and this process ({here}) is its fork: open an endpoint \
     here, and use its connections"
)]
#[non_exhaustive]
pub struct Forked {
    /// The id of the process that opened the value.
    pub opener: u32,
    /// The id of this process.
    pub here: u32,
}

impl Forked {
    /// Checks that this process has the id `opener`.
    pub(super) fn check(opener: u32) -> Result<(), Self> {
        let here = id();
        if here == opener {
            Ok(())
        } else {
            Err(Self { opener, here })
        }
    }
}

/// A value, such as an endpoint or a connection, that belongs to the process that made it. A fork
/// cannot use the value, and does not drop it.
#[derive(Debug)]
pub struct OfProcess<T> {
    /// `None` only while it is dropped.
    held: Option<T>,
    opener: u32,
}

impl<T> OfProcess<T> {
    /// Makes `held` a value of this process.
    pub fn new(held: T) -> Self {
        Self {
            held: Some(held),
            opener: id(),
        }
    }

    /// Returns the value.
    ///
    /// # Errors
    ///
    /// This process is a fork of the one that made it.
    pub fn get(&self) -> Result<&T, Forked> {
        Forked::check(self.opener)?;
        Ok(self
            .held
            .as_ref()
            .expect("it holds something until it is dropped"))
    }
}

impl<T> Drop for OfProcess<T> {
    fn drop(&mut self) {
        if Forked::check(self.opener).is_err() {
            forget(self.held.take());
        }
    }
}
