//! Packets that move over several links along their routes.

use skywave_path::contract::Parcel;
use skywave_path::{
    DropReason, DropTail, Dropped, Limit, Link, Network, NetworkObserver, Packet, Routed,
};
use skywave_units::{Duration, Instant, Rate};
use skywave_wire::Ecn;

/// A packet with its position.
#[derive(Clone, Copy, Debug)]
struct Letter {
    parcel: Parcel,
    hop: u32,
}

impl Packet for Letter {
    fn size(&self) -> u32 {
        self.parcel.size()
    }

    fn ecn(&self) -> Ecn {
        self.parcel.ecn()
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        self.parcel.set_ecn(ecn);
    }

    fn flow(&self) -> u64 {
        self.parcel.flow()
    }

    fn class(&self) -> u8 {
        self.parcel.class()
    }
}

impl Routed for Letter {
    fn hop(&self) -> u32 {
        self.hop
    }

    fn set_hop(&mut self, hop: u32) {
        self.hop = hop;
    }
}

/// An observer that records the link and the packet's number.
#[derive(Default)]
struct Log {
    entered: Vec<(u32, u32)>,
    left: Vec<(u32, u32)>,
    dropped: Vec<(u32, u32, DropReason)>,
}

impl NetworkObserver<Letter> for Log {
    fn enters(&mut self, link: u32, packet: &mut Letter) {
        self.entered.push((link, packet.parcel.id));
    }

    fn leaves(&mut self, link: u32, packet: &Letter) {
        self.left.push((link, packet.parcel.id));
    }

    fn dropped(&mut self, link: u32, dropped: Dropped<Letter>) {
        let Dropped { packet, reason, .. } = dropped;
        self.dropped.push((link, packet.parcel.id, reason));
    }
}

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// Returns a network with links a->b, a->c, b->d and c->d. 1,000 bytes take 10 ms on each link,
/// plus its delay; one packet may wait.
fn diamond() -> Network<Letter> {
    let mut network = Network::new(["a", "b", "c", "d"].map(str::to_owned).to_vec());
    for (from, to, delay) in [(0, 1, 1), (0, 2, 100), (1, 3, 2), (2, 3, 200)] {
        let queue = DropTail::new(Limit::Packets(1));
        let link = Link::new(queue, Rate::from_bps(800_000), Duration::from_millis(delay));
        network.add_link(from, to, link);
    }
    network
}

fn arrivals(network: &mut Network<Letter>, log: &mut Log, until: Instant) -> Vec<(Instant, u32)> {
    let mut found = Vec::new();
    network.advance(until, log, |_, at, packet| {
        found.push((at, packet.parcel.id));
    });
    found
}

#[test]
fn packets_take_their_routes_and_arrive_in_order_of_time() {
    let mut network = diamond();
    let first = network.route(0, 3, None).expect("links lead there");
    let other = ["c".to_owned()];
    let other = network.route(0, 3, Some(&other)).expect("links lead there");
    assert!(first.has_equal);
    let mut log = Log::default();
    for (id, way) in [(1, other), (2, first), (3, first), (4, first)] {
        let parcel = Parcel::new(id, 1000);
        let sent = network.send(
            Letter {
                parcel,
                hop: way.hop,
            },
            &mut log,
        );
        assert!(sent.is_none());
    }
    assert_eq!(log.dropped, [(0, 4, DropReason::Full)]);
    assert_eq!(network.deadline(), Some(ms(11)));
    let queued: Vec<_> = network.links().map(Link::queued_packets).collect();
    assert_eq!(queued, [1, 0, 0, 0]);
    // However late the driver passes the time.
    let found = arrivals(&mut network, &mut log, ms(1000));
    assert_eq!(found, [(ms(23), 2), (ms(33), 3), (ms(320), 1)]);
    assert_eq!(
        log.entered,
        [(1, 1), (0, 2), (0, 3), (0, 4), (2, 2), (2, 3), (3, 1)]
    );
    assert_eq!(log.left, [(0, 2), (0, 3), (2, 2), (2, 3), (1, 1), (3, 1)]);
    assert_eq!(network.deadline(), None);
}

#[test]
fn a_packet_for_its_own_node_has_arrived() {
    let mut network = diamond();
    let way = network.route(0, 0, None).expect("it is there");
    let packet = Letter {
        parcel: Parcel::new(7, 1000),
        hop: way.hop,
    };
    assert_eq!(packet.tag(), 0, "its protocol defines none");
    let arrived = network.send(packet, &mut Log::default());
    assert_eq!(arrived.map(|packet| packet.parcel.id), Some(7));
}

#[test]
fn nodes_are_found_by_name() {
    let network = diamond();
    let found = ["a", "b", "c", "d", "e"].map(|name| network.node(name));
    assert_eq!(found, [Some(0), Some(1), Some(2), Some(3), None]);
}
