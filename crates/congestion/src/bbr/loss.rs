//! Losses, and losses that were none ("Updating the Model Upon Packet Loss", "Updating the Model
//! Upon Detecting a Spurious Loss Recovery").

use skywave_units::Instant;

use super::Bbr;
use super::model::ShortTerm;
use super::sample::{Packet, RateSample};
use super::state::State;

/// The state before a loss recovery ("Undo State").
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// BBR.undo_state.
    pub(super) state: Option<State>,
    /// BBR.undo_bw_shortterm.
    pub(super) bw_shortterm: f64,
    /// BBR.undo_inflight_shortterm.
    pub(super) inflight_shortterm: f64,
    /// BBR.undo_inflight_longterm.
    pub(super) inflight_longterm: f64,
}

/// A loss recovery. It lasts until a round trip has passed without a loss, and longer if TCP's
/// does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recovery {
    /// C.delivered when it began.
    pub(super) delivered: u64,
    /// When the last loss was detected.
    last_loss: Instant,
}

impl Bbr {
    /// NoteLoss ("Probing for Bandwidth In ProbeBW"), OnEnterFastRecovery ("Modulating cwnd in Loss
    /// Recovery").
    ///
    /// State is saved when a recovery begins. NoteLoss would save it at the first loss of each
    /// round, but HandleInflightTooHigh begins a round: the second packet of the same loss would
    /// overwrite what the first one saved.
    pub(super) fn note_loss(&mut self) {
        if !self.signals.is_loss_in_round {
            self.signals.loss_round_delivered = self.log.delivered;
        }
        self.signals.is_loss_in_round = true;
        if let Some(recovery) = &mut self.recovery {
            recovery.last_loss = self.now;
            return;
        }
        self.save_state_upon_loss();
        self.recovery = Some(Recovery {
            delivered: self.log.delivered,
            last_loss: self.now,
        });
    }

    /// SaveStateUponLoss ("Saving State Upon Loss Recovery").
    fn save_state_upon_loss(&mut self) {
        self.save_cwnd();
        self.undo = Undo {
            state: None,
            bw_shortterm: self.short_term.bw,
            inflight_shortterm: self.short_term.inflight,
            inflight_longterm: self.inflight_longterm,
        };
    }

    /// Ends the recovery, after all packets of an acknowledgement, if it is over. `newest` is when
    /// the newest of them was sent, among those sent once.
    pub(super) fn check_recovery_done(&mut self, is_recovering: bool, newest: Option<Instant>) {
        let Some(recovery) = self.recovery else {
            return;
        };
        let is_over = newest > Some(recovery.last_loss) || self.log.in_flight == 0.0;
        if is_over && !is_recovering {
            self.recovery = None;
            self.restores_cwnd = true;
        }
    }

    /// IsInflightTooHigh ("Probing for Bandwidth In ProbeBW").
    pub(super) fn is_inflight_too_high(&self, rs: &RateSample) -> bool {
        rs.lost > rs.tx_in_flight * self.config.loss_threshold
    }

    /// HandleLostPacket ("Probing for Bandwidth In ProbeBW").
    pub(super) fn handle_lost_packet(&mut self, packet: &Packet) {
        self.note_loss();
        self.lost_ranges.add(packet.order);
        if !self.probe_bw.is_sample {
            return;
        }
        let rs = self.log.loss_sample(packet);
        if self.is_inflight_too_high(&rs) {
            let tx_in_flight = self.inflight_at_loss(packet, &rs);
            self.handle_inflight_too_high(tx_in_flight, rs.is_app_limited);
        }
    }

    /// InflightAtLoss ("Probing for Bandwidth In ProbeBW").
    fn inflight_at_loss(&self, packet: &Packet, rs: &RateSample) -> f64 {
        let size = packet.bytes as f64;
        let inflight_prev = rs.tx_in_flight - size;
        let lost_prev = rs.lost - size;
        let threshold = self.config.loss_threshold;
        let lost_prefix = (threshold * inflight_prev - lost_prev) / (1.0 - threshold);
        inflight_prev + lost_prefix
    }

    /// HandleInflightTooHigh ("Probing for Bandwidth In ProbeBW").
    fn handle_inflight_too_high(&mut self, tx_in_flight: f64, is_app_limited: bool) {
        self.probe_bw.was_too_high = true;
        self.probe_bw.is_sample = false;
        if !is_app_limited {
            let least = self.target_inflight() * self.config.beta;
            self.inflight_longterm = tx_in_flight.max(least);
        }
        if self.state == State::ProbeBwUp {
            self.undo.state = Some(State::ProbeBwUp);
            self.start_probe_bw_down();
        }
    }

    /// Treats marks as congestion ("ECN"): as a loss rate above BBR.LossThresh.
    pub(super) fn handle_mark(&mut self) {
        self.note_loss();
        if self.state == State::Startup {
            self.fill_pipe_by_congestion();
        } else if self.probe_bw.is_sample {
            let is_app_limited = self.log.is_app_limited();
            self.handle_inflight_too_high(self.log.in_flight, is_app_limited);
        }
    }

    /// HandleSpuriousLossDetection ("Handling a Spurious Loss Recovery").
    pub(super) fn handle_spurious_loss_detection(&mut self) {
        self.recovery = None;
        self.restores_cwnd = true;
        self.signals.is_loss_in_round = false;
        self.full.reset(0.0);
        let undo = core::mem::take(&mut self.undo);
        self.short_term = ShortTerm {
            bw: self.short_term.bw.max(undo.bw_shortterm),
            inflight: self.short_term.inflight.max(undo.inflight_shortterm),
        };
        self.inflight_longterm = self.inflight_longterm.max(undo.inflight_longterm);
        match undo.state {
            Some(State::Startup) if self.state != State::Startup => {
                self.full.is_reached = false;
                if self.state != State::ProbeRtt {
                    self.enter_startup();
                }
            }
            Some(State::ProbeBwUp)
                if self.state != State::ProbeBwUp && self.state != State::ProbeRtt =>
            {
                self.start_probe_bw_refill();
            }
            _ => {}
        }
    }
}
