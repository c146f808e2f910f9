//! Parameters of VCP, and of the chains that extend it to MPCP.

use skywave_units::Duration;

use crate::chain::ChainOrder;

#[cfg(doc)]
use crate::load::MAX_PACKETS;
use crate::load::VCP_DECREASE;

/// How the additive increase scales with the round-trip time R.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AdditiveScaling {
    /// min((R / t_rho)^2, limit): Chen et al. 2010, equation A4.
    Capped {
        /// sigma_AI; 10 in the paper.
        limit: f64,
    },
    /// With x = R / 100 ms: 0.2 x up to x = 0.2, x^2 up to 5, then 25 + (x - 5). From the VCP
    /// authors' code for ns-2.
    Tails,
}

/// How a sender behaves after a multiplicative decrease, until the router can have seen its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterDecrease {
    /// For t_rho it ignores overload, then for a round-trip time it increases additively on
    /// overload. It follows other codes at once. From the VCP authors' code for ns-2.
    IgnoresOverload,
    /// For t_rho it does not change cwnd, then for a round-trip time it increases additively on any
    /// code. From a later implementation for ns-3.
    Freezes,
    /// For a round-trip time it increases additively on any code: "after doing Equation (A5), the
    /// cwnd calculation follows AI algorithm for one R" (Chen, Yang and Hong 2010, appendix).
    Increases,
    /// For a round-trip time it does not change cwnd, then for another one it increases additively
    /// on any code: "After holding a decreased value of cwnd for a Round Trip Time (RTT), VCP
    /// applies the AI policy" (Li and Yousefi'zadeh 2009, section 2.2).
    Holds,
}

/// The response to a lost packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLoss {
    /// Halves cwnd, like TCP. From the VCP authors' code for ns-2.
    Halves,
    /// Counts as another overload and multiplies cwnd by beta. From the later implementation for
    /// ns-3.
    Decreases,
    /// Leaves cwnd to the load factor. A timeout still sets it to 1.
    Ignores,
}

/// How a connection starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The load factor controls cwnd at once.
    ByLoadFactor,
    /// In slow start, and after the first loss in congestion avoidance, until a round-trip time has
    /// passed without loss: "After a short period when there is no loss event, the VCP controller
    /// starts to affect the cwnd" (Chen, Yang and Hong 2010, section 4.1, which does not say how
    /// long the period is).
    BySlowStart,
}

/// What multiplicative and additive increase grow cwnd for, which equations A3 and A4 of Chen et al.
/// 2010 do not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrowthPer {
    /// Each acknowledged packet, according to its own code.
    Packet,
    /// Each acknowledgement of new packets, however many, according to the largest code among
    /// them. From the VCP authors' code for ns-2, whose receivers acknowledge every packet.
    Ack,
}

/// Parameters of VCP. Windows are in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VcpConfig {
    /// The initial cwnd, and the upper bound of cwnd after an idle period.
    pub initial_cwnd: f64,
    /// How a connection starts.
    pub start: Start,
    /// The smallest cwnd, which a timeout sets too. At least 1.
    pub least_cwnd: f64,
    /// xi (or mu): the fraction by which multiplicative increase grows cwnd per t_rho.
    pub multiplicative: f64,
    /// sigma_MI: the upper bound of the factor R / t_rho by which it is scaled.
    pub multiplicative_limit: f64,
    /// alpha: the packets by which additive increase grows cwnd per round-trip time, before
    /// scaling.
    pub additive: f64,
    /// How the additive increase is scaled.
    pub additive_scaling: AdditiveScaling,
    /// What cwnd grows for. Applies to VCP alone: longer chains grow for each packet, and so does
    /// slow start.
    pub growth: GrowthPer,
    /// beta: the fraction of cwnd left by multiplicative decrease.
    pub decrease: f64,
    /// The behaviour after a decrease.
    pub after_decrease: AfterDecrease,
    /// The response to a loss.
    pub on_loss: OnLoss,
    /// t_rho: the routers' interval.
    pub interval: Duration,
    /// Whether to pace windows of up to 64 packets over a round-trip time, if two packets would
    /// then be more than t_rho / 2 apart.
    pub paces: bool,
    /// Whether to fall back to the window of RFC 5681 while feedback contradicts VCP: a loss while
    /// routers report low load, or an overload shorter than a router's interval. A code that only
    /// VCP routers write (high load) ends the fallback. This is our addition: without it,
    /// multiplicative increase never ends if no router on the path supports VCP.
    pub falls_back: bool,
}

impl VcpConfig {
    /// Returns the parameters of Chen et al. 2010, section 4 and appendix.
    pub const fn chen2010(initial_cwnd: f64) -> Self {
        Self {
            initial_cwnd,
            start: Start::ByLoadFactor,
            least_cwnd: 1.0,
            multiplicative: 0.0625,
            multiplicative_limit: 2.5,
            additive: 1.0,
            additive_scaling: AdditiveScaling::Capped { limit: 10.0 },
            growth: GrowthPer::Packet,
            decrease: VCP_DECREASE,
            after_decrease: AfterDecrease::IgnoresOverload,
            on_loss: OnLoss::Halves,
            interval: Duration::from_millis(200),
            paces: false,
            falls_back: true,
        }
    }

    /// Returns the parameters of the ns-2 code by VCP's authors.
    pub const fn xia2005(initial_cwnd: f64) -> Self {
        Self {
            additive_scaling: AdditiveScaling::Tails,
            paces: true,
            ..Self::chen2010(initial_cwnd)
        }
    }
}

/// When a sender acts on returned digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acts {
    /// On each digit, assuming the worst for missing ones, and again when those arrive, as
    /// published.
    #[default]
    AtOnce,
    /// Only on levels known completely.
    WhenComplete,
}

/// Parameters of [`super::Mpcp`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MpcpConfig {
    /// The rules shared with VCP.
    pub vcp: VcpConfig,
    /// n: the number of packets per load factor, 1 (VCP) to [`MAX_PACKETS`]; other values are
    /// clamped.
    pub packets: u8,
    /// How their positions are determined.
    pub order: ChainOrder,
    /// Whether VCP's limits on both increases also apply for n > 1. The paper blames them for VCP's
    /// slow growth, so by default they do not, and a window may double per round-trip time.
    /// Without limits, the additive increase scales with (R / t_rho)^2.
    pub is_limited: bool,
    /// When to act on digits.
    pub acts: Acts,
}

impl MpcpConfig {
    /// Returns the parameters of Li and Yousefi'zadeh 2009, with chains of `packets` packets (2 is
    /// DPCP, 3 TPCP).
    pub fn li2009(initial_cwnd: f64, packets: u8) -> Self {
        Self {
            packets,
            ..VcpConfig::chen2010(initial_cwnd).into()
        }
    }
}

impl From<VcpConfig> for MpcpConfig {
    /// Returns the configuration of VCP: chains of one packet.
    fn from(vcp: VcpConfig) -> Self {
        Self {
            vcp,
            packets: 1,
            order: ChainOrder::SequenceNumbers,
            is_limited: false,
            acts: Acts::AtOnce,
        }
    }
}
