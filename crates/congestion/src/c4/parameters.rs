//! Parameters and constants of C4.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::Duration;

use super::C4;
use crate::{AnyControl, ControlContext, ControlKind, Wants};

/// Consecutive eras without an increase that end the Initial state (section 4.2).
pub(super) const ERAS_WITHOUT_INCREASE: u32 = 3;
/// Consecutive eras without an increase after which an excessive delay ends the Initial state
/// (section 4.2).
pub(super) const ERAS_BEFORE_DELAY: u32 = 2;
/// Packets received before losses can end the Initial state (section 4.2).
pub(super) const PACKETS_BEFORE_LOSS: u32 = 20;
/// Successful pushes after which C4 returns to the Initial state (section 4.3).
pub(super) const SUCCESSFUL_PUSHES: u32 = 3;
/// alpha of a push after a successful one, and of any other (section 4.5).
pub(super) const PUSH_ALPHA: f64 = 5.0 / 4.0;
pub(super) const LOW_PUSH_ALPHA: f64 = 17.0 / 16.0;
/// The least window, in packets (section 4.1).
pub(super) const MIN_CWND: f64 = 2.0;
/// The greatest quantum, in bytes (section 4.1).
pub(super) const MAX_QUANTUM: f64 = 65_536.0;

/// Which text [`C4`] follows where the specification and its implementation differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum C4Rules {
    /// The specification.
    #[default]
    Specification,
    /// picoquic of 17 November 2025. Delays count only for packets sent faster than the nominal rate.
    /// A push follows a successful one after one era of Cruising. Losses reduce the rate by half of
    /// beta to all of it, in proportion to the sensitivity. The Initial state paces a quarter faster.
    /// The end of Recovery forgets the loss and CE rates.
    Picoquic,
}

/// Parameters of [`C4`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct C4Config {
    /// MTU: bytes of application data in a full packet.
    pub packet_size: u32,
    /// The window before the first measurements, in packets; 10 in section 4.1.
    pub initial_cwnd: f64,
    /// beta of losses, and the greatest beta of delays and marks (section 5.5). In (0, 1).
    pub beta: f64,
    /// MAX_JITTER: by how much the nominal max RTT may exceed the running min RTT (section 3.2).
    pub max_jitter: Duration,
    /// The greatest delay threshold (section 5.2).
    pub max_delay_threshold: Duration,
    /// Eras in the Cruising state (section 4.4); at least 1.
    pub cruising_eras: u32,
    /// The text to follow.
    pub rules: C4Rules,
}

impl C4Config {
    /// Creates a configuration with the draft's constants and an initial window of `initial_cwnd`
    /// packets of `packet_size` bytes.
    pub const fn new(packet_size: u32, initial_cwnd: f64) -> Self {
        Self {
            packet_size,
            initial_cwnd,
            beta: 0.25,
            max_jitter: Duration::from_millis(250),
            max_delay_threshold: Duration::from_millis(25),
            cruising_eras: 4,
            rules: C4Rules::Specification,
        }
    }
}

/// Parameters of the control `c4`.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "C4")]
#[serde(deny_unknown_fields, default)]
pub struct C4Parameters {
    /// The fraction by which losses reduce the nominal rate, and the most by which delays and marks
    /// do. Between 0 and 1.
    #[schemars(extend("x-unit" = "1"))]
    pub beta: f64,
    /// MAX_JITTER: by how much the nominal max RTT may exceed the least round-trip time.
    pub max_jitter: Duration,
    /// By how much a round-trip time may exceed the nominal max RTT, at most, before it counts as
    /// congestion; above 0.
    pub max_delay_threshold: Duration,
    /// Round trips between a recovery and the next push; at least 1.
    #[schemars(extend("x-unit" = "1"))]
    pub cruising_eras: u32,
    /// The text to follow where the specification and its implementation in picoquic differ.
    pub rules: C4Rules,
}

impl Default for C4Parameters {
    fn default() -> Self {
        let C4Config {
            beta,
            max_jitter,
            max_delay_threshold,
            cruising_eras,
            rules,
            ..
        } = C4Config::new(0, 0.0);
        Self {
            beta,
            max_jitter,
            max_delay_threshold,
            cruising_eras,
            rules,
        }
    }
}

impl ControlKind for C4Parameters {
    fn check(&self) -> Result<(), ParameterError> {
        if !(self.beta > 0.0 && self.beta < 1.0) {
            let message = format!("{}: between 0 and 1", self.beta);
            return Err(ParameterError::new("beta", message));
        }
        if self.max_delay_threshold.is_zero() {
            let message = format!("{}: above 0", self.max_delay_threshold);
            return Err(ParameterError::new("max_delay_threshold", message));
        }
        if self.cruising_eras == 0 {
            return Err(ParameterError::new("cruising_eras", "0: at least 1"));
        }
        Ok(())
    }

    /// Returns a request for pacing, by which C4 controls its rate (section 4.1), and for RACK-TLP:
    /// C4 responds only to losses that acknowledgements show (section 5.3.1).
    fn wants(&self) -> Wants {
        Wants::default()
            .with_rack()
            .with_pacing()
            .with_model_of_path()
    }

    fn build(&self, context: &ControlContext) -> AnyControl {
        AnyControl::new(C4::new(C4Config {
            packet_size: context.packet_size,
            initial_cwnd: context.initial_cwnd,
            beta: self.beta,
            max_jitter: self.max_jitter,
            max_delay_threshold: self.max_delay_threshold,
            cruising_eras: self.cruising_eras,
            rules: self.rules,
        }))
    }
}
