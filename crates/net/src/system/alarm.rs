//! A timer precise enough for pacing.
//!
//! The runtime's own timers have millisecond resolution, but at 100 Mbit/s a 1200-byte datagram
//! leaves every 96 µs. The kernel's timerfd fires within a few microseconds and is waited for like
//! a socket, so precision needs no busy loop.

use std::io;
use std::task::{Context, Poll, ready};

use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use skywave_units::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::system::registered::{Timer, registered};

/// A one-shot timer that any thread may set and one task waits for.
pub(crate) trait OneShot {
    /// Makes it fire after `delay`, replacing any earlier setting.
    fn set(&self, delay: Duration) -> io::Result<()>;

    /// Becomes ready when it has fired since the last call.
    fn poll_fired(&self, context: &mut Context<'_>) -> Poll<()>;
}

/// A timer of the system.
#[derive(Debug)]
pub(crate) struct Alarm(AsyncFd<Timer>);

impl Alarm {
    pub(crate) fn new() -> io::Result<Self> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        Ok(Self(registered(Timer(timer), Interest::READABLE)?))
    }
}

impl OneShot for Alarm {
    fn set(&self, delay: Duration) -> io::Result<()> {
        // Zero would stop the timer.
        let nanos = delay.as_nanos().max(1);
        let delay = TimeSpec::from_duration(std::time::Duration::from_nanos(nanos));
        let Timer(timer) = self.0.get_ref();
        timer.set(Expiration::OneShot(delay), TimerSetTimeFlags::empty())?;
        Ok(())
    }

    /// Treats both possible failures as pending: reading a timer only fails if it has not expired,
    /// and waiting only if the runtime shuts down, which drops the task.
    fn poll_fired(&self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let Ok(mut guard) = ready!(self.0.poll_read_ready(context)) else {
                return Poll::Pending;
            };
            let read = guard.try_io(|timer| Ok(timer.get_ref().0.wait()?));
            match read {
                Ok(Ok(())) => return Poll::Ready(()),
                Ok(Err(_)) => return Poll::Pending,
                Err(_would_block) => {}
            }
        }
    }
}
