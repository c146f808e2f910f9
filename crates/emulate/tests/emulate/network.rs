//! The network by itself, without devices: what packets meet on their way, and when they arrive.

use proptest::prelude::*;
use skywave_emulate::{IpBuffer, LinkTotals, MOST_BYTES, Network, Registry};
use skywave_path::Packet;
use skywave_scenario::LinkSpec;
use skywave_units::{Duration, Instant};
use skywave_wire::ip::IpPacket;
use skywave_wire::{AddressPair, Ecn};

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// A packet of `size` bytes, which begins with the number `id`.
fn packet(id: u32, size: usize, ecn: Ecn) -> IpBuffer {
    let mut payload = id.to_be_bytes().to_vec();
    payload.resize(size - 20, 0);
    let packet = IpPacket {
        addresses: AddressPair::V4 {
            source: [192, 0, 2, 1].into(),
            destination: [192, 0, 2, 2].into(),
        },
        ecn,
        identification: 0,
        hop_limit: 64,
        protocol: 17,
        payload: payload.into(),
    };
    let mut bytes = Vec::new();
    packet.emit(&mut bytes).expect("it is short");
    IpBuffer::new(bytes).expect("it is a packet")
}

fn id(packet: &IpBuffer) -> u32 {
    let number = &packet.bytes()[20..24];
    u32::from_be_bytes(number.try_into().expect("four bytes"))
}

fn link(text: &str, ends: [&str; 2]) -> LinkSpec {
    let registry = Registry::default();
    LinkSpec::from_toml_beside(text, &registry, ".".as_ref(), ends).expect(text)
}

#[test]
fn a_queue_of_the_kernel_is_refused() {
    let nodes = ["a", "b"].map(str::to_owned);
    let text = r#"rate = "1 Mbps", delay = "1 ms", queue = { kernel = { qdisc = "codel" } }"#;
    let links = [link(&text.replace(", ", "\n"), ["a", "b"])];
    let made = Network::new(&nodes, &links, &nodes, &Registry::default(), 1);
    let error = made.expect_err("only a run has such queues").to_string();
    assert!(
        error.starts_with("link \"a->b\": the kernel's queues"),
        "{error}"
    );
}

/// Hosts a and b with a router between them.
fn two_links(first: &str, second: &str) -> Network {
    let nodes = ["a", "r", "b"].map(str::to_owned);
    let links = [link(first, ["a", "r"]), link(second, ["r", "b"])];
    let hosts = ["a", "b"].map(str::to_owned);
    Network::new(&nodes, &links, &hosts, &Registry::default(), 1).expect("they can be emulated")
}

fn arrivals(network: &mut Network, until: Instant) -> Vec<(u64, u32, Ecn)> {
    let mut found = Vec::new();
    network.advance(until, |arrival| {
        let packet = &arrival.packet;
        found.push((arrival.at.as_nanos(), id(packet), packet.ecn()));
    });
    found
}

#[test]
fn a_packet_takes_what_the_links_take_however_late_the_driver_is() {
    // 1,000 bytes take 10 ms and 1 ms.
    let mut network = two_links(
        "rate = '800 kbps'\ndelay = '5 ms'",
        "rate = '8 Mbps'\ndelay = '20 ms'",
    );
    network.advance(ms(3), |_| panic!("nothing is on its way"));
    network.send(0, 1, packet(1, 1000, Ecn::NotEct)).unwrap();
    network.send(0, 1, packet(2, 1000, Ecn::NotEct)).unwrap();
    assert_eq!(network.deadline(), Some(ms(18)));
    let found = arrivals(&mut network, ms(500));
    let at = |millis: u64| ms(millis).as_nanos();
    assert_eq!(found, [(at(39), 1, Ecn::NotEct), (at(49), 2, Ecn::NotEct)]);
    assert_eq!(network.deadline(), None);
    let names: Vec<_> = network.totals().into_iter().map(|link| link.name).collect();
    assert_eq!(names, ["a->r", "r->a", "r->b", "b->r"]);
    let LinkTotals {
        arrivals,
        delivered,
        delivered_bytes,
        ..
    } = network.totals()[2];
    assert_eq!((arrivals, delivered, delivered_bytes), (2, 2, 2000));
}

/// A second of 100 bps holds a ping up for that second, and no longer.
#[test]
fn a_packet_goes_on_at_the_rate_of_the_next_step() {
    let mut network = two_links(
        "rate = '10 Mbps'\ndelay = '5 ms'\ntrace = { steps = [{ at = '1 s', rate = '100 bps' }, \
         { at = '2 s', rate = '10 Mbps' }] }",
        "rate = '1 Gbps'\ndelay = '5 ms'",
    );
    network.advance(ms(1100), |_| panic!("nothing is on its way"));
    network.send(0, 1, packet(1, 84, Ecn::NotEct)).unwrap();
    let found = arrivals(&mut network, ms(8000));
    // 90 of 672 bits in 900 ms; 582 bits take 58.2 us, and then all of them 672 ns.
    assert_eq!(found, [(2_010_058_872, 1, Ecn::NotEct)]);
}

