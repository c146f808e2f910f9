//! MPCP: a window that follows the load factor of the busiest router, carried by a chain of n
//! packets. With n = 1 it is VCP.
//!
//! - VCP: Xia, Subramanian, Stoica and Kalyanaraman, "One More Bit Is Enough" (2005 and 2008), as
//!   restated by Chen, Yang and Hong (2010, appendix).
//! - MPCP: Li and Yousefi'zadeh, "MPCP: Multi Packet Congestion-control Protocol" (2009), called
//!   DPCP with two packets and TPCP with three.
//!
//! Where the published versions differ, each is a named option.

mod acked;
mod config;
mod fallback;
mod growth;
mod reader;

pub use config::{
    Acts, AdditiveScaling, AfterDecrease, GrowthPer, MpcpConfig, OnLoss, Start, VcpConfig,
};

use acked::Acked;
use fallback::{Fallback, Overload};
use growth::Growth;
use reader::{Reader, Reading};
use skywave_congestion::{
    Ack, AckedPacket, Control, Interests, Loss, LostPacket, Mark, MarkedPackets, MemberFailure,
    Pacing, Sent,
};
use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;

use crate::chain::Encoding;
use crate::load::{Level, Zone};

/// The round-trip time used to scale growth before the first sample (Xia et al., code for ns-2).
const RTT_BEFORE_SAMPLES: Duration = Duration::from_millis(100);
/// The weight of a sample in the smoothed round-trip time (RFC 6298 section 2.3).
const RTT_WEIGHT: f64 = 0.125;
/// From this cwnd on, packets are not paced (Xia et al., code for ns-2).
const MOST_PACED: f64 = 64.0;

/// An MPCP window; with chains of one packet, a VCP window.
///
/// It grows for each acknowledged packet according to the load factor known at that time, so one
/// acknowledgement of several packets has the same effect as one for each, unless VCP is to grow
/// [per acknowledgement](GrowthPer::Ack).
#[derive(Clone, Debug)]
pub struct Mpcp {
    config: MpcpConfig,
    cwnd: f64,
    ssthresh: f64,
    /// Smoothed round-trip time in seconds; `None` before the first sample.
    srtt: Option<f64>,
    growth: Growth,
    reader: Reader,
    /// The contents of the current acknowledgement.
    acked: Acked,
    /// The busiest zone in the last acknowledgement.
    zone: Zone,
    gate: Gate,
    /// The last decrease, if it assumed the worst for missing digits.
    provisional: Option<Provisional>,
    /// The window in use while routers do not seem to support VCP.
    fallback: Option<Box<Fallback>>,
    overload: Overload,
    slow_start: SlowStart,
    /// Bytes of data in the largest packet so far.
    packet_size: u32,
}

/// The progress of [`Start::BySlowStart`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlowStart {
    /// Nothing has been lost.
    Lossless,
    /// The time of the last loss.
    LostAt(Instant),
    Over,
}

/// A decrease for a level not known completely.
#[derive(Clone, Copy, Debug)]
struct Provisional {
    /// The chain that reported overload.
    chain: u64,
    /// cwnd before the decrease.
    cwnd: f64,
    /// cwnd after the decrease.
    left: f64,
}

/// The phase of a sender after a decrease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gate {
    /// The sender decreases on overload.
    Open,
    /// The pause after the decrease has not passed: t_rho, or a round-trip time if it
    /// [holds](AfterDecrease::Holds).
    Shut { until: Instant },
    /// The pause has passed, but the following round-trip time has not.
    Increasing { until: Instant },
}

impl Mpcp {
    /// Creates a window of initial size.
    pub fn new(config: impl Into<MpcpConfig>) -> Self {
        let config = config.into();
        Self {
            config,
            cwnd: config.vcp.initial_cwnd.max(config.vcp.least_cwnd),
            ssthresh: f64::INFINITY,
            srtt: None,
            growth: Growth::new(&config.vcp, RTT_BEFORE_SAMPLES.as_secs_f64()),
            reader: Reader::new(&config),
            acked: Acked::default(),
            zone: Zone::Low,
            gate: Gate::Open,
            provisional: None,
            fallback: None,
            overload: Overload::default(),
            slow_start: match config.vcp.start {
                Start::BySlowStart => SlowStart::Lossless,
                Start::ByLoadFactor => SlowStart::Over,
            },
            packet_size: 0,
        }
    }

    /// Ends slow start if a round-trip time has passed since the last loss. Returns whether it
    /// continues.
    fn is_in_slow_start(&mut self, now: Instant) -> bool {
        if let SlowStart::LostAt(at) = self.slow_start
            && now >= at + Duration::from_secs_f64(self.rtt())
        {
            self.slow_start = SlowStart::Over;
        }
        self.slow_start != SlowStart::Over
    }

