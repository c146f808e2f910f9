//! An attacker who has seen packets and sends them again, from this connection or an earlier one.

use std::sync::Arc;

use rand::RngExt;
use skywave_transport::Driven;
use skywave_transport::dccp::{Config, Connection, Event, State};
use skywave_units::Duration;
use skywave_wire::dccp::Packet;
use skywave_wire::{Ecn, Payload};

use crate::kind::kind;
use crate::network::{Network, SERVER_PORT, Sent, Side, seeded};
use crate::path::{Path, up_to};
use crate::stranger::{MILLISECOND, blind, datagram, events, read_all, recorded};

use Side::{Client, Server};

/// The packets of a connection with data in both directions and an orderly close, and what its ends
/// received.
fn an_earlier_connection(seed: u64) -> Vec<Sent> {
    let mut network = recorded(Config::default(), seed);
    network.run_for(Duration::from_secs(1));
    for count in 0..50 {
        for side in Side::BOTH {
            let data = Payload::from([b"old".as_slice(), &datagram(side, count)].concat());
            network.apply(side, |end, _| end.send(data)).unwrap();
        }
        network.run_for(MILLISECOND * 20);
    }
    network.apply(Server, |end, now| end.close(now));
    network.run_for(Duration::from_secs(300));
    assert_eq!(network.get(Client).state(), State::Closed);
    network.log.unwrap()
}

/// Every packet of a connection is repeated many times in any order while the connection is open:
/// nothing is delivered twice, and the connection stays open. The packets that ended it can be
/// replayed only after its end.
#[test]
fn replayed_packets_are_delivered_once() {
    for short in [false, true] {
        let config = Config {
            allow_short_seqnos: short,
            request_ndp_count: true,
            ..Config::default()
        };
        let mut network = recorded(config, 11);
        let mut rng = seeded(12);
        network.run_for(Duration::from_secs(1));
        let mut received = [Vec::new(), Vec::new()];
        let count = 400;
        for number in 0..count {
            for side in Side::BOTH {
                let data = Payload::from(datagram(side, number));
                network.apply(side, |end, _| end.send(data)).unwrap();
            }
            network.run_for(MILLISECOND * 10);
            for _ in 0..20 {
                let log = network.log.as_deref().unwrap();
                let replayed = log[rng.random_range(0..log.len())].clone();
                network.hand_over(replayed.from.other(), replayed.ecn, replayed.packet);
            }
            for side in Side::BOTH {
                received[side as usize].extend(read_all(&mut network, side));
                assert_eq!(network.get(side).state(), State::Open);
            }
        }
        network.run_for(Duration::from_secs(5));
        for side in Side::BOTH {
            let received = &mut received[side as usize];
            received.extend(read_all(&mut network, side));
            // Packets replayed before their arrival have overtaken others.
            received.sort();
            let sent: Vec<_> = (0..count).map(|n| datagram(side.other(), n)).collect();
            assert!(*received == sent, "{side:?}, short: {short}");
        }
    }
}

/// D7.5-4: an attacker who has seen all packets and forges a Reset, a Close or a CloseReq with used
/// numbers ends nothing: that takes an unsent number, and an acknowledgement as new as the newest.
#[test]
fn old_numbers_end_nothing() {
    let mut network = recorded(Config::default(), 21);
    network.run_for(Duration::from_secs(1));
    for count in 0..50 {
        for side in Side::BOTH {
            let data = Payload::from(datagram(side, count));
            network.apply(side, |end, _| end.send(data)).unwrap();
        }
        network.run_for(MILLISECOND * 20);
    }
    network.run_for(Duration::from_secs(1));
    let latest = |network: &Network, from| {
        let log = network.log.as_deref().unwrap();
        let mut sent = log.iter().rev().filter(|sent| sent.from == from);
        sent.next().unwrap().packet.seq
    };
    let forge = |network: &mut Network, to: Side, number, seq, ack| {
        let packet = Packet {
            extended: true,
            seq,
            kind: kind(number, ack),
            ..blind(to, &mut seeded(0))
        };
        network.hand_over(to, Ecn::Ect0, packet);
        network.get(to).state()
    };
    for to in Side::BOTH {
        // Both ends must agree on the newest numbers.
        let (seq, ack) = (latest(&network, to.other()), latest(&network, to));
        for number in 5..=7 {
            for back in 0..60 {
                let state = forge(&mut network, to, number, seq.sub(back), ack);
                assert_eq!(state, State::Open, "type {number}, {back} back");
                let state = forge(&mut network, to, number, seq.next(), ack.sub(3 + back));
                assert_eq!(
                    state,
                    State::Open,
                    "type {number}, acknowledging {back} back"
                );
            }
        }
    }
    // The correct numbers would work.
    let (seq, ack) = (latest(&network, Client), latest(&network, Server));
    assert_eq!(
        forge(&mut network, Server, 7, seq.next(), ack),
        State::TimeWait
    );
}

