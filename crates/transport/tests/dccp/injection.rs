//! An attacker who knows addresses and ports but sees no packets, and a path that damages packets.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::Rng;
use skywave_transport::dccp::{Config, Event, Origin, State};
use skywave_units::Duration;
use skywave_wire::dccp::{Kind, Packet, PacketType, ResetCode, SeqNo};
use skywave_wire::{Ecn, Payload};

use crate::network::{CLIENT_PORT, Network, SERVER_PORT, Sent, Side, seeded};
use crate::path::Path;
use crate::stranger::{MILLISECOND, blind, datagram, events, read_all, recorded};

use Side::{Client, Server};

/// The most packets selected by `select` that `from` sent within one second.
fn busiest_second(log: &[Sent], from: Side, select: impl Fn(&Packet) -> bool) -> usize {
    let mut seconds = BTreeMap::<u64, usize>::new();
    for sent in log {
        if sent.from == from && select(&sent.packet) {
            let second = sent.at.as_nanos() / 1_000_000_000;
            *seconds.entry(second).or_default() += 1;
        }
    }
    seconds.into_values().max().unwrap_or(0)
}

fn is(kind: PacketType) -> impl Fn(&Packet) -> bool {
    move |packet| packet.kind.packet_type() == kind
}

const CLOSED_BY_PEER: Event = Event::Closed {
    code: ResetCode::CLOSED,
    origin: Origin::Remote,
};

/// D7.5-5, D7.5-7, D7.6-1: 400,000 packets of all types with random numbers, 40 in every
/// millisecond of a connection that carries data in both directions. None passes the sequence
/// checks, the answers stay within eight Syncs per second, and the transfer is unaffected.
#[test]
fn blind_packets_change_nothing() {
    let mut network = recorded(Config::default(), 1);
    let mut rng = seeded(2);
    network.run_for(Duration::from_secs(1));
    let (mut received, mut count) = ([Vec::new(), Vec::new()], 0);
    for millisecond in 0..10_000u64 {
        if millisecond % 10 == 0 {
            count += 1;
            for side in Side::BOTH {
                let data = Payload::from(datagram(side, count));
                network.apply(side, |end, _| end.send(data)).unwrap();
            }
        }
        for _ in 0..20 {
            for side in Side::BOTH {
                let before = network.get(side).stats().counters;
                let state = network.get(side).state();
                network.hand_over(side, Ecn::Ce, blind(side, &mut rng));
                let after = network.get(side).stats().counters;
                assert_eq!(after.packets_received, before.packets_received);
                assert_eq!(after.invalid_packets, before.invalid_packets + 1);
                assert_eq!(network.get(side).state(), state);
            }
        }
        network.run_for(MILLISECOND);
        for side in Side::BOTH {
            received[side as usize].extend(read_all(&mut network, side));
        }
    }
    network.run_for(Duration::from_secs(2));
    for side in Side::BOTH {
        let received = &mut received[side as usize];
        received.extend(read_all(&mut network, side));
        let sent: Vec<_> = (1..=count).map(|n| datagram(side.other(), n)).collect();
        assert_eq!(*received, sent, "{side:?}");
        assert_eq!(events(&mut network, side), [Event::Connected]);
    }
    network.apply(Client, |end, now| end.close(now));
    network.run_for(Duration::from_secs(300));
    assert_eq!(events(&mut network, Client), [CLOSED_BY_PEER]);
    let log = network.log.as_deref().unwrap();
    for side in Side::BOTH {
        let syncs = busiest_second(log, side, is(PacketType::Sync));
        assert_eq!(syncs, 8, "{side:?} answers, but not more often");
        // These Syncs are answered with at most one SyncAck each.
        assert!(busiest_second(log, side, is(PacketType::SyncAck)) <= 8 + 1);
        assert_eq!(
            busiest_second(log, side, is(PacketType::Response)),
            usize::from(side == Server)
        );
    }
}

/// Blind packets with 24-bit numbers have better chances: W in 2^24 of those without an
/// acknowledgement number hit the window (RFC 4340 section 7.6.2). Those with one hit it far less
/// often.
#[test]
fn short_numbers_let_in_what_arithmetic_says() {
    let config = Config {
        allow_short_seqnos: true,
        sequence_window: 2_000,
        ..Config::default()
    };
    let mut network = recorded(config, 3);
    let mut rng = seeded(4);
    network.run_for(Duration::from_secs(1));
    let tries = 200_000;
    let mut hits = [0; 2];
    for count in 0..tries {
        for (hits, kind) in hits.iter_mut().zip([
            Kind::Data,
            Kind::DataAck {
                ack: SeqNo::new(rng.next_u64() & 0xff_ffff),
            },
        ]) {
            let packet = Packet {
                kind,
                extended: false,
                seq: SeqNo::new(rng.next_u64() & 0xff_ffff),
                ..blind(Client, &mut rng)
            };
            let before = network.get(Client).stats().counters.packets_received;
            network.hand_over(Client, Ecn::Ect0, packet);
            *hits += network.get(Client).stats().counters.packets_received - before;
        }
        if count % 100 == 0 {
            network.run_for(MILLISECOND);
            read_all(&mut network, Client);
        }
    }
    let [data, data_acks] = hits;
    // 2000 / 2^24 of 200,000 is 24.
    assert!((8..=60).contains(&data), "{data}");
    assert_eq!(data_acks, 0);
}

