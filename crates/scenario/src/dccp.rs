//! The parameters of DCCP.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::{Found, ParameterError};
use skywave_transport::dccp::Ccid;
use skywave_transport::dccp::mechanism::Mechanism;
use skywave_units::{Duration, Rate};
use skywave_wire::quick_start::RateField;

use crate::check::{
    check, check_ecn, check_max_ack_ratio, check_packets, check_ssthresh, check_timer,
};
use crate::named::at;
use crate::{Backend, Registry};
use crate::{Named, Profile, ScenarioError, TfrcSpec};

/// Parameters of DCCP. The meaning of absent parameters depends on `profile`.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Dccp")]
#[serde(default)]
pub struct DccpSpec {
    /// The congestion control, by CCID: 2 (TCP-like), 3 (TFRC), 4 (TFRC for small packets), 251
    /// (chosen by the sender in `control`), or another registered CCID.
    #[schemars(extend("x-unit" = "1"))]
    pub ccid: u8,
    /// The control of CCID 251, by name. Its parameters, if any, are in a table of that name next
    /// to this field. Absent: `reno`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
    /// Parameters of the control or the CCID.
    #[serde(flatten)]
    #[schemars(skip)]
    pub parameters: Named,
    /// The rules that apply where the RFCs leave a choice or ns-2 departs from them.
    pub profile: Profile,
    /// The initial cwnd. Absent: RFC 3390's 2 to 4 packets, depending on the datagram size, for
    /// profile `rfc`; 3 for `ns2`.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_cwnd: Option<u32>,
    /// The initial ssthresh. Absent: unbounded for profile `rfc`; 65,535 for `ns2`.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<u32>,
    /// How the window of CCID 2 grows. Absent: `rfc4341` for profile `rfc`; `ns2-tcplike` for
    /// `ns2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// Parameters of CCID 3 and 4. Absent: their defaults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tfrc: Option<TfrcSpec>,
    /// The rate that a sender under CCID 3 or 4 asks for with Quick-Start, headers included, with
    /// its first datagram and after idle periods (RFC 5634). It is rounded down to 80 kbps times a
    /// power of two, which is also the least. Absent: no Quick-Start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quick_start: Option<Rate>,
    /// The number of datagrams that can wait in the sender; further ones are refused. Absent: 64
    /// for profile `rfc`; 1000 for `ns2`.
    #[schemars(extend("x-unit" = "datagrams"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_queue: Option<u32>,
    /// Whether to use 24-bit sequence numbers. Absent: no for profile `rfc`; yes for `ns2`, to
    /// match the header sizes of ns-2's module.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_seqnos: Option<bool>,
    /// Whether to use ECN. Required by CCIDs that write their own codes into the ECN field.
    pub ecn: bool,
    /// Whether the sender occasionally skips a sequence number, as on sockets, to catch receivers
    /// that acknowledge packets before they have arrived. This applies to CCIDs whose receivers
    /// report what has arrived, such as CCID 2.
    pub detect_optimistic_acks: bool,
    /// The initial Ack Ratio (RFC 4340 section 11.3), at least 1.
    #[schemars(extend("x-unit" = "packets"))]
    pub ack_ratio: u16,
    /// The smallest Ack Ratio that CCID 2's sender asks for, 1 or 2 (RFC 4341 section 6.1.2).
    /// Absent: 2 for profile `rfc`; 1 for `ns2`.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_ack_ratio: Option<u16>,
    /// The largest Ack Ratio that CCID 2's sender asks for, at least 2; 2 keeps it from answering
    /// lost acknowledgements. Absent: only the window bounds it.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_ack_ratio: Option<u16>,
    /// The least number of acknowledgements per window that the Ack Ratio of CCID 2's sender leaves,
    /// however many are lost; at least 2, which is RFC 4341 section 6.1.2 to the letter. (An Ack
    /// Ratio of 2 is always allowed.) Absent: 8 for profile `rfc`; 2 for `ns2`.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_acks_per_window: Option<u16>,
    /// How often losses reduce the window of CCID 2 and of those based on it. Absent: `per-window`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reductions: Option<ReductionsSpec>,
    /// Whether the receiver immediately acknowledges after missing or marked packets (RFC 4340
    /// section 11.3). Absent: yes for profile `rfc`; no for `ns2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub immediate_acks: Option<bool>,
    /// The longest delay of an acknowledgement (RFC 4340 section 11.3). Absent: 200 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<Duration>,
    /// The timeout before the first round-trip time sample. Absent: 1 s for profile `rfc` (RFC
    /// 6298); 3 s for `ns2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_rto: Option<Duration>,
    /// The minimum timeout. Absent: 200 ms for profile `rfc`; 1 s for `ns2`.
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
            quick_start: None,
            send_queue: None,
            short_seqnos: None,
            ecn: true,
            detect_optimistic_acks: false,
            ack_ratio: 2,
            min_ack_ratio: None,
            max_ack_ratio: None,
            min_acks_per_window: None,
            reductions: None,
            immediate_acks: None,
            delayed_ack: None,
            initial_rto: None,
            min_rto: None,
        }
    }
}

