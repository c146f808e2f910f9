//! Flows of a scenario.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_path::CLASSES;
use skywave_units::Duration;

use crate::check::{check, check_ends, check_name, list};
use crate::{Backend, Registry};
use crate::{DccpSpec, ScenarioError, SourceSpec, TcpSpec};

/// A flow from one node to another.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Flow")]
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
    #[serde(default)]
    pub start_jitter: Duration,
    /// When it stops; the end of the run where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// The class of traffic of its packets, there and back: which of a link's weighted sub-queues
    /// serves them.
    #[schemars(extend("x-unit" = "1"))]
    #[serde(default)]
    pub class: u8,
    /// The nodes that its packets pass on their way from `from` to `to`, in order, without these two.
    /// Absent: the route with the fewest links; among equals, the one whose links come first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<Vec<String>>,
    /// The nodes on the way back, in order. Absent: those of `route` in reverse order if it is given,
    /// else the route with the fewest links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route_back: Option<Vec<String>>,
    /// The transport protocol and its parameters.
    pub transport: TransportSpec,
    /// The application.
    pub source: SourceSpec,
}

/// A transport protocol.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Transport")]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Udp")]
#[serde(deny_unknown_fields)]
pub struct UdpSpec {}

impl FlowSpec {
    pub(crate) fn validate(
        &self,
        field: &str,
        nodes: &BTreeSet<String>,
    ) -> Result<(), ScenarioError> {
        check_name(&self.name, &format!("{field}.name"))?;
        check_ends(&self.from, &self.to, field, nodes)?;
        check_route(self.route.as_deref(), &format!("{field}.route"), nodes)?;
        let back = self.route_back.as_deref();
        check_route(back, &format!("{field}.route_back"), nodes)?;
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

/// Whether every node of a route is known.
fn check_route(
    route: Option<&[String]>,
    field: &str,
    nodes: &BTreeSet<String>,
) -> Result<(), ScenarioError> {
    for (index, node) in route.unwrap_or_default().iter().enumerate() {
        check(nodes.contains(node), &format!("{field}[{index}]"), || {
            format!("there is no node \"{node}\"; nodes are {}", list(nodes))
        })?;
    }
    Ok(())
}

impl FlowSpec {
    /// The nodes on the way back, where they are given.
    pub fn route_back(&self) -> Option<Vec<String>> {
        let reversed = || Some(self.route.as_ref()?.iter().rev().cloned().collect());
        self.route_back.clone().or_else(reversed)
    }
}

impl TransportSpec {
    /// Puts the parameters of its control with all defaults in the place of those that were given.
    pub(crate) fn complete<B: Backend>(
        &mut self,
        registry: &Registry<B>,
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
