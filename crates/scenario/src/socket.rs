//! The configuration of a connection on a socket.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use skywave_registry::{ParameterError, in_plain_words, typed};
use skywave_transport::dccp::{self, AckRatioBounds, AckRatioRule, Ccid};
use skywave_units::{Bytes, Duration};
use skywave_wire::dccp::ServiceCode;

use crate::ScenarioError;
use crate::check::{check_ecn, check_max_ack_ratio, check_ssthresh};
use crate::{Backend, Named, ReceiverRttSpec, Registry, TfrcRules, TfrcSpec};

/// The options of a connection. They concern either end unless stated otherwise.
///
/// Defaults are those of RFC 4340 where it has any. They are the same in Rust
/// (`dccp::Config`), in Python and on the command line.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Config")]
#[serde(default)]
pub struct SocketSpec {
    /// Congestion control in both directions, by CCID: 2 (TCP-like), 3 (TFRC), 4 (TFRC for small
    /// packets), 251 (acknowledgements of CCID 2, with a control that the sender chooses), or another
    /// registered CCID; those from 248 on are specific to Skywave. Of 2, 3, 4 and 251 it is a
    /// preference: each end accepts all of them, and if both have a preference, the listener's
    /// counts (RFC 4340 section 6.3.1). Others may need routers that take part, so both
    /// ends must ask for them. Absent: the peer's preference, or 2.
    #[schemars(extend("x-unit" = "1"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ccid: Option<u8>,
    /// The congestion control of what this end sends, by name. Its parameters, if any, are in a
    /// table of that name next to this field. Setting it makes `ccid` 251, and for what this end
    /// sends the only CCID that it accepts. Neither end needs to know the other's control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
    /// Parameters of the control or the CCID.
    #[serde(flatten)]
    #[schemars(skip)]
    pub parameters: Named,
    /// The initial ssthresh of CCID 2 and of the controls of CCID 251. Absent: unbounded.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<u32>,
    /// The largest Ack Ratio that a sender under CCID 2 or 251 asks for, at least 2; 2 keeps it from
    /// answering lost acknowledgements (RFC 4341 section 6.1). Absent: an eighth of cwnd.
    #[schemars(extend("x-unit" = "packets"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_ack_ratio: Option<u16>,
    /// Parameters of CCID 3 and 4. Absent: those of RFC 5348.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tfrc: Option<TfrcSpec>,
    /// Service Codes (RFC 5595), each four characters or a number. A client requests the first, a
    /// listener accepts all; 0 means none.
    pub service_codes: Vec<ServiceCodeSpec>,
    /// How many datagrams may wait to be sent before sending blocks; at least 1.
    #[schemars(extend("x-unit" = "datagrams"))]
    pub send_queue: u32,
    /// How many datagrams may wait to be read, at least 1. Further ones are dropped, and the peer is
    /// informed.
    #[schemars(extend("x-unit" = "datagrams"))]
    pub receive_queue: u32,
    /// The most data that may wait to be sent; more waits as with `send_queue`. An empty queue takes
    /// a datagram of any size.
    pub send_queue_bytes: Bytes,
    /// The most data that may wait to be read; more is dropped as with `receive_queue`. An empty
    /// queue takes a datagram of any size.
    pub receive_queue_bytes: Bytes,
    /// Whether packets are ECN-capable and marks are heeded (RFC 4340 section 12).
    pub ecn: bool,
    /// Whether to end connections with a receiver that acknowledges packets before they have arrived,
    /// and so makes a sender too fast. To find out, the sender occasionally skips a sequence number.
    /// Only receivers under CCID 2, 251 and the like report what has arrived.
    pub detect_optimistic_acks: bool,
    /// How much data the checksum covers, as CsCov: 0 for all, n > 0 for (n - 1) * 4 bytes; at most
    /// 15 (RFC 4340 section 9.2).
    #[schemars(extend("x-unit" = "1"))]
    pub checksum_coverage: u8,
    /// The smallest coverage to accept from the peer, as CsCov; 0 accepts only full coverage.
    #[schemars(extend("x-unit" = "1"))]
    pub minimum_checksum_coverage: u8,
    /// Whether each datagram carries its own CRC-32c (RFC 4340 section 9.3).
    pub data_checksum: bool,
    /// Whether to find out which size of packets the path carries, and follow it down and up
    /// (DPLPMTUD, RFC 8899), even where ICMP is filtered.
    pub path_mtu_discovery: bool,
    /// How long a connection attempt waits for an answer before it gives up.
    pub connect_timeout: Duration,
    /// How long closing waits for queued datagrams to leave and to be acknowledged.
    pub linger: Duration,
    /// How long to wait without a packet from the peer before sending a keepalive. Keepalives find
    /// peers that are gone, and keep the bindings of middleboxes alive; those for UDP may last no
    /// longer than 15 s to 2 min. 0 s: never.
    pub keepalive: Duration,
    /// How long the peer may leave data or a keepalive unanswered before the connection ends. 0 s:
    /// forever.
    pub silence_timeout: Duration,
    /// How long the connection may carry no data in either direction before it ends. 0 s: forever.
    pub idle_timeout: Duration,
}