#[test]
fn both_directions_are_there_and_no_others() {
    let mut network = two_links(
        "rate = '8 Mbps'\ndelay = '1 ms'",
        "rate = '8 Mbps'\ndelay = '1 ms'\none_way = true",
    );
    let lost = network.send(1, 0, packet(1, 100, Ecn::NotEct)).unwrap_err();
    assert_eq!(id(&lost), 1);
    assert!(network.send(0, 1, packet(2, 100, Ecn::NotEct)).is_ok());
    assert_eq!(arrivals(&mut network, ms(100)).len(), 1);
}

/// Returns a network of hosts a and d, with b and c in parallel between them.
fn two_ways() -> Network {
    let nodes = ["a", "b", "c", "d"].map(str::to_owned);
    let ends = [["a", "b"], ["b", "d"], ["a", "c"], ["c", "d"]];
    let links = ends.map(|ends| link("rate = '8 Mbps'\ndelay = '1 ms'", ends));
    let hosts = ["a", "d"].map(str::to_owned);
    Network::new(&nodes, &links, &hosts, &Registry::default(), 1).expect("they can be emulated")
}

/// Returns the links that packets have entered so far.
fn used(network: &mut Network) -> Vec<String> {
    let totals = network.totals().into_iter();
    totals
        .filter(|link| link.arrivals > 0)
        .map(|link| link.name)
        .collect()
}

#[test]
fn a_route_may_be_named() {
    let mut network = two_ways();
    network.send(0, 1, packet(1, 100, Ecn::NotEct)).unwrap();
    let named = ["c".to_owned()];
    network
        .set_route("a", "d", &named)
        .expect("links lead there");
    // The first packet keeps its route.
    assert_eq!(arrivals(&mut network, ms(100)).len(), 1);
    assert_eq!(used(&mut network), ["a->b", "b->d"]);
    let mut network = two_ways();
    network
        .set_route("a", "d", &named)
        .expect("links lead there");
    for (from, to) in [(0, 1), (1, 0)] {
        network.send(from, to, packet(2, 100, Ecn::NotEct)).unwrap();
    }
    assert_eq!(arrivals(&mut network, ms(100)).len(), 2);
    assert_eq!(used(&mut network), ["b->a", "d->b", "a->c", "c->d"]);
}

#[test]
fn a_route_that_is_not_there_is_refused() {
    let mut network = two_ways();
    for (from, to, through, message) in [
        ("a", "d", &["c", "b"][..], "there is no link \"c->b\""),
        ("a", "d", &[], "there is no link \"a->d\""),
        ("a", "d", &["x"], "there is no node \"x\""),
        ("a", "b", &[], "there is no host \"b\""),
        ("a", "a", &["b"], "a route leads from one host to another"),
    ] {
        let through: Vec<_> = through.iter().map(|&node| node.to_owned()).collect();
        let error = network.set_route(from, to, &through).unwrap_err();
        assert_eq!((&*error.field, &*error.message), ("route", message));
    }
}

#[test]
fn drops_and_marks_are_counted() {
    let mut network = two_links(
        "rate = '800 kbps'\ndelay = '1 ms'\nqueue = { drop-tail = { packets = 3 } }",
        "rate = '8 Mbps'\ndelay = '1 ms'\nloss = { packets = [2] }",
    );
    for number in 1..=6 {
        network.send(0, 1, packet(number, 1000, Ecn::Ect0)).unwrap();
    }
    assert_eq!(network.totals()[0].queue_packets, 3);
    let found = arrivals(&mut network, ms(1000));
    let ids: Vec<_> = found.into_iter().map(|(_, id, _)| id).collect();
    assert_eq!(ids, [1, 3, 4]);
    let totals = network.totals();
    assert_eq!((totals[0].drops, totals[2].drops), (2, 1));
    assert_eq!((totals[0].delivered, totals[2].delivered), (4, 3));
    assert_eq!((totals[0].queue_packets, totals[0].marks), (0, 0));
}

