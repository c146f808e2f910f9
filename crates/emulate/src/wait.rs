//! Waiting for packets and for deadlines.

use std::io;

use nix::errno::Errno;
use nix::poll::{PollFd, ppoll};
use nix::sys::prctl::set_timerslack;
use nix::sys::time::TimeSpec;
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
    let mut timeout = TimeSpec::from_duration(std::time::Duration::from_nanos(sleep.as_nanos()));
    loop {
        match ppoll(waiting, Some(timeout), None) {
            Ok(0) if spins && clock.now() < deadline => timeout = TimeSpec::new(0, 0),
            Ok(ready) => return Ok(ready > 0),
            Err(Errno::EINTR) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
}
