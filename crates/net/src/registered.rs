//! File descriptors that the runtime watches.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Has the current runtime watch `descriptor`, which must not block.
#[allow(unsafe_code)]
pub(crate) fn registered(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` owns an open descriptor, and names the same one as long as it lives;
    // nothing takes it out of the `AsyncFd`. The runtime asks for this promise because it keeps the
    // descriptor's number.
    let watched = unsafe { AsyncFd::register_with_interest(descriptor, interest) };
    Ok(watched?)
}
