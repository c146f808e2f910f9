//! The parameters of the control `vegas`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;

use super::linux::LinuxVegas;
use super::{Vegas, VegasConfig, VegasRules};
use crate::law::Governed;
use crate::{AnyControl, ControlContext, ControlKind};

/// alpha, beta and gamma in Linux.
const LINUX: (f64, f64, f64) = (2.0, 4.0, 1.0);

/// Parameters of the control `vegas`, in queued packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Vegas")]
#[serde(deny_unknown_fields, default)]
pub struct VegasParameters {
    /// Below this, congestion avoidance grows by one packet per round. Absent: 1, or 2 for TCP's
    /// profile `linux`; `beta` if that is less.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Above this, it shrinks by one packet. Absent: 3, or 4 for TCP's profile `linux`.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// Above this, slow start ends. Absent: 1.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<f64>,
}

impl VegasParameters {
    /// Returns the configuration of a window with these parameters and `rules`.
    pub const fn window(&self, context: &ControlContext, rules: VegasRules) -> VegasConfig {
        let VegasConfig {
            alpha, beta, gamma, ..
        } = VegasConfig::new(context.initial_cwnd);
        let (alpha, beta, gamma) = self.or((alpha, beta, gamma));
        VegasConfig {
            alpha,
            beta,
            gamma,
            initial_cwnd: context.initial_cwnd,
            initial_ssthresh: context.initial_ssthresh,
            rules,
        }
    }

    /// Returns alpha, beta and gamma, with the profile's values for absent ones.
    const fn or(&self, (alpha, beta, gamma): (f64, f64, f64)) -> (f64, f64, f64) {
        let beta = match self.beta {
            Some(beta) => beta,
            None => beta,
        };
        let alpha = match self.alpha {
            Some(alpha) => alpha,
            None => alpha.min(beta),
        };
        let gamma = match self.gamma {
            Some(gamma) => gamma,
            None => gamma,
        };
        (alpha, beta, gamma)
    }
}

impl ControlKind for VegasParameters {
    fn check(&self) -> Result<(), ParameterError> {
        for (name, value) in [
            ("alpha", self.alpha),
            ("beta", self.beta),
            ("gamma", self.gamma),
        ] {
            if let Some(value) = value
                && !(value >= 0.0 && value.is_finite())
            {
                return Err(ParameterError::new(
                    name,
                    format!("{value} is out of range: give 0 or more"),
                ));
            }
        }
        // The least beta of any profile.
        let beta = self.beta.unwrap_or(VegasConfig::new(0.0).beta);
        if let Some(alpha) = self.alpha
            && alpha > beta
        {
            let message = format!("{alpha} is above beta, {beta}: give at most that");
            return Err(ParameterError::new("alpha", message));
        }
        Ok(())
    }

    fn build(&self, context: &ControlContext) -> AnyControl {
        if context.linux {
            return Governed::build(context, LinuxVegas::new(self.or(LINUX)));
        }
        let config = self.window(context, VegasRules::Published);
        AnyControl::new(Vegas::new(config))
    }
}
