//! The locks and atomics of this crate: the standard library's, or loom's in `make loom`, which runs
//! tests under every order in which threads may take their steps.
//!
//! `Arc` and tokio's `Notify` are always the real ones. Loom sees no choice inside them.

#[cfg(all(test, feature = "loom"))]
mod imp {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};
    pub(crate) use loom::sync::{Mutex, MutexGuard};
}

#[cfg(not(all(test, feature = "loom")))]
mod imp {
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};
    pub(crate) use std::sync::{Mutex, MutexGuard};
}

use std::sync::PoisonError;
pub(crate) use std::sync::atomic::Ordering;

pub(crate) use imp::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Mutex, MutexGuard};

/// Locks a mutex even if another thread panicked while holding it: a fault in one connection must
/// not take the others down.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
