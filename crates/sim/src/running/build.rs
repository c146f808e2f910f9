//! A scenario's network and flows, ready to run.

use std::sync::Arc;

use crate::running::code_points::check_code_points;
use crate::watching::backend::Registry;
use crate::world::application::Application;
use crate::world::connect::pair;
use crate::world::host::Host;
use crate::world::ids::{FlowId, PortId};
use crate::world::network::Network;
use crate::world::packet::Port;
use crate::world::transport::{ClockKind, Transport};
use skywave_path::Way;
use skywave_scenario::{Scenario, ScenarioError};
use skywave_traffic::SourceKind;

/// The most links on the routes of all flows together.
const MOST_CROSSINGS: usize = 30_000_000;

/// The network and the flows of a scenario, ready to run.
pub(crate) struct Build {
    pub(crate) network: Network,
    pub(crate) hosts: Vec<Host>,
    pub(crate) sources: Vec<Arc<dyn SourceKind>>,
    pub(crate) applications: Vec<Application>,
    pub(crate) ports: Vec<Port>,
    /// Each flow's forward and reverse route.
    pub(crate) ways: Vec<[Way; 2]>,
    pub(crate) transports: Vec<Transport>,
    /// The flows whose controls or sources share state.
    pub(crate) sharing: Vec<FlowId>,
}

impl Build {
    /// Builds a validated `scenario`.
    ///
    /// # Errors
    /// [`ScenarioError`] if a flow has no forward or reverse route, or its transport does not
    /// support the routers on it, or means something else by ECT(1) than another flow in the same
    /// queue, or if the routes are too long for so many flows.
    pub(crate) fn new(
        scenario: &Scenario,
        registry: &Registry,
        clock: ClockKind,
    ) -> Result<Self, ScenarioError> {
        let mut network = Network::new(scenario, registry)?;
        if clock == ClockKind::Virtual {
            network.check_simulated()?;
        }
        let mut hosts = Vec::with_capacity(2 * scenario.flows.len());
        let mut ports = Vec::with_capacity(2 * scenario.flows.len());
        let mut transports = Vec::with_capacity(scenario.flows.len());
        let sources = sources(scenario, registry)?;
        let mut flow_ways = Vec::with_capacity(scenario.flows.len());
        let mut crossings = 0;
        for (index, (flow, source)) in scenario.flows.iter().zip(&sources).enumerate() {
            let node = |network: &Network, name: &str, key: &str| {
                network.node(name).ok_or_else(|| {
                    let field = format!("flows[{index}].{key}");
                    ScenarioError::new(field, format!("there is no node \"{name}\""))
                })
            };
            let from = node(&network, &flow.from, "from")?;
            let to = node(&network, &flow.to, "to")?;
            let field = format!("flows[{index}]");
            let transport = match transports.last() {
                Some(shared) if is_alike(scenario, &sources, index) => Transport::clone(shared),
                _ => Transport::new(flow, source.datagram(), registry, clock, &field)?,
            };
            let (forward, back) = (flow.route.as_deref(), flow.route_back());
            let ways = [
                network.route(from, to, forward, &field)?,
                network.route(to, from, back.as_deref(), &field)?,
            ];
            crossings += ways
                .map(|way| network.links_from(way.hop).count())
                .iter()
                .sum::<usize>();
            if crossings > MOST_CROSSINGS {
                let message = format!(
                    "the routes up to this flow's have {crossings} links, and those of a run at most \
                     {MOST_CROSSINGS}: use fewer flows or shorter routes"
                );
                return Err(ScenarioError::new(field, message));
            }
            let id = FlowId::new(index as u32);
            let peers = [(id.receiver(), transport.has_tags()), (id.sender(), false)];
            for (way, (peer, has_tags)) in ways.into_iter().zip(peers) {
                ports.push(Port {
                    peer: PortId::of(peer),
                    hop: way.hop,
                    class: flow.class,
                    has_tags,
                });
            }
            let routers = network.dialects(ways[0].hop, flow.class);
            transport.check_routers(routers, flow, &field)?;
            hosts.extend(pair(flow, &**source, &transport, index, scenario.seed));
            flow_ways.push(ways);
            transports.push(transport);
        }
        check_code_points(scenario, &network, &flow_ways, &transports)?;
        let applications = (0..)
            .zip(sources.iter().zip(&transports))
            .map(|(index, (source, transport))| {
                Application::new(scenario, index, &**source, transport)
            })
            .collect();
        let shares = |(transport, source): (&Transport, &Arc<dyn SourceKind>)| {
            transport.shares_state() || source.shares_state()
        };
        let sharing = (0..)
            .map(FlowId::new)
            .zip(transports.iter().zip(&sources))
            .filter(|&(_, flow)| shares(flow))
            .map(|(id, _)| id)
            .collect();
        Ok(Self {
            sharing,
            network,
            hosts,
            sources,
            applications,
            ports,
            ways: flow_ways,
            transports,
        })
    }

    /// Returns the flows whose forward or reverse route uses each link, in order.
    pub(crate) fn users(&self) -> Vec<Vec<FlowId>> {
        let mut users = vec![Vec::new(); self.network.links.len()];
        for (id, port) in (0..).map(PortId::new).zip(&self.ports) {
            let flow = id.host().flow();
            for link in self.network.links_from(port.hop) {
                let users: &mut Vec<_> = &mut users[link as usize];
                if users.last() != Some(&flow) {
                    users.push(flow);
                }
            }
        }
        users
    }
}

/// Returns the flows' sources. Neighbours with the same description share one.
fn sources(
    scenario: &Scenario,
    registry: &Registry,
) -> Result<Vec<Arc<dyn SourceKind>>, ScenarioError> {
    let mut sources: Vec<Arc<dyn SourceKind>> = Vec::with_capacity(scenario.flows.len());
    for (index, flow) in scenario.flows.iter().enumerate() {
        let before = scenario.flows[..index].last().zip(sources.last());
        let shared = before.filter(|(other, _)| other.source == flow.source);
        let source = match shared {
            Some((_, source)) => Arc::clone(source),
            None => {
                let read = flow.source.read(&registry.sources);
                read.map_err(|error| error.within(&format!("flows[{index}].source")))?
            }
        };
        sources.push(source);
    }
    Ok(sources)
}

/// Returns whether the transports of the flow at `index` and the one before have the same
/// description. Thousands of flows that share one take little more memory than a single flow.
fn is_alike(scenario: &Scenario, sources: &[Arc<dyn SourceKind>], index: usize) -> bool {
    let ([.., before, flow], [.., other, source]) = (&scenario.flows[..=index], &sources[..=index])
    else {
        return false;
    };
    before.transport == flow.transport && other.datagram() == source.datagram()
}
