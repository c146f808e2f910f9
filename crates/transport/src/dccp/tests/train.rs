//! Packets that arrive or leave together have the same effect as individual ones.

use core::cell::Cell;
use core::fmt::Debug;
use core::ops::ControlFlow;
use std::sync::Arc;

use proptest::prelude::*;
use rand::Rng;
use skywave_congestion::{Ack, AnyControl, Control, ControlContext, ControlKind, Loss, Pacing};
use skywave_units::Rate;

use super::load_vectors::{LOAD_VECTORS, LoadVectors};
use super::*;
use crate::End as _;
use crate::dccp::ccid2::AckOfAckRule;
use crate::dccp::{Ccid, SendersChoice};

/// A receive queue too small for a train.
const ROOM_FOR_FEW: usize = 5;

/// How a driver passes packets in and takes them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Driver {
    OneByOne,
    /// Breaks after this many packets, and continues later.
    Together(usize),
}

impl Driver {
    fn receive(self, pair: &mut Pair, to: Side, ecn: Ecn, packets: Vec<Packet>) {
        let now = pair.now;
        pair.apply(to, |end| match self {
            Self::Together(_) => {
                let bytes = packets
                    .iter()
                    .map(|packet| packet.to_bytes(Checksum::Ignored).unwrap());
                assert_eq!(end.receive_all(now, ecn, Checksum::Ignored, bytes), 0);
            }
            Self::OneByOne => packets
                .into_iter()
                .for_each(|packet| end.receive(now, ecn, packet)),
        });
    }

    fn drain(self, pair: &mut Pair, side: Side) -> (Vec<Transmit<Packet>>, Option<Instant>) {
        let now = pair.now;
        pair.driven(side).drain(now, |mut drain| {
            let mut left = Vec::new();
            match self {
                Self::OneByOne => left.extend(core::iter::from_fn(|| drain.transmit())),
                Self::Together(most) => {
                    let is_broken_off = Cell::new(false);
                    let mut breaks_off = |transmit| {
                        assert!(!is_broken_off.get(), "sent after the break: {transmit:?}");
                        left.push(transmit);
                        is_broken_off.set(left.len().is_multiple_of(most));
                        if is_broken_off.get() {
                            ControlFlow::Break(())
                        } else {
                            ControlFlow::Continue(())
                        }
                    };
                    while drain.transmit_all(&mut breaks_off).is_break() {
                        assert!(is_broken_off.take());
                    }
                }
            }
            drain.finish().map(|deadline| (left, deadline))
        })
    }
}

/// A network with a delay of 20 ms, whose treatment of packets is drawn from `seed`; most arrive in
/// order.
struct Path {
    draws: Random,
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

