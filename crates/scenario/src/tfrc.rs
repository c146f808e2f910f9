//! TFRC's parameters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_units::{Bytes, Duration};

use crate::ScenarioError;
use crate::check::{check, check_datagram, check_timer};

/// Reports in a round-trip time at most.
const MOST_REPORTS: u32 = 1_000;

/// Parameters of CCID 3 and CCID 4. What is absent is taken from the rules.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Tfrc")]
#[serde(deny_unknown_fields, default)]
pub struct TfrcSpec {
    /// Whose rules. Profile `rfc`: RFC 5348's, `ns2`: `ns2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<TfrcRules>,
    /// s, where each packet counts as one of this size whatever it carries. Where absent, s is the
    /// mean size of what was sent (RFC 5348 section 4.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment_size: Option<Bytes>,
    /// Whether packets leave more slowly while the round-trip time is above its mean (RFC 5348
    /// section 4.5). Without, the mean follows each sample closely, as that section advises. Both
    /// rules: yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oscillation_prevention: Option<bool>,
    /// What the weights of the past in means of the round-trip time hold for. Both rules: a report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smoothing: Option<SmoothingSpec>,
    /// When the receiver reports.
    pub feedback: FeedbackSpec,
    /// How the receiver comes to know the round-trip time.
    pub receiver_rtt: ReceiverRttSpec,
}

/// The document whose rules a sender and a receiver follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TfrcRules {
    /// RFC 5348.
    Rfc5348,
    /// RFC 3448.
    Rfc3448,
    /// RFC 3448 as ns-2.35's DCCP module has it: its mean loss interval counts those that have not been
    /// seen yet as zero.
    Ns2,
}

/// What the weights of the past hold for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Smoothing")]
#[serde(rename_all = "kebab-case")]
pub enum SmoothingSpec {
    /// q for each report.
    PerReport,
    /// q^(1/N), where there are N reports in a round-trip time.
    PerRoundTrip,
}

/// When a receiver reports, beside new losses, which are reported at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Feedback")]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FeedbackSpec {
    /// Once in a round-trip time, as the window counter tells it (RFC 4342 section 10.3).
    #[default]
    WindowCounter,
    /// A number of times in each round-trip time (RFC 5348 section 6).
    PerRoundTrip(PerRoundTripSpec),
    /// More often, the longer the round-trip time (Sarwar et al. 2008, equation 2).
    Dynamic(DynamicSpec),
}

/// Several reports in a round-trip time, each of which covers a whole one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "PerRoundTrip")]
#[serde(deny_unknown_fields)]
pub struct PerRoundTripSpec {
    /// Their number.
    #[schemars(extend("x-unit" = "reports"))]
    pub reports: u32,
}

/// Dynamic feedback: N = min(max(round(RTT / rtt_ref), 1), RTT X_recv / s) reports in a round-trip
/// time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "DynamicFeedback")]
#[serde(deny_unknown_fields, default)]
pub struct DynamicSpec {
    /// The round-trip time of a path that has one report in it; the authors have 100 ms.
    pub rtt_ref: Duration,
    /// What X_recv is measured over.
    pub window: WindowSpec,
}

/// What X_recv is measured over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "ObservationWindow")]
#[serde(rename_all = "kebab-case")]
pub enum WindowSpec {
    /// RTT / N, from one report to the next, as the authors have it.
    #[default]
    Interval,
    /// A whole round-trip time (RFC 5348 section 6).
    RoundTrip,
}

/// How a receiver comes to know the round-trip time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "ReceiverRtt")]
#[serde(rename_all = "kebab-case")]
pub enum ReceiverRttSpec {
    /// From the window counters of the packets that arrive (RFC 4342 section 8.1).
    #[default]
    WindowCounter,
    /// The sender tells it in an option of each data packet (RFC 6323).
    Option,
}

impl Default for DynamicSpec {
    fn default() -> Self {
        Self {
            rtt_ref: Duration::from_millis(100),
            window: WindowSpec::Interval,
        }
    }
}

impl TfrcSpec {
    pub(crate) fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        if let Some(size) = self.segment_size {
            check_datagram(size.get(), &format!("{field}.segment_size"))?;
        }
        let field = format!("{field}.feedback");
        match self.feedback {
            FeedbackSpec::WindowCounter => Ok(()),
            FeedbackSpec::PerRoundTrip(PerRoundTripSpec { reports }) => check(
                (1..=MOST_REPORTS).contains(&reports),
                &format!("{field}.per-round-trip.reports"),
                || format!("{reports} reports in a round-trip time: between 1 and {MOST_REPORTS}"),
            ),
            FeedbackSpec::Dynamic(dynamic) => {
                check_timer(Some(dynamic.rtt_ref), &format!("{field}.dynamic.rtt_ref"))
            }
        }
    }
}