/// IPv4's checksum stays right: parsing checks it.
#[test]
fn queues_write_into_packets() {
    let mut network = two_links(
        "rate = '800 kbps'\ndelay = '1 ms'\nqueue = { codel = { packets = 100, ecn = true } }",
        "rate = '80 Mbps'\ndelay = '1 ms'",
    );
    let mut codes = Vec::new();
    for number in 0..200 {
        network.advance(ms(5 * number), |arrival| {
            let parsed = IpPacket::parse(&arrival.packet.bytes().to_vec().into()).unwrap();
            assert_eq!(parsed.ecn, arrival.packet.ecn());
            codes.push(parsed.ecn);
        });
        let packet = packet(number as u32, 1000, Ecn::Ect0);
        network.send(0, 1, packet).unwrap();
    }
    // Twice what the link carries.
    assert!(
        codes.contains(&Ecn::Ce) && codes.contains(&Ecn::Ect0),
        "{codes:?}"
    );
    let totals = network.totals();
    assert!(totals[0].marks > 0 && totals[2].marks == 0);
}

#[test]
fn memory_is_bounded_though_queues_are_not() {
    let mut network = two_links(
        "rate = '1 kbps'\ndelay = '1 ms'",
        "rate = '8 Mbps'\ndelay = '1 ms'",
    );
    let packets = MOST_BYTES / 60_000;
    for number in 0..packets {
        let packet = packet(number as u32, 60_000, Ecn::NotEct);
        network.send(0, 1, packet).unwrap();
    }
    let refused = network.refused();
    assert!((1..20).contains(&refused), "{refused}");
    let taken = network.totals()[0].arrivals;
    assert_eq!(taken + refused, packets);
}

#[test]
fn what_cannot_be_emulated_is_refused() {
    let nodes = ["a", "b"].map(str::to_owned);
    for (field, text) in [("nat", "nat = {}"), ("quick_start", "quick_start = 0.5")] {
        let text = format!("rate = '8 Mbps'\ndelay = '1 ms'\n{text}");
        let links = [link(&text, ["a", "b"])];
        let error = Network::new(&nodes, &links, &nodes, &Registry::default(), 1).unwrap_err();
        assert_eq!(error.field, field);
        assert!(error.message.contains("cannot run in real time"), "{error}");
    }
}

/// Links that a real clock runs as well as a virtual one.
const TRACES: [&str; 4] = [
    "",
    "trace = { wifi = { contention = '7 ms' } }",
    "trace = { leo = { interval = '40 ms', outage = '9 ms' } }",
    "trace = { opportunities = [3, 4, 9] }",
];

const QUEUES: [&str; 8] = [
    "'unlimited'",
    "{ drop-tail = { packets = 4 } }",
    "{ codel = { packets = 20 } }",
    "{ fq-codel = {} }",
    "{ pie = { packets = 20 } }",
    "{ dualpi2 = { packets = 20 } }",
    "{ step = { packets = 20, threshold = 4 } }",
    "{ red = { packets = 30, ecn = true } }",
];

proptest! {
    /// Whenever the driver wakes up, at each deadline or only when packets come, the same packets
    /// arrive at the same times with the same codes.
    #[test]
    fn a_late_driver_changes_nothing(
        queue in 0..QUEUES.len(),
        trace in 0..TRACES.len(),
        jitter in prop_oneof![Just("0 s"), Just("3 ms")],
        loss in prop_oneof![Just(""), Just("loss = { bernoulli = { probability = 0.1 } }")],
        gaps_us in proptest::collection::vec(0u64..20_000, 1..80),
    ) {
        let first = format!("rate = '2 Mbps'\ndelay = '7 ms'\nqueue = {}\njitter = '{jitter}'\n{loss}\n{}", QUEUES[queue], TRACES[trace]);
        let second = "rate = '1 Mbps'\ndelay = '2 ms'\nqueue = { drop-tail = { packets = 2 } }";
        let mut exact = two_links(&first, second);
        let mut late = two_links(&first, second);
        let (mut wanted, mut found) = (Vec::new(), Vec::new());
        let mut now = Instant::ZERO;
        for (number, gap) in (0..).zip(gaps_us) {
            now += Duration::from_micros(gap);
            while let Some(at) = exact.deadline().filter(|&at| at <= now) {
                wanted.extend(arrivals(&mut exact, at));
            }
            exact.advance(now, |_| {});
            found.extend(arrivals(&mut late, now));
            for network in [&mut exact, &mut late] {
                network.send(0, 1, packet(number, 700, Ecn::Ect0)).unwrap();
            }
        }
        while let Some(at) = exact.deadline() {
            wanted.extend(arrivals(&mut exact, at));
        }
        found.extend(arrivals(&mut late, now + Duration::from_secs(60)));
        prop_assert_eq!(&found, &wanted);
        prop_assert!(wanted.is_sorted_by_key(|&(at, ..)| at));
        prop_assert_eq!(exact.totals(), late.totals());
    }
}
