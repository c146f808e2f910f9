//! Parameters of a sender, as written in a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::Duration;

use crate::load::MAX_PACKETS;
use crate::{Acts, AfterDecrease, ChainOrder, GrowthPer, MpcpConfig, OnLoss, Start, VcpConfig};

/// How a VCP sender responds to its routers. Omitted parameters are as in `rules`.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Vcp")]
#[serde(deny_unknown_fields, default)]
pub struct SenderParameters {
    /// Which published rules to follow.
    pub rules: Rules,
    /// The number of packets per load factor. 1 (the default) is VCP, 2 is DPCP, 3 is TPCP, n is
    /// MPCP(n). Over DCCP the CCID determines it.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain: Option<u8>,
    /// Where the packets of a TCP flow carry their position in a chain. Omit it over DCCP, where
    /// the sequence number determines the position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderParameter>,
    /// Whether VCP's limits on increases also apply to chains of several packets.
    pub limits: bool,
    /// When to act on the digits of a chain.
    pub acts: ActsParameter,
    /// How a connection starts.
    pub start: StartParameter,
    /// Whether cwnd grows for each packet acknowledged or for each acknowledgement. Chains of several
    /// packets always grow `per-packet`.
    pub growth: GrowthParameter,
    /// The smallest cwnd, which a timeout sets too; at least 1.
    #[schemars(extend("x-unit" = "packets"))]
    pub least_cwnd: u32,
    /// The behaviour after a decrease.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_decrease: Option<AfterDecreaseParameter>,
    /// The response to a loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_loss: Option<OnLossParameter>,
    /// t_rho: the routers' interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// Whether to pace small windows with long round-trip times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paces: Option<bool>,
    /// Whether the sender falls back to RFC 5681 if routers do not seem to support VCP. The
    /// published senders do not, so without it a flow must have a VCP router on its path.
    pub fallback: bool,
}

/// Where the packets of a TCP flow carry their position in a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "ChainOrder")]
#[serde(rename_all = "kebab-case")]
pub enum OrderParameter {
    /// In the order of the sequence and acknowledgement numbers, or with chains of more than two
    /// packets in the checksum (Li and Yousefi'zadeh 2009, sections 3.2 and 5). The default.
    TcpNumbers,
    /// In the lowest bits of the identification field of the IPv4 header, which routers can read
    /// where IPsec hides the header of TCP (section 5).
    IpIdentification,
}

/// When a sender acts on the digits of a chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Acts")]
#[serde(rename_all = "kebab-case")]
pub enum ActsParameter {
    /// On each digit, assuming the worst for missing ones (Li and Yousefi'zadeh 2009).
    #[default]
    AtOnce,
    /// Only on complete chains.
    WhenComplete,
}

/// The source of the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "VcpRules")]
#[serde(rename_all = "lowercase")]
pub enum Rules {
    /// Chen, Yang and Hong: additive increase by (R / t_rho)^2, at most 10; no pacing.
    #[default]
    Chen2010,
    /// The VCP authors' code for ns-2: additive increase by (R / 100 ms)^2 with linear ends;
    /// pacing.
    Xia2005,
}

/// How a VCP sender's connection starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "VcpStart")]
#[serde(rename_all = "kebab-case")]
pub enum StartParameter {
    /// The load factor controls cwnd at once.
    #[default]
    ByLoadFactor,
    /// In slow start, and after the first loss in congestion avoidance, until a round-trip time has
    /// passed without loss (Chen, Yang and Hong 2010, section 4.1).
    BySlowStart,
}

/// What cwnd grows for. Equations A3 and A4 of Chen, Yang and Hong leave this open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "VcpGrowth")]
#[serde(rename_all = "kebab-case")]
pub enum GrowthParameter {
    /// Each acknowledged packet, according to its own code.
    #[default]
    PerPacket,
    /// Each acknowledgement of new packets, however many, according to the largest code among them.
    /// Growth is slower by a factor of the Ack Ratio, and with delayed acknowledgements of TCP by
    /// two. Slow start still grows for each packet.
    PerAck,
}

/// How a VCP sender behaves after a decrease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "AfterDecrease")]
#[serde(rename_all = "kebab-case")]
pub enum AfterDecreaseParameter {
    /// Ignores overload for t_rho, then increases additively on overload for a round-trip time.
    IgnoresOverload,
    /// Does nothing for t_rho, then increases additively for a round-trip time.
    Freezes,
    /// Increases additively for a round-trip time (Chen, Yang and Hong 2010, appendix).
    Increases,
    /// Does nothing for a round-trip time, then increases additively for another one (the sentence
    /// on VCP in Li and Yousefi'zadeh 2009, section 2.2).
    Holds,
}