/// A handshake whose packets are duplicated and reordered, followed by a datagram, completes once.
/// Only a datagram that arrives after its absence was acknowledged is lost.
#[test]
fn reordered_handshakes_connect_once() {
    let connections = 500;
    let mut delivered = 0;
    for seed in 0..connections {
        let config = Arc::new(Config::default());
        let path = Path {
            jitter: Duration::from_millis(300),
            duplication: 1.0,
            ..Path::clean(Duration::from_millis(5))
        };
        let mut network = Network::new([config.clone(), config], [path.clone(), path], seed);
        network.start();
        for side in Side::BOTH {
            let data = Payload::from(datagram(side, 0));
            network.apply(side, |end, _| end.send(data)).unwrap();
        }
        network.run_for(Duration::from_secs(20));
        for side in Side::BOTH {
            let state = network.get(side).state();
            assert_eq!(state, State::Open, "{side:?} of seed {seed}");
            assert_eq!(events(&mut network, side), [Event::Connected]);
            for data in read_all(&mut network, side) {
                assert_eq!(data, datagram(side.other(), 0));
                delivered += 1;
            }
        }
    }
    let sent = 2 * connections;
    assert!(
        (sent * 98 / 100..=sent).contains(&delivered),
        "{delivered} of {sent}"
    );
}

/// All packets of an earlier connection between the same ports arrive in an open one: none is
/// accepted.
#[test]
fn an_earlier_connection_is_not_taken_for_this_one() {
    let earlier = an_earlier_connection(13);
    let mut network = recorded(Config::default(), 14);
    network.run_for(Duration::from_secs(1));
    for sent in &earlier {
        let to = sent.from.other();
        let before = network.get(to).stats().counters.packets_received;
        network.hand_over(to, sent.ecn, sent.packet.clone());
        assert_eq!(network.get(to).stats().counters.packets_received, before);
    }
    network.run_for(Duration::from_secs(1));
    for side in Side::BOTH {
        assert_eq!(network.get(side).state(), State::Open);
        assert_eq!(read_all(&mut network, side), Vec::<Vec<u8>>::new());
    }
}

/// The handshake of an earlier connection arrives before the Request of this one (RFC 4340 section
/// 7.5.6): the server answers the old Request, the client clears the half-open connection, and its
/// next Request finds the server listening again.
#[test]
fn a_stale_request_only_delays_a_connection() {
    let earlier = an_earlier_connection(15);
    for delay in 0..60 {
        let mut network = recorded(Config::default(), 16);
        network.run_for(MILLISECOND * delay);
        let mut rng = seeded(delay);
        for sent in earlier.iter().take(4) {
            network.hand_over(sent.from.other(), sent.ecn, sent.packet.clone());
            network.run_for(up_to(MILLISECOND, &mut rng));
        }
        for _ in 0..2_000 {
            network.run_for(MILLISECOND * 5);
            if matches!(network.get(Server).state(), State::Closed | State::TimeWait) {
                // A listener keeps listening on its port.
                network.ends[1] = Driven::new(Connection::listen(
                    Config::default(),
                    SERVER_PORT,
                    seeded(18),
                ));
            }
        }
        for side in Side::BOTH {
            assert_eq!(
                network.get(side).state(),
                State::Open,
                "{side:?}, {delay} ms"
            );
        }
        let data = Payload::from(b"new".to_vec());
        network.apply(Client, |end, _| end.send(data)).unwrap();
        network.run_for(Duration::from_secs(1));
        assert_eq!(read_all(&mut network, Server), [b"new".to_vec()]);
    }
}
