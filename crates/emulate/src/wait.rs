//! Waiting for packets and for deadlines.

use std::io;

use nix::sys::prctl::set_timerslack;
use rustix::event::{PollFd, Timespec, poll};
use rustix::io::Errno;
use skywave_units::{Duration, Instant};

use crate::Clock;

/// How long before a deadline a driver that spins stops sleeping: usually longer than the system
/// needs to wake it.
const SPIN: Duration = Duration::from_micros(200);

/// Asks the system to wake the calling thread as exactly as it can. By default, it wakes threads up
/// to 50 us late.
pub fn wake_exactly() {
    let _ = set_timerslack(1);
}

/// Waits until one of these is ready, or until the deadline. With `spins`, it does not sleep for the
/// last 200 us before the deadline. Returns whether any is ready; a signal counts as that too.
///
/// # Errors
/// The system's.
pub fn wait(
    waiting: &mut [PollFd<'_>],
    clock: Clock,
    deadline: Instant,
    spins: bool,
) -> io::Result<bool> {
    let mut sleep = deadline.saturating_since(clock.now());
    if spins {
        sleep = sleep.saturating_sub(SPIN);
    }
    let seconds = sleep.as_nanos() / 1_000_000_000;
    let mut timeout = Timespec {
        tv_sec: seconds as i64,
        tv_nsec: (sleep.as_nanos() - seconds * 1_000_000_000) as i64,
    };
    loop {
        match poll(waiting, Some(&timeout)) {
            Ok(0) if spins && clock.now() < deadline => timeout = Timespec::default(),
            Ok(ready) => return Ok(ready > 0),
            Err(Errno::INTR) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
}
