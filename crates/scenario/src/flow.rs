//! The flows of a scenario.

use std::collections::BTreeSet;

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use skywave_path::CLASSES;
use skywave_registry::{Choice, unknown};
use skywave_transport::Carrier;
use skywave_transport::peer::{TransportChoice, TransportKind, TransportSelection};
use skywave_units::{Bytes, Duration};

use crate::check::{check, check_ends, check_name, no_such};
use crate::{Backend, Registry};
use crate::{DccpSpec, ScenarioError, SourceSpec, TcpProfile, TcpSpec};

/// A flow from one node to another.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Flow")]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// A name, unique in the scenario.
    pub name: String,
    /// The sending node.
    pub from: Arc<str>,
    /// The receiving node.
    pub to: Arc<str>,
    /// When the sending application starts.
    #[serde(default)]
    pub start: Duration,
    /// Maximum random delay of the start, uniformly distributed. It makes runs with different seeds
    /// differ, so that phase effects average out.
    #[serde(default)]
    pub start_jitter: Duration,
    /// When the sending application stops. Absent: at the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// The traffic class of the flow's packets in both directions, from 0 to 3. It selects the
    /// sub-queue of weighted queues.
    #[schemars(extend("x-unit" = "1"))]
    #[serde(default)]
    pub class: u8,
    /// The nodes between `from` and `to` on the forward path, in order, without `from` and `to`.
    /// Absent: the route with the fewest links; among equals, the one whose links come first in the
    /// scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<Vec<String>>,
    /// The nodes on the reverse path, in order, without the ends. Absent: `route` reversed if
    /// given, otherwise the route with the fewest links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route_back: Option<Vec<String>>,
    /// The transport protocol and its parameters.
    pub transport: Arc<TransportSpec>,
    /// The application.
    pub source: SourceSpec,
}

/// A transport protocol.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(rename = "Transport", rename_all = "kebab-case")]
pub enum TransportSpec {
    /// TCP.
    Tcp(TcpSpec),
    /// DCCP.
    Dccp(DccpSpec),
    /// UDP.
    Udp(UdpSpec),
    /// The TCP of the Linux kernel, for runs in real time and on virtual time.
    KernelTcp(KernelTcpSpec),
    /// The DCCP of the Linux kernel, for runs in real time and on virtual time.
    KernelDccp(KernelDccpSpec),
    /// Another transport of the [registry](Registry::transports).
    #[schemars(skip)]
    Other(TransportSelection),
}

impl Serialize for TransportSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = match self {
            Self::Other(selection) => return selection.serialize(serializer),
            _ => serializer.serialize_map(Some(1))?,
        };
        match self {
            Self::Tcp(tcp) => map.serialize_entry(Self::TCP, tcp)?,
            Self::Dccp(dccp) => map.serialize_entry(Self::DCCP, dccp)?,
            Self::Udp(udp) => map.serialize_entry(Self::UDP, udp)?,
            Self::KernelTcp(tcp) => map.serialize_entry(Self::KERNEL_TCP, tcp)?,
            Self::KernelDccp(dccp) => map.serialize_entry(Self::KERNEL_DCCP, dccp)?,
            Self::Other(_) => {}
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for TransportSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TransportVisitor)
    }
}

struct TransportVisitor;

