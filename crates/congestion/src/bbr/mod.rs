//! BBR version 3 (draft-ietf-ccwg-bbr, August 2026): a model of the path's bandwidth and
//! round-trip time decides how fast to send, and how much.
//!
//! Quoted titles in comments are the draft's sections. Volumes are in bytes and rates in bytes per
//! second, except in the interface of [`Control`].

mod control_parameters;
mod loss;
mod model;
mod parameters;
mod probe_bw;
mod probe_rtt;
mod random;
mod sample;
mod startup;
mod state;
#[cfg(test)]
mod tests;
mod windowed_max;

use skywave_units::{Duration, Instant, Rate};

pub use self::parameters::{BbrConfig, BbrParameters};

use self::loss::{Recovery, Undo};
use self::model::{ExtraAcked, Rounds, ShortTerm, Signals};
use self::probe_bw::ProbeBw;
use self::probe_rtt::ProbeRtt;
use self::random::ProbeDraws;
use self::sample::{PacketLog, RateSample};
use self::startup::{FullPipe, LostRanges};
use self::state::State;
use self::windowed_max::WindowedMax;
use crate::control::{lowered, within};
use crate::{Ack, AckedPacket, Control, Interests, Loss, LostPacket, Mark, Pacing, Sent};

/// A BBR window ("Detailed Algorithm").
///
/// The transport must report losses selectively (C.has_selective_acks). A receive window counts as
/// a bottleneck of the path, not as a limit of the application ("Considerations Related to Receiver
/// Flow Control Limits"). Marks, to which the draft specifies no response, count as a loss rate
/// above BBR.LossThresh ("ECN").
#[derive(Clone, Debug)]
pub struct Bbr {
    config: BbrConfig,
    /// C.SMSS.
    smss: f64,
    /// C.InitialCwnd.
    initial_cwnd: f64,
    /// The time of the current event; `ZERO` before the first.
    now: Instant,
    has_started: bool,
    log: PacketLog,
    /// From when on pacing would permit the next packet, as would cwnd if nothing is in flight.
    may_send_since: Option<Instant>,
    /// When the last packet was found lost.
    lost_at: Option<Instant>,
    /// RS.
    rs: RateSample,
    /// When the newest packet of the current acknowledgement was sent, among those sent once.
    newest_sent_at: Option<Instant>,
    state: State,
    rounds: Rounds,
    /// BBR.idle_restart.
    idle_restart: bool,
    /// BBR.drain_start_round.
    drain_start_round: u64,
    full: FullPipe,
    lost_ranges: LostRanges,
    probe_bw: ProbeBw,
    probe_rtt: ProbeRtt,
    random: ProbeDraws,
    /// BBR.max_bw.
    max_bw: f64,
    max_bw_filter: WindowedMax,
    /// BBR.cycle_count.
    cycle_count: u64,
    /// BBR.bw.
    bw: f64,
    signals: Signals,
    short_term: ShortTerm,
    /// BBR.inflight_longterm; infinite if unset.
    inflight_longterm: f64,
    extra_acked: ExtraAcked,
    undo: Undo,
    recovery: Option<Recovery>,
    /// BBR.prior_cwnd.
    prior_cwnd: f64,
    /// Whether RestoreCwnd is due.
    restores_cwnd: bool,
    cwnd: f64,
    /// C.pacing_rate.
    pacing_rate: f64,
    /// C.send_quantum.
    send_quantum: f64,
    /// Whether the pacing rate follows from a round-trip time.
    has_rtt: bool,
}

impl Bbr {
    /// Creates a window of initial size (OnInit, "Initialization"). Values of `config` out of range
    /// are clamped.
    pub fn new(mut config: BbrConfig) -> Self {
        config.packet_size = config.packet_size.max(1);
        config.initial_cwnd = within(config.initial_cwnd, 1.0, f64::from(u32::MAX));
        config.loss_threshold = within(config.loss_threshold, 1e-6, 0.99);
        config.beta = within(config.beta, 0.01, 0.99);
        config.headroom = within(config.headroom, 0.0, 0.99);
        let smss = f64::from(config.packet_size);
        let initial_cwnd = config.initial_cwnd * smss;
        let mut bbr = Self {
            config,
            smss,
            initial_cwnd,
            now: Instant::ZERO,
            has_started: false,
            log: PacketLog::new(config.packet_size),
            may_send_since: None,
            lost_at: None,
            rs: RateSample::default(),
            newest_sent_at: None,
            state: State::Startup,
            rounds: Rounds::default(),
            idle_restart: false,
            drain_start_round: 0,
            full: FullPipe::default(),
            lost_ranges: LostRanges::default(),
            probe_bw: ProbeBw::default(),
            probe_rtt: ProbeRtt::new(Instant::ZERO),
            random: ProbeDraws::default(),
            max_bw: 0.0,
            max_bw_filter: WindowedMax::default(),
            cycle_count: 0,
            bw: 0.0,
            signals: Signals::default(),
            short_term: ShortTerm::UNSET,
            inflight_longterm: f64::INFINITY,
            extra_acked: ExtraAcked::new(Instant::ZERO),
            undo: Undo::default(),
            recovery: None,
            prior_cwnd: 0.0,
            restores_cwnd: false,
            cwnd: initial_cwnd,
            pacing_rate: 0.0,
            send_quantum: 0.0,
            has_rtt: false,
        };
        bbr.init_pacing_rate(1e-3);
        bbr.set_send_quantum();
        bbr
    }

    /// Advances the clock; OnInit's Now() is the time of the first event.
    fn advance(&mut self, now: Instant) {
        self.now = now;
        if !self.has_started {
            self.has_started = true;
            self.probe_rtt = ProbeRtt::new(now);
            self.extra_acked = ExtraAcked::new(now);
        }
    }

