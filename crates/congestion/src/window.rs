//! A congestion window with the parts of RFC 5681 that several controls share.

use crate::control::borne;
use crate::slow_start::SlowStart;
use crate::{Ack, ControlContext};

/// The lower bound of ssthresh, and of cwnd after a loss (RFC 5681 section 3.1, equation 4).
const LEAST_SSTHRESH: f64 = 2.0;
/// The lower bound of cwnd otherwise.
const LEAST_CWND: f64 = 1.0;
/// The upper bound of cwnd, so that no increase makes it infinite.
const MOST_CWND: f64 = u32::MAX as f64;

/// Where a connection is with respect to its last congestion event, as Linux distinguishes it. A
/// window of another profile is always [`Phase::Open`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No congestion, or no longer.
    Open,
    /// The window falls in response to a mark, and must not grow: what was in flight at the mark is
    /// not all acknowledged.
    Reducing,
    /// What was in flight at a timeout is not all acknowledged.
    Repairing,
    /// The first acknowledgement after a recovery, or after one of the above.
    Recovered,
}

/// What the next acknowledgements belong to.
#[derive(Clone, Copy, Debug)]
enum Until {
    Open,
    /// Acknowledgements in TCP's recovery from a loss are not reported, so the next one ends it.
    NextAck,
    /// Packets still to be acknowledged after a mark.
    MarkAnswered(u32),
    /// Packets still to be acknowledged after a timeout.
    TimeoutRepaired(u32),
}

/// cwnd and ssthresh, with slow start, growth by packets acknowledged, and the bounds of RFC 5681.
/// By how much the window grows in congestion avoidance and what congestion leaves of it is for a
/// [`Law`](crate::law::Law) to say.
///
/// Linux counts in whole packets, halves cwnd rather than the flight, and neither grows nor reduces
/// again before the response to a mark is over; a window of its profile does so too.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    cwnd: f64,
    initial_cwnd: f64,
    slow_start: SlowStart,
    is_linux: bool,
    /// Packets acknowledged that have not yet increased cwnd.
    credit: f64,
    until: Until,
    /// cwnd and ssthresh before the last loss.
    before_reduction: Option<(f64, f64)>,
    /// Whether nothing new has been acknowledged since the last timeout.
    timed_out: bool,
}

impl Window {
    /// Creates the window of a new connection.
    pub(crate) fn new(context: &ControlContext) -> Self {
        let initial_cwnd = context.initial_cwnd.clamp(LEAST_CWND, MOST_CWND);
        Self {
            cwnd: initial_cwnd,
            initial_cwnd,
            slow_start: SlowStart::new(context.initial_ssthresh, LEAST_SSTHRESH),
            is_linux: context.linux,
            credit: 0.0,
            until: Until::Open,
            before_reduction: None,
            timed_out: false,
        }
    }

    /// Begins with `packets` instead of the initial window.
    pub(crate) const fn begin_with(&mut self, packets: f64) {
        self.cwnd = packets.clamp(LEAST_CWND, MOST_CWND);
    }

    pub(crate) const fn cwnd(&self) -> f64 {
        self.cwnd
    }

    pub(crate) const fn ssthresh(&self) -> f64 {
        self.slow_start.ssthresh()
    }

    pub(crate) const fn is_linux(&self) -> bool {
        self.is_linux
    }

    pub(crate) fn in_slow_start(&self) -> bool {
        self.slow_start.is_on(self.cwnd)
    }

    /// Notes an acknowledgement, before the window grows because of it.
    pub(crate) fn on_ack(&mut self, ack: &Ack) -> Phase {
        if ack.newly_acked == 0 {
            return self.phase();
        }
        self.timed_out = false;
        let left = match self.until {
            Until::Open => return Phase::Open,
            Until::NextAck => 0,
            Until::MarkAnswered(left) => {
                let left = left.saturating_sub(ack.newly_acked);
                self.until = Until::MarkAnswered(left);
                left
            }
            Until::TimeoutRepaired(left) => {
                let left = left.saturating_sub(ack.newly_acked);
                self.until = Until::TimeoutRepaired(left);
                left
            }
        };
        if left == 0 {
            self.until = Until::Open;
            return Phase::Recovered;
        }
        self.phase()
    }

    const fn phase(&self) -> Phase {
        match self.until {
            Until::Open => Phase::Open,
            Until::NextAck | Until::MarkAnswered(_) => Phase::Reducing,
            Until::TimeoutRepaired(_) => Phase::Repairing,
        }
    }

    /// Returns whether the window may grow because of `ack`.
    pub(crate) fn may_grow(&self, ack: &Ack, phase: Phase) -> bool {
        ack.newly_acked > 0
            && !ack.application_limited
            && !ack.reports_marks()
            && phase != Phase::Reducing
    }

    /// Grows in slow start, up to ssthresh, by the packets acknowledged: at most one per
    /// acknowledgement (RFC 5681 section 3.1), or all of them in Linux. Returns how many are left
    /// over.
    pub(crate) fn slow_start(&mut self, ack: &Ack) -> f64 {
        let limit = if self.is_linux { f64::INFINITY } else { 1.0 };
        let before = self.cwnd;
        let step = self.slow_start.step(ack, limit);
        self.grow_by(step.min(self.ssthresh() - before));
        step - (self.cwnd - before)
    }

