//! DCCP's parameters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::{Found, ParameterError};
use skywave_transport::dccp::Ccid;
use skywave_transport::dccp::mechanism::Mechanism;
use skywave_units::Duration;

use crate::check::{check, check_packets, check_ssthresh, check_timer};
use crate::named::at;
use crate::{Backend, Registry};
use crate::{Named, Profile, ScenarioError, TfrcSpec};

/// DCCP's parameters. What is absent is taken from the profile.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Dccp")]
#[serde(default)]
pub struct DccpSpec {
    /// Congestion control by its number in the registry: 2 (TCP-like), 3 (TFRC), 4 (TFRC for small
    /// packets), 251 (a control of the sender's choice), or another that is registered.
    #[schemars(extend("x-unit" = "1"))]
    pub ccid: u8,
    /// The control of CCID 251, by its name in the registry. Its parameters stand beside it under that
    /// name. Absent: `reno`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
    /// Parameters of the control, or of the CCID.
    #[serde(flatten)]
    #[schemars(skip)]
    pub parameters: Named,
    /// Whose rules.
    pub profile: Profile,
    /// Initial congestion window, in packets.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_cwnd: Option<u32>,
    /// Initial slow-start threshold, in packets. Both profiles: unbounded.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<u32>,
    /// Window growth law.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// Parameters of CCID 3 and 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tfrc: Option<TfrcSpec>,
    /// Datagrams that may wait in the sender; more are refused. `rfc`: 64, `ns2`: 1000.
    #[schemars(extend("x-unit" = "datagrams"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_queue: Option<u32>,
    /// Whether 24-bit sequence numbers are used. `rfc`: no; `ns2`: yes, for that module's header
    /// sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_seqnos: Option<bool>,
    /// Whether ECN is used.
    pub ecn: bool,
    /// Initial Ack Ratio.
    #[schemars(extend("x-unit" = "packets"))]
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
            control: None,
            parameters: Named::none(),
            profile: Profile::Rfc,
            initial_cwnd: None,
            initial_ssthresh: None,
            growth: None,
            tfrc: None,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
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
    /// The CCID, with its parameters.
    pub fn mechanism<B: Backend>(
        &self,
        registry: &Registry<B>,
    ) -> Result<Found<dyn Mechanism>, ParameterError> {
        let table = |name: &str| self.parameters.table(name);
        let (ccid, control) = (Ccid(self.ccid), self.control.as_deref());
        registry
            .ccids
            .read(ccid, control, table, &registry.controls)
    }

    /// Puts the CCID's parameters with all defaults in the place of those that were given.
    pub(crate) fn complete<B: Backend>(
        &mut self,
        registry: &Registry<B>,
        field: &str,
    ) -> Result<(), ScenarioError> {
        let (ccids, ccid) = (&registry.ccids, Ccid(self.ccid));
        let at_ccid = format!("{field}.ccid");
        check(ccids.contains(ccid), &at_ccid, || {
            let known = ccids.listed(|_| true);
            format!("{ccid} is not a known CCID: use {known}")
        })?;
        let takes_control = ccids.takes_control(ccid);
        check(
            takes_control || self.control.is_none(),
            &format!("{field}.control"),
            || {
                let others = ccids.listed(|ccid| ccids.takes_control(ccid));
                format!("CCID {ccid} has a control of its own: use ccid {others}")
            },
        )?;
        let name = ccids.key(ccid, self.control.as_deref()).map(str::to_owned);
        self.parameters.check(name.as_deref(), field, |other| {
            let owners = ccids.listed(|ccid| ccids.key(ccid, None) == Some(other));
            (!owners.is_empty())
                .then(|| format!("these are parameters of another CCID: use ccid {owners}"))
        })?;
        let name = name.unwrap_or_default();
        let chosen_by = if takes_control {
            format!("{field}.control")
        } else {
            at_ccid
        };
        let found = self
            .mechanism(registry)
            .map_err(|error| at(error, &chosen_by, &format!("{field}.{name}")))?;
        self.parameters.complete(&name, found.parameters);
        let row = found.member.row();
        if let Some(tfrc) = &self.tfrc {
            let field = format!("{field}.tfrc");
            check(row.features.loss_event_rate, &field, || {
                format!("CCID {} has no rate: use ccid 3 or 4", self.ccid)
            })?;
            tfrc.validate(&field)?;
        }
        check(
            self.ecn || row.data_ecn.is_none(),
            &format!("{field}.ecn"),
            || {
                format!(
                    "CCID {}'s codes are in the ECN field: leave ecn on",
                    self.ccid
                )
            },
        )
    }

    pub(crate) fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        check_packets(self.initial_cwnd, &format!("{field}.initial_cwnd"))?;
        check_ssthresh(self.initial_ssthresh, &format!("{field}.initial_ssthresh"))?;
        check_packets(self.send_queue, &format!("{field}.send_queue"))?;
        check(self.ack_ratio > 0, &format!("{field}.ack_ratio"), || {
            "an Ack Ratio of 0 is not allowed (RFC 4340 section 11.3): use 1 or more".to_owned()
        })?;
        check_timer(self.initial_rto, &format!("{field}.initial_rto"))?;
        check_timer(self.min_rto, &format!("{field}.min_rto"))
    }
}