impl<'de> Visitor<'de> for TransportVisitor {
    type Value = TransportSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a transport with its parameters: { tcp = { .. } }")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<TransportSpec, E> {
        if TransportSpec::BUILT_IN.contains(&name) {
            return Err(E::custom(format!(
                "give the parameters too, if only {{ {name} = {{}} }}"
            )));
        }
        Ok(TransportSpec::Other(TransportSelection::named(name)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TransportSpec, A::Error> {
        let none = || de::Error::custom("give one of its forms, as { name = { .. } }");
        let name: String = map.next_key()?.ok_or_else(none)?;
        let transport = match &*name {
            TransportSpec::TCP => TransportSpec::Tcp(map.next_value()?),
            TransportSpec::DCCP => TransportSpec::Dccp(map.next_value()?),
            TransportSpec::UDP => TransportSpec::Udp(map.next_value()?),
            TransportSpec::KERNEL_TCP => TransportSpec::KernelTcp(map.next_value()?),
            TransportSpec::KERNEL_DCCP => TransportSpec::KernelDccp(map.next_value()?),
            _ => TransportSpec::Other(TransportSelection::from_entry(name, &mut map)?),
        };
        if map.next_key::<String>()?.is_some() {
            return Err(de::Error::custom("give one of its forms, not several"));
        }
        Ok(transport)
    }
}

impl<B: Backend> Registry<B> {
    /// Returns the transport that `selection` names.
    ///
    /// # Errors
    /// [`ScenarioError`] within `field` if it is unknown, or a parameter of it is wrong.
    pub fn transport(
        &self,
        selection: &TransportSelection,
        field: &str,
    ) -> Result<Arc<dyn TransportKind>, ScenarioError> {
        let name = selection.name();
        if !self.transports.contains(name) {
            let built_in = TransportSpec::BUILT_IN.into_iter();
            let mut known: Vec<_> = built_in.chain(self.transports.names()).collect();
            known.sort_unstable();
            let message = unknown(TransportChoice::KIND, name, &known);
            return Err(ScenarioError::new(field, message));
        }
        let found = selection.read(&self.transports);
        found.map_err(|error| error.within(field).into())
    }
}

/// UDP has no parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Udp")]
#[serde(deny_unknown_fields)]
pub struct UdpSpec {}

/// The TCP of the Linux kernel, for runs in real time and on virtual time. A simulation runs `tcp` in
/// its place, with profile `linux` and the same control and segment. The kernel's `bbr` is version 1,
/// that of `tcp` version 3.
///
/// The kernel counts duplicates as delivered packets, and reports timeouts since Linux 6.7.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "KernelTcp")]
#[serde(default, deny_unknown_fields)]
pub struct KernelTcpSpec {
    /// The congestion control, by its name in the kernel: `cubic`, `reno` or `bbr`, where the kernel
    /// has it.
    pub control: String,
    /// The data bytes of a full segment.
    pub segment: Bytes,
}

impl Default for KernelTcpSpec {
    fn default() -> Self {
        Self {
            control: "cubic".to_owned(),
            segment: TcpSpec::default().segment,
        }
    }
}

/// What Linux accepts for `TCP_MAXSEG`: from `TCP_MIN_MSS` to `MAX_TCP_WINDOW` of its `net/tcp.h`.
const KERNEL_SEGMENTS: core::ops::RangeInclusive<u64> = 88..=32_767;

impl KernelTcpSpec {
    /// What TCP's timestamps take up of a segment: 10 B, and two more to align them (RFC 7323
    /// appendix A). The kernel counts them as part of the segment.
    pub const TIMESTAMPS: u64 = 12;

    fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        self.simulated().validate(field)?;
        let (least, most) = (*KERNEL_SEGMENTS.start(), *KERNEL_SEGMENTS.end());
        let with_options = self.segment.get() + Self::TIMESTAMPS;
        check(
            KERNEL_SEGMENTS.contains(&with_options),
            &format!("{field}.segment"),
            || {
                format!(
                    "the kernel has no segments of {}: give {} to {} B",
                    self.segment,
                    least - Self::TIMESTAMPS,
                    most - Self::TIMESTAMPS
                )
            },
        )
    }

    /// Returns what a simulation runs in its place.
    pub fn simulated(&self) -> TcpSpec {
        TcpSpec {
            profile: TcpProfile::Linux,
            control: self.control.clone(),
            segment: self.segment,
            ..TcpSpec::default()
        }
    }
}

/// The DCCP of the Linux kernel, which had it until version 6.15, for runs in real time and on virtual
/// time. A simulation runs `dccp` in its place, with the same CCID and send queue, and without ECN,
/// which the kernel's DCCP does not use.
///
/// The kernel reports neither timeouts nor the cwnd of CCID 2: their values are 0.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "KernelDccp")]
#[serde(default, deny_unknown_fields)]
pub struct KernelDccpSpec {
    /// The congestion control, by CCID: 2 (TCP-like) or 3 (TFRC).
    #[schemars(extend("x-unit" = "1"))]
    pub ccid: u8,
    /// The number of datagrams that can wait in the sender; further ones are refused.
    #[schemars(extend("x-unit" = "datagrams"))]
    pub send_queue: u32,
}

impl Default for KernelDccpSpec {
    fn default() -> Self {
        Self {
            ccid: 2,
            send_queue: 64,
        }
    }
}

impl KernelDccpSpec {
    fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        check(
            [2, 3].contains(&self.ccid),
            &format!("{field}.ccid"),
            || format!("the kernel has no CCID {}: use 2 or 3", self.ccid),
        )?;
        self.simulated().validate(field)
    }

    /// Returns what a simulation runs in its place.
    pub fn simulated(&self) -> DccpSpec {
        DccpSpec {
            ccid: self.ccid,
            send_queue: Some(self.send_queue),
            ecn: false,
            ..DccpSpec::default()
        }
    }
}