impl Default for SocketSpec {
    fn default() -> Self {
        let config = dccp::Config::default();
        let codes = config.service_codes.iter();
        Self {
            ccid: None,
            control: None,
            parameters: Named::none(),
            initial_ssthresh: None,
            max_ack_ratio: None,
            tfrc: None,
            service_codes: codes.map(|code| ServiceCodeSpec::Number(code.0)).collect(),
            send_queue: config.send_queue as u32,
            receive_queue: config.receive_queue as u32,
            send_queue_bytes: Bytes::new(config.send_queue_bytes as u64),
            receive_queue_bytes: Bytes::new(config.receive_queue_bytes as u64),
            ecn: !config.ecn_incapable,
            detect_optimistic_acks: config.detect_optimistic_acks,
            checksum_coverage: config.checksum_coverage,
            minimum_checksum_coverage: config.minimum_checksum_coverage,
            data_checksum: config.send_data_checksum,
            path_mtu_discovery: config.path_mtu_discovery,
            connect_timeout: config.request_give_up,
            linger: config.linger,
            keepalive: config.keepalive.unwrap_or_default(),
            silence_timeout: config.silence_timeout.unwrap_or_default(),
            idle_timeout: config.idle_timeout.unwrap_or_default(),
        }
    }
}

/// A Service Code (RFC 5595 section 6.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "give four ASCII characters, or a number from 0 to 4294967294"
)]
pub enum ServiceCodeSpec {
    /// Its value.
    Number(u32),
    /// Four ASCII characters.
    Text(String),
}

impl JsonSchema for ServiceCodeSpec {
    fn schema_name() -> Cow<'static, str> {
        "ServiceCode".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"] })
    }
}

impl ServiceCodeSpec {
    fn read(&self) -> Result<ServiceCode, ParameterError> {
        let text = match self {
            Self::Number(number) => return Ok(ServiceCode(*number)),
            Self::Text(text) => text,
        };
        match <[u8; 4]>::try_from(text.as_bytes()) {
            Ok(bytes) if text.is_ascii() => Ok(ServiceCode(u32::from_be_bytes(bytes))),
            _ => {
                let message =
                    format!("\"{text}\" is not four ASCII characters: pad it with spaces");
                Err(ParameterError::new("", message))
            }
        }
    }
}

impl SocketSpec {
    /// Reads a configuration from JSON. Names are checked by [`SocketSpec::config`].
    ///
    /// # Errors
    /// [`ParameterError`] with the first field that is wrong.
    pub fn from_json(text: &str) -> Result<Self, ParameterError> {
        let value = serde_json::from_str(text)
            .map_err(|error| ParameterError::new("", in_plain_words(&error.to_string())))?;
        typed(&value)
    }

