//! C4, Christian's Congestion Control Code (draft-huitema-ccwg-c4-spec of 19 October 2025, with the
//! reasons in draft-huitema-ccwg-c4-design of the same day): a nominal rate and a nominal max RTT
//! decide how fast to send, and how much.
//!
//! Sections in comments are those of the specification. Volumes are in bytes, rates in bytes per
//! second and times in seconds, except in the interface of [`Control`].
//!
//! Where the text is incomplete, these choices are those of its implementation in picoquic
//! (`c4.c` of 17 November 2025): the response to CE marks (the weight of each
//! packet in their rate is this crate's), that losses also reduce the nominal max
//! RTT, and that a push has room for one packet more at least. Section 3.1 swaps two operands:
//! measurements can only raise the nominal rate, as its next paragraph says.

mod delays;
mod parameters;
mod signals;
mod state;
#[cfg(test)]
mod tests;

use skywave_units::{Instant, Rate};

pub use self::parameters::{C4Config, C4Parameters, C4Rules};

use self::delays::Delays;
use self::parameters::{ERAS_BEFORE_DELAY, MAX_QUANTUM, MIN_CWND, PACKETS_BEFORE_LOSS};
use self::signals::{Signal, Smoothed, ce_threshold, delay_threshold, loss_threshold, sensitivity};
use self::state::{Era, Push, State};
use crate::control::{lowered, within};
use crate::{
    Ack, AckedPacket, Control, Interests, Loss, LostPacket, Mark, MarkedPackets, Pacing, Sent,
};

/// A C4 window.
///
/// It takes timeouts for delays: they leave the nominal values unchanged (section 5.3.1). A
/// transport here gives up its flight at a timeout, unlike QUIC, so cwnd is one packet until the
/// next acknowledgement, as much as a probe.
#[derive(Clone, Debug)]
pub struct C4 {
    config: C4Config,
    /// MTU.
    smss: f64,
    initial_cwnd: f64,
    state: State,
    era: Era,
    /// The nominal rate; zero before the first measurement.
    nominal_rate: f64,
    delays: Delays,
    /// Whether the nominal rate must not rise, because Recovery began with congestion or has seen
    /// some (section 3.1).
    is_congested: bool,
    /// Packets received in this Initial state.
    received: u32,
    eras_without_increase: u32,
    /// Whether jitter has led back to the Initial state (section 4.3.1).
    has_restarted: bool,
    /// Eras until the next push.
    cruising_left: u32,
    push: Push,
    /// Whether the application limited the last sample.
    is_application_limited: bool,
    loss_rate: Smoothed,
    ce_rate: Smoothed,
    /// What the current acknowledgement reports.
    news: News,
    cwnd: f64,
    pacing: Option<Pacing>,
}

/// Packets reported since the last acknowledgement was summarized.
#[derive(Clone, Copy, Debug, Default)]
struct News {
    /// When the newest acknowledged packet was sent.
    acked: Option<Instant>,
    lost: u32,
    /// When the newest lost packet was sent.
    newest_lost: Option<Instant>,
    marked: u32,
}

impl C4 {
    /// Creates a window of initial size (section 4.2). Values of `config` out of range are clamped.
    pub fn new(mut config: C4Config) -> Self {
        config.packet_size = config.packet_size.max(1);
        config.initial_cwnd = within(config.initial_cwnd, 1.0, f64::from(u32::MAX));
        config.beta = within(config.beta, 0.01, 0.99);
        config.cruising_eras = config.cruising_eras.max(1);
        let smss = f64::from(config.packet_size);
        let initial_cwnd = config.initial_cwnd * smss;
        Self {
            config,
            smss,
            initial_cwnd,
            state: State::Initial,
            era: Era {
                start: Instant::ZERO,
                alpha: 2.0,
                alpha_previous: 2.0,
                rate: 0.0,
            },
            nominal_rate: 0.0,
            delays: Delays::new(),
            is_congested: false,
            received: 0,
            eras_without_increase: 0,
            has_restarted: false,
            cruising_left: 0,
            push: Push::NONE,
            is_application_limited: false,
            loss_rate: Smoothed::default(),
            ce_rate: Smoothed::default(),
            news: News::default(),
            cwnd: initial_cwnd,
            pacing: None,
        }
    }

