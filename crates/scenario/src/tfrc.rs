//! The parameters of TFRC.

use core::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_congestion::tfrc;
use skywave_units::{Bytes, Duration};

use crate::ScenarioError;
use crate::check::{check, check_datagram, check_timer};

/// The most reports per round-trip time.
const MOST_REPORTS: u32 = 1_000;

/// Parameters of CCID 3 and CCID 4. They override those of `rules`.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Tfrc")]
#[serde(deny_unknown_fields, default)]
pub struct TfrcSpec {
    /// The rules to follow. Absent: `rfc5348` for profile `rfc`; `ns2` for profile `ns2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<TfrcRules>,
    /// s: the size that every packet counts as, regardless of its content. Absent: s is the mean
    /// size of the packets sent (RFC 5348 section 4.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment_size: Option<Bytes>,
    /// Whether to send more slowly while the round-trip time is above its average (RFC 5348 section
    /// 4.5). If not, the mean round-trip time follows each sample closely, as that section
    /// recommends. Absent: yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oscillation_prevention: Option<bool>,
    /// Whether averages of the round-trip time are weighted per report or per round-trip time.
    /// Absent: `per-report`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smoothing: Option<SmoothingSpec>,
    /// When the receiver sends reports.
    pub feedback: FeedbackSpec,
    /// How the receiver learns the round-trip time.
    pub receiver_rtt: ReceiverRttSpec,
}

/// The rules a sender and a receiver follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TfrcRules {
    /// RFC 5348.
    Rfc5348,
    /// RFC 3448.
    Rfc3448,
    /// RFC 3448 as in ns-2.35's DCCP module: the mean loss interval counts intervals that have not
    /// occurred yet as zero, and there is no history discounting.
    Ns2,
}

/// How q, the weight of past samples in averages of the round-trip time, is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Smoothing")]
#[serde(rename_all = "kebab-case")]
pub enum SmoothingSpec {
    /// q at each report (RFC 5348 section 4.3).
    PerReport,
    /// q^(1/N) at each report, with N reports per round-trip time.
    PerRoundTrip,
}

/// When a receiver sends reports, in addition to those of new losses, which it sends immediately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Feedback")]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FeedbackSpec {
    /// Once per round-trip time according to the window counter (RFC 4342 section 10.3).
    #[default]
    WindowCounter,
    /// Several times per round-trip time (RFC 5348 section 6).
    PerRoundTrip(PerRoundTripSpec),
    /// More often on longer round-trip times (Sarwar et al. 2008, equation 2).
    Dynamic(DynamicSpec),
}

impl FeedbackSpec {
    fn schedule(self) -> tfrc::FeedbackSchedule {
        match self {
            Self::WindowCounter => tfrc::FeedbackSchedule::WindowCounter,
            Self::PerRoundTrip(PerRoundTripSpec { reports }) => {
                let reports = NonZeroU32::new(reports).unwrap_or(NonZeroU32::MIN);
                tfrc::FeedbackSchedule::PerRoundTrip(reports)
            }
            Self::Dynamic(dynamic) => tfrc::FeedbackSchedule::Dynamic(tfrc::DynamicFeedback {
                rtt_ref: dynamic.rtt_ref,
                window: match dynamic.window {
                    WindowSpec::Interval => tfrc::ObservationWindow::Interval,
                    WindowSpec::RoundTrip => tfrc::ObservationWindow::RoundTrip,
                },
            }),
        }
    }
}

/// Several reports per round-trip time, each covering a whole one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "PerRoundTrip")]
#[serde(deny_unknown_fields)]
pub struct PerRoundTripSpec {
    /// The number of reports per round-trip time, from 1 to 1000.
    #[schemars(extend("x-unit" = "reports"))]
    pub reports: u32,
}

/// Dynamic feedback: N = min(max(round(RTT / rtt_ref), 1), RTT X_recv / s) reports per round-trip
/// time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "DynamicFeedback")]
#[serde(deny_unknown_fields, default)]
pub struct DynamicSpec {
    /// The round-trip time at which N is 1; 100 ms in the paper.
    pub rtt_ref: Duration,
    /// The measurement window for X_recv.
    pub window: WindowSpec,
}

/// The measurement window for X_recv.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "ObservationWindow")]
#[serde(rename_all = "kebab-case")]
pub enum WindowSpec {
    /// RTT / N, the time since the last report, as in the paper.
    #[default]
    Interval,
    /// A whole round-trip time (RFC 5348 section 6).
    RoundTrip,
}

/// How a receiver learns the round-trip time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "ReceiverRtt")]
#[serde(rename_all = "kebab-case")]
pub enum ReceiverRttSpec {
    /// From the window counters of arriving packets (RFC 4342 section 8.1).
    #[default]
    WindowCounter,
    /// From an option that the sender adds to each data packet (RFC 6323).
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
    /// Returns TFRC's configuration; `rules` apply if this selects none. How the receiver learns the
    /// round-trip time is not part of it.
    pub fn config(&self, rules: TfrcRules) -> tfrc::Config {
        let mut config = match self.rules.unwrap_or(rules) {
            TfrcRules::Rfc5348 => tfrc::Config::rfc5348(),
            TfrcRules::Rfc3448 => tfrc::Config::rfc3448(),
            TfrcRules::Ns2 => tfrc::Config::ns2(),
        };
        if self.oscillation_prevention == Some(false) {
            config = config.without_oscillation_prevention();
        }
        tfrc::Config {
            segment_size: self.segment_size.map_or(config.segment_size, |size| {
                tfrc::SegmentSize::Fixed(size.get() as u32)
            }),
            smoothing: match self.smoothing {
                None => config.smoothing,
                Some(SmoothingSpec::PerReport) => tfrc::Smoothing::PerReport,
                Some(SmoothingSpec::PerRoundTrip) => tfrc::Smoothing::PerRoundTrip,
            },
            feedback: self.feedback.schedule(),
            ..config
        }
    }

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
                || format!("{reports} reports per round-trip time: use 1 to {MOST_REPORTS}"),
            ),
            FeedbackSpec::Dynamic(dynamic) => {
                check_timer(Some(dynamic.rtt_ref), &format!("{field}.dynamic.rtt_ref"))
            }
        }
    }
}
