//! ProbeBW ("ProbeBW", "ProbeBW Algorithm Details").

use skywave_units::{Duration, Instant};

use super::Bbr;
use super::parameters::MIN_PIPE_CWND;
use super::state::{AckPhase, State};

/// The upper bound of the rounds between two probes ("A Dual-Time-Scale Approach for
/// Coexistence").
const RENO_ROUNDS: f64 = 63.0;

/// The state of probing for bandwidth ("ProbeBW State").
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbeBw {
    /// BBR.ack_phase.
    pub(super) ack_phase: AckPhase,
    /// BBR.is_bw_probe_sample.
    pub(super) is_sample: bool,
    /// BBR.bw_probe_up_acked.
    up_acked: f64,
    /// BBR.probe_up_acked_per_inc.
    pub(super) acked_per_inc: f64,
    /// BBR.bw_probe_up_rounds.
    pub(super) up_rounds: u32,
    /// BBR.rounds_since_probe_up.
    pub(super) rounds_since_up: u64,
    /// BBR.bw_probe_wait.
    pub(super) wait: Duration,
    /// BBR.cycle_stamp.
    pub(super) cycle_stamp: Instant,
    /// BBR.prev_probe_too_high.
    pub(super) was_too_high: bool,
    /// BBR.prev_probe_precautionary.
    pub(super) was_precautionary: bool,
}

impl Default for ProbeBw {
    fn default() -> Self {
        Self {
            ack_phase: AckPhase::Init,
            is_sample: false,
            up_acked: 0.0,
            acked_per_inc: f64::INFINITY,
            up_rounds: 0,
            rounds_since_up: 0,
            wait: Duration::ZERO,
            cycle_stamp: Instant::ZERO,
            was_too_high: false,
            was_precautionary: false,
        }
    }
}

impl Bbr {
    /// StartProbeBW_DOWN, and EnterProbeBW.
    pub(super) fn start_probe_bw_down(&mut self) {
        self.signals.reset();
        self.probe_bw.acked_per_inc = f64::INFINITY;
        self.pick_probe_wait();
        self.probe_bw.cycle_stamp = self.now;
        self.probe_bw.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
        self.state = State::ProbeBwDown;
    }

    /// StartProbeBW_CRUISE.
    pub(super) const fn start_probe_bw_cruise(&mut self) {
        self.state = State::ProbeBwCruise;
    }

    /// StartProbeBW_REFILL.
    pub(super) const fn start_probe_bw_refill(&mut self) {
        self.short_term.reset();
        self.probe_bw.up_rounds = 0;
        self.probe_bw.up_acked = 0.0;
        self.probe_bw.was_precautionary = false;
        self.probe_bw.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::ProbeBwRefill;
    }

    /// StartProbeBW_UP.
    fn start_probe_bw_up(&mut self) {
        self.probe_bw.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        self.full.reset(self.rs.delivery_rate.unwrap_or(0.0));
        self.state = State::ProbeBwUp;
        self.raise_inflight_longterm_slope();
    }

    /// UpdateProbeBWCyclePhase.
    pub(super) fn update_probe_bw_cycle_phase(&mut self) {
        if !self.full.is_reached || self.adapt_long_term_model() {
            return;
        }
        let state = self.state;
        match state {
            State::ProbeBwDown | State::ProbeBwCruise if self.is_time_to_probe_bw() => {
                self.start_probe_bw_refill();
            }
            State::ProbeBwDown if self.is_time_to_cruise() => self.start_probe_bw_cruise(),
            State::ProbeBwRefill if self.rounds.start => {
                self.probe_bw.is_sample = true;
                self.start_probe_bw_up();
            }
            State::ProbeBwUp if self.is_time_to_go_down() => {
                // A precautionary probe has shown no excess loss so far, and the flag must not
                // prevent the probe that follows it.
                self.probe_bw.was_too_high = false;
                self.start_probe_bw_down();
            }
            _ => {}
        }
    }

    /// The condition of IsTimeToProbeBW ("A Dual-Time-Scale Approach for Coexistence").
    pub(super) fn is_time_to_probe_bw(&self) -> bool {
        let ProbeBw {
            cycle_stamp, wait, ..
        } = self.probe_bw;
        self.now > cycle_stamp + wait || self.is_reno_coexistence_probe_time()
    }

