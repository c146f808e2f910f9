//! Additive increase, multiplicative decrease: the Reno family.
//!
//! TCP, CCID 2 and the simulators used in the literature differ in *how* the window grows and how a
//! halved window is rounded. Each variant is a named law, [`GrowthLaw`] or [`DecreaseLaw`], so that
//! a result can be traced to its source document.

use skywave_units::Instant;

use crate::control::borne;
use crate::slow_start::SlowStart;
use crate::{Ack, AckedPacket, Control, Interests, Loss, Mark};

/// How the window grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GrowthLaw {
    /// By one packet in slow start, and by 1/cwnd packets in congestion avoidance, for each
    /// acknowledgement of new data: ns-2's TCP, and equation 3 of RFC 5681. With delayed
    /// acknowledgements, congestion avoidance takes twice as long.
    PerAck,
    /// Byte counting, in packets: in slow start, cwnd grows by the packets acknowledged, at most
    /// `limit` per acknowledgement; in congestion avoidance, by one packet per cwnd of packets
    /// acknowledged, at most one per acknowledgement. With a limit of 1 this is what RFC 5681
    /// section 3.1 recommends.
    PerPacket {
        /// 1 in RFC 5681 section 3.1, equation 2. At most 2 in RFC 3465 section 2.2 (L).
        limit: u32,
    },
    /// RFC 4341 section 5 (CCID 2): in slow start, cwnd grows by one packet for every two unmarked
    /// packets acknowledged, at most Ack Ratio / 2 per acknowledgement; in congestion avoidance, by
    /// one packet per cwnd of packets acknowledged.
    Rfc4341,
    /// Mattsson's DCCP module for ns-2: in slow start, cwnd grows by the packets acknowledged,
    /// including marked ones, at most Ack Ratio per acknowledgement. Growth beyond ssthresh counts
    /// towards congestion avoidance, in which cwnd grows by one packet per cwnd of packets
    /// acknowledged.
    Ns2TcpLike,
}

/// How the window shrinks on a loss, a mark or a timeout.
///
/// "Half" stands for the decrease factor in [`AimdConfig`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecreaseLaw {
    /// RFC 5681 section 3.1, equation 4: ssthresh is half the flight, at least 2 packets, not
    /// rounded. A flight larger than cwnd, as after a long recovery, counts as cwnd. cwnd is
    /// ssthresh after a loss, and half the flight, at least 1 packet, after a mark (RFC 3168
    /// section 6.1.2). A second timeout in a row leaves ssthresh unchanged.
    Rfc5681,
    /// ns-2's TCP: cwnd is half the *window*, and ssthresh the same rounded down; both are at least
    /// 2. The window is the smaller of cwnd, including its fraction, and [`Loss::in_flight`], in
    /// which a sender reports the receiver's window.
    Ns2Tcp,
    /// RFC 4341 section 5: cwnd is halved and rounded down, at least 1; ssthresh is the new cwnd,
    /// at least 2. After a timeout ssthresh is half of cwnd, at least 2.
    Rfc4341,
    /// Mattsson's DCCP module for ns-2: like RFC 4341, but ssthresh may fall to 1.
    Ns2TcpLike,
    /// Linux's TCP: cwnd and ssthresh are half of cwnd, rounded down, at least 2. A second timeout in a
    /// row leaves ssthresh unchanged.
    Linux,
}

impl DecreaseLaw {
    const fn min_ssthresh(self) -> f64 {
        match self {
            Self::Rfc5681 | Self::Ns2Tcp | Self::Rfc4341 | Self::Linux => 2.0,
            Self::Ns2TcpLike => 1.0,
        }
    }
}

