//! Slow start (RFC 5681 section 3.1), which several windows share.

use crate::Ack;
use crate::hystart::HyStart;
use crate::hystart_linux::LinuxHyStart;

/// The slow start of a window: in effect while cwnd is below ssthresh, which it owns.
///
/// A window asks it whether slow start is in effect and by how much to grow, and reports congestion
/// to it. The window itself decides how to grow above ssthresh, and how far congestion lowers
/// ssthresh.
#[derive(Clone, Debug)]
pub(crate) struct SlowStart {
    /// In packets; infinite for "arbitrarily high".
    ssthresh: f64,
    memory: Option<Box<Memory>>,
}

/// What a slow start remembers.
#[derive(Clone, Debug)]
enum Memory {
    /// HyStart++, which leaves slow start when delays grow, until ssthresh is set for the first
    /// time.
    HyStart(HyStart),
    /// Linux's HyStart, likewise.
    LinuxHyStart(LinuxHyStart),
    /// The window before a timeout that may turn out to be spurious.
    BeforeTimeout {
        cwnd: f64,
        ssthresh: f64,
        hystart: Option<HyStart>,
    },
}

impl SlowStart {
    /// Creates a slow start up to `ssthresh`, or to `least` if that is more or `ssthresh` is not a
    /// number.
    pub(crate) const fn new(ssthresh: f64, least: f64) -> Self {
        Self {
            ssthresh: ssthresh.max(least),
            memory: None,
        }
    }

    /// Adds HyStart++, which applies only to an unset ssthresh (section 4.3).
    pub(crate) fn with_hystart(mut self) -> Self {
        let hystart = || Box::new(Memory::HyStart(HyStart::default()));
        self.memory = self.ssthresh.is_infinite().then(hystart);
        self
    }

    /// Adds Linux's HyStart, which applies to an unset ssthresh too.
    pub(crate) fn with_linux_hystart(mut self) -> Self {
        let hystart = || Box::new(Memory::LinuxHyStart(LinuxHyStart::default()));
        self.memory = self.ssthresh.is_infinite().then(hystart);
        self
    }

    /// Returns whether it needs the round-trip time of each acknowledgement.
    pub(crate) fn wants_samples(&self) -> bool {
        let memory = self.memory.as_deref();
        matches!(memory, Some(Memory::HyStart(_) | Memory::LinuxHyStart(_)))
    }

    fn hystart(&self) -> Option<&HyStart> {
        match self.memory.as_deref() {
            Some(Memory::HyStart(hystart)) => Some(hystart),
            Some(Memory::LinuxHyStart(_) | Memory::BeforeTimeout { .. }) | None => None,
        }
    }

    pub(crate) const fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// Returns whether slow start is in effect.
    pub(crate) fn is_on(&self, cwnd: f64) -> bool {
        cwnd < self.ssthresh
    }

    /// Returns by how many packets `ack` increases cwnd in slow start: by those acknowledged, at
    /// most `limit` (N and L of RFC 3465 section 2.2).
    pub(crate) fn step(&self, ack: &Ack, limit: f64) -> f64 {
        let divisor = self.hystart().map_or(1.0, HyStart::growth_divisor);
        f64::from(ack.newly_acked).min(limit) / divisor
    }

