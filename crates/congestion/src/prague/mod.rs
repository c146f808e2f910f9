//! Prague (draft-briscoe-iccrg-prague-congestion-control-00, 2021): a scalable control, whose
//! response to marks is in proportion to their number, for the low delays of L4S (RFC 9331).
//!
//! Quoted titles in comments are the draft's sections. Where it leaves a choice, this follows
//! udp_prague (github.com/L4STeam/udp_prague, `prague_cc.cpp` at commit e8e3435).

mod alpha;
mod parameters;
#[cfg(test)]
mod tests;

use skywave_units::{Duration, Instant, Rate};

pub use self::parameters::{PragueConfig, PragueParameters};

use self::alpha::{Alpha, Round};
use self::parameters::MIN_CWND;
use crate::control::within;
use crate::{Ack, AckedPacket, Control, Interests, Loss, Mark, MarkedPackets, Pacing, Sent};

/// A Prague window.
///
/// It counts in packets. The window may be less than two packets: cwnd is two then, and pacing alone
/// reduces the rate. A transport that reports marks only by [`Ack::ecn_echo`] turns it into a
/// Reno-friendly control ("Accurate ECN Feedback with TCP & Derivatives").
///
/// It does not detect that a bottleneck's marks are Classic ("Fall-Back on Classic ECN"): the draft
/// refers to a report for that, and its implementation has it disabled.
#[derive(Clone, Debug)]
pub struct Prague {
    config: PragueConfig,
    /// The window, in packets; not always an integer, and possibly less than two or one.
    window: f64,
    /// The least cwnd: two packets, or less from a timeout or [`Control::limit_cwnd`] until the next
    /// acknowledgement.
    floor: f64,
    ssthresh: f64,
    alpha: Alpha,
    /// Packets acknowledged, and marks reported, since the last call of [`Control::on_ack`]: TCP makes
    /// none in a recovery.
    acked: u32,
    marked: u32,
    /// The CWR state: until its end, marks do not reduce the window again ("Multiplicative Decrease
    /// on ECN Feedback").
    cwr: Option<Round>,
    /// The round after a loss, in which the window neither grows nor shrinks again.
    loss: Option<Round>,
    undo: Option<Undo>,
    /// Whether the receiver echoes marks as in RFC 3168.
    is_classic: bool,
    /// SRTT, in seconds.
    srtt: Option<f64>,
    in_flight: u32,
}

/// What the last loss or timeout has changed.
#[derive(Clone, Copy, Debug)]
struct Undo {
    ssthresh: f64,
    /// The window before it, and by how much it was reduced.
    window: f64,
    reduction: f64,
}

impl Prague {
    /// Creates a window of initial size. Values of `config` out of range are clamped.
    pub fn new(mut config: PragueConfig) -> Self {
        config.packet_size = config.packet_size.max(1);
        config.initial_cwnd = within(config.initial_cwnd, 1.0, f64::from(u32::MAX));
        config.initial_ssthresh = within(config.initial_ssthresh, MIN_CWND, f64::INFINITY);
        config.gain = within(config.gain, 1e-6, 1.0);
        config.initial_alpha = within(config.initial_alpha, 0.0, 1.0);
        Self {
            config,
            window: config.initial_cwnd,
            floor: MIN_CWND.min(config.initial_cwnd),
            ssthresh: config.initial_ssthresh,
            alpha: Alpha::new(config.initial_alpha, config.gain),
            acked: 0,
            marked: 0,
            cwr: None,
            loss: None,
            undo: None,
            is_classic: false,
            srtt: None,
            in_flight: 0,
        }
    }

    /// Returns RTT_ref in seconds: max(RTT, 25 ms) after D rounds ("Reduced RTT-Dependence").
    fn reference_rtt(&self) -> f64 {
        let rtt = self.srtt.unwrap_or(0.0);
        if self.alpha.rounds < self.config.transition_rounds {
            rtt
        } else {
            rtt.max(self.config.reference_rtt.as_secs_f64())
        }
    }

    fn bits(&self) -> f64 {
        8.0 * f64::from(self.config.packet_size)
    }

