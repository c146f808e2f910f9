//! Web traffic: a source that thinks, sends a file, and thinks again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_units::{Bytes, Duration};

use crate::ScenarioError;
use crate::check::{check, check_datagram, check_timer};

/// The tolerance for the sum of probabilities: rounding in print.
const ROUNDING: f64 = 1e-6;

/// Web traffic: files separated by think times, each file over its own connection.
///
/// The distributions are those of Ott, Lakshman and Wong ("SRED: Stabilized RED", INFOCOM 1999).
/// The defaults are the parameters of Chen, Yang and Hong 2010, section 4, taken as seconds and
/// bytes because the paper does not state units.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Web")]
#[serde(deny_unknown_fields, default)]
pub struct WebSpec {
    /// Think times: a mixture, `P{T > t} = sum of p / (1 + (t / pi)^eta)`.
    pub think: Vec<ThinkSpec>,
    /// File lengths.
    pub size: FileSizeSpec,
    /// The size of each datagram. Not used by TCP.
    pub datagram: Bytes,
}

/// One component of the mixture of think times: log-logistic.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Think")]
#[serde(deny_unknown_fields)]
pub struct ThinkSpec {
    /// p: the fraction of think times from this component. The fractions of all components add up
    /// to 1.
    #[schemars(extend("x-unit" = "1"))]
    pub probability: f64,
    /// pi: the median of this component.
    pub median: Duration,
    /// eta: how quickly the tail decays. The mean is infinite for values up to 1.
    #[schemars(extend("x-unit" = "1"))]
    pub shape: f64,
}

/// File lengths: log-logistic, `P{F > f} = 1 / (1 + (f / pi)^eta)`, rounded up to whole bytes.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "FileSize")]
#[serde(deny_unknown_fields, default)]
pub struct FileSizeSpec {
    /// pi: the median.
    pub median: Bytes,
    /// eta: how quickly the tail decays. The mean is infinite for values up to 1.
    #[schemars(extend("x-unit" = "1"))]
    pub shape: f64,
}

impl Default for WebSpec {
    fn default() -> Self {
        let part = |probability, median, shape| ThinkSpec {
            probability,
            median,
            shape,
        };
        Self {
            think: vec![
                // p_h, pi_h, eta_h.
                part(0.495_391_6, Duration::from_secs(1), 1.243_437),
                // p_l, pi_l, eta_l; printed with the index f.
                part(0.504_608_4, Duration::from_nanos(24_503_200), 3.252_665),
            ],
            size: FileSizeSpec::default(),
            datagram: Bytes::new(1000),
        }
    }
}

impl Default for FileSizeSpec {
    fn default() -> Self {
        Self {
            median: Bytes::new(2190),
            // eta; printed as phi.
            shape: 1.15066,
        }
    }
}

impl WebSpec {
    pub(crate) fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        check(!self.think.is_empty(), &format!("{field}.think"), || {
            "give at least one part of the mixture".to_owned()
        })?;
        for (index, part) in self.think.iter().enumerate() {
            let field = format!("{field}.think[{index}]");
            check(
                (0.0..=1.0).contains(&part.probability),
                &format!("{field}.probability"),
                || format!("{}: between 0 and 1", part.probability),
            )?;
            check_timer(Some(part.median), &format!("{field}.median"))?;
            check_shape(part.shape, &format!("{field}.shape"))?;
        }
        let sum: f64 = self.think.iter().map(|part| part.probability).sum();
        check(
            (sum - 1.0).abs() <= ROUNDING,
            &format!("{field}.think"),
            || format!("the probabilities add up to {sum}, not to 1"),
        )?;
        check(
            self.size.median.get() > 0,
            &format!("{field}.size.median"),
            || "0 B: give a size above zero".to_owned(),
        )?;
        check_shape(self.size.shape, &format!("{field}.size.shape"))?;
        check_datagram(self.datagram.get(), &format!("{field}.datagram"))
    }
}

fn check_shape(shape: f64, field: &str) -> Result<(), ScenarioError> {
    check(shape.is_finite() && shape > 0.0, field, || {
        format!("{shape}: give a number above zero")
    })
}