    /// Returns the configuration of a connection, with the CCIDs and controls of `registry`.
    ///
    /// # Errors
    /// [`ParameterError`] if the CCID or the control is unknown, or a parameter is wrong. Values
    /// that [`dccp::Config::check`] checks are not checked here.
    pub fn config<B: Backend>(
        &self,
        registry: &Registry<B>,
    ) -> Result<dccp::Config, ParameterError> {
        let known = &registry.ccids;
        let control = self.control.as_deref();
        if let Some(ccid) = self.ccid.map(Ccid) {
            ParameterError::unless(known.contains(ccid), "ccid", || {
                format!("{ccid} is not a known CCID: use {}", known.listed(|_| true))
            })?;
            ParameterError::unless(
                control.is_none() || known.takes_control(ccid),
                "ccid",
                || format!("CCID {ccid} has a control of its own: leave `ccid` or `control` out"),
            )?;
        }
        let wanted = self.ccid.map(Ccid);
        let wanted = wanted.or(control.map(|_| Ccid::SENDERS_CHOICE));
        let ccid = wanted.unwrap_or(Ccid::INITIAL);
        let name = known.key(ccid, control);
        self.parameters.check::<Self>(name, |other| {
            if registry.controls.contains(other) {
                return Some(format!("it has no effect without control = \"{other}\""));
            }
            let owners = known.listed(|ccid| known.key(ccid, None) == Some(other));
            (!owners.is_empty()).then(|| format!("it has no effect without ccid {owners}"))
        })?;
        let table = |name: &str| self.parameters.table(name);
        let found = known.read(ccid, control, table, &registry.controls);
        let found = found.map_err(|error| match (error.field.is_empty(), control) {
            (true, Some(_)) => error.within("control"),
            (true, None) => error.within("ccid"),
            (false, _) => error.within(name.unwrap_or_default()),
        })?;
        let of_field = |error: ScenarioError| ParameterError::new(error.field, error.message);
        check_ecn(self.ecn, &*found.member, "ecn").map_err(of_field)?;
        check_ssthresh(self.initial_ssthresh, "initial_ssthresh").map_err(of_field)?;
        check_max_ack_ratio(self.max_ack_ratio, "max_ack_ratio").map_err(of_field)?;
        let tfrc = self.tfrc.clone().unwrap_or_default();
        tfrc.validate("tfrc").map_err(of_field)?;
        let is_tfrc = found.member.row().features.loss_event_rate;
        // Without a preference here, the peer's may bring either kind into force.
        let is_fixed = wanted.is_some();
        let uses_tfrc = self.tfrc.is_none() || is_tfrc || !is_fixed;
        ParameterError::unless(uses_tfrc, "tfrc", || {
            format!("CCID {ccid} is not TFRC: leave out tfrc, or use ccid 3 or 4")
        })?;
        let has_window = self.initial_ssthresh.is_none() || !is_tfrc || !is_fixed;
        ParameterError::unless(has_window, "initial_ssthresh", || {
            format!("CCID {ccid} is TFRC, which has no ssthresh: leave it out, or use ccid 2")
        })?;
        let has_ratio = self.max_ack_ratio.is_none() || !is_tfrc || !is_fixed;
        ParameterError::unless(has_ratio, "max_ack_ratio", || {
            format!("CCID {ccid} is TFRC, which has no Ack Ratio: leave it out, or use ccid 2")
        })?;
        ParameterError::unless(
            self.connect_timeout > Duration::ZERO,
            "connect_timeout",
            || "it is 0 s, in which nobody can answer: give a longer time".to_owned(),
        )?;
        let defaults = dccp::Config::default();
        let mut accepted = defaults.sender_ccids;
        if accepted.contains(&ccid) {
            accepted.sort_by_key(|&other| other != ccid);
        } else {
            accepted = vec![ccid];
        }
        let mut ccids = defaults.ccids;
        ccids.enter_shared(found.member);
        let mut codes = Vec::with_capacity(self.service_codes.len());
        for (index, code) in self.service_codes.iter().enumerate() {
            let read = code.read();
            codes.push(read.map_err(|error| error.within(&format!("service_codes[{index}]")))?);
        }
        let config = dccp::Config {
            service_codes: codes,
            sender_ccids: match control {
                Some(_) => vec![ccid],
                None => accepted.clone(),
            },
            receiver_ccids: accepted,
            follow_client_ccids: !is_fixed,
            ccids,
            ccid2: dccp::Ccid2Config {
                initial_ssthresh: self
                    .initial_ssthresh
                    .map_or(defaults.ccid2.initial_ssthresh, f64::from),
                ack_ratio: AckRatioRule::Adaptive(AckRatioBounds {
                    maximum: self.max_ack_ratio.unwrap_or(u16::MAX),
                    ..AckRatioBounds::default()
                }),
                ..defaults.ccid2
            },
            tfrc: tfrc.config(TfrcRules::Rfc5348),
            request_rtt_estimate: tfrc.receiver_rtt == ReceiverRttSpec::Option,
            send_queue: self.send_queue as usize,
            receive_queue: self.receive_queue as usize,
            send_queue_bytes: bytes(self.send_queue_bytes),
            receive_queue_bytes: bytes(self.receive_queue_bytes),
            ecn_incapable: !self.ecn,
            detect_optimistic_acks: self.detect_optimistic_acks,
            checksum_coverage: self.checksum_coverage,
            minimum_checksum_coverage: self.minimum_checksum_coverage,
            send_data_checksum: self.data_checksum,
            path_mtu_discovery: self.path_mtu_discovery,
            request_give_up: self.connect_timeout,
            linger: self.linger,
            keepalive: limit(self.keepalive),
            silence_timeout: limit(self.silence_timeout),
            idle_timeout: limit(self.idle_timeout),
            ..defaults
        };
        Ok(config)
    }
}

/// Returns a time limit; `None` for zero, which means no limit.
fn limit(time: Duration) -> Option<Duration> {
    Some(time).filter(|&time| time > Duration::ZERO)
}

fn bytes(size: Bytes) -> usize {
    usize::try_from(size.get()).unwrap_or(usize::MAX)
}
