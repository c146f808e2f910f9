//! VCP: a window that obeys the load factor of the busiest router.
//!
//! Xia, Subramanian, Stoica and Kalyanaraman, "One More Bit Is Enough" (2005 and 2008), as Chen, Yang
//! and Hong restate it (2010, appendix). Where the published forms differ, each is a named choice.

use skywave_units::{Duration, Instant};

use crate::load::Zone;
use crate::{AckSummary, AckedPacket, Aimd, AimdConfig, GrowthLaw, WindowControl};

/// The round-trip time that growth is scaled by before there is a sample (Xia et al., code for
/// ns-2).
const RTT_BEFORE_SAMPLES: Duration = Duration::from_millis(100);
/// Weight of a sample in the smoothed round-trip time (RFC 6298 section 2.3).
const RTT_WEIGHT: f64 = 0.125;
/// From this cwnd on packets are not paced (Xia et al., code for ns-2).
const MOST_PACED: f64 = 64.0;
/// A router's code holds for t_rho. Packets that say less before and after one that says overload
/// cannot be closer in time than that, unless what marked it was no VCP router; queues and delayed
/// acknowledgements may bring them together by this factor.
const TOO_SHORT_OVERLOAD: u64 = 2;

/// How the additive increase grows with the round-trip time R.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AdditiveScaling {
    /// min((R / t_rho)^2, limit): Chen et al. 2010, equation A4.
    Capped {
        /// sigma_AI: 10 there.
        limit: f64,
    },
    /// With x = R / 100 ms: 0.2 x up to x = 0.2, x^2 up to 5, then 25 + (x - 5): the code of VCP's
    /// authors for ns-2.
    Tails,
}

/// What a sender does after a multiplicative decrease, until the router can have seen its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterDecrease {
    /// For t_rho overload is ignored, and then for a round-trip time answered by additive increase.
    /// Other codes are obeyed at once: the code of VCP's authors for ns-2.
    IgnoresOverload,
    /// For t_rho nothing changes, and then for a round-trip time all codes are answered by additive
    /// increase: a later implementation for ns-3.
    Freezes,
}

/// What a lost packet does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLoss {
    /// Halves cwnd, as TCP does: the code of VCP's authors for ns-2.
    Halves,
    /// Is one more overload, and takes beta: the later one for ns-3.
    Decreases,
}

/// Parameters of [`Vcp`]. Windows are in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VcpConfig {
    /// cwnd of a new connection, and the most that is left of it after an idle period.
    pub initial_cwnd: f64,
    /// xi (or mu): the share by which multiplicative increase lets cwnd grow in t_rho.
    pub multiplicative: f64,
    /// sigma_MI: it is scaled by R / t_rho, but by no more than this.
    pub multiplicative_limit: f64,
    /// alpha: packets by which additive increase lets cwnd grow in a round-trip time, before it is
    /// scaled.
    pub additive: f64,
    /// How it is scaled.
    pub additive_scaling: AdditiveScaling,
    /// beta: what multiplicative decrease leaves of cwnd.
    pub decrease: f64,
    /// What follows a decrease.
    pub after_decrease: AfterDecrease,
    /// What a loss does.
    pub on_loss: OnLoss,
    /// t_rho: the routers' interval.
    pub interval: Duration,
    /// Whether a window of up to 64 packets is spread over a round-trip time so long that two of
    /// its packets are more than t_rho / 2 apart.
    pub paces: bool,
    /// Whether to fall back to the window of RFC 5681 while what comes back contradicts VCP: a loss
    /// while routers call their load low, or an overload shorter than a router's interval. A code
    /// that only VCP routers write (high load) ends it. It is this project's addition: without it
    /// multiplicative increase goes on for ever where no router speaks VCP.
    pub falls_back: bool,
}