/// Parameters of [`Aimd`]. Windows are in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AimdConfig {
    /// The initial cwnd, and the upper bound of cwnd after an idle period.
    pub initial_cwnd: f64,
    /// The initial ssthresh; infinite for "arbitrarily high".
    pub initial_ssthresh: f64,
    /// How the window grows.
    pub growth: GrowthLaw,
    /// How the window shrinks.
    pub decrease: DecreaseLaw,
    /// Packets by which the window grows in a round-trip time of congestion avoidance; 1 in every
    /// standard. Above 0.
    pub increase: f64,
    /// The fraction of the window left after a loss or a mark; 0.5 in every standard. In (0, 1).
    pub decrease_factor: f64,
    /// cwnd after a timeout; 1 in every standard.
    pub cwnd_after_timeout: f64,
    /// Whether cwnd may grow while the application, not cwnd, is the bottleneck. RFC 2861 and RFC
    /// 7661 say no; ns-2 always grows.
    pub grows_when_application_limited: bool,
    /// Whether the first slow start may end before a loss, by HyStart++ (RFC 9406).
    pub hystart: bool,
}

impl AimdConfig {
    /// Creates the configuration of TCP as in RFC 5681 and RFC 3390, for segments of `mss` bytes.
    pub fn rfc5681(mss: u32) -> Self {
        Self {
            initial_cwnd: rfc3390_window(mss),
            initial_ssthresh: f64::INFINITY,
            growth: GrowthLaw::PerPacket { limit: 1 },
            decrease: DecreaseLaw::Rfc5681,
            increase: 1.0,
            decrease_factor: 0.5,
            cwnd_after_timeout: 1.0,
            grows_when_application_limited: false,
            hystart: false,
        }
    }

    /// Creates the configuration of ns-2's TCP with a receiver's window of `window` packets, which
    /// is also the initial ssthresh.
    pub fn ns2_tcp(window: u32) -> Self {
        Self {
            initial_cwnd: 2.0,
            initial_ssthresh: f64::from(window),
            growth: GrowthLaw::PerAck,
            decrease: DecreaseLaw::Ns2Tcp,
            increase: 1.0,
            decrease_factor: 0.5,
            cwnd_after_timeout: 1.0,
            grows_when_application_limited: true,
            hystart: false,
        }
    }

    /// Creates the configuration of CCID 2 as in RFC 4341, for packets of `packet_size` bytes.
    pub fn rfc4341(packet_size: u32) -> Self {
        Self {
            initial_cwnd: rfc3390_window(packet_size),
            initial_ssthresh: f64::INFINITY,
            growth: GrowthLaw::Rfc4341,
            decrease: DecreaseLaw::Rfc4341,
            increase: 1.0,
            decrease_factor: 0.5,
            cwnd_after_timeout: 1.0,
            grows_when_application_limited: false,
            hystart: false,
        }
    }

    /// Creates the configuration of Mattsson's TCP-like DCCP module for ns-2, as shipped with
    /// ns-2.35.
    pub fn ns2_tcplike() -> Self {
        Self {
            initial_cwnd: 3.0,
            initial_ssthresh: 65_535.0,
            growth: GrowthLaw::Ns2TcpLike,
            decrease: DecreaseLaw::Ns2TcpLike,
            increase: 1.0,
            decrease_factor: 0.5,
            cwnd_after_timeout: 1.0,
            grows_when_application_limited: true,
            hystart: false,
        }
    }
}

/// Returns the initial window of RFC 3390, counted in whole packets as in RFC 5681 section 3.1: 2
/// to 4, depending on `packet_size` in bytes. Counted in bytes, the window would be 2.99 packets if
/// packets fill an Ethernet frame.
pub const fn rfc3390_window(packet_size: u32) -> f64 {
    match packet_size {
        0..=1095 => 4.0,
        1096..=2190 => 3.0,
        2191.. => 2.0,
    }
}

/// A Reno-family window. It keeps only those parts of its configuration that it needs later, so
/// that a connection stays small.
#[derive(Clone, Debug)]
pub struct Aimd {
    initial_cwnd: f64,
    growth: GrowthLaw,
    decrease: DecreaseLaw,
    increase: f64,
    decrease_factor: f64,
    cwnd_after_timeout: f64,
    grows_when_application_limited: bool,
    cwnd: f64,
    slow_start: SlowStart,
    /// Acknowledged packets that have not yet increased cwnd, for laws that count packets. In
    /// [`GrowthLaw::Rfc4341`]'s slow start it counts to two, otherwise to cwnd.
    credit: f64,
    /// Marked packets in the current acknowledgement.
    marked: u32,
    /// Whether nothing new has been acknowledged since the last timeout.
    timed_out: bool,
}

