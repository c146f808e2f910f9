//! How many packets count as delivered.

use skywave_sim::FlowSummary;

use crate::support::run_verified;

/// A flow over 1 Mbps that sends with `transport` what `source` makes.
fn flow(transport: &str, source: &str) -> FlowSummary {
    let results = run_verified(&format!(
        "name = \"one\"\nduration = \"20 s\"\nnodes = [\"a\", \"b\"]\n\
         [[links]]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbps\"\ndelay = \"50 ms\"\n\
         queue = {{ drop-tail = {{ packets = 10 }} }}\n\
         [[flows]]\nname = \"flow\"\nfrom = \"a\"\nto = \"b\"\ntransport = {{ {transport} }}\n\
         source = {{ {source} }}\n"
    ));
    results.summary.flows[0].clone()
}

/// Tahoe sends again what has arrived. That counts once, so no more packets are delivered than were
/// sent for the first time.
#[test]
fn duplicates_are_not_delivered_again() {
    let tahoe = flow("tcp = { recovery = \"tahoe\" }", "ftp = {}");
    assert!(tahoe.retransmissions > tahoe.drops, "{tahoe:?}");
    let once = tahoe.packets_sent - tahoe.retransmissions;
    assert!(tahoe.delivered_packets <= once, "{tahoe:?}");
    assert!(tahoe.delivered_packets > once / 2, "{tahoe:?}");
}

#[test]
fn each_datagram_of_udp_that_arrives_is_delivered() {
    let udp = flow(
        "udp = {}",
        "cbr = { rate = \"500 kbps\", datagram = \"500 B\" }",
    );
    assert!(udp.packets_sent > 1000, "{udp:?}");
    // At the end some are on their way.
    assert!(
        (udp.packets_sent - 20..=udp.packets_sent).contains(&udp.delivered_packets),
        "{udp:?}"
    );
    assert_eq!(udp.delivered_bytes, 500 * udp.delivered_packets);
}
