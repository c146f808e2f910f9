//! The ends of flows, as seen from outside.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddrV4};

use skywave_scenario::{FlowSpec, Scenario, ScenarioError};
use skywave_units::Instant;
use skywave_wire::{dccp, tcp, udp};

use super::{kernel_address, user_space_address};
use crate::running::build::Build;
use crate::world::connect::{RECEIVER_PORT, sender_port, start_of};
use crate::world::ids::{FlowId, HostId};
use crate::world::transport::{KernelTransport, Transport};

/// The encapsulation of DCCP's packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encapsulation {
    /// IP, as protocol 33.
    #[default]
    Raw,
    /// UDP (RFC 6773), at port 6511 of both ends.
    Udp,
}

/// The protocol of an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndKind {
    /// Our TCP. The kernel does not know its address.
    Tcp,
    /// Our DCCP.
    Dccp,
    /// The kernel's UDP, over which users' transports run.
    Udp,
    /// A transport of the kernel.
    Kernel(KernelTransport),
}

/// An end of a flow.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LiveEnd {
    /// The end.
    pub host: HostId,
    /// The index of its node.
    pub node: u32,
    /// The address of its node in the kernel.
    pub node_address: Ipv4Addr,
    /// Its protocol.
    pub kind: EndKind,
    /// Its address and port. For a sender with one connection after another, the port is that of
    /// the first.
    pub local: SocketAddrV4,
    /// The address and port of its peer.
    pub peer: SocketAddrV4,
    /// When its flow starts.
    pub start: Instant,
}

impl EndKind {
    /// Returns the number of its protocol.
    pub(super) const fn protocol(&self) -> u8 {
        match self {
            Self::Tcp | Self::Kernel(KernelTransport::Tcp(_)) => tcp::IP_PROTOCOL,
            Self::Dccp | Self::Kernel(KernelTransport::Dccp { .. }) => dccp::IP_PROTOCOL,
            Self::Udp => udp::IP_PROTOCOL,
        }
    }
}

/// Returns both ends of every flow, in the order of their hosts.
pub(super) fn ends(scenario: &Scenario, build: &Build) -> Result<Vec<LiveEnd>, ScenarioError> {
    let mut ends = Vec::with_capacity(build.hosts.len());
    let mut taken = BTreeSet::new();
    let flows = (0..).zip(scenario.flows.iter().zip(&build.transports));
    for (index, (flow, transport)) in flows {
        let kind = match transport {
            Transport::Tcp(_) => EndKind::Tcp,
            Transport::Dccp { .. } => EndKind::Dccp,
            Transport::Other(_) => EndKind::Udp,
            Transport::Kernel(transport) => EndKind::Kernel(transport.clone()),
        };
        let opens_connections = build.sources[index as usize].opens_connections();
        if opens_connections && matches!(kind, EndKind::Kernel(_)) {
            let field = format!("flows[{index}].source");
            let message = "a source that opens connections does not work over the kernel's \
                           transports yet: use `tcp`";
            return Err(ScenarioError::new(field, message.to_owned()));
        }
        let pair = pair(FlowId::new(index), flow, kind, scenario, build);
        let [sender, _] = &pair;
        if !taken.insert((sender.kind.protocol(), sender.local, sender.peer)) {
            let message = format!(
                "too many flows of a protocol between two nodes: port {} is taken; use more nodes",
                sender.local.port()
            );
            return Err(ScenarioError::new(format!("flows[{index}]"), message));
        }
        ends.extend(pair);
    }
    Ok(ends)
}

fn pair(
    id: FlowId,
    flow: &FlowSpec,
    kind: EndKind,
    scenario: &Scenario,
    build: &Build,
) -> [LiveEnd; 2] {
    let node = |name: &str| {
        let index = build.network.node(name);
        index.expect("a validated flow has its nodes")
    };
    let (from, to) = (node(&flow.from), node(&flow.to));
    let address = |node| match kind {
        EndKind::Tcp => user_space_address(node),
        _ => kernel_address(node),
    };
    let sender = SocketAddrV4::new(address(from), sender_port(id.index()));
    let port = match kind {
        // Each has a listener of its own, since its parameters are those of the connection: whether
        // TCP uses ECN depends on the listener's control too.
        EndKind::Kernel(_) => sender_port(id.index()),
        _ => RECEIVER_PORT,
    };
    let receiver = SocketAddrV4::new(address(to), port);
    let end = |host, node, local, peer| LiveEnd {
        host,
        node,
        node_address: kernel_address(node),
        kind: kind.clone(),
        local,
        peer,
        start: start_of(flow, scenario.seed),
    };
    [
        end(id.sender(), from, sender, receiver),
        end(id.receiver(), to, receiver, sender),
    ]
}
