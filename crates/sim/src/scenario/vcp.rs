//! The parameters of a VCP sender.

use serde::{Deserialize, Serialize};
use skywave_congestion::{AfterDecrease, OnLoss, VcpConfig};
use skywave_units::Duration;

use super::ScenarioError;
use super::check::check;

/// How a VCP sender obeys its routers. What is absent is as `rules` say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VcpSpec {
    /// Whose rules.
    pub rules: VcpRules,
    /// What a sender does after a decrease.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_decrease: Option<AfterDecreaseSpec>,
    /// What a loss does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_loss: Option<OnLossSpec>,
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

/// Whose VCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VcpRules {
    /// Chen, Yang and Hong: additive increase by (R / t_rho)^2, at most 10; no pacing.
    #[default]
    Chen2010,
    /// VCP's authors, as their code for ns-2 has it: additive increase by (R / 100 ms)^2 with linear
    /// ends; pacing.
    Xia2005,
}

/// What a VCP sender does after a decrease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AfterDecreaseSpec {
    /// Ignores overload for t_rho, then answers it by additive increase for a round-trip time.
    IgnoresOverload,
    /// Does nothing for t_rho, then increases additively for a round-trip time.
    Freezes,
}

/// What a loss does to a VCP sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnLossSpec {
    /// It halves cwnd.
    Halves,
    /// It is one more overload.
    Decreases,
}

impl VcpSpec {
    pub(super) fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        let is_given = self.interval.is_none_or(|interval| !interval.is_zero());
        check(is_given, &format!("{field}.interval"), || {
            "0 s: give a time above zero".to_owned()
        })
    }

    /// What the window is told.
    pub(crate) fn config(&self, initial_cwnd: f64) -> VcpConfig {
        let base = match self.rules {
            VcpRules::Chen2010 => VcpConfig::chen2010(initial_cwnd),
            VcpRules::Xia2005 => VcpConfig::xia2005(initial_cwnd),
        };
        VcpConfig {
            after_decrease: match self.after_decrease {
                None => base.after_decrease,
                Some(AfterDecreaseSpec::IgnoresOverload) => AfterDecrease::IgnoresOverload,
                Some(AfterDecreaseSpec::Freezes) => AfterDecrease::Freezes,
            },
            on_loss: match self.on_loss {
                None => base.on_loss,
                Some(OnLossSpec::Halves) => OnLoss::Halves,
                Some(OnLossSpec::Decreases) => OnLoss::Decreases,
            },
            interval: self.interval.unwrap_or(base.interval),
            paces: self.paces.unwrap_or(base.paces),
            falls_back: self.fallback,
            ..base
        }
    }
}