    /// Grows by a packet for each packet acknowledged, and after a loss by one for each cwnd of
    /// them.
    fn grow_in_slow_start(&mut self, acked: u32) {
        let per_packet = match self.slow_start {
            SlowStart::Lossless => 1.0,
            SlowStart::LostAt(_) | SlowStart::Over => self.cwnd.recip(),
        };
        self.cwnd += f64::from(acked) * per_packet;
    }

    /// Returns the number of packets per load factor.
    pub(crate) const fn packets(&self) -> u8 {
        self.reader.packets()
    }

    /// Returns how segments carry their positions.
    pub(crate) const fn encoding(&self) -> Encoding {
        Encoding::new(self.config.packets, self.config.order)
    }

    fn rtt(&self) -> f64 {
        self.srtt.unwrap_or(RTT_BEFORE_SAMPLES.as_secs_f64())
    }

    fn on_rtt(&mut self, sample: Duration) {
        let sample = sample.as_secs_f64();
        let srtt = self.srtt.get_or_insert(sample);
        *srtt += RTT_WEIGHT * (sample - *srtt);
        self.growth = Growth::new(&self.config.vcp, *srtt);
    }

    /// Advances the phases that follow a decrease.
    fn pass(&mut self, now: Instant) {
        if let Gate::Shut { until } = self.gate
            && until <= now
        {
            let until = until + Duration::from_secs_f64(self.rtt());
            self.gate = Gate::Increasing { until };
        }
        if let Gate::Increasing { until } = self.gate
            && until <= now
        {
            self.gate = Gate::Open;
        }
    }

    /// Reads an acknowledgement in sending order, because a digit has no meaning before the
    /// preceding ones.
    fn read_news(&mut self) {
        let mut news = core::mem::take(&mut self.acked.news);
        news.sort_unstable_by_key(|&(seq, _)| seq);
        for &(seq, zone) in &news {
            self.acked.record(self.reader.on_packet(seq, zone));
        }
        self.acked.news = news;
    }

    /// Responds to an acknowledgement.
    fn obey(&mut self, now: Instant, may_grow: bool) {
        if may_grow {
            self.grow();
        }
        let Some(reading) = self.acked.over() else {
            return;
        };
        match self.gate {
            Gate::Open => {
                let before = self.cwnd;
                self.decrease(reading.level);
                self.provisional = (!reading.is_whole).then_some(Provisional {
                    chain: reading.chain,
                    cwnd: before,
                    left: self.cwnd,
                });
                let pause = match self.config.vcp.after_decrease {
                    AfterDecrease::IgnoresOverload | AfterDecrease::Freezes => {
                        self.config.vcp.interval
                    }
                    AfterDecrease::Holds => Duration::from_secs_f64(self.rtt()),
                    AfterDecrease::Increases => Duration::ZERO,
                };
                self.gate = Gate::Shut { until: now + pause };
            }
            Gate::Shut { .. } => self.refine(reading),
            Gate::Increasing { .. } => {}
        }
    }

    fn grow(&mut self) {
        let freezes = self.config.vcp.after_decrease != AfterDecrease::IgnoresOverload;
        if freezes && matches!(self.gate, Gate::Shut { .. }) {
            return;
        }
        let answers_overload = matches!(self.gate, Gate::Increasing { .. });
        let is_additive = freezes && answers_overload;
        let [low, high, over] = self.acked.vcp(self.config.vcp.growth);
        let (low, high) = if is_additive {
            (0, low + high)
        } else {
            (low, high)
        };
        let over = if answers_overload { over } else { 0 };
        self.cwnd += self.growth.multiplicative(low);
        for packets in [high, over] {
            self.cwnd += self.growth.additive(packets, self.cwnd);
        }
        for (level, packets) in self.acked.chains() {
            if level.zone() != Zone::Over || answers_overload {
                let xi = if is_additive { 0.0 } else { level.increase() };
                self.cwnd += self.growth.of_chain(&self.config, xi, packets, self.cwnd);
            }
        }
    }

    fn decrease(&mut self, level: Level) {
        self.cwnd = self.decreased(self.cwnd, level);
        self.ssthresh = self.cwnd;
    }

    /// Returns max(1, beta cwnd), or max(least cwnd, beta cwnd): Chen et al. 2010, equation A5, and
    /// Li and Yousefi'zadeh 2009, Table 1.
    fn decreased(&self, cwnd: f64, level: Level) -> f64 {
        let beta = level.decrease().unwrap_or(self.config.vcp.decrease);
        (beta * cwnd).max(self.config.vcp.least_cwnd)
    }