    /// Reduces the window to `target`, unless that is less than the least rate permits.
    fn reduce_to(&mut self, target: f64) {
        let min_rate = self.config.min_rate.as_bps() as f64;
        // Above two packets, the response to a loss is Reno's.
        let least = (min_rate * self.srtt.unwrap_or(0.0) / self.bits()).min(MIN_CWND);
        self.window = target.max(least.min(self.window));
    }

    /// "Additive Increase and ECN Feedback": only packets acknowledged without a mark count, also
    /// in the CWR state. 1/M^2 of "Reduced RTT-Dependence" scales the increase.
    fn grow(&mut self, ack: &Ack, marked: u32) {
        let unmarked = f64::from(ack.newly_acked.saturating_sub(marked));
        if self.window < self.ssthresh {
            self.window += unmarked;
        } else {
            let reference_rtt = self.reference_rtt();
            let m = match self.srtt {
                Some(rtt) if rtt > 0.0 => reference_rtt / rtt,
                _ => 1.0,
            };
            // A window of a fraction of a packet grows no faster than in slow start.
            self.window += unmarked / (m * m * self.window).max(1.0);
        }
        self.window = self.window.min(f64::from(u32::MAX));
    }

    /// Returns whether the flow uses less than half of its window. Pacing keeps what is in flight a
    /// little below the window, which is no reason not to grow.
    fn is_idle(&self, ack: &Ack) -> bool {
        let used = f64::from(ack.in_flight) + f64::from(ack.newly_acked);
        ack.application_limited && used < self.cwnd() / 2.0
    }

    /// "Multiplicative Decrease on ECN Feedback".
    fn decrease(&mut self, now: Instant, in_flight: u32) {
        self.reduce_to((1.0 - self.alpha.value() / 2.0) * self.window);
        self.ssthresh = self.window;
        self.cwr = Some(Round::new(now, in_flight));
    }

    /// Halves the window ("Fall-Back on Loss"), as udp_prague does even in the CWR state.
    fn halve(&mut self, now: Instant, in_flight: u32) {
        let (ssthresh, window) = (self.ssthresh, self.window);
        self.reduce_to(window / 2.0);
        self.undo = Some(Undo {
            ssthresh,
            window,
            reduction: window - self.window,
        });
        self.ssthresh = self.window;
        self.loss = Some(Round::new(now, in_flight));
    }

    /// Counts packets acknowledged or lost, and ends the rounds after a decrease.
    fn end_rounds(&mut self, now: Instant, packets: u32, reference_rtt: Duration) {
        for round in [&mut self.cwr, &mut self.loss] {
            if let Some(current) = round {
                current.count(packets);
            }
            round.take_if(|current| current.is_over(now, reference_rtt));
        }
    }
}

impl Control for Prague {
    /// Asks for each packet, since those of a recovery count too.
    fn interests(&self) -> Interests {
        Interests {
            packets: true,
            ..Interests::default()
        }
    }

    fn on_packet_acked(&mut self, _packet: &AckedPacket) {
        self.acked = self.acked.saturating_add(1);
        self.alpha.fraction.on_packet_acked();
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.in_flight = sent.in_flight;
    }

