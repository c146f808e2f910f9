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

/// The longest sleep that is left to the system. It ends a sleep up to a thousandth of its length late,
/// or a two-hundredth if the process is niced (`select_estimate_accuracy`), whatever the thread asks for.
const LONG: Duration = Duration::from_millis(2);

/// A longer sleep is cut short by this fraction and followed by another one.
const EARLIER: u64 = 100;

/// Asks the system to wake the calling thread as exactly as it can. By default, it wakes threads up
/// to 50 us late.
pub fn wake_exactly() {
    let _ = set_timerslack(1);
}

/// Waits until one of these is ready, or until the deadline, and looks at the clock. With `spins`, it
/// does not sleep for the last 200 us before the deadline. Returns whether any is ready; a signal counts
/// as that too.
///
/// # Errors
/// The system's.
pub fn wait(
    waiting: &mut [PollFd<'_>],
    clock: &mut Clock,
    deadline: Instant,
    spins: bool,
) -> io::Result<bool> {
    loop {
        let left = deadline.saturating_since(clock.now());
        let mut sleep = left;
        if spins {
            sleep = left.saturating_sub(SPIN);
        } else if left > LONG {
            sleep = left - left / EARLIER;
        }
        let timeout = TimeSpec::from_duration(std::time::Duration::from_nanos(sleep.as_nanos()));
        let ready = ppoll(waiting, Some(timeout), None);
        clock.look();
        match ready {
            Ok(0) if sleep < left && clock.now() < deadline => {}
            Ok(ready) => return Ok(ready > 0),
            Err(Errno::EINTR) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
}
