//! Whether data can arrive before a run ends.
//!
//! All times are those of a packet alone in the network, which no packet in a run can beat.

use std::collections::BTreeSet;

use skywave_path::Way;
use skywave_scenario::{FlowSpec, LinkSpec, Scenario, ScenarioError, TransportSpec};
use skywave_traffic::SourceKind;
use skywave_units::{Bytes, Duration, Instant};
use skywave_wire::{tcp, udp};

use crate::running::build::Build;
use crate::warning::Warning;
use crate::watching::backend::Registry;
use crate::watching::passage::{Passage, Sizes};
use crate::world::connect::start_of;
use crate::world::packet::IP_HEADER;

/// The bytes of a packet that sets up a connection or acknowledges: its headers without options.
const EMPTY: u32 = IP_HEADER + tcp::MIN_HEADER as u32;

/// The most links, and the most flows, that have warnings of their own.
const MOST_NAMED: usize = 10;

/// Returns warnings about links that let nothing arrive before the run ends or have settings
/// without effect until then, and about flows whose data is too late. Ignores links that no flow
/// uses. `links` are those of the scenario's topology.
///
/// # Errors
/// [`ScenarioError`] if a loss model or a kind of trace is unknown after all.
pub(crate) fn warnings(
    scenario: &Scenario,
    links: &[LinkSpec],
    registry: &Registry,
    build: &Build,
) -> Result<Vec<Warning>, ScenarioError> {
    let passages = Passage::all(scenario, links, registry)?;
    // The packets until the first data has arrived, each on each of its links.
    let first_packets = |index: usize| {
        let flow = &scenario.flows[index];
        let legs = legs(flow, &*build.sources[index], build.ways[index]);
        legs.into_iter().flat_map(|(way, size)| {
            let links = build.network.links_from(way.hop);
            links.map(move |link| (link as usize, size))
        })
    };

    let mut sizes: Vec<Option<Sizes>> = vec![None; passages.len()];
    for (link, size) in (0..scenario.flows.len()).flat_map(first_packets) {
        let others = sizes[link].unwrap_or(Sizes {
            least: size,
            most: size,
        });
        sizes[link] = Some(Sizes {
            least: others.least.min(size),
            most: others.most.max(size),
        });
    }
    let mut of_links: Vec<Warning> = Vec::new();
    let mut is_blocked = vec![false; passages.len()];
    let mut fields = BTreeSet::new();
    for (link, passage) in passages.iter().enumerate() {
        let Some(sizes) = sizes[link] else { continue };
        is_blocked[link] = passage.least_time(sizes.least) > scenario.duration;
        for warning in passage.warnings(sizes, registry, scenario.seed)? {
            // Both directions of a link, and all access links of a dumbbell, share fields.
            if fields.insert(warning.field.clone()) {
                of_links.push(warning);
            }
        }
    }

    let mut of_flows = Vec::new();
    for (index, flow) in scenario.flows.iter().enumerate() {
        let mut arrival = start_of(flow, scenario.seed);
        let mut is_said = flow.start >= scenario.duration;
        for (link, size) in first_packets(index) {
            arrival += passages[link].least_time(size);
            is_said |= is_blocked[link];
        }
        if !is_said && arrival > Instant::ZERO + scenario.duration {
            let arrival = arrival.since_epoch().round_up_to(Duration::from_millis(1));
            let message = format!(
                "its first full packet cannot arrive before {arrival}, and the run ends at {}",
                scenario.duration
            );
            of_flows.push(Warning::new(format!("flows[{index}]"), message));
        }
    }
    let named = [("links", of_links), ("flows", of_flows)];
    Ok(named.into_iter().flat_map(abridged).collect())
}

/// Returns the first few warnings, and how many more there are.
fn abridged((field, mut warnings): (&str, Vec<Warning>)) -> Vec<Warning> {
    let more = warnings.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        warnings.truncate(MOST_NAMED);
        let message = format!("{more} more warnings like these");
        warnings.push(Warning::new(field.to_owned(), message));
    }
    warnings
}

/// Returns the routes and the sizes of the packets that a flow sends one after the other until its first
/// data has arrived.
fn legs(flow: &FlowSpec, source: &dyn SourceKind, [forward, back]: [Way; 2]) -> Vec<(Way, u32)> {
    let segment = |bytes: Bytes| EMPTY + bytes.get() as u32;
    let datagram = IP_HEADER + udp::Datagram::HEADER_LEN as u32 + source.datagram() as u32;
    let after_handshake = |data| vec![(forward, EMPTY), (back, EMPTY), (forward, data)];
    match &*flow.transport {
        TransportSpec::Tcp(tcp) => after_handshake(segment(tcp.segment)),
        TransportSpec::KernelTcp(tcp) => after_handshake(segment(tcp.segment)),
        TransportSpec::Dccp(_) | TransportSpec::KernelDccp(_) => after_handshake(datagram),
        // Other transports may have a handshake; their data takes at least this long.
        TransportSpec::Udp(_) | TransportSpec::Other(_) => vec![(forward, datagram)],
    }
}
