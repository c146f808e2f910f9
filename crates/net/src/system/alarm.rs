//! A timer precise enough for pacing.
//!
//! The runtime's own timers have millisecond resolution, but at 100 Mbit/s a 1200-byte datagram
//! leaves every 96 µs. The kernel's timerfd fires within a few microseconds and is waited for like
//! a socket, so precision needs no busy loop.

use std::io;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll, ready};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use skywave_units::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::system::registered::registered;

/// A one-shot timer that any thread may set and one task waits for.
pub(crate) trait OneShot {
    /// Makes it fire after `delay`, replacing any earlier setting.
    fn set(&self, delay: Duration) -> io::Result<()>;

    /// Ready if it has fired since the last call.
    fn poll_fired(&self, context: &mut Context<'_>) -> Poll<()>;
}

/// A timer of the system.
#[derive(Debug)]
pub(crate) struct Alarm(AsyncFd<OwnedFd>);

impl Alarm {
    pub(crate) fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Self(registered(timer, Interest::READABLE)?))
    }
}

impl OneShot for Alarm {
    fn set(&self, delay: Duration) -> io::Result<()> {
        // Zero would stop the timer.
        let nanos = delay.as_nanos().max(1);
        let spec = Itimerspec {
            it_interval: Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: Timespec {
                tv_sec: i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX),
                tv_nsec: (nanos % 1_000_000_000) as _,
            },
        };
        timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::empty(), &spec)?;
        Ok(())
    }

    /// Reading a timer only fails if it has not expired; waiting only fails if the runtime shuts
    /// down, which drops the task. Both are treated as pending.
    fn poll_fired(&self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let Ok(mut guard) = ready!(self.0.poll_read_ready(context)) else {
                return Poll::Pending;
            };
            let read = guard.try_io(|timer| {
                let mut expirations = [0; 8];
                rustix::io::read(timer.get_ref(), &mut expirations)?;
                Ok(())
            });
            match read {
                Ok(Ok(())) => return Poll::Ready(()),
                Ok(Err(_)) => return Poll::Pending,
                Err(_would_block) => {}
            }
        }
    }
}