    /// IsRenoCoexistenceProbeTime ("A Dual-Time-Scale Approach for Coexistence").
    fn is_reno_coexistence_probe_time(&self) -> bool {
        let rounds = (self.target_inflight() / self.smss).min(RENO_ROUNDS);
        self.probe_bw.rounds_since_up as f64 >= rounds
    }

    /// PickProbeWait ("A Dual-Time-Scale Approach for Coexistence").
    fn pick_probe_wait(&mut self) {
        let entropy = self.now.as_nanos() ^ self.log.delivered.rotate_left(32);
        self.probe_bw.rounds_since_up = self.random.next(entropy) & 1;
        let fraction = self.random.fraction(entropy);
        self.probe_bw.wait = Duration::from_secs_f64(2.0 + fraction);
    }

    /// TargetInflight ("A Dual-Time-Scale Approach for Coexistence").
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp().min(self.cwnd)
    }

    /// IsTimeToCruise.
    fn is_time_to_cruise(&self) -> bool {
        self.log.in_flight <= self.inflight_with_headroom()
            && self.log.in_flight <= self.inflight(self.max_bw, 1.0)
    }

    /// IsTimeToGoDown.
    fn is_time_to_go_down(&mut self) -> bool {
        if self.probe_bw.was_too_high && self.log.in_flight >= self.inflight_longterm {
            self.probe_bw.was_precautionary = true;
            return true;
        }
        if self.is_bounded_by_inflight_longterm() {
            self.full.reset(self.rs.delivery_rate.unwrap_or(0.0));
            return false;
        }
        self.full.is_now
    }

    fn is_bounded_by_inflight_longterm(&self) -> bool {
        self.rounds.is_cwnd_limited() && self.cwnd >= self.inflight_longterm
    }

    /// InflightWithHeadroom.
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        let limit = self.inflight_longterm;
        if limit.is_infinite() {
            return limit;
        }
        let headroom = (self.config.headroom * limit).max(self.smss);
        (limit - headroom).max(MIN_PIPE_CWND * self.smss)
    }

    /// RaiseInflightLongtermSlope.
    fn raise_inflight_longterm_slope(&mut self) {
        let growth = f64::from(1_u32 << self.probe_bw.up_rounds);
        self.probe_bw.up_rounds = (self.probe_bw.up_rounds + 1).min(30);
        self.probe_bw.acked_per_inc = (self.cwnd / growth).max(self.smss);
    }

    /// ProbeInflightLongtermUpward.
    fn probe_inflight_longterm_upward(&mut self) {
        if !self.is_bounded_by_inflight_longterm() {
            return;
        }
        let probe = &mut self.probe_bw;
        probe.up_acked += self.rs.newly_acked;
        if probe.up_acked >= probe.acked_per_inc {
            let delta = (probe.up_acked / probe.acked_per_inc).floor();
            probe.up_acked -= delta * probe.acked_per_inc;
            self.inflight_longterm += delta * self.smss;
        }
        if self.rounds.start {
            self.raise_inflight_longterm_slope();
        }
    }

    /// AdaptLongTermModel.
    fn adapt_long_term_model(&mut self) -> bool {
        let probe = &mut self.probe_bw;
        if probe.ack_phase == AckPhase::ProbeStarting && self.rounds.start {
            probe.ack_phase = AckPhase::ProbeFeedback;
        }
        if probe.ack_phase == AckPhase::ProbeStopping && self.rounds.start {
            probe.is_sample = false;
            probe.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() {
                if !self.rs.is_app_limited {
                    self.cycle_count += 1;
                }
                if self.probe_bw.was_precautionary && !self.probe_bw.was_too_high {
                    self.start_probe_bw_refill();
                    return true;
                }
            }
        }
        if !self.is_inflight_too_high(&self.rs) && self.inflight_longterm.is_finite() {
            self.inflight_longterm = self.inflight_longterm.max(self.rs.tx_in_flight);
            if self.state == State::ProbeBwUp {
                self.probe_inflight_longterm_upward();
            }
        }
        false
    }
}