/// A VCP sender's response to a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "OnLoss")]
#[serde(rename_all = "kebab-case")]
pub enum OnLossParameter {
    /// It halves cwnd.
    Halves,
    /// It counts as another overload.
    Decreases,
    /// It leaves cwnd to the load factor. A timeout still sets cwnd to 1.
    Ignores,
}

impl Default for SenderParameters {
    fn default() -> Self {
        Self {
            rules: Rules::default(),
            chain: None,
            order: None,
            limits: false,
            acts: ActsParameter::default(),
            start: StartParameter::default(),
            growth: GrowthParameter::default(),
            least_cwnd: 1,
            after_decrease: None,
            on_loss: None,
            interval: None,
            paces: None,
            fallback: false,
        }
    }
}

impl SenderParameters {
    /// Returns the number of packets per load factor.
    pub fn packets(&self) -> u8 {
        self.chain.unwrap_or(1)
    }

    /// Returns where the packets of a TCP flow carry their position.
    pub(crate) fn order(&self) -> ChainOrder {
        match self.order {
            None | Some(OrderParameter::TcpNumbers) => ChainOrder::TcpNumbers,
            Some(OrderParameter::IpIdentification) => ChainOrder::Identification,
        }
    }

    /// Checks the ranges of all values.
    ///
    /// # Errors
    /// [`ParameterError`] with the first invalid one.
    pub fn check(&self) -> Result<(), ParameterError> {
        let chain = self.packets();
        if !(1..=MAX_PACKETS).contains(&chain) {
            return Err(ParameterError::new("chain", chain_range(chain)));
        }
        self.check_growth(chain)?;
        if self.least_cwnd == 0 {
            let message = "0 packets would never send: give 1 or more";
            return Err(ParameterError::new("least_cwnd", message));
        }
        if self.interval.is_some_and(|interval| interval.is_zero()) {
            let message = "0 s: give a time above zero";
            return Err(ParameterError::new("interval", message));
        }
        Ok(())
    }

    /// Checks that chains of `packets` packets can grow as asked.
    pub(crate) fn check_growth(&self, packets: u8) -> Result<(), ParameterError> {
        if packets > 1 && self.growth == GrowthParameter::PerAck {
            let message = format!(
                "chains of {packets} packets grow per packet, by the digit that each carries: omit \
                 `growth`, or use VCP, with chains of 1"
            );
            return Err(ParameterError::new("growth", message));
        }
        Ok(())
    }

    /// Returns the control's configuration, for positions encoded in headers.
    pub(crate) fn config(&self, initial_cwnd: f64) -> MpcpConfig {
        MpcpConfig {
            vcp: self.rules_of_vcp(initial_cwnd),
            packets: self.packets(),
            order: self.order(),
            is_limited: self.limits,
            acts: match self.acts {
                ActsParameter::AtOnce => Acts::AtOnce,
                ActsParameter::WhenComplete => Acts::WhenComplete,
            },
        }
    }

    fn rules_of_vcp(&self, initial_cwnd: f64) -> VcpConfig {
        let base = match self.rules {
            Rules::Chen2010 => VcpConfig::chen2010(initial_cwnd),
            Rules::Xia2005 => VcpConfig::xia2005(initial_cwnd),
        };
        VcpConfig {
            start: match self.start {
                StartParameter::ByLoadFactor => Start::ByLoadFactor,
                StartParameter::BySlowStart => Start::BySlowStart,
            },
            growth: match self.growth {
                GrowthParameter::PerPacket => GrowthPer::Packet,
                GrowthParameter::PerAck => GrowthPer::Ack,
            },
            least_cwnd: f64::from(self.least_cwnd),
            after_decrease: match self.after_decrease {
                None => base.after_decrease,
                Some(AfterDecreaseParameter::IgnoresOverload) => AfterDecrease::IgnoresOverload,
                Some(AfterDecreaseParameter::Freezes) => AfterDecrease::Freezes,
                Some(AfterDecreaseParameter::Increases) => AfterDecrease::Increases,
                Some(AfterDecreaseParameter::Holds) => AfterDecrease::Holds,
            },
            on_loss: match self.on_loss {
                None => base.on_loss,
                Some(OnLossParameter::Halves) => OnLoss::Halves,
                Some(OnLossParameter::Decreases) => OnLoss::Decreases,
                Some(OnLossParameter::Ignores) => OnLoss::Ignores,
            },
            interval: self.interval.unwrap_or(base.interval),
            paces: self.paces.unwrap_or(base.paces),
            falls_back: self.fallback,
            ..base
        }
    }
}

/// Returns the error message for an invalid chain length.
pub(crate) fn chain_range(chain: u8) -> String {
    format!("a chain of {chain} packets is out of range: give 1 (VCP) to {MAX_PACKETS}")
}
