//! Flows of a scenario.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use skywave_path::CLASSES;
use skywave_units::Duration;

use super::check::{check, check_ends};
use super::{DccpSpec, ScenarioError, SourceSpec, TcpSpec};
use crate::registry::Registry;

/// A flow from one node to another.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// A name, unique in the scenario.
    pub name: String,
    /// The sending node.
    pub from: String,
    /// The receiving node.
    pub to: String,
    /// When the sender's application starts.
    #[serde(default)]
    pub start: Duration,
    /// It starts up to so much later, evenly distributed: runs with other seeds then differ, and
    /// phase effects average out.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub start_jitter: Duration,
    /// When it stops; the end of the run where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// The class of traffic of its packets, there and back: which of a link's weighted sub-queues
    /// serves them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub class: u8,
    /// The transport protocol and its parameters.
    pub transport: TransportSpec,
    /// The application.
    pub source: SourceSpec,
}

/// The first class, which is not written.
const fn is_default(class: &u8) -> bool {
    *class == 0
}

/// A transport protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum TransportSpec {
    /// TCP.
    Tcp(TcpSpec),
    /// DCCP.
    Dccp(DccpSpec),
    /// UDP.
    Udp(UdpSpec),
}

/// UDP has no parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UdpSpec {}

impl FlowSpec {
    pub(super) fn validate(
        &self,
        field: &str,
        nodes: &BTreeSet<String>,
    ) -> Result<(), ScenarioError> {
        check(!self.name.is_empty(), &format!("{field}.name"), || {
            "give the flow a name".to_owned()
        })?;
        check_ends(&self.from, &self.to, field, nodes)?;
        if let Some(stop) = self.stop {
            let start = self.start + self.start_jitter;
            check(stop > start, &format!("{field}.stop"), || {
                format!("{stop} is not after the start, {start}")
            })?;
        }
        check(
            usize::from(self.class) < CLASSES,
            &format!("{field}.class"),
            || format!("{}: between 0 and {}", self.class, CLASSES - 1),
        )?;
        self.transport.validate(&format!("{field}.transport"))?;
        self.source.validate(&format!("{field}.source"))?;
        match (&self.transport, &self.source) {
            (TransportSpec::Udp(_), SourceSpec::Ftp(_)) => Err(ScenarioError::new(
                format!("{field}.source"),
                "a file over udp would be sent all at once: use cbr or voice",
            )),
            (TransportSpec::Udp(_), SourceSpec::Web(_)) => Err(ScenarioError::new(
                format!("{field}.source"),
                "web traffic needs connections: use tcp or dccp",
            )),
            (TransportSpec::Tcp(_), SourceSpec::Voice(_)) => Err(ScenarioError::new(
                format!("{field}.source"),
                "voice needs datagrams: use udp or dccp",
            )),
            _ => Ok(()),
        }
    }
}

impl TransportSpec {
    /// Puts the parameters of its control with all defaults in the place of those that were given.
    pub(super) fn complete(
        &mut self,
        registry: &Registry,
        field: &str,
    ) -> Result<(), ScenarioError> {
        match self {
            Self::Tcp(tcp) => tcp.complete(registry, &format!("{field}.tcp")),
            Self::Dccp(dccp) => dccp.complete(registry, &format!("{field}.dccp")),
            Self::Udp(UdpSpec {}) => Ok(()),
        }
    }

    fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        match self {
            Self::Tcp(tcp) => tcp.validate(&format!("{field}.tcp")),
            Self::Dccp(dccp) => dccp.validate(&format!("{field}.dccp")),
            Self::Udp(UdpSpec {}) => Ok(()),
        }
    }
}
