//! File descriptors watched by the runtime.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Lets the current runtime watch `descriptor`, which must be non-blocking.
#[allow(unsafe_code)]
pub(crate) fn registered(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` owns an open descriptor and refers to the same one for its whole life,
    // and nothing takes it out of the `AsyncFd`. The runtime requires this because it keeps the
    // descriptor's number.
    let watched = unsafe { AsyncFd::register_with_interest(descriptor, interest) };
    Ok(watched?)
}