    fn on_packets_marked(&mut self, marked: &MarkedPackets) {
        self.marked = self.marked.saturating_add(marked.packets);
        self.alpha.fraction.on_packets_marked(marked.packets);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.in_flight = ack.in_flight;
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.as_secs_f64();
            self.srtt = Some(self.srtt.map_or(rtt, |srtt| srtt + (rtt - srtt) / 8.0));
        }
        let acked = core::mem::take(&mut self.acked);
        let marked = core::mem::take(&mut self.marked);
        self.is_classic |= ack.ecn_echo;
        let reference_rtt = Duration::from_secs_f64(self.reference_rtt());
        self.alpha
            .on_ack(ack.now, acked, ack.in_flight, reference_rtt);
        self.end_rounds(ack.now, acked, reference_rtt);
        if ack.newly_acked > 0 && !ack.ecn_echo {
            self.floor = MIN_CWND;
            if self.loss.is_none() && !self.is_idle(ack) {
                self.grow(ack, marked);
            }
        }
        let responds = self.cwr.is_none() && self.loss.is_none() && !self.is_classic;
        if ack.marked > 0 && responds {
            self.decrease(ack.now, ack.in_flight);
        }
    }

    /// Halves the window, unless a round after a loss has not ended.
    fn on_loss(&mut self, loss: &Loss) {
        self.alpha.on_lost(loss.lost);
        let reference_rtt = Duration::from_secs_f64(self.reference_rtt());
        self.end_rounds(loss.now, loss.lost, reference_rtt);
        if self.loss.is_none() {
            self.halve(loss.now, loss.in_flight);
        } else {
            self.undo = None;
        }
    }

    /// Responds to marks that no call of [`Control::on_ack`] has reported, such as those of duplicate
    /// acknowledgements. With RFC 3168's echo, halves the window.
    fn on_mark(&mut self, mark: &Mark) {
        if self.loss.is_some() {
            return;
        }
        if self.is_classic {
            self.halve(mark.now, mark.in_flight);
            self.undo = None;
        } else if self.cwr.is_none() {
            self.decrease(mark.now, mark.in_flight);
        }
    }

    /// Restarts slow start with one packet, and alpha, as udp_prague does.
    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {
        let (ssthresh, window) = (self.ssthresh, self.window);
        self.ssthresh = (window / 2.0).max(MIN_CWND);
        self.window = window.min(1.0);
        self.floor = 1.0;
        self.undo = Some(Undo {
            ssthresh,
            window,
            reduction: window - self.window,
        });
        self.alpha
            .reset(self.config.initial_alpha, self.config.gain);
        (self.acked, self.marked) = (0, 0);
        (self.cwr, self.loss) = (None, None);
    }

    /// Restores the window, as udp_prague does.
    fn on_spurious_loss(&mut self, _now: Instant) {
        if let Some(undo) = self.undo.take() {
            self.ssthresh = undo.ssthresh;
            let restored = (self.window + undo.reduction).min(undo.window);
            self.window = self.window.max(restored);
            self.loss = None;
        }
    }

    fn on_restart(&mut self, _now: Instant) {
        self.window = self.window.min(self.config.initial_cwnd);
    }

    fn on_receiver_overload(&mut self, _now: Instant, dropped: u32) {
        self.limit_cwnd(self.cwnd() - f64::from(dropped));
        self.ssthresh = self.ssthresh.min(self.window).max(MIN_CWND);
    }

    fn limit_cwnd(&mut self, limit: f64) {
        let limit = limit.max(1.0);
        self.window = self.window.min(limit);
        self.floor = self.floor.min(limit);
    }

    fn on_validation(&mut self, cwnd: f64, ssthresh: f64) {
        if ssthresh.is_finite() {
            self.ssthresh = ssthresh.max(MIN_CWND);
        }
        self.undo = None;
        self.limit_cwnd(cwnd);
    }

    fn cwnd(&self) -> f64 {
        self.window.max(self.floor)
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// "Packet Pacing" and "Segmentation Offload".
    fn pacing(&self) -> Option<Pacing> {
        let srtt = self.srtt.filter(|&srtt| srtt > 0.0)?;
        let mut packets = self.window;
        if packets >= MIN_CWND {
            packets = packets.max(f64::from(self.in_flight));
        }
        if self.window < self.ssthresh / 2.0 {
            packets *= 2.0;
        }
        let rate = packets * self.bits() / srtt;
        let burst = (rate * self.config.max_burst_delay.as_secs_f64() / self.bits()).max(1.0);
        let quantum = (burst as u32).saturating_mul(self.config.packet_size);
        Some(Pacing::at_rate(Rate::from_bps(rate as u64), quantum))
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        record("alpha", self.alpha.value());
        record("round_count", f64::from(self.alpha.rounds));
        record("window_packets", self.window);
        record("in_cwr", f64::from(u8::from(self.cwr.is_some())));
        if self.srtt.is_some() {
            record("reference_rtt_s", self.reference_rtt());
        }
    }
}
