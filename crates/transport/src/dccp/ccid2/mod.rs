//! CCID 2, TCP-like congestion control (RFC 4341).
//!
//! - [`Sender`] decides when data may leave. The scoreboard of `detection` tracks the fate of each
//!   packet, a [`Control`](skywave_congestion::Control) sets cwnd, and `ack_ratio` limits the
//!   acknowledgements on the reverse path.
//! - [`Receiver`] decides when to acknowledge.

mod ack_ratio;
mod receiver;
mod sender;

pub use receiver::Receiver;
pub use sender::Sender;

use skywave_congestion::{AimdConfig, Clocking, DecreaseLaw, GrowthLaw, RtoConfig, rfc3390_window};
use skywave_units::Duration;

/// Which acknowledgements give a round-trip time sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RttSampling {
    /// One per window of data (RFC 4341 section 5), which RFC 6298's weights assume.
    OncePerWindow,
    /// Every one, as in ns-2.
    EveryAck,
}

/// What happens to cwnd when no data is sent for longer than the RTO (RFC 4341 section 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdleRule {
    /// It returns to its initial value if it was above (RFC 5681 section 4.1).
    Restart,
    /// Nothing, as in ns-2.
    Keep,
}

/// How the Ack Ratio adapts to the reverse path (RFC 4341 section 6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AckRatioRule {
    /// It doubles after each window with lost or marked acknowledgements and slowly decreases
    /// otherwise.
    Adaptive(AckRatioBounds),
    /// Mattsson's DCCP module for ns-2: adaptive with a minimum of 1, but it decreases one window
    /// of data later if cwnd / (R^2 - R) is whole.
    Ns2TcpLike,
    /// It stays at its initial value.
    Fixed,
}

impl AckRatioRule {
    /// Returns the bounds within which the ratio moves, or `None` if it is fixed.
    pub const fn bounds(self) -> Option<AckRatioBounds> {
        match self {
            Self::Adaptive(bounds) => Some(bounds),
            Self::Ns2TcpLike => Some(AckRatioBounds {
                minimum: 1,
                ..AckRatioBounds::RFC4341
            }),
            Self::Fixed => None,
        }
    }
}

/// The bounds within which the Ack Ratio moves (RFC 4341 section 6.1.2).
///
/// The default is [`AckRatioBounds::RFC4341`] with at least eight acknowledgements per window. Two,
/// which that section leaves, are often lost together; then the sender waits for its timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckRatioBounds {
    /// The lower bound: 1 or 2. 1 is reached only while cwnd is below 4.
    pub minimum: u16,
    /// The upper bound, at least 2.
    pub maximum: u16,
    /// The least number of acknowledgements per window of data, at least 2: the ratio is at most cwnd
    /// divided by it, rounded up, but 2 is always allowed.
    pub acks_per_window: u16,
}

impl AckRatioBounds {
    /// Those of section 6.1.2, with the minimum of 2 that it allows.
    pub const RFC4341: Self = Self {
        minimum: 2,
        maximum: u16::MAX,
        acks_per_window: 2,
    };
}

impl Default for AckRatioBounds {
    fn default() -> Self {
        Self {
            acks_per_window: 8,
            ..Self::RFC4341
        }
    }
}

/// How often losses reduce cwnd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reductions {
    /// Once for all packets lost or marked in a window of data (RFC 4341 section 5).
    PerWindow,
    /// Once for each lost packet: "cwnd halves per loss packet" (Chen, Yang and Hong 2010, section
    /// 4.1). Marks count once per window.
    PerPacket,
}

/// When a sender acknowledges the acknowledgements of a peer that sends no data (RFC 4341 section
/// 6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AckOfAckRule {
    /// Once per cwnd of data packets.
    OncePerWindow,
    /// When cwnd changes outside slow start, as in ns-2.
    OnWindowChange,
}

