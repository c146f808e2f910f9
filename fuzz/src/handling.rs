//! Where the handling of packets begins and ends, so that its cost can be told from that of a
//! target's own work: decoding its input, and checking what happened.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static PACKETS: AtomicUsize = AtomicUsize::new(0);

/// How callgrind knows [`handle`].
pub const FUNCTION: &str = "*handling::handle*";

/// Handles so many packets. Callgrind collects instructions while this function runs, so it must
/// be called, even where it could be inlined, and must not call itself.
#[inline(never)]
pub fn handle<T>(packets: usize, work: impl FnOnce() -> T) -> T {
    let answer = work();
    PACKETS.fetch_add(packets, Relaxed);
    answer
}

/// How many packets have been handled since the last call.
pub fn take_count() -> usize {
    PACKETS.swap(0, Relaxed)
}