impl FlowSpec {
    pub(crate) fn validate<B: Backend>(
        &self,
        field: &str,
        nodes: &BTreeSet<String>,
        registry: &Registry<B>,
    ) -> Result<(), ScenarioError> {
        check_name(&self.name, &format!("{field}.name"))?;
        check_ends(&self.from, &self.to, field, nodes)?;
        check_route(self.route.as_deref(), &format!("{field}.route"), nodes)?;
        let back = self.route_back.as_deref();
        check_route(back, &format!("{field}.route_back"), nodes)?;
        if let Some(stop) = self.stop {
            let start = self.start + self.start_jitter;
            check(stop > start, &format!("{field}.stop"), || {
                format!("{stop} is not after the start, {start}: give a later time")
            })?;
        }
        check(
            usize::from(self.class) < CLASSES,
            &format!("{field}.class"),
            || format!("there is no class {}: use 0 to {}", self.class, CLASSES - 1),
        )?;
        let transport = format!("{field}.transport");
        self.transport.validate(&transport)?;
        let carrier = self.transport.carrier(registry, &transport)?;
        let field = format!("{field}.source");
        let source = self.source.read(&registry.sources);
        let source = source.map_err(|error| error.within(&field))?;
        let verdict = source.check_carrier(carrier);
        verdict.map_err(|message| ScenarioError::new(field, message))
    }
}

/// Checks that every node of a route exists.
fn check_route(
    route: Option<&[String]>,
    field: &str,
    nodes: &BTreeSet<String>,
) -> Result<(), ScenarioError> {
    for (index, node) in route.unwrap_or_default().iter().enumerate() {
        check(nodes.contains(node), &format!("{field}[{index}]"), || {
            no_such("node", node, nodes)
        })?;
    }
    Ok(())
}

impl FlowSpec {
    /// Adds the defaults to the parameters of the control and the source.
    pub(crate) fn complete<B: Backend>(
        &mut self,
        registry: &Registry<B>,
        field: &str,
    ) -> Result<(), ScenarioError> {
        let source = self.source.complete(&registry.sources);
        source.map_err(|error| error.within(&format!("{field}.source")))?;
        Arc::make_mut(&mut self.transport).complete(registry, &format!("{field}.transport"))
    }

    /// Returns the nodes on the reverse path, if `route_back` or `route` is given.
    pub fn route_back(&self) -> Option<Vec<String>> {
        let reversed = || Some(self.route.as_ref()?.iter().rev().cloned().collect());
        self.route_back.clone().or_else(reversed)
    }
}

impl TransportSpec {
    const TCP: &str = "tcp";
    const DCCP: &str = "dccp";
    const UDP: &str = "udp";
    const KERNEL_TCP: &str = "kernel-tcp";
    const KERNEL_DCCP: &str = "kernel-dccp";

    /// The transports that every registry has.
    pub(crate) const BUILT_IN: [&str; 5] = [
        Self::TCP,
        Self::DCCP,
        Self::UDP,
        Self::KERNEL_TCP,
        Self::KERNEL_DCCP,
    ];

    /// Returns the transport's name in a scenario.
    pub fn name(&self) -> &str {
        match self {
            Self::Tcp(_) => Self::TCP,
            Self::Dccp(_) => Self::DCCP,
            Self::Udp(_) => Self::UDP,
            Self::KernelTcp(_) => Self::KERNEL_TCP,
            Self::KernelDccp(_) => Self::KERNEL_DCCP,
            Self::Other(other) => other.name(),
        }
    }

    /// Returns what the transport carries.
    ///
    /// # Errors
    /// [`ScenarioError`] within `field` if it is unknown, or a parameter of it is wrong.
    pub fn carrier<B: Backend>(
        &self,
        registry: &Registry<B>,
        field: &str,
    ) -> Result<Carrier, ScenarioError> {
        Ok(match self {
            Self::Tcp(_) | Self::KernelTcp(_) => Carrier::Stream,
            Self::Dccp(_) | Self::KernelDccp(_) => Carrier::Datagrams,
            Self::Udp(UdpSpec {}) => Carrier::BareDatagrams,
            Self::Other(other) => registry.transport(other, field)?.carrier(),
        })
    }

    /// Replaces the given parameters of the control with the complete set, including defaults.
    fn complete<B: Backend>(
        &mut self,
        registry: &Registry<B>,
        field: &str,
    ) -> Result<(), ScenarioError> {
        match self {
            Self::Tcp(tcp) => tcp.complete(registry, &format!("{field}.tcp")),
            Self::Dccp(dccp) => dccp.complete(registry, &format!("{field}.dccp")),
            Self::Udp(UdpSpec {}) | Self::KernelTcp(_) | Self::KernelDccp(_) => Ok(()),
            Self::Other(other) => {
                registry.transport(other, field)?;
                let found = other.complete(&registry.transports);
                found.map(drop).map_err(|error| error.within(field).into())
            }
        }
    }

    fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        match self {
            Self::Tcp(tcp) => tcp.validate(&format!("{field}.tcp")),
            Self::Dccp(dccp) => dccp.validate(&format!("{field}.dccp")),
            Self::Udp(UdpSpec {}) => Ok(()),
            Self::KernelTcp(tcp) => tcp.validate(&format!("{field}.kernel-tcp")),
            Self::KernelDccp(dccp) => dccp.validate(&format!("{field}.kernel-dccp")),
            // Reading it from the registry reports what is wrong.
            Self::Other(_) => Ok(()),
        }
    }
}