/// A client in REQUEST state answers blind packets, but not so often that the numbers of its
/// answers push its own Request out of the window: it accepts the Response that finally arrives.
#[test]
fn a_flooded_client_still_connects() {
    let mut network = recorded(Config::default(), 5);
    let mut rng = seeded(6);
    for _ in 0..39 {
        for _ in 0..2_000 {
            network.hand_over(Client, Ecn::Ect0, blind(Client, &mut rng));
        }
        network.run_for(MILLISECOND);
    }
    assert_eq!(network.get(Client).state(), State::Request);
    network.run_for(Duration::from_millis(200));
    assert_eq!(network.get(Client).state(), State::Open);
    assert_eq!(network.get(Server).state(), State::Open);
    let log = network.log.as_deref().unwrap();
    let requests = log
        .iter()
        .filter(|sent| is(PacketType::Request)(&sent.packet));
    // The first one, and the one triggered by the first Listen among the blind packets (RFC 5596
    // section 2.2.3); none from a timer.
    assert_eq!(requests.count(), 2);
}

/// A server in RESPOND state is equally robust.
#[test]
fn a_flooded_server_still_connects() {
    let mut network = recorded(Config::default(), 7);
    let mut rng = seeded(8);
    network.run_for(MILLISECOND * 21);
    assert_eq!(network.get(Server).state(), State::Respond);
    for _ in 0..30 {
        for _ in 0..2_000 {
            network.hand_over(Server, Ecn::Ect0, blind(Server, &mut rng));
        }
        network.run_for(MILLISECOND);
        assert_eq!(network.get(Server).state(), State::Respond);
    }
    network.run_for(Duration::from_millis(200));
    assert_eq!(network.get(Client).state(), State::Open);
    assert_eq!(network.get(Server).state(), State::Open);
}

/// D8.1-5: an endpoint without a connection sends at most 1024 Resets per second, and never answers
/// a Reset with a Reset.
#[test]
fn resets_without_a_connection_are_limited() {
    let mut network = recorded(Config::default(), 9);
    let mut rng = seeded(10);
    network.run_for(Duration::from_secs(1));
    network.apply(Client, |end, now| end.abort(now));
    network.run_for(Duration::from_secs(1));
    assert_eq!(network.get(Client).state(), State::Closed);
    let mut resets = 0;
    for _ in 0..20_000 {
        let packet = blind(Client, &mut rng);
        let is_reset = packet.kind.packet_type() == PacketType::Reset;
        let before = network.get(Client).stats().counters.resets_sent;
        network.hand_over(Client, Ecn::Ect0, packet);
        let answers = network.get(Client).stats().counters.resets_sent - before;
        assert!(!is_reset || answers == 0, "a Reset answers a Reset");
        resets += answers;
    }
    assert_eq!(resets, 1_024);
}

/// D9.1-1: a packet with a wrong checksum is ignored, whichever bit is wrong: data is delivered as
/// sent, in order, once.
#[test]
fn a_wrong_checksum_is_no_packet() {
    let path = Path {
        corruption: 0.1,
        ..Path::clean(Duration::from_millis(20))
    };
    let config = Arc::new(Config::default());
    let mut network = Network::new([config.clone(), config], [path.clone(), path], 19);
    network.start();
    let mut sent = Vec::new();
    let mut received = Vec::new();
    for count in 0..1_000 {
        let data = datagram(Client, count);
        let payload = Payload::from(data.clone());
        if network.apply(Client, |end, _| end.send(payload)).is_ok() {
            sent.push(data);
        }
        network.run_for(MILLISECOND * 100);
        received.extend(read_all(&mut network, Server));
    }
    assert!(received.len() > sent.len() / 2, "{}", received.len());
    assert!(network.caught > 100, "{}", network.caught);
    assert!(received.is_sorted_by(|one, next| one < next));
    assert!(received.iter().all(|data| sent.contains(data)));
    assert_eq!(network.get(Server).stats().counters.invalid_packets, 0);
}

/// A packet between other ports belongs to another connection, even with valid numbers.
#[test]
fn ports_other_than_the_connections_are_refused() {
    let mut network = recorded(Config::default(), 20);
    network.run_for(Duration::from_secs(1));
    let log = network.log.clone().unwrap();
    for sent in log {
        let to = sent.from.other();
        for (source, destination) in [(1, 0), (0, 1), (1, 1)] {
            let mut packet = sent.packet.clone();
            packet.source_port ^= source;
            packet.destination_port ^= destination;
            let before = network.get(to).stats().counters.packets_received;
            network.hand_over(to, sent.ecn, packet);
            assert_eq!(network.get(to).stats().counters.packets_received, before);
        }
    }
    assert_eq!(network.get(Client).remote_port(), SERVER_PORT);
    assert_eq!(network.get(Server).remote_port(), CLIENT_PORT);
    assert_eq!(network.get(Client).state(), State::Open);
    assert_eq!(network.get(Server).state(), State::Open);
}