    fn follows_picoquic(&self) -> bool {
        self.config.rules == C4Rules::Picoquic
    }

    /// Responds to congestion (section 5). `sent_at` is when the packet left that the signal is tied
    /// to.
    fn on_congestion(&mut self, now: Instant, signal: Signal, sent_at: Option<Instant>) {
        match self.state {
            State::Initial => {
                let ends = match signal {
                    Signal::Delay { .. } => self.eras_without_increase >= ERAS_BEFORE_DELAY,
                    Signal::Losses { .. } => self.received > PACKETS_BEFORE_LOSS,
                    Signal::Marks { .. } => true,
                };
                if ends {
                    self.enter_recovery(now, true);
                }
            }
            State::Recovery => self.is_congested = true,
            State::Cruising => self.reduce(now, signal),
            State::Pushing if sent_at >= Some(self.era.start) => self.enter_recovery(now, true),
            State::Pushing => self.reduce(now, signal),
        }
    }

    /// Reduces the nominal values (section 5.5) and enters Recovery.
    fn reduce(&mut self, now: Instant, signal: Signal) {
        self.nominal_rate *= 1.0 - signal.beta();
        if let Signal::Losses { beta } = signal {
            self.delays.reduce(beta);
        }
        self.enter_recovery(now, true);
    }

    /// Counts the packets reported lost (section 5.3).
    fn note_lost(&mut self, now: Instant) {
        let lost = core::mem::take(&mut self.news.lost);
        let sent_at = self.news.newest_lost.take();
        if lost == 0 {
            return;
        }
        self.loss_rate.add(lost, true);
        let sensitivity = sensitivity(self.nominal_rate);
        if self.loss_rate.value() > loss_threshold(sensitivity) {
            let mut beta = self.config.beta;
            if self.follows_picoquic() {
                beta *= 0.5 + 0.5 * sensitivity;
            }
            self.on_congestion(now, Signal::Losses { beta }, sent_at);
        }
    }

    /// Counts the packets reported marked.
    fn note_marked(&mut self, now: Instant, acked: u32, sent_at: Option<Instant>) {
        let marked = core::mem::take(&mut self.news.marked);
        self.ce_rate.add(acked.saturating_sub(marked), false);
        if marked == 0 {
            return;
        }
        self.ce_rate.add(marked, true);
        let threshold = ce_threshold(sensitivity(self.nominal_rate));
        let excess = self.ce_rate.value() / threshold - 1.0;
        if excess > 0.0 {
            let beta = excess.min(self.config.beta);
            self.on_congestion(now, Signal::Marks { beta }, sent_at);
        }
    }

    /// Takes a round-trip time sample (sections 3.2 and 5.2).
    fn note_rtt(&mut self, now: Instant, rtt: f64, sent_at: Option<Instant>) {
        self.delays.on_sample(rtt);
        let most = self.config.max_delay_threshold.as_secs_f64();
        let nominal_max = self.delays.nominal_max.unwrap_or(rtt);
        let threshold = delay_threshold(sensitivity(self.nominal_rate), nominal_max, most);
        let excess = rtt - (nominal_max + threshold);
        let counts = !self.follows_picoquic() || self.era.alpha_previous > 1.0;
        if excess > 0.0 && counts {
            let beta = (excess / threshold).min(self.config.beta);
            self.on_congestion(now, Signal::Delay { beta }, sent_at);
        }
    }

    /// Takes a sample of the delivery rate (section 3.1).
    fn note_rate(&mut self, ack: &Ack) {
        let Some(sample) = ack.delivery_rate else {
            return;
        };
        self.is_application_limited = sample.is_application_limited;
        let rate = sample.rate().as_bps() as f64 / 8.0;
        let may_rise = self.state != State::Recovery || !self.is_congested;
        if may_rise && rate > self.nominal_rate {
            self.nominal_rate = rate;
        }
    }