/// How the window of CCID 2 grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// RFC 4341 section 5: in slow start, one packet for every two acknowledged.
    #[serde(rename = "rfc4341")]
    Rfc4341,
    /// ns-2's TCPlike agent: in slow start, one packet for every packet acknowledged, at most the
    /// Ack Ratio per acknowledgement.
    #[serde(rename = "ns2-tcplike")]
    Ns2TcpLike,
    /// As in TCP (RFC 5681 section 3.1): for each acknowledgement, regardless of how many packets
    /// it covers, one packet in slow start and 1/cwnd packets in congestion avoidance. Growth is
    /// slower by a factor of the Ack Ratio.
    PerAck,
}

/// How often losses reduce a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Reductions")]
#[serde(rename_all = "kebab-case")]
pub enum ReductionsSpec {
    /// Once for all packets lost in a window of data (RFC 4341 section 5).
    PerWindow,
    /// Once for each lost packet (Chen, Yang and Hong 2010, section 4.1).
    PerPacket,
}

impl DccpSpec {
    /// Returns the CCID with its parameters.
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

    /// Replaces the given parameters of the CCID with the complete set, including defaults.
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
                format!(
                    "CCID {ccid} has a control of its own: leave `control` out, or use ccid {others}"
                )
            },
        )?;
        let name = ccids.key(ccid, self.control.as_deref()).map(str::to_owned);
        let checked = self.parameters.check::<Self>(name.as_deref(), |other| {
            let owners = ccids.listed(|ccid| ccids.key(ccid, None) == Some(other));
            (!owners.is_empty())
                .then(|| format!("these are parameters of another CCID: use ccid {owners}"))
        });
        checked.map_err(|error| error.within(field))?;
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
                format!(
                    "CCID {} is not TFRC: leave out tfrc, or use ccid 3 or 4",
                    self.ccid
                )
            })?;
            tfrc.validate(&field)?;
        }
        let is_tfrc = row.features.loss_event_rate;
        let at_quick_start = format!("{field}.quick_start");
        check(
            self.quick_start.is_none() || is_tfrc,
            &at_quick_start,
            || {
                let ccid = self.ccid;
                format!("CCID {ccid} does not use Quick-Start: leave it out, or use ccid 3 or 4")
            },
        )?;
        let least = RateField::MIN.rate();
        check(
            self.quick_start.is_none_or(|rate| rate >= least),
            &at_quick_start,
            || format!("below {least}, the least rate of a request (RFC 4782 section 3.1)"),
        )?;
        check_ecn(self.ecn, &*found.member, &format!("{field}.ecn"))
    }

    pub(crate) fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        check_packets(self.initial_cwnd, &format!("{field}.initial_cwnd"))?;
        check_ssthresh(self.initial_ssthresh, &format!("{field}.initial_ssthresh"))?;
        check_packets(self.send_queue, &format!("{field}.send_queue"))?;
        check(self.ack_ratio > 0, &format!("{field}.ack_ratio"), || {
            "an Ack Ratio of 0 is not allowed (RFC 4340 section 11.3): use 1 or more".to_owned()
        })?;
        let least = self.min_ack_ratio;
        check(
            least.is_none_or(|least| (1..=2).contains(&least)),
            &format!("{field}.min_ack_ratio"),
            || "out of range: give 1 or 2 (RFC 4341 section 6.1.2)".to_owned(),
        )?;
        check_max_ack_ratio(self.max_ack_ratio, &format!("{field}.max_ack_ratio"))?;
        check(
            self.max_ack_ratio.is_none_or(|most| self.ack_ratio <= most),
            &format!("{field}.ack_ratio"),
            || format!("{} is above max_ack_ratio", self.ack_ratio),
        )?;
        check(
            self.min_acks_per_window.is_none_or(|least| least >= 2),
            &format!("{field}.min_acks_per_window"),
            || "below 2, the least of RFC 4341 section 6.1.2: use 2 or more".to_owned(),
        )?;
        check_timer(self.initial_rto, &format!("{field}.initial_rto"))?;
        check_timer(self.min_rto, &format!("{field}.min_rto"))
    }
}
