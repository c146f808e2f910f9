//! The applications of a scenario.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_units::{Bytes, Rate};

use crate::check::{check, check_datagram, check_rate};
use crate::{ScenarioError, VoiceSpec, WebSpec};

/// An application.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Source")]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SourceSpec {
    /// A bulk transfer: always has data to send, until `size` bytes are sent if it is given.
    Ftp(FtpSpec),
    /// Datagrams of one size at a constant rate.
    Cbr(CbrSpec),
    /// A voice call.
    Voice(VoiceSpec),
    /// Web traffic: files separated by think times.
    Web(WebSpec),
}

/// A bulk transfer.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Ftp")]
#[serde(deny_unknown_fields)]
pub struct FtpSpec {
    /// The length of the file. Absent: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// The size of each datagram. Not used by TCP.
    #[serde(default = "FtpSpec::default_datagram")]
    pub datagram: Bytes,
}

impl FtpSpec {
    const fn default_datagram() -> Bytes {
        Bytes::new(1000)
    }
}

/// A constant-bit-rate source.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Cbr")]
#[serde(deny_unknown_fields)]
pub struct CbrSpec {
    /// The rate of application data.
    pub rate: Rate,
    /// The size of each datagram.
    pub datagram: Bytes,
}

impl SourceSpec {
    pub(crate) fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        match self {
            Self::Ftp(ftp) => {
                let is_empty = ftp.size.is_some_and(|size| size.get() == 0);
                check(!is_empty, &format!("{field}.ftp.size"), || {
                    "0 B: give a size above zero".to_owned()
                })?;
                check_datagram(ftp.datagram.get(), &format!("{field}.ftp.datagram"))
            }
            Self::Cbr(cbr) => {
                check_rate(cbr.rate, &format!("{field}.cbr.rate"))?;
                check_datagram(cbr.datagram.get(), &format!("{field}.cbr.datagram"))?;
                let interval = cbr.rate.transmission_time(cbr.datagram.get());
                check(!interval.is_zero(), &format!("{field}.cbr.rate"), || {
                    let datagram = cbr.datagram;
                    format!(
                        "{} is more than one datagram of {datagram} a nanosecond",
                        cbr.rate
                    )
                })
            }
            Self::Voice(voice) => voice.validate(&format!("{field}.voice")),
            Self::Web(web) => web.validate(&format!("{field}.web")),
        }
    }
}