/// Parameters of CCID 2.
///
/// The default is RFC 4341. [`Config::ns2`] is the ns-2 module used in the DCCP literature.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The initial cwnd, in packets; `None` for RFC 3390's two to four, depending on packet size.
    /// Default: `None`.
    pub initial_cwnd: Option<f64>,
    /// The initial ssthresh, in packets. Default: infinite.
    pub initial_ssthresh: f64,
    /// How cwnd grows. Default: [`GrowthLaw::Rfc4341`].
    pub growth: GrowthLaw,
    /// How cwnd shrinks. Default: [`DecreaseLaw::Rfc4341`].
    pub decrease: DecreaseLaw,
    /// How often losses reduce cwnd. Default: [`Reductions::PerWindow`].
    pub reductions: Reductions,
    /// Whether cwnd may grow while the application is the bottleneck (RFC 4341 section 5.1 advises
    /// against it). Default: no.
    pub grows_when_application_limited: bool,
    /// What an idle period does to cwnd. Default: [`IdleRule::Restart`].
    pub idle: IdleRule,
    /// The transmit timeout. Default: RFC 6298, with a minimum of 200 ms instead of 1 s; RFC 4341
    /// section 5 does not require a minimum.
    pub rto: RtoConfig,
    /// Whether the transmit timeout allows for the 200 ms by which a peer may delay the
    /// acknowledgement of fewer packets than the Ack Ratio (RFC 4340 section 11.3). ns-2 does not.
    /// Default: yes.
    pub awaits_delayed_acks: bool,
    /// Round-trip time samples. Default: [`RttSampling::OncePerWindow`].
    pub rtt_sampling: RttSampling,
    /// Ack Ratio. Default: adaptive, within the default of [`AckRatioBounds`].
    pub ack_ratio: AckRatioRule,
    /// Acknowledgements of acknowledgements. Default: [`AckOfAckRule::OncePerWindow`].
    pub ack_of_ack: AckOfAckRule,
    /// Whether a wrong ECN Nonce Echo counts as a mark (RFC 4341 section 7). Only effective while
    /// data is sent with both ECT(0) and ECT(1), which RFC 8311 section 6 restricts to experiments.
    /// Default: yes.
    pub verify_nonce: bool,
    /// The longest delay of an acknowledgement by the receiver (RFC 4340 section 11.3). Default:
    /// 200 ms.
    pub delayed_ack: Duration,
    /// Whether the receiver immediately acknowledges marked and out-of-order packets (RFC 4340
    /// section 11.3). Default: yes.
    pub immediate_acks: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            initial_cwnd: None,
            initial_ssthresh: f64::INFINITY,
            growth: GrowthLaw::Rfc4341,
            decrease: DecreaseLaw::Rfc4341,
            reductions: Reductions::PerWindow,
            grows_when_application_limited: false,
            idle: IdleRule::Restart,
            rto: RtoConfig {
                min: Duration::from_millis(200),
                ..RtoConfig::rfc6298()
            },
            awaits_delayed_acks: true,
            rtt_sampling: RttSampling::OncePerWindow,
            ack_ratio: AckRatioRule::Adaptive(AckRatioBounds::default()),
            ack_of_ack: AckOfAckRule::OncePerWindow,
            verify_nonce: true,
            delayed_ack: Duration::from_millis(200),
            immediate_acks: true,
        }
    }
}

impl Config {
    /// Returns the configuration of Mattsson's TCP-like module, as shipped with ns-2.35.
    pub fn ns2() -> Self {
        let aimd = AimdConfig::ns2_tcplike();
        Self {
            initial_cwnd: Some(aimd.initial_cwnd),
            initial_ssthresh: aimd.initial_ssthresh,
            growth: aimd.growth,
            decrease: aimd.decrease,
            reductions: Reductions::PerWindow,
            grows_when_application_limited: aimd.grows_when_application_limited,
            idle: IdleRule::Keep,
            rto: RtoConfig {
                clocking: Clocking::Exact,
                tick_phase: Duration::ZERO,
                granularity: Duration::from_millis(10),
                initial: Duration::from_secs(3),
                min: Duration::from_secs(1),
                max: Duration::MAX,
            },
            awaits_delayed_acks: false,
            rtt_sampling: RttSampling::EveryAck,
            ack_ratio: AckRatioRule::Ns2TcpLike,
            ack_of_ack: AckOfAckRule::OnWindowChange,
            verify_nonce: true,
            delayed_ack: Duration::from_millis(200),
            immediate_acks: false,
        }
    }

    /// Returns the initial cwnd for packets of up to `packet_size` bytes.
    pub fn initial_cwnd(&self, packet_size: u32) -> f64 {
        self.initial_cwnd
            .unwrap_or_else(|| rfc3390_window(packet_size))
    }

    /// Returns the window parameters for packets of up to `packet_size` bytes.
    fn window(&self, packet_size: u32) -> AimdConfig {
        AimdConfig {
            initial_cwnd: self.initial_cwnd(packet_size),
            initial_ssthresh: self.initial_ssthresh,
            growth: self.growth,
            decrease: self.decrease,
            grows_when_application_limited: self.grows_when_application_limited,
            ..AimdConfig::rfc4341(packet_size)
        }
    }
}

#[cfg(test)]
mod ns2_trace;
