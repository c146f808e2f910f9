//! Packets that come or leave together end as those that come and leave one by one.

use std::ops::ControlFlow;

use proptest::prelude::*;
use rand::Rng;

use super::*;
use crate::Endpoint as _;
use crate::dccp::Ccid;

/// A receive queue in which a train does not fit.
const ROOM_FOR_FEW: usize = 5;

/// How a driver hands packets over, and takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Driver {
    OneByOne,
    Together,
}

/// What a network of 20 ms does to a packet is drawn from `seed`: most arrive in the same order.
struct Path {
    draws: Xoshiro256PlusPlus,
    flights: Vec<(Instant, Side, Ecn, Packet)>,
}

impl Path {
    fn carry(&mut self, now: Instant, to: Side, Transmit { ecn, packet }: Transmit<Packet>) {
        let arrival = now + millis(20);
        let draw = self.draws.next_u64() % 1_000;
        let delay = if draw == 1 { millis(1) } else { millis(0) };
        let ecn = if draw == 2 { Ecn::Ce } else { ecn };
        let copies = match draw {
            0 => 0,
            3 => 2,
            _ => 1,
        };
        for _ in 0..copies {
            let flight = (arrival + delay, to, ecn, packet.clone());
            self.flights.push(flight);
        }
    }

    /// The packets that have arrived, in runs for one side and with one mark.
    fn arrived(&mut self, now: Instant) -> Vec<(Side, Ecn, Vec<Packet>)> {
        let mut runs: Vec<(Side, Ecn, Vec<Packet>)> = Vec::new();
        for (_, to, ecn, packet) in self.flights.extract_if(.., |flight| flight.0 <= now) {
            match runs.last_mut() {
                Some((side, mark, run)) if (*side, *mark) == (to, ecn) => run.push(packet),
                _ => runs.push((to, ecn, vec![packet])),
            }
        }
        runs
    }
}

/// All that two ends have sent and received, and how they stand in the end.
fn run(driver: Driver, config: &Config, seed: u64) -> impl PartialEq + core::fmt::Debug {
    let mut pair = Pair::open(config.clone(), config.clone());
    let mut path = Path {
        draws: rng(seed),
        flights: Vec::new(),
    };
    let mut application = rng(seed + 1);
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    for _ in 0..800 {
        pair.now += millis(1);
        let now = pair.now;
        for (to, ecn, packets) in path.arrived(now) {
            pair.apply(to, |end| match driver {
                Driver::Together => end.receive_all(now, ecn, packets),
                Driver::OneByOne => packets
                    .into_iter()
                    .for_each(|packet| end.receive(now, ecn, packet)),
            });
        }
        for side in [Client, Server] {
            let _ = pair.driven(side).expire(now);
            let draw = application.next_u64();
            // The server sends now and then, the client as much as it may.
            let count = if side == Client { 40 } else { draw % 50 / 48 };
            for index in 0..count {
                let size = if (draw + index).is_multiple_of(30) {
                    90
                } else {
                    100
                };
                let _ = pair.apply(side, |end| end.send(Payload::Synthetic(size)));
            }
            let ((), mut drain) = pair.driven(side).apply(now, |_| ());
            let mut left = Vec::new();
            match driver {
                // A driver may break off, and go on later.
                Driver::Together => drain.transmit_all(&mut |transmit| {
                    left.push(transmit);
                    if left.len().is_multiple_of(7) {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                }),
                Driver::OneByOne => {}
            }
            left.extend(core::iter::from_fn(|| drain.transmit()));
            let deadline = drain.deadline();
            for transmit in left {
                sent.push((now, side, transmit.clone(), deadline));
                path.carry(now, side.other(), transmit);
            }
            received.push(pair.received(side));
            received.push(vec![pair.events(side).len()]);
        }
    }
    let stats = [Client, Server].map(|side| pair.get(side).stats());
    if config.sender_ccids == [Ccid::TcpLike] && config.receive_queue > ROOM_FOR_FEW {
        // A window of a dozen packets and more: there are trains.
        assert!(stats[1].counters.data_packets_received > 100, "{stats:?}");
    }
    (sent, received, format!("{stats:?}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn together_is_the_same_as_one_by_one(
        seed in 0u64..1 << 60,
        ccid in prop_oneof![Just(Ccid::TcpLike), Just(Ccid::Tfrc), Just(Ccid::Vcp)],
        nonces in any::<bool>(),
        short in any::<bool>(),
        receive_queue in prop_oneof![Just(ROOM_FOR_FEW), Just(256)],
    ) {
        let config = Config {
            sender_ccids: vec![ccid],
            receiver_ccids: vec![ccid],
            ecn_nonces: nonces,
            allow_short_seqnos: short,
            receive_queue,
            ..Config::default()
        };
        prop_assert_eq!(
            run(Driver::Together, &config, seed),
            run(Driver::OneByOne, &config, seed)
        );
    }
}
