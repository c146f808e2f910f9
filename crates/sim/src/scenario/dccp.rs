//! DCCP's parameters.

use serde::{Deserialize, Serialize};
use skywave_transport::dccp::Ccid;
use skywave_units::Duration;

use super::check::{check, check_packets, check_ssthresh, check_timer};
use super::{Profile, ScenarioError, TfrcSpec, VcpSpec};

/// DCCP's parameters. What is absent is taken from the profile.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DccpSpec {
    /// Congestion control: 2 (TCP-like), 3 (TFRC), 4 (TFRC for small packets), 248 (VCP), 249 (DPCP)
    /// or 250 (TPCP).
    pub ccid: u8,
    /// Whose rules.
    pub profile: Profile,
    /// Initial congestion window, in packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_cwnd: Option<u32>,
    /// Initial slow-start threshold, in packets. Both profiles: unbounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<u32>,
    /// Window growth law.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// Parameters of CCID 3 and 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tfrc: Option<TfrcSpec>,
    /// Parameters of the window of CCIDs 248 to 250.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vcp: Option<VcpSpec>,
    /// Datagrams that may wait in the sender; more are refused. `rfc`: 64, `ns2`: 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_queue: Option<u32>,
    /// Whether 24-bit sequence numbers are used. `rfc`: no; `ns2`: yes, for that module's header
    /// sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_seqnos: Option<bool>,
    /// Whether ECN is used.
    pub ecn: bool,
    /// Initial Ack Ratio.
    pub ack_ratio: u16,
    /// Whether the receiver acknowledges at once when packets are missing or marked (RFC 4340
    /// section 11.3). `rfc`: yes, `ns2`: no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub immediate_acks: Option<bool>,
    /// Longest delay of an acknowledgement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<Duration>,
    /// Timeout before the first round-trip time sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_rto: Option<Duration>,
    /// Smallest timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rto: Option<Duration>,
}

impl Default for DccpSpec {
    fn default() -> Self {
        Self {
            ccid: 2,
            profile: Profile::Rfc,
            initial_cwnd: None,
            initial_ssthresh: None,
            growth: None,
            tfrc: None,
            vcp: None,
            send_queue: None,
            short_seqnos: None,
            ecn: true,
            ack_ratio: 2,
            immediate_acks: None,
            delayed_ack: None,
            initial_rto: None,
            min_rto: None,
        }
    }
}

/// CCID 2's window growth laws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// RFC 4341 section 5: in slow start one packet for every two that are acknowledged.
    #[serde(rename = "rfc4341")]
    Rfc4341,
    /// ns-2's TCPlike agent: in slow start one packet for every packet that is acknowledged, up to
    /// the Ack Ratio for each acknowledgement.
    #[serde(rename = "ns2-tcplike")]
    Ns2TcpLike,
    /// As TCP does (RFC 5681 section 3.1): by acknowledgements, however many packets one covers. In
    /// slow start one packet for each, in congestion avoidance 1/cwnd packets. So growth is slower
    /// by the Ack Ratio.
    PerAck,
}

impl DccpSpec {
    /// How many packets tell it a load factor, where it obeys one.
    pub(crate) fn chain(&self) -> Option<u8> {
        Ccid::from_number(self.ccid)?.chain()
    }

    pub(super) fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        check(
            Ccid::from_number(self.ccid).is_some(),
            &format!("{field}.ccid"),
            || {
                format!(
                    "{} is not a known CCID: use 2, 3, 4, 248, 249 or 250",
                    self.ccid
                )
            },
        )?;
        check_packets(self.initial_cwnd, &format!("{field}.initial_cwnd"))?;
        check_ssthresh(self.initial_ssthresh, &format!("{field}.initial_ssthresh"))?;
        if let Some(tfrc) = &self.tfrc {
            let field = format!("{field}.tfrc");
            check(matches!(self.ccid, 3 | 4), &field, || {
                format!("CCID {} has no rate: use ccid 3 or 4", self.ccid)
            })?;
            tfrc.validate(&field)?;
        }
        if let Some(vcp) = &self.vcp {
            let field = format!("{field}.vcp");
            let Some(chain) = self.chain() else {
                return Err(ScenarioError::new(
                    field,
                    "these are parameters of VCP: use ccid 248, 249 or 250",
                ));
            };
            check(
                vcp.chain.is_none_or(|given| given == chain),
                &format!("{field}.chain"),
                || {
                    format!(
                        "CCID {} has chains of {chain}: leave it out, or use ccid 248 for 1 packet, \
                         249 for 2 and 250 for 3",
                        self.ccid
                    )
                },
            )?;
            vcp.validate(&field)?;
        }
        check(
            self.ecn || self.chain().is_none(),
            &format!("{field}.ecn"),
            || {
                format!(
                    "CCID {}'s codes are in the ECN field: leave ecn on",
                    self.ccid
                )
            },
        )?;
        check_packets(self.send_queue, &format!("{field}.send_queue"))?;
        check(self.ack_ratio > 0, &format!("{field}.ack_ratio"), || {
            "an Ack Ratio of 0 is not allowed (RFC 4340 section 11.3): use 1 or more".to_owned()
        })?;
        check_timer(self.initial_rto, &format!("{field}.initial_rto"))?;
        check_timer(self.min_rto, &format!("{field}.min_rto"))
    }
}
