//! BBR.min_rtt and ProbeRTT ("ProbeRTT", "Exiting ProbeRTT", "Restarting From Idle").

use skywave_units::{Duration, Instant};

use super::Bbr;
use super::parameters::{
    MIN_PIPE_CWND, MIN_RTT_FILTER_LEN, PROBE_RTT_DURATION, PROBE_RTT_INTERVAL,
};
use super::state::{AckPhase, State};

/// The minimum round-trip times ("Parameters for Estimating BBR.min_rtt") and the schedule of
/// ProbeRTT ("Parameters for Scheduling ProbeRTT").
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbeRtt {
    /// BBR.min_rtt; `None` for infinity.
    pub(super) min_rtt: Option<Duration>,
    /// BBR.min_rtt_stamp.
    pub(super) min_rtt_stamp: Instant,
    /// BBR.probe_rtt_min_delay; `None` for infinity.
    pub(super) min_delay: Option<Duration>,
    /// BBR.probe_rtt_min_stamp.
    pub(super) min_stamp: Instant,
    /// BBR.probe_rtt_expired.
    pub(super) is_expired: bool,
    /// BBR.probe_rtt_done_stamp.
    pub(super) done_stamp: Option<Instant>,
    /// BBR.probe_rtt_round_done.
    pub(super) is_round_done: bool,
}

impl ProbeRtt {
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            min_rtt: None,
            min_rtt_stamp: now,
            min_delay: None,
            min_stamp: now,
            is_expired: false,
            done_stamp: None,
            is_round_done: false,
        }
    }

    /// UpdateMinRTT ("ProbeRTT Logic").
    pub(super) fn update(&mut self, now: Instant, rtt: Option<Duration>) {
        self.is_expired = now > self.min_stamp + PROBE_RTT_INTERVAL;
        if let Some(rtt) = rtt
            && (self.is_expired || self.min_delay.is_none_or(|least| rtt < least))
        {
            self.min_delay = Some(rtt);
            self.min_stamp = now;
        }
        let Some(delay) = self.min_delay else { return };
        let is_expired = now > self.min_rtt_stamp + MIN_RTT_FILTER_LEN;
        if is_expired || self.min_rtt.is_none_or(|least| delay < least) {
            self.min_rtt = Some(delay);
            self.min_rtt_stamp = self.min_stamp;
        }
    }
}

impl Bbr {
    /// CheckProbeRTT ("ProbeRTT Logic").
    pub(super) fn check_probe_rtt(&mut self) {
        if self.state != State::ProbeRtt && self.probe_rtt.is_expired && !self.idle_restart {
            // EnterProbeRTT and SaveCwnd, in the order in which SaveCwnd still sees the state that
            // is left: cwnd is the last known good one.
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.probe_rtt.done_stamp = None;
            self.probe_bw.ack_phase = AckPhase::ProbeStopping;
            self.start_round();
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt();
        }
        if self.rs.delivered > 0.0 {
            self.idle_restart = false;
        }
    }

    /// HandleProbeRTT ("ProbeRTT Logic").
    fn handle_probe_rtt(&mut self) {
        self.log.mark_app_limited();
        match self.probe_rtt.done_stamp {
            None if self.log.in_flight <= self.probe_rtt_cwnd() => {
                self.probe_rtt.done_stamp = Some(self.now + PROBE_RTT_DURATION);
                self.probe_rtt.is_round_done = false;
                self.start_round();
            }
            None => {}
            Some(_) => {
                self.probe_rtt.is_round_done |= self.rounds.start;
                if self.probe_rtt.is_round_done {
                    self.check_probe_rtt_done();
                }
            }
        }
    }

    /// CheckProbeRTTDone and ExitProbeRTT ("ProbeRTT Logic", "Exiting ProbeRTT").
    fn check_probe_rtt_done(&mut self) {
        if self
            .probe_rtt
            .done_stamp
            .is_none_or(|done| self.now <= done)
        {
            return;
        }
        self.probe_rtt.min_stamp = self.now;
        self.restores_cwnd = true;
        self.short_term.reset();
        if self.full.is_reached {
            self.start_probe_bw_down();
            self.start_probe_bw_cruise();
        } else {
            self.enter_startup();
        }
    }

    /// ProbeRTTCwnd ("Modulating cwnd in ProbeRTT").
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        let target = self.bdp_multiple(self.bw, State::ProbeRtt.cwnd_gain());
        target.max(MIN_PIPE_CWND * self.smss)
    }

    /// HandleRestartFromIdle ("Actions when Restarting from Idle"), if nothing else is in flight.
    pub(super) fn handle_restart_from_idle(&mut self) {
        if !self.log.is_app_limited() {
            return;
        }
        self.idle_restart = true;
        self.extra_acked.interval_start = self.now;
        if self.state.is_probe_bw() {
            self.set_pacing_rate_with_gain(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done();
        }
    }
}
