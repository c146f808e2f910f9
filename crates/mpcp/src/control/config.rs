//! Parameters of VCP, and of the chains that make MPCP of it.

use skywave_units::Duration;

#[cfg(doc)]
use crate::load::MAX_PACKETS;
use crate::load::VCP_DECREASE;

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

/// Parameters of VCP. Windows are in packets.
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
            decrease: VCP_DECREASE,
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

/// How a sender knows the place of a packet in its chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainOrder {
    /// By its sequence number, modulo the packets of a chain: where each packet has a number of its
    /// own, as in DCCP. Whatever is lost or overtaken, no place is mistaken.
    SequenceNumbers,
    /// By what the acknowledgement's header says of it, one after another: TCP, as published. After
    /// three equal places in a row the sender takes to VCP.
    Headers,
}

/// When a sender acts on the digits that come back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acts {
    /// On each of them, taking the worst for those that are missing, and again when they come: as
    /// published.
    #[default]
    AtOnce,
    /// Only on a level that is known whole.
    WhenComplete,
}

/// Parameters of [`super::Mpcp`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MpcpConfig {
    /// The rules that it shares with VCP.
    pub vcp: VcpConfig,
    /// n: how many packets tell a load factor, 1 (VCP) to [`MAX_PACKETS`]; less or more is taken for
    /// the nearest of these.
    pub packets: u8,
    /// How their places are known.
    pub order: ChainOrder,
    /// Whether VCP's limits of both increases hold for n > 1 as well. The paper blames them for
    /// VCP's slow growth and its bias, so by default they do not, and a window may double in a
    /// round-trip time. Where they do not, the additive increase is by (R / t_rho)^2.
    pub is_limited: bool,
    /// When digits are acted on.
    pub acts: Acts,
}

impl MpcpConfig {
    /// Li and Yousefi'zadeh 2009, with `packets` packets in a chain (2 is DPCP, 3 TPCP).
    pub fn li2009(initial_cwnd: f64, packets: u8) -> Self {
        Self {
            packets,
            ..VcpConfig::chen2010(initial_cwnd).into()
        }
    }
}

impl From<VcpConfig> for MpcpConfig {
    /// VCP: a chain of one packet.
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
