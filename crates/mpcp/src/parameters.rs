//! What can be set on a sender, as a file gives it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::Duration;

use crate::load::MAX_PACKETS;
use crate::{Acts, AfterDecrease, ChainOrder, MpcpConfig, OnLoss, VcpConfig};

/// How a VCP sender obeys its routers. What is absent is as `rules` say.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Vcp")]
#[serde(deny_unknown_fields, default)]
pub struct SenderParameters {
    /// Whose rules.
    pub rules: Rules,
    /// How many packets tell a load factor: 1, VCP, where absent; with 2 it is DPCP, with 3 TPCP, with
    /// n MPCP(n). Over DCCP the CCID says it.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain: Option<u8>,
    /// Whether VCP's limits of the increases hold in chains of several packets, too. Not if absent.
    pub limits: bool,
    /// When the digits of a chain are acted on.
    pub acts: ActsParameter,
    /// What a sender does after a decrease.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_decrease: Option<AfterDecreaseParameter>,
    /// What a loss does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_loss: Option<OnLossParameter>,
    /// t_rho: the routers' interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// Whether small windows of long round-trip times are paced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paces: Option<bool>,
    /// Whether the sender falls back to RFC 5681 where routers do not seem to speak VCP. The
    /// published senders do not, so a flow without it must have a VCP router on its way.
    pub fallback: bool,
}

/// When a sender acts on the digits of a chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Acts")]
#[serde(rename_all = "kebab-case")]
pub enum ActsParameter {
    /// On each, taking the worst for those that have not come (Li and Yousefi'zadeh 2009).
    #[default]
    AtOnce,
    /// On a whole chain only.
    WhenComplete,
}

/// Whose VCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "VcpRules")]
#[serde(rename_all = "lowercase")]
pub enum Rules {
    /// Chen, Yang and Hong: additive increase by (R / t_rho)^2, at most 10; no pacing.
    #[default]
    Chen2010,
    /// VCP's authors, as their code for ns-2 has it: additive increase by (R / 100 ms)^2 with linear
    /// ends; pacing.
    Xia2005,
}

/// What a VCP sender does after a decrease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "AfterDecrease")]
#[serde(rename_all = "kebab-case")]
pub enum AfterDecreaseParameter {
    /// Ignores overload for t_rho, then answers it by additive increase for a round-trip time.
    IgnoresOverload,
    /// Does nothing for t_rho, then increases additively for a round-trip time.
    Freezes,
}

/// What a loss does to a VCP sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "OnLoss")]
#[serde(rename_all = "kebab-case")]
pub enum OnLossParameter {
    /// It halves cwnd.
    Halves,
    /// It is one more overload.
    Decreases,
}

impl SenderParameters {
    /// How many packets tell a load factor.
    pub fn packets(&self) -> u8 {
        self.chain.unwrap_or(1)
    }

    /// Whether the values are in their ranges.
    ///
    /// # Errors
    /// [`ParameterError`] with the first one that is not.
    pub fn check(&self) -> Result<(), ParameterError> {
        let chain = self.packets();
        if !(1..=MAX_PACKETS).contains(&chain) {
            return Err(ParameterError::new("chain", chain_range(chain)));
        }
        if self.interval.is_some_and(|interval| interval.is_zero()) {
            let message = "0 s: give a time above zero";
            return Err(ParameterError::new("interval", message));
        }
        Ok(())
    }

    /// What the control is told, where headers tell places.
    pub(crate) fn config(&self, initial_cwnd: f64) -> MpcpConfig {
        MpcpConfig {
            vcp: self.rules_of_vcp(initial_cwnd),
            packets: self.packets(),
            order: ChainOrder::Headers,
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
            after_decrease: match self.after_decrease {
                None => base.after_decrease,
                Some(AfterDecreaseParameter::IgnoresOverload) => AfterDecrease::IgnoresOverload,
                Some(AfterDecreaseParameter::Freezes) => AfterDecrease::Freezes,
            },
            on_loss: match self.on_loss {
                None => base.on_loss,
                Some(OnLossParameter::Halves) => OnLoss::Halves,
                Some(OnLossParameter::Decreases) => OnLoss::Decreases,
            },
            interval: self.interval.unwrap_or(base.interval),
            paces: self.paces.unwrap_or(base.paces),
            falls_back: self.fallback,
            ..base
        }
    }
}

/// What is wrong with a chain of so many packets.
pub(crate) fn chain_range(chain: u8) -> String {
    format!("a chain of {chain} packets: 1 (VCP) to {MAX_PACKETS}")
}