    /// Handles more digits of the level for which cwnd was decreased, or the next complete chain:
    /// restores what was too much ("a finer adjustment", Li and Yousefi'zadeh 2009, section 3.3).
    fn refine(&mut self, reading: Reading) {
        let Some(last) = self.provisional else {
            return;
        };
        if !reading.is_whole && reading.chain != last.chain {
            return;
        }
        let left = self.decreased(last.cwnd, reading.level);
        if left > last.left {
            // If a loss reduced cwnd in the meantime, reduce the restored window by the same
            // factor.
            self.cwnd *= left / last.left;
            self.ssthresh = self.cwnd;
        }
        self.provisional = (!reading.is_whole).then_some(Provisional {
            left: left.max(last.left),
            ..last
        });
    }

    /// Reports the ECN bits of a received packet and, from the acknowledgement's header, its
    /// position in a chain. Called before the acknowledged packets are reported, and also for
    /// duplicates, but only by a transport whose packets have no sequence numbers that determine
    /// positions: TCP.
    pub(crate) fn on_feedback(&mut self, now: Instant, place: u8, code: Ecn) {
        let rtt = Duration::from_secs_f64(self.rtt());
        self.reader.on_header(now, rtt, place, zone_of(code));
    }

    /// Returns the position in a chain to encode in the next packet's header. Called once per
    /// packet, by the same transports as [`on_feedback`](Self::on_feedback).
    pub(crate) fn next_place(&mut self) -> u8 {
        self.reader.next_place()
    }

    /// Checks whether the codes of an acknowledgement can come from VCP routers.
    fn judge(&mut self, now: Instant, [low, high, over]: [u32; 3]) {
        let others = low + high > 0;
        let is_too_short =
            self.overload
                .is_too_short(now, over > 0, others, self.config.vcp.interval);
        if over > 0 {
            self.zone = Zone::Over;
        } else if high > 0 {
            self.zone = Zone::High;
        } else if low > 0 {
            self.zone = Zone::Low;
        }
        if high > 0 {
            self.regain();
        } else if self.config.vcp.falls_back && is_too_short && self.fallback.is_none() {
            self.fall_back(now);
        }
    }

    /// Falls back after a loss that VCP routers do not explain. A loss is plausible if the load is
    /// or was recently reported as high; otherwise the codes do not come from the router that
    /// drops.
    fn doubt_after_loss(&mut self, now: Instant) {
        if self.config.vcp.falls_back && self.zone == Zone::Low && self.gate == Gate::Open {
            self.fall_back(now);
        }
    }

    /// Stops trusting the codes, because feedback contradicts VCP, and keeps the current window.
    fn fall_back(&mut self, now: Instant) {
        let fallback = Fallback::new(now, self.cwnd, self.ssthresh);
        self.fallback = Some(Box::new(fallback));
    }

    /// Ends the fallback after a code that only VCP routers write.
    fn regain(&mut self) {
        if let Some(fallback) = self.fallback.take() {
            self.cwnd = fallback.window.cwnd();
            self.ssthresh = fallback.window.ssthresh();
            self.gate = Gate::Open;
            self.provisional = None;
        }
    }
}

// A method left at its default would not reach the window in use.
#[deny(clippy::missing_trait_methods)]
impl Control for Mpcp {
    fn interests(&self) -> Interests {
        Interests {
            packets: true,
            ..Interests::default()
        }
    }

    /// Does nothing: the initial window is the configuration's, and a fallback begins later.
    fn on_handshake(&mut self, _rtt: Duration) {}

    fn on_sent(&mut self, sent: &Sent) {
        self.packet_size = self.packet_size.max(sent.bytes);
        if let Some(fallback) = &mut self.fallback {
            fallback.window.on_sent(sent);
        }
    }

    fn on_packet_acked(&mut self, packet: &AckedPacket) {
        self.acked.news.push((packet.number, zone_of(packet.ecn)));
        if let Some(fallback) = &mut self.fallback {
            fallback.window.on_packet_acked(packet);
        }
    }

    fn on_packet_lost(&mut self, packet: &LostPacket) {
        if let Some(fallback) = &mut self.fallback {
            fallback.window.on_packet_lost(packet);
        }
    }

    fn on_packets_marked(&mut self, marked: &MarkedPackets) {
        if let Some(fallback) = &mut self.fallback {
            fallback.window.on_packets_marked(marked);
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.on_rtt(rtt);
        }
        self.read_news();
        let zones = self.acked.zones();
        if self.is_in_slow_start(ack.now) {
            if !ack.application_limited && !ack.ecn_echo {
                self.grow_in_slow_start(ack.newly_acked);
            }
            return self.acked.clear();
        }
        self.judge(ack.now, zones);
        let rtt = self.rtt();
        match &mut self.fallback {
            Some(fallback) => fallback.on_ack(ack, zones[Zone::Over as usize], rtt),
            None => {
                self.pass(ack.now);
                self.obey(ack.now, !ack.application_limited && !ack.ecn_echo);
            }
        }
        self.acked.clear();
    }