    /// Grows by `packets`.
    pub(crate) fn grow_by(&mut self, packets: f64) {
        self.cwnd = (self.cwnd + packets).min(MOST_CWND);
    }

    /// Grows by a packet per cwnd of packets acknowledged; `acked` more are.
    pub(crate) fn grow_per_window(&mut self, acked: f64) {
        self.credit += acked;
        while self.credit >= self.cwnd {
            self.credit -= self.cwnd;
            self.grow_by(1.0);
        }
    }

    /// Grows as Reno does.
    pub(crate) fn grow_as_reno(&mut self, ack: &Ack) {
        if !self.in_slow_start() {
            // "cwnd MUST NOT be increased by more than SMSS bytes per RTT" (RFC 5681 section 3.1).
            let acked = f64::from(ack.newly_acked);
            return self.grow_per_window(acked.min(self.cwnd));
        }
        let left = self.slow_start(ack);
        if self.is_linux && left > 0.0 {
            self.grow_per_window(left);
        }
    }

    /// Returns the packets that congestion takes a fraction from: what is in flight, at most cwnd
    /// (RFC 5681 section 3.1), or cwnd in Linux.
    pub(crate) fn used(&self, in_flight: u32) -> f64 {
        if self.is_linux {
            self.cwnd
        } else {
            borne(in_flight, self.cwnd)
        }
    }

    /// Sets ssthresh to `packets`, but not below 2.
    pub(crate) fn set_ssthresh(&mut self, packets: f64) {
        self.slow_start.on_congestion(packets.max(LEAST_SSTHRESH));
    }

    /// Sets ssthresh to what congestion leaves of the window.
    fn leave(&mut self, rest: f64) {
        self.set_ssthresh(if self.is_linux { rest.floor() } else { rest });
        self.credit = 0.0;
    }

    /// Reduces the window to `rest` packets because of a loss. If it has fewer, it may grow to as many
    /// in slow start.
    pub(crate) fn on_loss(&mut self, rest: f64) {
        self.before_reduction = Some((self.cwnd, self.ssthresh()));
        self.leave(rest);
        self.cwnd = self.cwnd.clamp(LEAST_SSTHRESH, self.ssthresh());
        if self.is_linux {
            self.until = Until::NextAck;
        }
    }

    /// Reduces it because of a mark, after which `in_flight` packets are not yet acknowledged.
    pub(crate) fn on_mark(&mut self, rest: f64, in_flight: u32) {
        self.before_reduction = None;
        self.leave(rest);
        if self.is_linux {
            self.cwnd = self.cwnd.clamp(LEAST_SSTHRESH, self.ssthresh());
            // The acknowledgement of a later packet confirms that the receiver has seen CWR.
            self.until = Until::MarkAnswered(in_flight.saturating_add(1));
        } else {
            self.cwnd = self.cwnd.min(rest).max(LEAST_CWND);
        }
    }

    /// Falls to a packet after a timeout. A second one in a row leaves ssthresh unchanged (RFC 5681
    /// section 3.1).
    pub(crate) fn on_timeout(&mut self, rest: f64, in_flight: u32) {
        if !self.timed_out {
            self.before_reduction = Some((self.cwnd, self.ssthresh()));
            self.leave(rest);
        }
        self.cwnd = LEAST_CWND;
        self.credit = 0.0;
        self.timed_out = true;
        if self.is_linux {
            self.until = Until::TimeoutRepaired(in_flight);
        }
    }

    /// Undoes the reduction of the last loss or timeout, if nothing else has reduced the window since.
    pub(crate) fn on_spurious_loss(&mut self) {
        if let Some((cwnd, ssthresh)) = self.before_reduction.take() {
            self.cwnd = self.cwnd.max(cwnd);
            self.slow_start.on_congestion(self.ssthresh().max(ssthresh));
            self.until = Until::Open;
            self.timed_out = false;
        }
    }

    /// Continues with a window of `packets`, which is also ssthresh.
    pub(crate) fn resume_with(&mut self, packets: f64) {
        self.leave(packets);
        self.cwnd = self.ssthresh().min(MOST_CWND);
    }

    pub(crate) fn on_restart(&mut self) {
        self.cwnd = self.cwnd.min(self.initial_cwnd);
        self.credit = 0.0;
        self.before_reduction = None;
    }

    pub(crate) fn on_receiver_overload(&mut self, dropped: u32) {
        self.cwnd = (self.cwnd - f64::from(dropped)).max(LEAST_CWND);
        self.slow_start
            .on_receiver_overload(self.cwnd, LEAST_SSTHRESH);
        self.credit = 0.0;
        self.before_reduction = None;
    }

    pub(crate) fn limit_cwnd(&mut self, limit: f64) {
        self.cwnd = self.cwnd.min(limit.max(LEAST_CWND));
    }

    pub(crate) fn on_validation(&mut self, cwnd: f64, ssthresh: f64) {
        self.slow_start.on_validation(ssthresh, LEAST_SSTHRESH);
        self.limit_cwnd(cwnd);
        self.credit = 0.0;
        self.before_reduction = None;
    }
}

#[cfg(test)]
mod tests;
