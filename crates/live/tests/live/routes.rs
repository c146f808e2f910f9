//! The simulator and the emulator take the same routes through the same links.

use skywave_emulate::{IpBuffer, Network};
use skywave_sim::{Registry, Scenario, check};

use skywave_wire::ip::IpPacket;
use skywave_wire::{AddressPair, Ecn};

const NODES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Returns a scenario with one flow from a to e, with a link for each bit of `mask`, in one order or
/// the other.
fn scenario(mask: u32, is_reversed: bool, route: Option<&[&str]>) -> Scenario {
    let pairs = (0..NODES.len()).flat_map(|from| (0..from).map(move |to| (NODES[to], NODES[from])));
    let mut links: Vec<_> = (0..)
        .zip(pairs)
        .filter(|&(bit, _)| mask >> bit & 1 == 1)
        .map(|(_, (from, to))| {
            format!("{{ from = '{from}', to = '{to}', rate = '8 Mbps', delay = '1 ms' }}")
        })
        .collect();
    if is_reversed {
        links.reverse();
    }
    let route = route.map_or(String::new(), |nodes| format!("route = {nodes:?}, "));
    let text = format!(
        "name = 'routes'\nduration = '1 s'\nnodes = {NODES:?}\nlinks = [{}]\n\
         flows = [{{ name = 'f', from = 'a', to = 'e', {route}transport = {{ tcp = {{}} }}, \
         source = {{ ftp = {{}} }} }}]",
        links.join(", ")
    );
    Scenario::from_toml(&text, &Registry::default()).expect(&text)
}

/// Returns the nodes on the way from a to e in the simulator; `None` if there is no route.
fn simulated(scenario: &Scenario) -> Option<String> {
    let checked = check(scenario, &Registry::default()).ok()?;
    Some(checked.routes[0].forward.concat())
}

/// Returns the same in the emulator: the links that a packet enters, in order of time.
fn emulated(scenario: &Scenario) -> Option<String> {
    let (nodes, links) = scenario.topology();
    let hosts = ["a", "e"].map(str::to_owned);
    let registry = skywave_emulate::Registry::default();
    let network = Network::new(&nodes, &links, &hosts, &registry, scenario.seed);
    let mut network = network.expect("they can be emulated");
    if let Some(route) = &scenario.flows[0].route {
        network.set_route("a", "e", route).ok()?;
    }
    network.send(0, 1, packet()).ok()?;
    let mut way = "a".to_owned();
    let mut seen = vec![0; network.totals().len()];
    let mut has_arrived = false;
    while !has_arrived {
        for (link, seen) in network.totals().iter().zip(&mut seen) {
            if link.arrivals > *seen {
                *seen = link.arrivals;
                way += link.name.split("->").last().expect("it has two ends");
            }
        }
        let next = network.deadline().expect("it is on its way");
        network.advance(next, |arrival| has_arrived = arrival.host == 1);
    }
    Some(way)
}

fn packet() -> IpBuffer {
    let packet = IpPacket {
        addresses: AddressPair::V4 {
            source: [192, 0, 2, 1].into(),
            destination: [192, 0, 2, 2].into(),
        },
        ecn: Ecn::NotEct,
        identification: 0,
        hop_limit: 64,
        protocol: 17,
        payload: vec![0; 100].into(),
    };
    let mut bytes = Vec::new();
    packet.emit(&mut bytes).expect("it is short");
    IpBuffer::new(bytes).expect("it is a packet")
}

#[test]
fn a_packet_takes_the_route_of_the_flow() {
    let routes: [Option<&[&str]>; 5] = [
        None,
        Some(&[]),
        Some(&["c"]),
        Some(&["d", "b"]),
        Some(&["b", "c", "b"]),
    ];
    let mut found = 0;
    for mask in (19..1024).step_by(19) {
        for (route, is_reversed) in routes.into_iter().zip([false, true].into_iter().cycle()) {
            let scenario = scenario(mask, is_reversed ^ (mask % 2 == 0), route);
            let way = simulated(&scenario);
            assert_eq!(emulated(&scenario), way, "{mask:b} {route:?}");
            found += usize::from(way.is_some());
        }
    }
    assert!(found > 50, "{found}");
}