    /// Returns the pacing rate and the window (section 4.1); `None` without measurements.
    fn targets(&self) -> Option<(f64, f64)> {
        let nominal_max = self.delays.nominal_max.filter(|&rtt| rtt > 0.0)?;
        if self.nominal_rate <= 0.0 {
            return None;
        }
        let mut rate = self.era.alpha * self.nominal_rate;
        let mut cwnd = rate * nominal_max;
        if self.state == State::Initial && self.follows_picoquic() {
            rate *= 1.25;
        }
        if self.state == State::Pushing {
            cwnd = cwnd.max(self.nominal_rate * nominal_max + self.smss);
        }
        Some((rate, cwnd.max(MIN_CWND * self.smss)))
    }

    /// Sets pacing, and cwnd to at most `limit` bytes.
    fn apply(&mut self, limit: f64) {
        let Some((rate, cwnd)) = self.targets() else {
            self.pacing = None;
            self.cwnd = self.initial_cwnd.min(limit);
            return;
        };
        // A window so large that nothing fills it must stay a finite number of packets.
        let cwnd = cwnd.min(self.smss * f64::from(u32::MAX));
        let quantum = (cwnd / 4.0).min(MAX_QUANTUM).max(MIN_CWND * self.smss);
        let rate = Rate::from_bps((rate * 8.0) as u64);
        self.pacing = Some(Pacing::at_rate(rate, quantum as u32));
        self.cwnd = cwnd.min(limit);
    }
}

impl Control for C4 {
    fn interests(&self) -> Interests {
        Interests {
            packets: true,
            delivery_rate: true,
            every_ack: true,
            ..Interests::default()
        }
    }

    fn on_sent(&mut self, _sent: &Sent) {}

    fn on_packet_acked(&mut self, packet: &AckedPacket) {
        // The sending time of a packet sent again may be later than that of the copy that arrived.
        if packet.transmissions == 1 {
            self.news.acked = self.news.acked.max(Some(packet.sent_at));
        }
        self.received = self.received.saturating_add(1);
        self.loss_rate.add(1, false);
    }

    fn on_packet_lost(&mut self, packet: &LostPacket) {
        self.news.lost = self.news.lost.saturating_add(1);
        self.news.newest_lost = self.news.newest_lost.max(Some(packet.sent_at));
    }

    fn on_packets_marked(&mut self, marked: &MarkedPackets) {
        self.news.marked = self.news.marked.saturating_add(marked.packets);
    }

    fn on_ack(&mut self, ack: &Ack) {
        let newest = self.news.acked.take();
        self.note_lost(ack.now);
        self.note_marked(ack.now, ack.newly_acked, newest);
        if let Some(rtt) = ack.rtt {
            self.note_rtt(ack.now, rtt.as_secs_f64(), newest);
        }
        self.note_rate(ack);
        if newest >= Some(self.era.start) {
            self.end_era(ack.now);
        }
        let limit = if ack.ecn_echo {
            self.cwnd
        } else {
            f64::INFINITY
        };
        self.apply(limit);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.note_lost(loss.now);
        self.apply(self.cwnd);
    }

    /// Does nothing: [`Control::on_packets_marked`] has counted the marks.
    fn on_mark(&mut self, _mark: &Mark) {}

    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {
        self.news.lost = 0;
        self.news.newest_lost = None;
        self.limit_cwnd(1.0);
    }

    /// Ends the Initial state, because more data would not arrive either. The draft has no such
    /// signal.
    fn on_receiver_overload(&mut self, now: Instant, dropped: u32) {
        if self.state == State::Initial {
            self.enter_recovery(now, true);
        }
        self.limit_cwnd(self.cwnd() - f64::from(dropped));
    }

    fn limit_cwnd(&mut self, limit: f64) {
        self.cwnd = lowered(self.cwnd, limit, self.smss);
    }

    fn cwnd(&self) -> f64 {
        self.cwnd / self.smss
    }

    fn pacing(&self) -> Option<Pacing> {
        self.pacing
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        record("phase", self.state.number());
        record("nominal_rate_bps", self.nominal_rate * 8.0);
        record("alpha", self.era.alpha);
        record("sensitivity", sensitivity(self.nominal_rate));
        record("smoothed_loss_rate", self.loss_rate.value());
        record("smoothed_ce_rate", self.ce_rate.value());
        if let Some(nominal_max) = self.delays.nominal_max {
            record("nominal_max_rtt_s", nominal_max);
            record("running_min_rtt_s", self.delays.running_min);
        }
    }
}