    /// The packets that have arrived, grouped into runs for the same side with the same mark.
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

/// Runs two ends. Returns everything sent and received, the final states, and the number of train
/// packets sent by the client and received by the server.
fn run(
    driver: Driver,
    config: &Config,
    ending: Ending,
    seed: u64,
) -> (impl PartialEq + Debug + use<>, [u64; 2]) {
    let mut pair = Pair::open(config.clone(), config.clone());
    let mut path = Path {
        draws: rng(seed),
        flights: Vec::new(),
    };
    let mut application = rng(seed + 1);
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    for step in 0..800 {
        pair.now += millis(1);
        let now = pair.now;
        for (to, ecn, packets) in path.arrived(now) {
            driver.receive(&mut pair, to, ecn, packets);
        }
        if step == 600 {
            pair.apply(Server, |server| match ending {
                Ending::None => {}
                Ending::StopsListening => server.stop_listening(),
                Ending::Close => server.close(now),
                Ending::Abort => server.abort(now),
            });
        }
        for side in [Client, Server] {
            pair.driven(side).expire(now, |drain| drain.postpone());
            let draw = application.next_u64();
            // The server sends now and then, the client as much as possible.
            let count = if side == Client { 40 } else { draw % 50 / 48 };
            for index in 0..count {
                let size = if (draw + index).is_multiple_of(30) {
                    90
                } else {
                    100
                };
                let _ = pair.apply(side, |end| end.send(Payload::Synthetic(size)));
            }
            let (left, deadline) = driver.drain(&mut pair, side);
            for transmit in left {
                sent.push((now, side, transmit.clone(), deadline));
                path.carry(now, side.other(), transmit);
            }
            received.push(pair.received(side));
            received.push(vec![pair.events(side).len()]);
        }
    }
    let [client, server] = [Client, Server].map(|side| pair.get(side));
    let trains = [client.trains.sent, server.trains.received];
    let stats = format!("{:?}", [client.stats(), server.stats()]);
    ((sent, received, stats), trains)
}

/// What the server does after three quarters of the time.
#[derive(Clone, Copy, Debug)]
enum Ending {
    None,
    StopsListening,
    Close,
    Abort,
}

fn config() -> impl Strategy<Value = Config> {
    let ccid = prop_oneof![
        2 => Just(Ccid::TCP_LIKE),
        1 => Just(Ccid::TFRC),
        1 => Just(Ccid::TFRC_SP),
        1 => Just(LOAD_VECTORS),
        1 => Just(Ccid::SENDERS_CHOICE),
    ];
    let receive_queue = prop_oneof![Just(ROOM_FOR_FEW), Just(256)];
    // Most are off, so that trains form.
    let rare = || prop::bool::weighted(0.15);
    let coverage = prop_oneof![5 => Just(0_u8), 1 => Just(2)];
    let flags = (rare(), rare(), rare(), rare(), rare(), any::<bool>());
    (ccid, receive_queue, coverage, flags).prop_map(|(ccid, receive_queue, coverage, flags)| {
        let (nonces, short, checksum, ndp, incapable, on_change) = flags;
        let mut config = Config {
            sender_ccids: vec![ccid],
            receiver_ccids: vec![ccid],
            ecn_nonces: nonces,
            allow_short_seqnos: short,
            send_data_checksum: checksum,
            check_data_checksum: checksum,
            request_ndp_count: ndp,
            ecn_incapable: incapable,
            checksum_coverage: coverage,
            minimum_checksum_coverage: coverage,
            receive_queue,
            ..Config::default()
        };
        config.ccids.enter(LoadVectors);
        config.ccids.enter(SendersChoice::new(Arc::new(Paced)));
        if on_change {
            config.ccid2.ack_of_ack = AckOfAckRule::OnWindowChange;
        }
        config
    })
}

fn ending() -> impl Strategy<Value = Ending> {
    prop_oneof![
        3 => Just(Ending::None),
        1 => Just(Ending::StopsListening),
        1 => Just(Ending::Close),
        1 => Just(Ending::Abort),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn together_is_the_same_as_one_by_one(
        seed in 0u64..1 << 60,
        config in config(),
        ending in ending(),
        most in 1_usize..40,
    ) {
        let (together, _) = run(Driver::Together(most), &config, ending, seed);
        let (one_by_one, _) = run(Driver::OneByOne, &config, ending, seed);
        prop_assert_eq!(together, one_by_one);
    }
}

/// Without trains, the tests above would prove nothing.
#[test]
fn trains_form() {
    let paced = SendersChoice::new(Arc::new(Paced));
    for config in [Config::default(), Config::default().with_ccid(paced)] {
        for seed in 0..5 {
            let (_, trains) = run(Driver::Together(20), &config, Ending::None, seed);
            assert!(trains.iter().all(|&packets| packets > 10), "{trains:?}");
        }
    }
}

/// Paces a constant window, four packets at a time: pacing does not prevent trains.
#[derive(Clone, Copy, Debug)]
struct Paced;

impl ControlKind for Paced {
    fn build(&self, _context: &ControlContext) -> AnyControl {
        AnyControl::new(*self)
    }
}

impl Control for Paced {
    fn on_ack(&mut self, _ack: &Ack) {}

    fn on_loss(&mut self, _loss: &Loss) {}

    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {}
    fn limit_cwnd(&mut self, _limit: f64) {}

    fn cwnd(&self) -> f64 {
        50.0
    }

    fn pacing(&self) -> Option<Pacing> {
        Some(Pacing::at_rate(Rate::from_bps(8_000_000), 4000))
    }
}
