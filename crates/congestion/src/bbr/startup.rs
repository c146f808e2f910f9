//! Startup and Drain ("Startup", "Drain").

use super::Bbr;
use super::parameters::STARTUP_FULL_LOSS_COUNT;
use super::state::State;

/// The estimator of a full pipe ("Startup Parameters and State").
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    /// BBR.full_bw_reached.
    pub(super) is_reached: bool,
    /// BBR.full_bw_now.
    pub(super) is_now: bool,
    /// BBR.full_bw, in bytes per second.
    pub(super) bw: f64,
    /// BBR.full_bw_count.
    pub(super) count: u32,
}

impl FullPipe {
    /// ResetFullBW, with `bw` as the first baseline ("Exiting Acceleration Based on Bandwidth
    /// Plateau").
    pub(super) const fn reset(&mut self, bw: f64) {
        self.bw = bw;
        self.count = 0;
        self.is_now = false;
    }
}

/// The ranges lost in the current round ("Exiting Startup Based on Packet Loss").
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LostRanges {
    count: u32,
    last: Option<u64>,
}

impl LostRanges {
    pub(super) fn add(&mut self, order: u64) {
        if self.last.is_none_or(|last| last + 1 != order) {
            self.count += 1;
        }
        self.last = Some(order);
    }
}

impl Bbr {
    /// EnterStartup ("Startup Dynamics").
    pub(super) const fn enter_startup(&mut self) {
        self.state = State::Startup;
    }

    /// CheckFullBWReached ("Exiting Acceleration Based on Bandwidth Plateau"). A round without a
    /// reliable sample shows neither growth nor its absence.
    pub(super) fn check_full_bw_reached(&mut self) {
        if self.full.is_now || !self.rounds.start || self.rs.is_app_limited {
            return;
        }
        let Some(rate) = self.rs.delivery_rate else {
            return;
        };
        if rate >= self.full.bw * 1.25 {
            self.full.reset(rate);
            return;
        }
        self.full.count += 1;
        self.full.is_now = self.full.count >= 3;
        self.full.is_reached |= self.full.is_now;
    }

    /// CheckStartupDone ("Startup Dynamics").
    pub(super) fn check_startup_done(&mut self) {
        self.check_startup_high_loss();
        if self.state == State::Startup && self.full.is_reached {
            self.enter_drain();
        }
    }

    /// CheckStartupHighLoss ("Exiting Startup Based on Packet Loss"), for connections with selective
    /// acknowledgements.
    fn check_startup_high_loss(&mut self) {
        if !self.rounds.start {
            return;
        }
        let ranges = core::mem::take(&mut self.lost_ranges);
        let full_round = self
            .recovery
            .is_some_and(|recovery| self.rs.prior_delivered >= Some(recovery.delivered));
        let is_high =
            ranges.count >= STARTUP_FULL_LOSS_COUNT && self.is_inflight_too_high(&self.rs);
        if self.state == State::Startup && full_round && is_high {
            self.undo.state = Some(State::Startup);
            self.fill_pipe_by_congestion();
        }
    }

    /// Considers the pipe full at the volume last delivered ("Exiting Startup Based on Packet
    /// Loss"). The appendix expects BBR.full_bw_now as well.
    pub(super) fn fill_pipe_by_congestion(&mut self) {
        self.full.is_now = true;
        self.full.is_reached = true;
        self.inflight_longterm = self.bdp().max(self.signals.inflight_latest);
    }

    /// EnterDrain ("Drain").
    fn enter_drain(&mut self) {
        self.state = State::Drain;
        self.drain_start_round = self.rounds.count;
    }

    /// CheckDrainDone ("Drain").
    pub(super) fn check_drain_done(&mut self) {
        let is_over = self.log.in_flight <= self.inflight(self.bw, 1.0)
            || self.rounds.count > self.drain_start_round + 3;
        if self.state == State::Drain && is_over {
            self.start_probe_bw_down();
        }
    }
}