impl VcpConfig {
    /// Chen et al. 2010, section 4 and appendix.
    pub const fn chen2010(initial_cwnd: f64) -> Self {
        Self {
            initial_cwnd,
            multiplicative: 0.0625,
            multiplicative_limit: 2.5,
            additive: 1.0,
            additive_scaling: AdditiveScaling::Capped { limit: 10.0 },
            decrease: 0.875,
            after_decrease: AfterDecrease::IgnoresOverload,
            on_loss: OnLoss::Halves,
            interval: Duration::from_millis(200),
            paces: false,
            falls_back: true,
        }
    }

    /// The code of VCP's authors for ns-2.
    pub const fn xia2005(initial_cwnd: f64) -> Self {
        Self {
            additive_scaling: AdditiveScaling::Tails,
            paces: true,
            ..Self::chen2010(initial_cwnd)
        }
    }
}

/// A VCP window.
///
/// It grows by each packet that is acknowledged, as the packet's code says, so an acknowledgement of
/// several packets lets it grow as much as one for each.
#[derive(Clone, Debug)]
pub struct Vcp {
    config: VcpConfig,
    cwnd: f64,
    ssthresh: f64,
    /// Smoothed round-trip time in seconds, once there is a sample.
    srtt: Option<f64>,
    /// Packets that a packet acknowledged under low load adds to cwnd.
    multiplicative: f64,
    /// Packets that a cwnd of packets acknowledged under high load adds.
    additive: f64,
    /// The codes of the packets that this acknowledgement brings, by zone.
    acked: [u32; 3],
    /// The busiest zone that the last acknowledgement told of.
    zone: Zone,
    gate: Gate,
    next_departure: Instant,
    /// The window while routers do not seem to speak VCP.
    fallback: Option<Box<Fallback>>,
    overload: Overload,
}

/// Where a sender stands after a decrease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gate {
    /// Overload is answered by a decrease.
    Open,
    /// t_rho has not passed.
    Shut { until: Instant },
    /// It has; a round-trip time has not.
    Increasing { until: Instant },
}

#[derive(Clone, Debug)]
struct Fallback {
    window: Aimd,
    /// Marks are answered once in a round-trip time (RFC 3168 section 6.1.2).
    marks_answered_until: Instant,
}

/// When packets that say overload, and others, were acknowledged last.
#[derive(Clone, Copy, Debug, Default)]
struct Overload {
    other: Option<Instant>,
    /// The last packet that said less before those that say overload now.
    before: Option<Instant>,
}

impl Overload {
    /// Whether packets with these codes show an overload too short for a router that changes its
    /// code only once in `interval`.
    fn is_too_short(&mut self, now: Instant, over: bool, others: bool, interval: Duration) -> bool {
        if over {
            self.before = self.before.or(self.other);
        }
        if !others {
            return false;
        }
        self.other = Some(now);
        // Where both came at once, which came first is not known.
        let before = if over { None } else { self.before.take() };
        before.is_some_and(|before| (now - before) * TOO_SHORT_OVERLOAD < interval)
    }
}

impl Vcp {
    /// A window at its initial size.
    pub fn new(config: VcpConfig) -> Self {
        let mut window = Self {
            config,
            cwnd: config.initial_cwnd.max(1.0),
            ssthresh: f64::INFINITY,
            srtt: None,
            multiplicative: 0.0,
            additive: 0.0,
            acked: [0; 3],
            zone: Zone::Low,
            gate: Gate::Open,
            next_departure: Instant::ZERO,
            fallback: None,
            overload: Overload::default(),
        };
        window.scale();
        window
    }

    /// Whether it has fallen back to the window of RFC 5681.
    pub const fn has_fallen_back(&self) -> bool {
        self.fallback.is_some()
    }

    fn rtt(&self) -> f64 {
        self.srtt.unwrap_or(RTT_BEFORE_SAMPLES.as_secs_f64())
    }

    fn on_rtt(&mut self, sample: Duration) {
        let sample = sample.as_secs_f64();
        let srtt = self.srtt.get_or_insert(sample);
        *srtt += RTT_WEIGHT * (sample - *srtt);
        self.scale();
    }

