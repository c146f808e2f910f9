//! File descriptors watched by the runtime.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use nix::sys::timerfd::TimerFd;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// An owner of an open descriptor, which refers to the same one for its whole lifetime. The trait
/// is implemented in this file only.
pub(crate) trait Owner: AsRawFd {}

impl Owner for OwnedFd {}

/// A timer of the system.
#[derive(Debug)]
pub(crate) struct Timer(pub(crate) TimerFd);

impl AsRawFd for Timer {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

impl Owner for Timer {}

/// Lets the current runtime watch `descriptor`, which must be non-blocking.
#[allow(unsafe_code)]
pub(crate) fn registered<T: Owner>(descriptor: T, interest: Interest) -> io::Result<AsyncFd<T>> {
    // SAFETY: an `Owner` owns an open descriptor and refers to the same one for its whole lifetime,
    // and nothing takes it out of the `AsyncFd`. The runtime requires this because it keeps the
    // descriptor's number.
    let watched = unsafe { AsyncFd::register_with_interest(descriptor, interest) };
    Ok(watched?)
}
