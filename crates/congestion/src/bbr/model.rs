//! The network path model ("Updating Network Path Model Parameters").

use skywave_units::Instant;

use super::Bbr;
use super::parameters::{EXTRA_ACKED_FILTER_LEN, MAX_BW_FILTER_LEN};
use super::windowed_max::WindowedMax;

/// Packet-timed round trips ("BBR.round_count: Tracking Packet-Timed Round Trips").
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    /// BBR.round_count.
    pub(super) count: u64,
    /// BBR.round_start.
    pub(super) start: bool,
    /// BBR.next_round_delivered.
    pub(super) next_delivered: u64,
    /// Whether a packet filled cwnd in the current round, and in the last one.
    pub(super) fills_cwnd: bool,
    pub(super) filled_cwnd: bool,
}

impl Rounds {
    /// Returns C.is_cwnd_limited ("Transport Connection State").
    pub(super) const fn is_cwnd_limited(&self) -> bool {
        self.fills_cwnd || self.filled_cwnd
    }
}

/// The signals of the last round ("State for Responding to Congestion").
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signals {
    /// BBR.bw_latest.
    pub(super) bw_latest: f64,
    /// BBR.inflight_latest.
    pub(super) inflight_latest: f64,
    /// BBR.loss_round_delivered.
    pub(super) loss_round_delivered: u64,
    /// BBR.loss_round_start.
    pub(super) loss_round_start: bool,
    /// BBR.is_loss_in_round.
    pub(super) is_loss_in_round: bool,
}

impl Signals {
    /// ResetCongestionSignals ("When not Probing for Bandwidth").
    pub(super) const fn reset(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }
}

/// BBR.bw_shortterm and BBR.inflight_shortterm ("Network Path Model Parameters"); infinite if
/// unset.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortTerm {
    pub(super) bw: f64,
    pub(super) inflight: f64,
}

impl ShortTerm {
    pub(super) const UNSET: Self = Self {
        bw: f64::INFINITY,
        inflight: f64::INFINITY,
    };

    /// ResetShortTermModel ("When not Probing for Bandwidth").
    pub(super) const fn reset(&mut self) {
        *self = Self::UNSET;
    }
}

/// The degree of aggregation ("BBR.extra_acked").
#[derive(Clone, Debug)]
pub(super) struct ExtraAcked {
    /// BBR.extra_acked.
    pub(super) value: f64,
    /// BBR.extra_acked_interval_start.
    pub(super) interval_start: Instant,
    /// BBR.extra_acked_delivered.
    delivered: f64,
    /// BBR.extra_acked_filter.
    filter: WindowedMax,
}

impl ExtraAcked {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            value: 0.0,
            interval_start: now,
            delivered: 0.0,
            filter: WindowedMax::default(),
        }
    }
}

impl Bbr {
    /// UpdateLatestDeliverySignals ("When not Probing for Bandwidth").
    pub(super) fn update_latest_delivery_signals(&mut self) {
        let rate = self.rs.delivery_rate.unwrap_or(0.0);
        let signals = &mut self.signals;
        signals.bw_latest = signals.bw_latest.max(rate);
        signals.inflight_latest = signals.inflight_latest.max(self.rs.delivered);
        signals.loss_round_start = self.rs.prior_delivered >= Some(signals.loss_round_delivered);
        if signals.loss_round_start {
            signals.loss_round_delivered = self.log.delivered;
        }
    }

    /// UpdateCongestionSignals and AdaptLowerBoundsFromCongestion ("When not Probing for
    /// Bandwidth").
    pub(super) fn update_congestion_signals(&mut self) {
        self.update_max_bw();
        if !self.signals.loss_round_start {
            return;
        }
        if self.signals.is_loss_in_round && !self.state.is_probing_bw() {
            self.lower_bounds();
        }
        self.signals.is_loss_in_round = false;
    }

    /// InitLowerBounds and LossLowerBounds ("When not Probing for Bandwidth").
    fn lower_bounds(&mut self) {
        let ShortTerm {
            mut bw,
            mut inflight,
        } = self.short_term;
        if bw.is_infinite() {
            bw = self.max_bw;
        }
        if inflight.is_infinite() {
            inflight = self.cwnd;
        }
        let beta = self.config.beta;
        self.short_term = ShortTerm {
            bw: self.signals.bw_latest.max(beta * bw),
            inflight: self.signals.inflight_latest.max(beta * inflight),
        };
    }

    /// AdvanceLatestDeliverySignals ("When not Probing for Bandwidth").
    pub(super) fn advance_latest_delivery_signals(&mut self) {
        if self.signals.loss_round_start {
            self.signals.bw_latest = self.rs.delivery_rate.unwrap_or(0.0);
            self.signals.inflight_latest = self.rs.delivered;
        }
    }

    /// UpdateMaxBw ("Updating the BBR.max_bw Max Filter").
    fn update_max_bw(&mut self) {
        self.update_round();
        let Some(rate) = self.rs.delivery_rate.filter(|&rate| rate > 0.0) else {
            return;
        };
        if rate >= self.max_bw || !self.rs.is_app_limited {
            self.max_bw = self
                .max_bw_filter
                .update(rate, self.cycle_count, MAX_BW_FILTER_LEN);
        }
    }

    /// UpdateRound ("BBR.round_count: Tracking Packet-Timed Round Trips").
    fn update_round(&mut self) {
        self.rounds.start = self.rs.prior_delivered >= Some(self.rounds.next_delivered);
        if self.rounds.start {
            self.start_round();
            self.rounds.count += 1;
            self.rounds.filled_cwnd = core::mem::take(&mut self.rounds.fills_cwnd);
            self.probe_bw.rounds_since_up += 1;
        }
    }

    /// StartRound ("BBR.round_count: Tracking Packet-Timed Round Trips").
    pub(super) const fn start_round(&mut self) {
        self.rounds.next_delivered = self.log.delivered;
    }

    /// UpdateACKAggregation ("BBR.extra_acked").
    pub(super) fn update_ack_aggregation(&mut self) {
        let extra = &mut self.extra_acked;
        let interval = self.now - extra.interval_start;
        let mut expected = self.bw * interval.as_secs_f64();
        if extra.delivered <= expected {
            extra.delivered = 0.0;
            extra.interval_start = self.now;
            expected = 0.0;
        }
        extra.delivered += self.rs.newly_acked;
        let excess = (extra.delivered - expected).min(self.cwnd);
        let length = if self.full.is_reached {
            EXTRA_ACKED_FILTER_LEN
        } else {
            1
        };
        extra.value = extra.filter.update(excess, self.rounds.count, length);
    }

    /// BoundBWForModel ("When not Probing for Bandwidth").
    pub(super) const fn bound_bw_for_model(&mut self) {
        self.bw = self.max_bw.min(self.short_term.bw);
    }
}
