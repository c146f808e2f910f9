//! The losses of a scenario's links.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ScenarioError;
use crate::check::check;

/// Losses other than by the queue. They occur before the queue, so lost packets use no bandwidth.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Loss")]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossSpec {
    /// The packets to lose, by order of arrival at the link, counted from 1.
    #[schemars(extend("x-class" = "PacketLoss"))]
    Packets(Vec<u64>),
    /// Independent random losses of packets or bits.
    Bernoulli(BernoulliSpec),
    /// Random losses in bursts.
    GilbertElliott(GilbertElliottSpec),
}

/// Independent random losses.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Bernoulli")]
#[serde(deny_unknown_fields)]
pub struct BernoulliSpec {
    /// The probability of an error, from 0 to 1.
    #[schemars(extend("x-unit" = "1"))]
    pub probability: f64,
    /// Whether errors hit packets or bits.
    #[serde(default)]
    pub per: ErrorUnit,
}

/// A channel that is either good or bad (Gilbert 1960, Elliott 1963). It starts good and may change
/// before each packet.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "GilbertElliott")]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottSpec {
    /// The probability that a good channel becomes bad.
    #[schemars(extend("x-unit" = "1"))]
    pub good_to_bad: f64,
    /// The probability that a bad channel becomes good. The mean length of a bad period is 1 /
    /// `bad_to_good` packets.
    #[schemars(extend("x-unit" = "1"))]
    pub bad_to_good: f64,
    /// The probability of an error while the channel is good.
    #[schemars(extend("x-unit" = "1"))]
    #[serde(default)]
    pub in_good: f64,
    /// The probability of an error while the channel is bad.
    #[schemars(extend("x-unit" = "1"))]
    #[serde(default = "certain")]
    pub in_bad: f64,
    /// Whether errors hit packets or bits.
    #[serde(default)]
    pub per: ErrorUnit,
}

const fn certain() -> f64 {
    1.0
}

/// What an error hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorUnit {
    /// A packet, regardless of its size.
    #[default]
    Packet,
    /// A bit. A packet with at least one wrong bit is lost.
    Bit,
}

impl LossSpec {
    pub(crate) fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        match self {
            Self::Packets(ordinals) => {
                check(!ordinals.contains(&0), &format!("{field}.packets"), || {
                    "packets are counted from 1: there is no packet 0".to_owned()
                })
            }
            Self::Bernoulli(spec) => {
                check_probability(spec.probability, &format!("{field}.bernoulli.probability"))
            }
            Self::GilbertElliott(spec) if spec.good_to_bad == 0.0 && spec.bad_to_good == 0.0 => {
                let message =
                    "the channel never changes: give a probability above 0, or use bernoulli";
                let field = format!("{field}.gilbert-elliott.good_to_bad");
                Err(ScenarioError::new(field, message))
            }
            Self::GilbertElliott(spec) => [
                ("good_to_bad", spec.good_to_bad),
                ("bad_to_good", spec.bad_to_good),
                ("in_good", spec.in_good),
                ("in_bad", spec.in_bad),
            ]
            .into_iter()
            .try_for_each(|(key, probability)| {
                check_probability(probability, &format!("{field}.gilbert-elliott.{key}"))
            }),
        }
    }
}

fn check_probability(probability: f64, field: &str) -> Result<(), ScenarioError> {
    check((0.0..=1.0).contains(&probability), field, || {
        format!("{probability} is no probability: between 0 and 1")
    })
}
