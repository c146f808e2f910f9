//! The parameters of the control `illinois`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;

use super::Illinois;
use crate::law::Governed;
use crate::{AnyControl, ControlContext, ControlKind};

/// The largest `alpha_max`.
const MOST_ALPHA: f64 = 10_000.0;

/// Parameters of the control `illinois`: TCP-Illinois, whose increase and decrease follow the
/// queueing delay. Losses decide when the window shrinks.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Illinois")]
#[serde(deny_unknown_fields, default)]
pub struct IllinoisParameters {
    /// The packets by which the window grows in a round trip when the queue is fullest. Above 0, at
    /// most `alpha_max`. Absent: 0.1, or 0.3 for TCP's profile `linux`.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha_min: Option<f64>,
    /// The packets by which it grows when the queue is empty. At most 10000.
    #[schemars(extend("x-unit" = "packets"))]
    pub alpha_max: f64,
    /// The fraction of the window that a loss or a mark takes when the queue is short. Above 0, at
    /// most `beta_max`.
    #[schemars(extend("x-unit" = "1"))]
    pub beta_min: f64,
    /// The fraction that it takes when the queue is long. Below 1.
    #[schemars(extend("x-unit" = "1"))]
    pub beta_max: f64,
    /// The window below which both are Reno's, 1 packet and a half. At least 0. Absent: 10, or 15
    /// for TCP's profile `linux`.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_threshold: Option<f64>,
    /// The round trips with a delay up to d1 after which the window grows by `alpha_max` again.
    #[schemars(extend("x-unit" = "round trips"))]
    pub theta: u32,
    /// d1, up to which the queue counts as empty, as a fraction of the largest queueing delay seen.
    /// At least 0, below 1.
    #[schemars(extend("x-unit" = "1"))]
    pub eta_1: f64,
    /// d2, up to which `beta_min` applies, as the same fraction. At least 0.
    #[schemars(extend("x-unit" = "1"))]
    pub eta_2: f64,
    /// d3, from which on `beta_max` applies. Above `eta_2`, at most 1.
    #[schemars(extend("x-unit" = "1"))]
    pub eta_3: f64,
}

impl Default for IllinoisParameters {
    fn default() -> Self {
        Self {
            alpha_min: None,
            alpha_max: 10.0,
            beta_min: 0.125,
            beta_max: 0.5,
            window_threshold: None,
            theta: 5,
            eta_1: 0.01,
            eta_2: 0.1,
            eta_3: 0.8,
        }
    }
}

impl IllinoisParameters {
    /// Returns alpha_min: the paper's, or Linux's 38 / 128.
    pub(super) fn alpha_min(&self, is_linux: bool) -> f64 {
        let of_profile = if is_linux { 0.296_875 } else { 0.1 };
        self.alpha_min.unwrap_or(of_profile).min(self.alpha_max)
    }

    /// Returns the window below which Reno's laws apply.
    pub(super) fn window_threshold(&self, is_linux: bool) -> f64 {
        let of_profile = if is_linux { 15.0 } else { 10.0 };
        self.window_threshold.unwrap_or(of_profile)
    }
}

impl ControlKind for IllinoisParameters {
    fn check(&self) -> Result<(), ParameterError> {
        let Self {
            alpha_min,
            alpha_max,
            beta_min,
            beta_max,
            window_threshold,
            eta_1,
            eta_2,
            eta_3,
            ..
        } = *self;
        let is_in_range = alpha_max > 0.0 && alpha_max <= MOST_ALPHA;
        ParameterError::unless(is_in_range, "alpha_max", || {
            format!("{alpha_max} packets: above 0, at most {MOST_ALPHA}")
        })?;
        if let Some(alpha_min) = alpha_min {
            let is_in_range = alpha_min > 0.0 && alpha_min <= alpha_max;
            ParameterError::unless(is_in_range, "alpha_min", || {
                format!("{alpha_min} packets: above 0, at most alpha_max, {alpha_max}")
            })?;
        }
        ParameterError::unless(beta_max > 0.0 && beta_max < 1.0, "beta_max", || {
            format!("{beta_max}: between 0 and 1")
        })?;
        ParameterError::unless(beta_min > 0.0 && beta_min <= beta_max, "beta_min", || {
            format!("{beta_min}: above 0, at most beta_max, {beta_max}")
        })?;
        let threshold = window_threshold.unwrap_or_default();
        let is_in_range = threshold >= 0.0 && threshold.is_finite();
        ParameterError::unless(is_in_range, "window_threshold", || {
            format!("{threshold} packets: 0 or more")
        })?;
        ParameterError::unless((0.0..1.0).contains(&eta_1), "eta_1", || {
            format!("{eta_1}: at least 0, below 1")
        })?;
        ParameterError::unless(eta_3 > 0.0 && eta_3 <= 1.0, "eta_3", || {
            format!("{eta_3}: above 0, at most 1")
        })?;
        ParameterError::unless((0.0..eta_3).contains(&eta_2), "eta_2", || {
            format!("{eta_2}: at least 0, below eta_3, {eta_3}")
        })
    }

    fn build(&self, context: &ControlContext) -> AnyControl {
        Governed::build(context, Illinois::new(*self, context.linux))
    }
}