impl Aimd {
    /// Creates a window of initial size. Values of `config` out of range are clamped.
    pub fn new(config: AimdConfig) -> Self {
        let at_least = |value: f64, least: f64| if value >= least { value } else { least };
        let most = f64::from(u32::MAX);
        let slow_start = SlowStart::new(config.initial_ssthresh, config.decrease.min_ssthresh());
        let initial_cwnd = at_least(config.initial_cwnd, 1.0).min(most);
        Self {
            initial_cwnd,
            growth: config.growth,
            decrease: config.decrease,
            increase: at_least(config.increase, 0.0).min(most),
            decrease_factor: at_least(config.decrease_factor, 0.01).min(0.99),
            cwnd_after_timeout: at_least(config.cwnd_after_timeout, 1.0).min(most),
            grows_when_application_limited: config.grows_when_application_limited,
            cwnd: initial_cwnd,
            slow_start: if config.hystart {
                slow_start.with_hystart()
            } else {
                slow_start
            },
            credit: 0.0,
            marked: 0,
            timed_out: false,
        }
    }

    fn in_slow_start(&self) -> bool {
        self.slow_start.is_on(self.cwnd)
    }

    /// Grows by the increase per cwnd of packets acknowledged.
    fn avoid_congestion(&mut self, acked: f64) {
        self.credit += acked;
        while self.credit >= self.cwnd {
            self.credit -= self.cwnd;
            self.cwnd += self.increase;
        }
    }

    fn grow_by_ack(&mut self, ack: &Ack) {
        self.cwnd += if self.in_slow_start() {
            self.slow_start.step(ack, 1.0)
        } else {
            self.increase / self.cwnd
        };
    }

    fn grow_by_packets(&mut self, ack: &Ack, limit: f64) {
        if self.in_slow_start() {
            self.cwnd += self.slow_start.step(ack, limit);
        } else {
            // "cwnd MUST NOT be increased by more than SMSS bytes per RTT" (RFC 5681 section 3.1),
            // even if one acknowledgement covers several windows, as after a timeout.
            self.avoid_congestion(f64::from(ack.newly_acked).min(self.cwnd));
        }
    }

    fn grow_as_rfc4341(&mut self, acked: f64, unmarked: f64, ack_ratio: f64) {
        if !self.in_slow_start() {
            return self.avoid_congestion(acked);
        }
        // "One packet for every two", at most Ack Ratio / 2. cwnd is whole, so halves are carried
        // over.
        self.credit += unmarked.min(ack_ratio);
        while self.credit >= 2.0 && self.in_slow_start() {
            self.credit -= 2.0;
            self.cwnd += 1.0;
        }
        if !self.in_slow_start() {
            self.credit = 0.0;
        }
    }

    fn grow_as_ns2_tcplike(&mut self, ack: &Ack, ack_ratio: f64) {
        let mut left = f64::from(ack.newly_acked);
        if self.in_slow_start() {
            let step = self.slow_start.step(ack, ack_ratio);
            self.cwnd += step;
            left -= step;
            if self.in_slow_start() {
                return;
            }
            left += self.cwnd - self.ssthresh();
            self.cwnd = self.ssthresh();
            self.credit = 0.0;
        }
        self.avoid_congestion(left);
    }

    /// Returns ssthresh after congestion that leaves `half` of the window.
    fn ssthresh_of(&self, half: f64) -> f64 {
        let whole = if self.decrease == DecreaseLaw::Ns2Tcp {
            half.floor()
        } else {
            half
        };
        whole.max(self.decrease.min_ssthresh())
    }

    /// Returns half of the quantity that the decrease law halves.
    fn half(&self, in_flight: u32) -> f64 {
        let factor = self.decrease_factor;
        match self.decrease {
            DecreaseLaw::Rfc5681 | DecreaseLaw::Ns2Tcp => borne(in_flight, self.cwnd) * factor,
            DecreaseLaw::Rfc4341 | DecreaseLaw::Ns2TcpLike | DecreaseLaw::Linux => {
                (self.cwnd * factor).floor()
            }
        }
    }

