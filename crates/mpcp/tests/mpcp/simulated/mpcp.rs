//! MPCP over TCP and DCCP, and disturbances of its chains.

use skywave_sim::Results;

use crate::dumbbell::{TCP, dumbbell, mean_delay};
use crate::support::{counts, run_verified, table, words};

/// A flow over TCP with chains of this many packets, and one over DCCP.
fn flows(chain: u8) -> [String; 2] {
    [
        format!(
            "transport = {{ tcp = {{ control = \"vcp\", vcp = {{ chain = {chain}, limits = true }} }} }}\n\
             source = {{ ftp = {{}} }}"
        ),
        format!(
            "transport = {{ dccp = {{ ccid = {}, vcp = {{ limits = true }} }} }}\n\
             source = {{ ftp = {{ datagram = \"1000 B\" }} }}",
            247 + chain
        ),
    ]
}

/// A chain of one packet is VCP, packet by packet, in routers and senders.
#[test]
fn a_chain_of_one_packet_is_vcp() {
    let vcp = include_str!("../../../../../examples/vcp.toml").replace("60 s", "12 s");
    let chains_of_one = vcp
        .replace(
            "vcp = { packets = 100 }",
            "vcp = { packets = 100, chain = 1, flows = 2 }",
        )
        .replace(
            "control = \"vcp\"",
            "control = \"vcp\", vcp = { chain = 1, limits = true, acts = \"when-complete\" }",
        )
        .replace("ccid = 248", "ccid = 248, vcp = { chain = 1 }");
    assert_ne!(vcp, chains_of_one);
    let (vcp, chains_of_one) = (run_verified(&vcp), run_verified(&chains_of_one));
    assert_eq!(vcp.fingerprint, chains_of_one.fingerprint);
}

/// High utilisation and almost no queue with both transports on the same router.
#[test]
fn longer_chains_keep_the_link_busy_and_the_queue_short() {
    for chain in [2, 3] {
        let [tcp, dccp] = flows(chain);
        let router = format!("vcp = {{ packets = 300, chain = {chain} }}");
        let results = dumbbell(&router, &[&tcp, &dccp, &tcp, &dccp, &tcp, &dccp]);
        let bottleneck = &results.summary.links[0];
        println!("{:.1} ms, {bottleneck:?}", mean_delay(&results) * 1e3);
        assert!(bottleneck.utilisation > 0.9, "{bottleneck:?}");
        assert!(mean_delay(&results) < 0.03);
        assert_eq!(bottleneck.drops, 0);
    }
}

/// One flow through a router, with every packet encoded on the wire and these packets of the link
/// lost.
fn alone(transport: &str, router: &str, lost: &str) -> Results {
    run_verified(&format!(
        "name = \"alone\"\nduration = \"12 s\"\nverify_wire = true\nnodes = [\"a\", \"b\"]\n\
         [[links]]\nfrom = \"a\"\nto = \"b\"\nrate = \"4 Mbps\"\ndelay = \"50 ms\"\n\
         queue = {{ {router} }}\n{lost}\n\
         [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\ntransport = {{ {transport} }}\n\
         source = {{ ftp = {{}} }}\n[probes]\npackets = true\n"
    ))
}

/// For each data packet, in order of sending: whether its sequence number is the larger one.
fn orders(results: &Results) -> Vec<bool> {
    let packets = table(results, "packets");
    let (events, kinds) = (words(packets, "event"), words(packets, "kind"));
    let (seq, ack) = (counts(packets, "seq"), counts(packets, "ack"));
    (0..packets.num_rows())
        .filter(|&row| events[row] == "send" && kinds[row] == "TCP data")
        .map(|row| seq[row] > ack[row])
        .collect()
}

/// The longest run of packets with the same order of numbers, and the packet that ends it.
fn longest_run(orders: &[bool]) -> (usize, usize) {
    let mut longest = (1, 0);
    let mut run = 1;
    for (index, pair) in orders.windows(2).enumerate() {
        run = if pair[0] == pair[1] { run + 1 } else { 1 };
        longest = longest.max((run, index + 1));
    }
    longest
}

const DPCP: &str = "tcp = { control = \"vcp\", vcp = { chain = 2 }, receive_window = 40 }";
const TPCP: &str = "tcp = { control = \"vcp\", vcp = { chain = 3 }, receive_window = 40 }";
const ROUTER: [&str; 2] = [
    "vcp = { packets = 100, chain = 2 }",
    "vcp = { packets = 100, chain = 3 }",
];

/// Every packet is decoded from bytes, so data arrives only if the receiver restores its numbers.
/// With chains of two over TCP, the order of the numbers alternates between data packets.
#[test]
fn the_bytes_on_the_wire_carry_the_scheme() {
    for (transport, router) in [
        (DPCP, ROUTER[0]),
        (TPCP, ROUTER[1]),
        ("dccp = { ccid = 249 }", ROUTER[0]),
        ("dccp = { ccid = 250 }", ROUTER[1]),
    ] {
        let results = alone(transport, router, "");
        let flow = &results.summary.flows[0];
        println!("{transport}: {:.0} bit/s", flow.goodput_bps);
        assert!(flow.goodput_bps > 2e6, "{transport}: {flow:?}");
        assert_eq!((flow.drops, flow.retransmissions, flow.timeouts), (0, 0, 0));
        if transport == DPCP {
            assert_eq!(
                longest_run(&orders(&results)).0,
                1,
                "each differs from the last"
            );
        }
    }
}

