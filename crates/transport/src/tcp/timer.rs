//! A timer that is restarted far more often than it fires.

use skywave_units::Instant;

/// A lazy timer.
///
/// Every acknowledgement restarts the retransmission timer, nearly always to a later time. The
/// wake-up known to the driver is left unchanged: when it comes, the timer is not due and asks for
/// another one. A driver with a heap of timers therefore touches it about once per RTO instead of
/// once per acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timer {
    /// When the timer fires; `None` while it is off.
    due: Option<Instant>,
    /// When the driver was asked to call; never later than `due`.
    wake: Option<Instant>,
}

impl Timer {
    /// Starts or restarts the timer, to fire at `due`.
    pub(super) fn restart(&mut self, due: Instant) {
        self.due = Some(due);
        if self.wake.is_none_or(|wake| wake > due) {
            self.wake = Some(due);
        }
    }

    /// Starts the timer if it is off.
    pub(super) fn start_if_off(&mut self, due: Instant) {
        if self.due.is_none() {
            self.restart(due);
        }
    }

    /// Turns the timer off.
    pub(super) fn stop(&mut self) {
        *self = Self::default();
    }

    /// Returns when the timer fires; `None` while it is off.
    pub(super) const fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Returns when [`Timer::fired`] must next be called: at or before the time at which the timer
    /// fires.
    pub(super) const fn wake(&self) -> Option<Instant> {
        self.wake
    }

    /// Returns whether the timer has fired by `now`, and turns it off if so.
    pub(super) fn fired(&mut self, now: Instant) -> bool {
        match (self.due, self.wake) {
            (Some(due), _) if due <= now => {
                self.stop();
                true
            }
            (due, Some(wake)) if wake <= now => {
                self.wake = due;
                false
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn a_later_restart_leaves_the_wake_up_where_it_is() {
        let mut timer = Timer::default();
        timer.restart(at(10));
        timer.restart(at(25));
        assert_eq!(timer.wake(), Some(at(10)));
        assert!(!timer.fired(at(10)));
        assert_eq!(timer.wake(), Some(at(25)));
        assert!(!timer.fired(at(24)));
        assert!(timer.fired(at(25)));
        assert_eq!(timer.wake(), None);
        assert!(!timer.fired(at(30)));
    }

    #[test]
    fn an_earlier_restart_moves_the_wake_up() {
        let mut timer = Timer::default();
        timer.restart(at(25));
        timer.restart(at(10));
        assert_eq!(timer.wake(), Some(at(10)));
        timer.start_if_off(at(5));
        assert!(!timer.fired(at(9)));
        timer.stop();
        assert_eq!(timer.wake(), None);
        assert!(!timer.fired(at(99)));
    }
}