    fn on_loss(&mut self, loss: &Loss) {
        if let Some(fallback) = &mut self.fallback {
            return fallback.window.on_loss(loss);
        }
        if self.slow_start != SlowStart::Over {
            self.slow_start = SlowStart::LostAt(loss.now);
        }
        match self.config.vcp.on_loss {
            OnLoss::Halves => {
                self.cwnd = (self.cwnd / 2.0).max(self.config.vcp.least_cwnd);
                self.ssthresh = self.cwnd;
            }
            OnLoss::Decreases => self.decrease(Level::begin(Zone::Over)),
            OnLoss::Ignores => {}
        }
        if self.slow_start == SlowStart::Over {
            self.doubt_after_loss(loss.now);
        }
    }

    fn on_mark(&mut self, mark: &Mark) {
        match &mut self.fallback {
            Some(fallback) => fallback.window.on_mark(mark),
            None => self.on_loss(&Loss::of_mark(mark)),
        }
    }

    fn on_timeout(&mut self, now: Instant, in_flight: u32) {
        self.acked.clear();
        if let Some(fallback) = &mut self.fallback {
            return fallback.window.on_timeout(now, in_flight);
        }
        self.ssthresh = (self.cwnd / 2.0).max(2.0);
        self.cwnd = self.config.vcp.least_cwnd;
        self.provisional = None;
        if self.slow_start == SlowStart::Over {
            self.doubt_after_loss(now);
        } else {
            self.slow_start = SlowStart::LostAt(now);
        }
    }

    fn on_spurious_loss(&mut self, now: Instant) {
        if let Some(fallback) = &mut self.fallback {
            fallback.window.on_spurious_loss(now);
        }
    }

    fn on_restart(&mut self, now: Instant) {
        self.cwnd = self
            .cwnd
            .min(self.config.vcp.initial_cwnd.max(self.config.vcp.least_cwnd));
        self.provisional = None;
        if let Some(fallback) = &mut self.fallback {
            fallback.window.on_restart(now);
        }
    }

    fn on_receiver_overload(&mut self, now: Instant, dropped: u32) {
        self.cwnd = (self.cwnd - f64::from(dropped)).max(1.0);
        self.provisional = None;
        if let Some(fallback) = &mut self.fallback {
            fallback.window.on_receiver_overload(now, dropped);
        }
    }

    fn limit_cwnd(&mut self, limit: f64) {
        self.cwnd = self.cwnd.min(limit.max(1.0));
        self.provisional = None;
        if let Some(fallback) = &mut self.fallback {
            fallback.window.limit_cwnd(limit);
        }
    }

    fn on_validation(&mut self, cwnd: f64, ssthresh: f64) {
        self.limit_cwnd(cwnd);
        if let Some(fallback) = &mut self.fallback {
            fallback.window.on_validation(cwnd, ssthresh);
        }
    }

    fn cwnd(&self) -> f64 {
        match &self.fallback {
            Some(fallback) => fallback.window.cwnd(),
            None => self.cwnd,
        }
    }

    fn ssthresh(&self) -> f64 {
        match &self.fallback {
            Some(fallback) => fallback.window.ssthresh(),
            None => self.ssthresh,
        }
    }

    fn pacing(&self) -> Option<Pacing> {
        if let Some(fallback) = &self.fallback {
            return fallback.window.pacing();
        }
        if !self.config.vcp.paces || self.cwnd <= 1.0 || self.cwnd > MOST_PACED {
            return None;
        }
        // R / 2^ceil(log2 cwnd), if that is long enough to matter.
        let interval = Duration::from_secs_f64(self.rtt() / self.cwnd.log2().ceil().exp2());
        let matters = interval * 2 > self.config.vcp.interval;
        matters.then(|| Pacing::of_packets(interval, 1, self.packet_size))
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        record("load_zone", f64::from(self.zone as u8));
        record("falls_back", f64::from(u8::from(self.fallback.is_some())));
        if let Some(fallback) = &self.fallback {
            fallback.window.inner_values(record);
        }
    }

    fn failure(&self) -> Option<MemberFailure> {
        self.fallback.as_ref()?.window.failure()
    }
}

/// Returns the zone of a code. A packet whose code was cleared on the path counts with the code it
/// was sent with.
fn zone_of(code: Ecn) -> Zone {
    Zone::from_code(code).unwrap_or(Zone::Low)
}

#[cfg(test)]
mod tests;
