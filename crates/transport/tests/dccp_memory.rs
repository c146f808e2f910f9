//! The memory that a hostile peer can make a connection use. A separate test program, because it
//! measures the memory of the whole process.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::iter;

use memory_stats::memory_stats;
use rand::{Rng, RngExt, SeedableRng};
use skywave_transport::dccp::{Config, Connection, State};
use skywave_transport::{Drain, Drained, Driven};
use skywave_units::{Duration, Instant, Random};
use skywave_wire::dccp::{
    DccpOption, FeatureNumber, FeatureSide, Kind, OptionBytes, OptionList, Packet, SeqNo,
};
use skywave_wire::{Ecn, Payload};

const PORTS: [u16; 2] = [40_000, 5_001];

/// A client and its hostile server.
struct Pair {
    client: Driven<Connection>,
    now: Instant,
    next: SeqNo,
    gss: SeqNo,
}

impl Pair {
    fn new() -> Self {
        let rng = Random::seed_from_u64(1);
        let now = Instant::ZERO;
        // A liar must stay connected.
        let config = Config {
            detect_optimistic_acks: false,
            ..Config::default()
        };
        let client = Connection::client(config, PORTS[0], PORTS[1], now, rng);
        let mut pair = Self {
            client: Driven::new(client),
            now,
            next: SeqNo::new(1),
            gss: SeqNo::ZERO,
        };
        pair.drain();
        let agreed = DccpOption::Confirm {
            side: FeatureSide::Local,
            feature: FeatureNumber::SEND_ACK_VECTOR,
            value: OptionBytes::from_slice(&[1]),
        };
        let service = Default::default();
        let ack = pair.gss;
        pair.say(Kind::Response { ack, service }, iter::once(agreed), 0);
        let ack = pair.gss;
        pair.say(Kind::Ack { ack }, iter::empty(), 0);
        pair
    }

    fn drain(&mut self) {
        let gss = &mut self.gss;
        self.client.drain(self.now, |mut drain| {
            while let Some(transmit) = drain.transmit() {
                *gss = transmit.packet.seq;
            }
            drain.finish()
        });
    }

    fn say(&mut self, kind: Kind, options: impl Iterator<Item = DccpOption>, size: u32) {
        let packet = Packet {
            source_port: PORTS[1],
            destination_port: PORTS[0],
            ccval: 0,
            cscov: 0,
            extended: true,
            seq: self.next,
            kind,
            options: options.collect::<OptionList>(),
            payload: Payload::Synthetic(size),
        };
        self.next = self.next.next();
        self.client.receive(self.now, Ecn::Ect0, packet, postponed);
        self.drain();
    }
}

fn postponed(drain: Drain<'_, Connection>) -> Drained<()> {
    drain.postpone()
}

fn random_bytes(rng: &mut Random, most: usize) -> OptionBytes {
    let mut bytes = vec![0; rng.random_range(0..=most)];
    rng.fill(&mut bytes[..]);
    OptionBytes::from_vec(bytes)
}

/// A million packets with valid numbers that leave holes, negotiate nonsense, lie about everything,
/// and acknowledge nothing for a long time: memory is bounded. Most of the limit is for the records
/// of 65,536 acknowledgements.
#[test]
fn lies_do_not_pile_up() {
    let mut rng = Random::seed_from_u64(2);
    let mut pair = Pair::new();
    let old = pair.gss;
    let resident_bytes = || memory_stats().unwrap().physical_mem;
    let before = resident_bytes();
    for count in 0..1_000_000u64 {
        if pair.client.get().state() != State::Open {
            pair = Pair::new();
        }
        // Holes, and repetitions of old numbers.
        pair.next = match count % 7 {
            0 => pair.next.add(rng.next_u64() % 20),
            1 => pair.next.sub(rng.next_u64() % 10),
            _ => pair.next,
        };
        let behind = pair.gss.distance_from(old).clamp(0, 60) as u64;
        let ack = pair.gss.sub(rng.next_u64() % (behind + 1));
        let option = match count % 5 {
            0 => DccpOption::AckVector {
                nonce: rng.random(),
                cells: random_bytes(&mut rng, 30),
            },
            1 => {
                // Never code 1, after which no data would be sent.
                let blocks = random_bytes(&mut rng, 10)
                    .into_iter()
                    .map(|byte| byte & 0xef);
                DccpOption::DataDropped(blocks.collect())
            }
            2 => DccpOption::Change {
                side: FeatureSide::Local,
                feature: FeatureNumber(rng.random_range(10..=255)),
                value: random_bytes(&mut rng, 200),
            },
            3 => DccpOption::DataChecksum(rng.random()),
            _ => DccpOption::Timestamp(rng.random()),
        };
        let kind = if count < 300_000 {
            Kind::Data
        } else if rng.random() {
            Kind::DataAck { ack }
        } else {
            Kind::Ack { ack }
        };
        pair.say(kind, iter::once(option), 500);
        let send = |client: &mut Connection| client.send(Payload::Synthetic(1_000));
        let _ = pair.client.apply(pair.now, send, postponed);
        pair.drain();
        if count % 16 == 0 {
            pair.now += Duration::from_millis(rng.next_u64() % 300);
            pair.client.expire(pair.now, postponed);
            pair.drain();
        }
        if count % 4 == 0 {
            let read = |client: &mut Connection| client.recv();
            let _ = pair.client.apply(pair.now, read, postponed);
        }
        if count % 1_000 == 0 {
            let look = |client: &mut Connection| iter::from_fn(|| client.event()).for_each(drop);
            pair.client.apply(pair.now, look, postponed);
        }
    }
    let stats = pair.client.get().stats();
    let grown = resident_bytes().saturating_sub(before);
    println!("{grown} bytes after {:?}", stats.counters);
    assert!(stats.counters.packets_received > 10_000, "{stats:?}");
    assert!(grown < 8 << 20, "{grown} bytes");
}