    /// Handles an acknowledgement after cwnd has grown because of it.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, cwnd: f64, ack: &Ack) {
        if self.memory.is_some() {
            self.heed_delay(cwnd, ack);
        }
    }

    #[inline(never)]
    fn heed_delay(&mut self, cwnd: f64, ack: &Ack) {
        if let Some(Memory::HyStart(hystart)) = self.memory.as_deref_mut()
            && hystart.on_ack(ack)
        {
            self.on_congestion(cwnd);
        }
    }

    /// Handles an acknowledgement before cwnd grows because of it: Linux's HyStart may end slow start.
    #[inline(always)]
    pub(crate) fn before_growth(&mut self, cwnd: f64, ack: &Ack) {
        if self.memory.is_some() {
            self.heed_trains(cwnd, ack);
        }
    }

    #[inline(never)]
    fn heed_trains(&mut self, cwnd: f64, ack: &Ack) {
        if let Some(Memory::LinuxHyStart(hystart)) = self.memory.as_deref_mut()
            && hystart.on_ack(cwnd, ack)
        {
            self.on_congestion(cwnd);
        }
    }

    /// Sets ssthresh in response to congestion.
    pub(crate) fn on_congestion(&mut self, ssthresh: f64) {
        self.ssthresh = ssthresh;
        self.memory = None;
    }

    /// Sets ssthresh to what validation of cwnd decides. One that is unset stays so.
    pub(crate) fn on_validation(&mut self, ssthresh: f64, least: f64) {
        if ssthresh.is_finite() {
            self.on_congestion(ssthresh.max(least));
        }
    }

    /// Sets ssthresh in response to a timeout that reduces `cwnd`.
    pub(crate) fn on_timeout(&mut self, cwnd: f64, ssthresh: f64) {
        let before = Memory::BeforeTimeout {
            cwnd,
            ssthresh: self.ssthresh,
            hystart: self.hystart().cloned(),
        };
        self.on_congestion(ssthresh);
        self.memory = Some(Box::new(before));
    }

    /// Undoes the response to the last timeout, if nothing else has reduced the window since.
    /// Returns cwnd before it.
    pub(crate) fn undo_timeout(&mut self) -> Option<f64> {
        match *self.memory.take()? {
            Memory::BeforeTimeout {
                cwnd,
                ssthresh,
                hystart,
            } => {
                self.ssthresh = ssthresh;
                self.memory = hystart.map(|hystart| Box::new(Memory::HyStart(hystart)));
                Some(cwnd)
            }
            Memory::HyStart(_) | Memory::LinuxHyStart(_) => None,
        }
    }

    /// Leaves slow start at `cwnd`, because the receiving host cannot keep up. ssthresh is at least
    /// `least`.
    pub(crate) fn on_receiver_overload(&mut self, cwnd: f64, least: f64) {
        self.memory = None;
        self.ssthresh = self.ssthresh.min(cwnd).max(least);
    }
}

#[cfg(test)]
mod tests {
    use skywave_units::Instant;

    use super::*;

    #[test]
    fn it_grows_by_what_is_acknowledged_up_to_the_limit() {
        let slow_start = SlowStart::new(f64::INFINITY, 2.0);
        let ack = |newly_acked| Ack::new(Instant::ZERO, newly_acked, 0);
        let steps = [1, 2, 3].map(|packets| slow_start.step(&ack(packets), 2.0));
        assert_eq!(steps, [1.0, 2.0, 2.0]);
    }

    #[test]
    fn it_lasts_until_cwnd_reaches_ssthresh() {
        let mut slow_start = SlowStart::new(f64::INFINITY, 2.0);
        assert!(slow_start.is_on(1e9));
        slow_start.on_congestion(8.0);
        assert!(slow_start.is_on(7.9));
        assert!(!slow_start.is_on(8.0));
    }

    #[test]
    fn ssthresh_has_a_least_value() {
        for ssthresh in [f64::NAN, -1.0, 1.0] {
            assert_eq!(SlowStart::new(ssthresh, 2.0).ssthresh(), 2.0);
        }
        let mut slow_start = SlowStart::new(100.0, 2.0);
        slow_start.on_receiver_overload(10.0, 2.0);
        assert_eq!(slow_start.ssthresh(), 10.0);
        slow_start.on_receiver_overload(20.0, 2.0);
        assert_eq!(slow_start.ssthresh(), 10.0);
        slow_start.on_receiver_overload(1.0, 2.0);
        assert_eq!(slow_start.ssthresh(), 2.0);
    }

    #[test]
    fn an_undone_timeout_restores_hystart() {
        let mut slow_start = SlowStart::new(f64::INFINITY, 2.0).with_hystart();
        slow_start.on_timeout(10.0, 5.0);
        assert!(!slow_start.wants_samples());
        assert_eq!(slow_start.undo_timeout(), Some(10.0));
        assert!(slow_start.wants_samples() && slow_start.ssthresh().is_infinite());
        assert_eq!(slow_start.undo_timeout(), None);
    }
}