/// Li and Yousefi'zadeh 2009, section 3.4, with named drops: one missing half of a chain changes
/// nothing. After three equal halves in a row, the sender sends every packet as a first one for
/// several round-trip times.
#[test]
fn lost_halves_are_borne_and_lost_order_leads_to_vcp_and_back() {
    // The SYN and the Ack of the handshake are the first two packets of the link.
    for (lost, is_trouble) in [("300", false), ("300, 310", false), ("300, 302, 304", true)] {
        let results = alone(DPCP, ROUTER[0], &format!("loss = {{ packets = [{lost}] }}"));
        let orders = orders(&results);
        let (run, end) = longest_run(&orders);
        println!("{lost}: {run} in a row, until {end} of {}", orders.len());
        if is_trouble {
            // Four round-trip times of up to 40 packets.
            assert!((20..=200).contains(&run), "{run}");
            assert!(orders[end], "all packets are sent as first ones");
        } else {
            assert_eq!(run, 1);
        }
        // Then chains are used again.
        let last = &orders[orders.len() - 200..];
        assert_eq!(longest_run(last).0, 1);
    }
}

/// Section 3.4: if order is lost again soon after the return to chains, the sender stays with VCP.
#[test]
fn order_that_is_lost_again_stays_lost() {
    let lost = "loss = { packets = [300, 302, 304, 358, 360, 362] }";
    let results = alone(DPCP, ROUTER[0], lost);
    let orders = orders(&results);
    assert_eq!(longest_run(&orders[350..362]).0, 1, "chains again");
    let last = &orders[orders.len() - 200..];
    assert!(last.iter().all(|&is_first| is_first));
    let goodput = results.summary.flows[0].goodput_bps;
    assert!(goodput > 1e6, "goodput under VCP: {goodput}");
}

/// Over DCCP, sequence numbers give positions, so losses do not disturb chains. With six of every
/// thirty packets lost, goodput is more than twice that of VCP, to which a sender that has lost
/// order would switch.
#[test]
fn over_dccp_no_losses_disturb_chains() {
    let lost: Vec<String> = (300..900)
        .filter(|n| n % 30 < 6)
        .map(|n| n.to_string())
        .collect();
    let loss = format!("loss = {{ packets = [{}] }}", lost.join(", "));
    let mut goodputs = Vec::new();
    let vcp = "vcp = { packets = 100 }";
    for (ccid, router) in [(248, vcp), (249, ROUTER[0]), (250, ROUTER[1])] {
        let transport = format!("dccp = {{ ccid = {ccid}, vcp = {{ on_loss = \"decreases\" }} }}");
        let results = alone(&transport, router, &loss);
        let flow = &results.summary.flows[0];
        println!(
            "CCID {ccid}: {:.0} bit/s, {} lost",
            flow.goodput_bps, flow.drops
        );
        assert!(flow.timeouts == 0 || ccid == 248, "{flow:?}");
        goodputs.push(flow.goodput_bps);
    }
    let [vcp, chains @ ..] = goodputs.as_slice() else {
        unreachable!("three were run");
    };
    assert!(
        chains.iter().all(|goodput| *goodput > 2.0 * vcp),
        "{goodputs:?}"
    );
}

/// Behind a VCP-only router all digits of a chain are the zone: senders assume the lowest or
/// highest level of the zone, so they overshoot and reduce strongly. They lose nothing, and the
/// link is used.
#[test]
fn a_router_that_knows_only_vcp_is_obeyed() {
    for flow in flows(2) {
        let results = dumbbell("vcp = { packets = 300 }", &[flow.as_str(); 6]);
        let bottleneck = &results.summary.links[0];
        println!("{:.1} ms, {bottleneck:?}", mean_delay(&results) * 1e3);
        assert!(bottleneck.utilisation > 0.7, "{bottleneck:?}");
        assert_eq!(bottleneck.drops, 0);
        assert!(mean_delay(&results) < 0.1);
    }
}

/// Behind a router without codes, a flow with the fallback behaves like a TCP flow.
#[test]
fn behind_a_router_that_knows_nothing_chains_fall_back() {
    for flow in flows(2) {
        let flow = flow.replace("limits = true", "fallback = true");
        let router = "drop-tail = { packets = 60 }";
        let results = dumbbell(router, &[&flow, &flow, TCP, TCP, TCP, TCP]);
        let goodput = |first: usize, last: usize| {
            let flows = &results.summary.flows[first..last];
            flows.iter().map(|flow| flow.goodput_bps).sum::<f64>() / flows.len() as f64
        };
        let (ours, others) = (goodput(0, 2), goodput(2, 6));
        println!("{ours:.0} beside {others:.0} bit/s");
        assert!((0.1..3.0).contains(&(ours / others)), "{ours} and {others}");
    }
}
