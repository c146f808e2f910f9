//! Pacing rate, send quantum and cwnd ("Updating Control Parameters").

use super::Bbr;
use super::parameters::{MIN_PIPE_CWND, PACING_MARGIN};
use super::state::State;

impl Bbr {
    /// InitPacingRate ("Pacing Rate: C.pacing_rate"), with a round-trip time in seconds.
    pub(super) fn init_pacing_rate(&mut self, srtt: f64) {
        self.pacing_rate = State::Startup.pacing_gain() * self.initial_cwnd / srtt;
    }

    /// SetPacingRateWithGain ("Pacing Rate: C.pacing_rate"). Without a bandwidth estimate the rate
    /// stays, lest it become zero.
    pub(super) fn set_pacing_rate_with_gain(&mut self, gain: f64) {
        let rate = gain * self.bw * PACING_MARGIN;
        if rate > 0.0 && (self.full.is_reached || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// SetSendQuantum ("Send Quantum: C.send_quantum").
    pub(super) fn set_send_quantum(&mut self) {
        self.send_quantum = (self.pacing_rate * 1e-3).min(65_536.0).max(2.0 * self.smss);
    }

    /// Returns BBR.bdp ("Data Volume Network Path Model Parameters"); C.InitialCwnd without a
    /// round-trip time.
    pub(super) fn bdp(&self) -> f64 {
        self.bdp_multiple(self.bw, 1.0)
    }

    /// BDPMultiple ("Computing BBR.max_inflight").
    pub(super) fn bdp_multiple(&self, bw: f64, gain: f64) -> f64 {
        match self.probe_rtt.min_rtt {
            None => self.initial_cwnd,
            Some(min_rtt) => gain * bw * min_rtt.as_secs_f64(),
        }
    }

    /// QuantizationBudget ("Computing BBR.max_inflight"), with the offload budget of "TCP Offload
    /// Budget".
    fn quantization_budget(&self, inflight_cap: f64) -> f64 {
        let cap = inflight_cap
            .max(3.0 * self.send_quantum)
            .max(MIN_PIPE_CWND * self.smss);
        if self.state == State::ProbeBwUp {
            cap + 2.0 * self.smss
        } else {
            cap
        }
    }

    /// Inflight ("Computing BBR.max_inflight").
    pub(super) fn inflight(&self, bw: f64, gain: f64) -> f64 {
        self.quantization_budget(self.bdp_multiple(bw, gain))
    }

    /// UpdateMaxInflight ("Computing BBR.max_inflight").
    pub(super) fn max_inflight(&self) -> f64 {
        let cap = self.bdp_multiple(self.bw, self.state.cwnd_gain());
        self.quantization_budget(cap + self.extra_acked.value)
    }

    /// SetCwnd ("cwnd Adjustment Mechanism").
    pub(super) fn set_cwnd(&mut self) {
        let max_inflight = self.max_inflight();
        let grown = self.cwnd + self.rs.newly_acked;
        if self.full.is_reached {
            self.cwnd = grown.min(max_inflight);
        } else if self.cwnd < max_inflight || (self.log.delivered as f64) < self.initial_cwnd {
            self.cwnd = grown;
        }
        self.cwnd = self.cwnd.max(MIN_PIPE_CWND * self.smss);
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd_for_model();
    }

    /// BoundCwndForModel ("Bounding cwnd Based on Recent Congestion").
    fn bound_cwnd_for_model(&mut self) {
        let cap = match self.state {
            State::ProbeBwCruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::ProbeBwDown | State::ProbeBwRefill | State::ProbeBwUp => self.inflight_longterm,
            State::Startup | State::Drain => f64::INFINITY,
        };
        let cap = cap.min(self.short_term.inflight);
        self.cwnd = self.cwnd.min(cap.max(MIN_PIPE_CWND * self.smss));
    }

    /// SaveCwnd ("Modulating cwnd in Loss Recovery").
    pub(super) fn save_cwnd(&mut self) {
        self.prior_cwnd = if self.recovery.is_none() && self.state != State::ProbeRtt {
            self.cwnd
        } else {
            self.prior_cwnd.max(self.cwnd)
        };
    }

    /// RestoreCwnd ("Modulating cwnd in Loss Recovery"), if it is due.
    ///
    /// A recovery found spurious and a ProbeRTT that ends while the connection is idle restore
    /// cwnd as well. Only acknowledgements may raise it, so they do so at the next one.
    pub(super) fn restore_cwnd(&mut self) {
        if core::mem::take(&mut self.restores_cwnd) {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
        }
    }
}
