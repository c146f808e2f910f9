//! Two connected ends, and the packets that an outsider can send to them.

use std::sync::Arc;

use rand::{Rng, RngExt};
use skywave_transport::dccp::{Config, Event};
use skywave_units::{Duration, Random};
use skywave_wire::Payload;
use skywave_wire::dccp::{Packet, SeqNo};

use crate::kind::kind;
use crate::network::{Network, Side};
use crate::path::Path;

pub(crate) const MILLISECOND: Duration = Duration::from_millis(1);

/// Two ends 20 ms apart, and everything they send.
pub(crate) fn recorded(config: Config, seed: u64) -> Network {
    let config = Arc::new(config);
    let path = Path::clean(Duration::from_millis(20));
    let mut network = Network::new([config.clone(), config], [path.clone(), path], seed);
    network.log = Some(Vec::new());
    network.start();
    network
}

/// A packet of any type with any numbers, long or short, that appears to come from the peer of
/// `to`.
pub(crate) fn blind(to: Side, rng: &mut Random) -> Packet {
    let kind = kind(rng.random_range(0..11), SeqNo::new(rng.next_u64()));
    let packet_type = kind.packet_type();
    let mut packet = Packet {
        source_port: to.other().port(),
        destination_port: to.port(),
        ccval: 0,
        cscov: 0,
        extended: !packet_type.allows_short_numbers() || rng.random_ratio(2, 3),
        seq: SeqNo::new(rng.next_u64()),
        kind,
        options: Default::default(),
        payload: Payload::from(b"injected".to_vec()),
    };
    if !packet.extended {
        packet.seq = SeqNo::new(packet.seq.short().into());
    }
    packet
}

pub(crate) fn read_all(network: &mut Network, side: Side) -> Vec<Vec<u8>> {
    network.apply(side, |end, _| {
        std::iter::from_fn(|| end.recv())
            .map(|datagram| datagram.payload.to_bytes().to_vec())
            .collect()
    })
}

pub(crate) fn datagram(from: Side, count: u32) -> Vec<u8> {
    [&[from as u8][..], &count.to_be_bytes()].concat()
}

pub(crate) fn events(network: &mut Network, side: Side) -> Vec<Event> {
    network.apply(side, |end, _| std::iter::from_fn(|| end.event()).collect())
}