    /// Scales the increases to the round-trip time, so that flows with different ones grow alike in
    /// time (Chen et al. 2010, equations A3 and A4).
    fn scale(&mut self) {
        let config = &self.config;
        let intervals = self.rtt() / config.interval.as_secs_f64();
        let exponent = intervals.min(config.multiplicative_limit);
        // (1 + mu)^min(R / t_rho, sigma_MI) - 1
        self.multiplicative = (1.0 + config.multiplicative).powf(exponent) - 1.0;
        self.additive = config.additive
            * match config.additive_scaling {
                // min((R / t_rho)^2, sigma_AI)
                AdditiveScaling::Capped { limit } => (intervals * intervals).min(limit),
                AdditiveScaling::Tails => tails(self.rtt() / 0.1),
            };
    }

    fn grow_multiplicatively(&mut self, packets: u32) {
        self.cwnd += f64::from(packets) * self.multiplicative;
    }

    fn grow_additively(&mut self, packets: u32) {
        self.cwnd += f64::from(packets) * self.additive / self.cwnd;
    }

    /// Lets the times pass that follow a decrease.
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

    /// Obeys the codes of one acknowledgement.
    fn obey(&mut self, now: Instant, [low, high, over]: [u32; 3], may_grow: bool) {
        let freezes = self.config.after_decrease == AfterDecrease::Freezes;
        let (low, high) = match self.gate {
            Gate::Shut { .. } if freezes => (0, 0),
            Gate::Increasing { .. } if freezes => (0, low + high),
            _ => (low, high),
        };
        if may_grow {
            self.grow_multiplicatively(low);
            self.grow_additively(high);
        }
        match self.gate {
            _ if over == 0 => {}
            Gate::Open => {
                self.decrease();
                self.gate = Gate::Shut {
                    until: now + self.config.interval,
                };
            }
            Gate::Shut { .. } => {}
            Gate::Increasing { .. } if may_grow => self.grow_additively(over),
            Gate::Increasing { .. } => {}
        }
    }

    /// max(1, beta cwnd): Chen et al. 2010, equation A5.
    fn decrease(&mut self) {
        self.cwnd = (self.config.decrease * self.cwnd).max(1.0);
        self.ssthresh = self.cwnd;
    }

    /// Whether the codes of an acknowledgement can be VCP routers'.
    fn judge(&mut self, now: Instant, [low, high, over]: [u32; 3]) {
        let others = low + high > 0;
        let is_too_short = self
            .overload
            .is_too_short(now, over > 0, others, self.config.interval);
        if over > 0 {
            self.zone = Zone::Over;
        } else if high > 0 {
            self.zone = Zone::High;
        } else if low > 0 {
            self.zone = Zone::Low;
        }
        if high > 0 {
            self.regain();
        } else if self.config.falls_back && is_too_short && self.fallback.is_none() {
            self.fall_back(now);
        }
    }

    /// Where load is called high, or has just been, a loss is no surprise; elsewhere the codes are not
    /// those of the router that drops.
    fn doubt_after_loss(&mut self, now: Instant) {
        if self.config.falls_back && self.zone == Zone::Low && self.gate == Gate::Open {
            self.fall_back(now);
        }
    }

    /// What comes back contradicts VCP: loses faith in the codes, with the window as it is.
    fn fall_back(&mut self, now: Instant) {
        let window = Aimd::new(AimdConfig {
            initial_cwnd: self.cwnd,
            initial_ssthresh: if self.ssthresh.is_finite() {
                self.ssthresh
            } else {
                self.cwnd
            },
            growth: GrowthLaw::PerPacket { limit: 2 },
            ..AimdConfig::rfc5681(0)
        });
        self.fallback = Some(Box::new(Fallback {
            window,
            marks_answered_until: now,
        }));
    }

    /// A router has written what only VCP routers write.
    fn regain(&mut self) {
        if let Some(fallback) = self.fallback.take() {
            self.cwnd = fallback.window.cwnd();
            self.ssthresh = fallback.window.ssthresh();
            self.gate = Gate::Open;
        }
    }
}