    /// UpdateModelAndState ("Per-ACK Steps").
    fn update_model_and_state(&mut self) {
        self.update_latest_delivery_signals();
        self.update_congestion_signals();
        self.update_ack_aggregation();
        self.check_full_bw_reached();
        self.check_startup_done();
        self.check_drain_done();
        self.update_probe_bw_cycle_phase();
        self.probe_rtt.update(self.now, self.rs.rtt);
        self.check_probe_rtt();
        self.advance_latest_delivery_signals();
        self.bound_bw_for_model();
    }

    /// UpdateControlParameters ("Per-ACK Steps").
    fn update_control_parameters(&mut self) {
        if !self.has_rtt
            && let Some(rtt) = self.rs.rtt.filter(|rtt| !rtt.is_zero())
        {
            self.has_rtt = true;
            self.init_pacing_rate(rtt.as_secs_f64());
        }
        self.set_pacing_rate_with_gain(self.state.pacing_gain());
        self.set_send_quantum();
        self.set_cwnd();
    }
}

impl Control for Bbr {
    fn interests(&self) -> Interests {
        Interests {
            packets: true,
            delivery_rate: true,
            every_ack: true,
            ..Interests::default()
        }
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.advance(sent.now);
        if self.log.in_flight == 0.0 {
            // The transport may have found out that it has nothing to send only after the last
            // packet had left.
            if self.may_send_since.is_some_and(|since| sent.now > since) {
                self.log.mark_app_limited();
            }
            self.handle_restart_from_idle();
        }
        self.log.on_sent(sent);
        let interval = self
            .pacing()
            .map_or(Duration::ZERO, |pacing| pacing.interval);
        self.may_send_since = Some(sent.now + interval);
        self.rounds.fills_cwnd |= self.log.in_flight + self.smss > self.cwnd;
    }

    fn on_packet_acked(&mut self, packet: &AckedPacket) {
        if packet.transmissions == 1 {
            self.newest_sent_at = self.newest_sent_at.max(Some(packet.sent_at));
        }
        self.log.on_acked(packet);
    }

    fn on_packet_lost(&mut self, packet: &LostPacket) {
        self.advance(packet.now);
        self.lost_at = Some(packet.now);
        if let Some(lost) = self.log.on_lost(packet.number) {
            self.handle_lost_packet(&lost);
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.advance(ack.now);
        self.may_send_since = self.may_send_since.max(Some(ack.now));
        let newest = self.newest_sent_at.take();
        let own_rtt = newest.map(|sent_at| ack.now - sent_at);
        self.rs = self
            .log
            .sample(ack, own_rtt.into_iter().chain(ack.rtt).min());
        let before = self.cwnd;
        self.update_model_and_state();
        self.check_recovery_done(ack.recovering, newest);
        self.restore_cwnd();
        self.update_control_parameters();
        if ack.ecn_echo {
            self.cwnd = self.cwnd.min(before);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.advance(loss.now);
        self.note_loss();
    }

    fn on_mark(&mut self, mark: &Mark) {
        self.advance(mark.now);
        self.handle_mark();
    }

    /// OnEnterRTO ("Modulating cwnd in Loss Recovery"). A transport that names the lost packets (TCP)
    /// has the others in flight; one that names none (DCCP) has nothing.
    fn on_timeout(&mut self, now: Instant, _in_flight: u32) {
        self.advance(now);
        self.note_loss();
        self.save_cwnd();
        if self.lost_at == Some(now) {
            self.log.count_in_flight();
        } else {
            self.log.give_up();
        }
        self.may_send_since = self.may_send_since.max(Some(now));
        self.cwnd = self.cwnd.min(self.log.in_flight + self.smss);
    }

    fn on_spurious_loss(&mut self, now: Instant) {
        self.advance(now);
        self.handle_spurious_loss_detection();
    }

    fn on_restart(&mut self, now: Instant) {
        self.advance(now);
        if self.log.in_flight == 0.0 {
            self.log.mark_app_limited();
            self.handle_restart_from_idle();
        }
    }

    /// Ends Startup, because more data would not arrive either. The draft has no such signal.
    fn on_receiver_overload(&mut self, now: Instant, dropped: u32) {
        self.advance(now);
        self.full.is_reached = true;
        self.limit_cwnd(self.cwnd() - f64::from(dropped));
    }

    fn limit_cwnd(&mut self, limit: f64) {
        self.cwnd = lowered(self.cwnd, limit, self.smss);
    }

    fn cwnd(&self) -> f64 {
        self.cwnd / self.smss
    }

    fn pacing(&self) -> Option<Pacing> {
        let rate = Rate::from_bps((self.pacing_rate * 8.0) as u64);
        Some(Pacing::at_rate(rate, self.send_quantum as u32))
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        record("phase", self.state.number());
        record("round_count", self.rounds.count as f64);
        record("pacing_rate_bps", self.pacing_rate * 8.0);
        record("max_bw_bps", self.max_bw * 8.0);
        record("bw_bps", self.bw * 8.0);
        record("extra_acked_packets", self.extra_acked.value / self.smss);
        if let Some(min_rtt) = self.probe_rtt.min_rtt {
            record("min_rtt_s", min_rtt.as_secs_f64());
        }
        for (name, value) in [
            ("bw_shortterm_bps", self.short_term.bw * 8.0),
            (
                "inflight_shortterm_packets",
                self.short_term.inflight / self.smss,
            ),
            (
                "inflight_longterm_packets",
                self.inflight_longterm / self.smss,
            ),
        ] {
            if value.is_finite() {
                record(name, value);
            }
        }
    }
}
