//! Losses of a scenario's links.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ScenarioError;
use crate::check::check;

/// Losses that are not the queue's. They come before it: what is lost takes no bandwidth.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Loss")]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossSpec {
    /// The packets with these arrival ordinals at the link, counted from 1.
    #[schemars(extend("x-class" = "PacketLoss"))]
    Packets(Vec<u64>),
    /// At random, each packet or bit for itself.
    Bernoulli(BernoulliSpec),
    /// At random, in bursts.
    GilbertElliott(GilbertElliottSpec),
}

/// Parameters of independent losses.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Bernoulli")]
#[serde(deny_unknown_fields)]
pub struct BernoulliSpec {
    /// Probability of an error, from 0 to 1.
    #[schemars(extend("x-unit" = "1"))]
    pub probability: f64,
    /// What has it.
    #[serde(default)]
    pub per: ErrorUnit,
}

/// Parameters of a channel that is good or bad (Gilbert 1960, Elliott 1963). It begins good and may
/// change before each packet.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "GilbertElliott")]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottSpec {
    /// Probability that a good channel becomes bad.
    #[schemars(extend("x-unit" = "1"))]
    pub good_to_bad: f64,
    /// Probability that a bad channel becomes good: a bad spell has 1 / `bad_to_good` packets on
    /// average.
    #[schemars(extend("x-unit" = "1"))]
    pub bad_to_good: f64,
    /// Probability of an error while the channel is good.
    #[schemars(extend("x-unit" = "1"))]
    #[serde(default)]
    pub in_good: f64,
    /// Probability of an error while it is bad.
    #[schemars(extend("x-unit" = "1"))]
    #[serde(default = "certain")]
    pub in_bad: f64,
    /// What has these errors.
    #[serde(default)]
    pub per: ErrorUnit,
}

const fn certain() -> f64 {
    1.0
}

/// What has an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorUnit {
    /// A packet, whatever its size.
    #[default]
    Packet,
    /// A bit; one wrong bit loses the packet.
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