    fn reduce(&mut self, in_flight: u32) {
        let half = self.half(in_flight);
        self.slow_start.on_congestion(self.ssthresh_of(half));
        self.cwnd = half.max(if self.decrease == DecreaseLaw::Linux {
            2.0
        } else {
            1.0
        });
        self.credit = 0.0;
    }

    /// Returns whether a second timeout in a row leaves ssthresh unchanged.
    const fn spares_second_timeout(&self) -> bool {
        matches!(self.decrease, DecreaseLaw::Rfc5681 | DecreaseLaw::Linux)
    }
}

impl Control for Aimd {
    fn interests(&self) -> Interests {
        Interests {
            packets: self.slow_start.wants_samples(),
            ..Interests::default()
        }
    }

    fn on_packet_acked(&mut self, packet: &AckedPacket) {
        if packet.ecn.is_ce() {
            self.marked += 1;
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        let marked = core::mem::take(&mut self.marked);
        if ack.newly_acked == 0 {
            return;
        }
        self.timed_out = false;
        let is_limited = ack.application_limited && !self.grows_when_application_limited;
        // CCID 2's laws take the marked packets out instead.
        let counts_marks = matches!(self.growth, GrowthLaw::Rfc4341 | GrowthLaw::Ns2TcpLike);
        let is_marked = ack.ecn_echo || ack.marked > 0 && !counts_marks;
        if is_limited || is_marked {
            return self.slow_start.on_ack(self.cwnd, ack);
        }
        let unmarked = f64::from(ack.newly_acked.saturating_sub(marked));
        let ack_ratio = f64::from(ack.ack_ratio.max(1));
        match self.growth {
            GrowthLaw::PerAck => self.grow_by_ack(ack),
            GrowthLaw::PerPacket { limit } => self.grow_by_packets(ack, f64::from(limit)),
            GrowthLaw::Rfc4341 => {
                self.grow_as_rfc4341(f64::from(ack.newly_acked), unmarked, ack_ratio);
            }
            GrowthLaw::Ns2TcpLike => self.grow_as_ns2_tcplike(ack, ack_ratio),
        }
        self.slow_start.on_ack(self.cwnd, ack);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.reduce(loss.in_flight);
        if self.decrease == DecreaseLaw::Rfc5681 {
            self.cwnd = self.ssthresh();
        }
    }

    fn on_mark(&mut self, mark: &Mark) {
        self.reduce(mark.in_flight);
    }

    fn on_timeout(&mut self, _now: Instant, in_flight: u32) {
        if !(self.timed_out && self.spares_second_timeout()) {
            let ssthresh = self.ssthresh_of(self.half(in_flight));
            self.slow_start.on_timeout(self.cwnd, ssthresh);
        }
        self.cwnd = self.cwnd_after_timeout;
        self.credit = 0.0;
        self.timed_out = true;
    }

    fn on_spurious_loss(&mut self, _now: Instant) {
        if let Some(before) = self.slow_start.undo_timeout() {
            self.cwnd = self.cwnd.max(before);
        }
    }

    fn on_restart(&mut self, _now: Instant) {
        self.cwnd = self.cwnd.min(self.initial_cwnd);
        self.credit = 0.0;
    }

    fn on_receiver_overload(&mut self, _now: Instant, dropped: u32) {
        self.cwnd = (self.cwnd - f64::from(dropped)).max(1.0);
        let least = self.decrease.min_ssthresh();
        self.slow_start.on_receiver_overload(self.cwnd, least);
        self.credit = 0.0;
    }

    fn limit_cwnd(&mut self, limit: f64) {
        self.cwnd = self.cwnd.min(limit.max(1.0));
    }

    fn on_validation(&mut self, cwnd: f64, ssthresh: f64) {
        let least = self.decrease.min_ssthresh();
        self.slow_start.on_validation(ssthresh, least);
        self.limit_cwnd(cwnd);
        self.credit = 0.0;
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.slow_start.ssthresh()
    }
}

#[cfg(test)]
mod tests;