/// 0.2 x, x^2 and 25 + (x - 5), in turn.
fn tails(x: f64) -> f64 {
    if x <= 0.2 {
        0.2 * x
    } else if x <= 5.0 {
        x * x
    } else {
        20.0 + x
    }
}

impl Fallback {
    fn on_ack(&mut self, ack: &AckSummary, marked: bool, rtt: f64) {
        self.window.on_ack(ack);
        if marked && ack.now >= self.marks_answered_until {
            self.window.on_congestion(ack.now, ack.in_flight);
            self.marks_answered_until = ack.now + Duration::from_secs_f64(rtt);
        }
    }
}

impl WindowControl for Vcp {
    fn on_sent(&mut self, now: Instant, _in_flight: u32) {
        if !self.config.paces || self.cwnd <= 1.0 || self.cwnd > MOST_PACED {
            self.next_departure = now;
            return;
        }
        // R / 2^ceil(log2 cwnd), where it is so long that it matters.
        let between = Duration::from_secs_f64(self.rtt() / self.cwnd.log2().ceil().exp2());
        let matters = between * 2 > self.config.interval;
        self.next_departure = if matters { now + between } else { now };
    }

    fn wants_packets(&self) -> bool {
        true
    }

    fn on_packet_acked(&mut self, packet: &AckedPacket) {
        // A packet whose code was cleared on its way counts as it was sent.
        let zone = Zone::from_code(packet.ecn).unwrap_or(Zone::Low);
        self.acked[zone as usize] += 1;
    }

    fn on_ack(&mut self, ack: &AckSummary) {
        if let Some(rtt) = ack.rtt {
            self.on_rtt(rtt);
        }
        let codes = core::mem::take(&mut self.acked);
        self.judge(ack.now, codes);
        let rtt = self.rtt();
        match &mut self.fallback {
            Some(fallback) => fallback.on_ack(ack, codes[Zone::Over as usize] > 0, rtt),
            None => {
                self.pass(ack.now);
                self.obey(ack.now, codes, !ack.application_limited);
            }
        }
    }

    fn on_congestion(&mut self, now: Instant, in_flight: u32) {
        if let Some(fallback) = &mut self.fallback {
            return fallback.window.on_congestion(now, in_flight);
        }
        match self.config.on_loss {
            OnLoss::Halves => {
                self.cwnd = (self.cwnd / 2.0).max(1.0);
                self.ssthresh = self.cwnd;
            }
            OnLoss::Decreases => self.decrease(),
        }
        self.doubt_after_loss(now);
    }

    fn on_timeout(&mut self, now: Instant, in_flight: u32) {
        self.acked = [0; 3];
        if let Some(fallback) = &mut self.fallback {
            return fallback.window.on_timeout(now, in_flight);
        }
        self.ssthresh = (self.cwnd / 2.0).max(2.0);
        self.cwnd = 1.0;
        self.doubt_after_loss(now);
    }

    fn on_restart(&mut self, now: Instant) {
        self.cwnd = self.cwnd.min(self.config.initial_cwnd.max(1.0));
        if let Some(fallback) = &mut self.fallback {
            fallback.window.on_restart(now);
        }
    }

    fn on_receiver_overload(&mut self, now: Instant, dropped: u32) {
        self.cwnd = (self.cwnd - f64::from(dropped)).max(1.0);
        if let Some(fallback) = &mut self.fallback {
            fallback.window.on_receiver_overload(now, dropped);
        }
    }

    fn limit_cwnd(&mut self, limit: f64) {
        self.cwnd = self.cwnd.min(limit.max(1.0));
        if let Some(fallback) = &mut self.fallback {
            fallback.window.limit_cwnd(limit);
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

    fn earliest_departure(&self) -> Option<Instant> {
        (self.next_departure > Instant::ZERO).then_some(self.next_departure)
    }
}

#[cfg(test)]
mod tests;
