//! For any input, an endpoint neither panics nor gets stuck.

use proptest::collection::vec;
use proptest::prelude::*;
use skywave_wire::dccp::{ElapsedTime, LossInterval, QuotedHeader};

use super::*;

/// Numbers near the connection's own, and arbitrary ones.
fn number(near: u64) -> impl Strategy<Value = u64> {
    prop_oneof![
        6 => (0u64..200).prop_map(move |offset| near.wrapping_sub(100) + offset),
        1 => any::<u64>(),
    ]
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..12)
}

fn any_option() -> impl Strategy<Value = DccpOption> {
    let feature = prop_oneof![4 => 0u8..11, 1 => any::<u8>()];
    let side = prop_oneof![Just(FeatureSide::Local), Just(FeatureSide::Remote)];
    let negotiation =
        (any::<bool>(), side, feature, bytes()).prop_map(|(is_change, side, number, value)| {
            if is_change {
                change(side, number, &value)
            } else {
                confirm(side, number, &value)
            }
        });
    prop_oneof![
        1 => Just(DccpOption::Padding),
        1 => Just(DccpOption::Mandatory),
        1 => Just(DccpOption::SlowReceiver),
        6 => negotiation,
        1 => bytes().prop_map(|value| DccpOption::InitCookie(value.as_slice().into())),
        1 => (any::<u32>(), 1u8..7)
            .prop_map(|(count, width)| DccpOption::NdpCount { count: count.into(), width }),
        4 => (any::<bool>(), vec(any::<u8>(), 0..40)).prop_map(|(nonce, cells)| {
            DccpOption::AckVector { nonce, cells: cells.as_slice().into() }
        }),
        2 => bytes().prop_map(|blocks| DccpOption::DataDropped(blocks.as_slice().into())),
        1 => any::<u32>().prop_map(DccpOption::Timestamp),
        1 => any::<u32>().prop_map(|echo| DccpOption::TimestampEcho { echo, elapsed: None }),
        1 => any::<u32>().prop_map(|time| DccpOption::ElapsedTime(ElapsedTime::Long(time))),
        1 => any::<u32>().prop_map(DccpOption::DataChecksum),
        1 => Just(DccpOption::LossIntervals {
            skip_length: 1,
            intervals: [LossInterval {
                lossless_length: 1,
                nonce: false,
                loss_length: 0,
                data_length: 1,
            }][..].into(),
        }),
        2 => (prop::sample::select(OptionType::ALL), bytes())
            .prop_map(|(kind, data)| DccpOption::parse(kind, &data)),
        1 => (any::<u8>(), bytes())
            .prop_map(|(kind, value)| DccpOption::Other { kind, value: Some(value.as_slice().into()) }),
    ]
}

#[derive(Clone, Debug)]
enum Input {
    /// A packet of this type for `side`, with numbers relative to the correct ones.
    Packet {
        to_client: bool,
        kind: u8,
        seq: u64,
        ack: u64,
        options: Vec<DccpOption>,
        size: u32,
    },
    Wait(u64),
    Send {
        client: bool,
        size: u32,
    },
    Close {
        client: bool,
    },
    /// An ICMP report of a packet too big.
    TooBig {
        client: bool,
        mtu: u32,
        seq: u64,
    },
    /// Another path, with this MTU.
    Path {
        client: bool,
        mtu: u32,
    },
    Slow {
        client: bool,
    },
    StopListening {
        client: bool,
    },
}

/// Numbers in `Input::Packet` are relative to this, which represents the receiver's own state.
const NEAR: u64 = 1 << 40;

fn input() -> impl Strategy<Value = Input> {
    let options = vec(any_option(), 0..4);
    prop_oneof![
        12 => (any::<bool>(), 0u8..12, number(NEAR), number(NEAR), options, 0u32..2_000).prop_map(
            |(to_client, kind, seq, ack, options, size)| Input::Packet {
                to_client, kind, seq, ack, options, size
            }
        ),
        3 => (0u64..3_000).prop_map(Input::Wait),
        3 => (any::<bool>(), 0u32..1_500).prop_map(|(client, size)| Input::Send { client, size }),
        1 => any::<bool>().prop_map(|client| Input::Close { client }),
        1 => (any::<bool>(), 0u32..2_000, number(NEAR))
            .prop_map(|(client, mtu, seq)| Input::TooBig { client, mtu, seq }),
        1 => (any::<bool>(), 0u32..2_000).prop_map(|(client, mtu)| Input::Path { client, mtu }),
        1 => any::<bool>().prop_map(|client| Input::Slow { client }),
        1 => any::<bool>().prop_map(|client| Input::StopListening { client }),
    ]
}

fn side(is_client: bool) -> Side {
    if is_client { Client } else { Server }
}

fn apply(pair: &mut Pair, input: Input) {
    let last = |pair: &Pair, side| {
        let mut sent = pair.log.iter().rev().filter(|sent| sent.from == side);
        sent.next().map_or(0, |sent| sent.packet.seq.get())
    };
    let shift = |number: u64, near: u64| number.wrapping_sub(NEAR).wrapping_add(near);
    match input {
        Input::Packet {
            to_client,
            kind: number,
            seq,
            ack,
            options,
            size,
        } => {
            let to = side(to_client);
            let from = to.other();
            let ack = SeqNo::new(shift(ack, last(pair, to)));
            // 11 represents a Data packet with short numbers.
            let extended = number != 11;
            let number = if extended { number } else { 2 };
            let packet = packet(from, 0, kind(number, ack));
            let seq = SeqNo::new(shift(seq, last(pair, from)));
            let seq = if extended {
                seq
            } else {
                SeqNo::new(seq.short().into())
            };
            let packet = Packet {
                seq,
                extended,
                ..with_data(packet, size)
            };
            let ecn = Ecn::from_bits(size as u8);
            pair.receive(to, ecn, with_options(packet, &options));
        }
        Input::Wait(time) => pair.run_for(millis(time)),
        Input::Send { client, size } => {
            let _ = pair.apply(side(client), |c| c.send(Payload::Synthetic(size)));
        }
        Input::Close { client } => pair.close(side(client)),
        Input::TooBig { client, mtu, seq } => {
            let mut ports = [CLIENT_PORT, SERVER_PORT];
            if !client {
                ports.reverse();
            }
            let quoted = QuotedHeader {
                source_port: ports[0],
                destination_port: ports[1],
                extended: seq % 2 == 0,
                seq: SeqNo::new(shift(seq, last(pair, side(client)))),
            };
            let now = pair.now;
            pair.apply(side(client), |end| end.on_too_big(now, mtu, quoted));
        }
        Input::Path { client, mtu } => {
            let now = pair.now;
            pair.apply(side(client), |end| end.on_path_change(now, mtu));
        }
        Input::Slow { client } => pair.apply(side(client), |end| end.set_slow(true)),
        Input::StopListening { client } => pair.apply(side(client), Connection::stop_listening),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Thousands of packets, nearly valid and wild, in every state: no panic, no endless sending
    /// (asserted by `drain`), no timer in the past, and no data packet longer than the path permits
    /// (D14-1).
    #[test]
    fn nothing_panics(
        short in any::<bool>(),
        open_first in any::<bool>(),
        invited in any::<bool>(),
        inputs in vec(input(), 1..120),
    ) {
        let config = Config {
            allow_short_seqnos: short,
            request_ndp_count: short,
            checksum_coverage: u8::from(short),
            send_data_checksum: !short,
            path_mtu: 1_500,
            ..Config::default()
        };
        let mut pair = Pair::new(config.clone(), config);
        if invited {
            let server = Connection::invite(Config::default(), SERVER_PORT, CLIENT_PORT, rng(2));
            pair.server = Driven::new(server);
        }
        if open_first {
            pair.run_for(secs(1));
        }
        for input in inputs {
            // A path change may raise the MTU: earlier packets were for the old one.
            let limits = [Client, Server].map(|side| pair.get(side).path_mtu());
            let from = pair.log.len();
            apply(&mut pair, input);
            for (side, before) in [Client, Server].into_iter().zip(limits) {
                let limit = before.max(pair.get(side).path_mtu()) as usize - 20;
                for sent in pair.sent_by(side, from) {
                    let is_data = matches!(sent.kind(), PacketType::Data | PacketType::DataAck);
                    prop_assert!(!is_data || sent.packet.encoded_len() <= limit);
                }
            }
            for side in [Client, Server] {
                let now = pair.now;
                pair.driven(side).expire(now, |drain| drain.postpone());
                let deadline = pair.drain(side);
                prop_assert!(deadline.is_none_or(|at| at > now), "{:?} at {now}", deadline);
            }
        }
    }

    /// Over a network that loses, duplicates and reorders, a connection is established, carries
    /// data and ends within the time after which ends give up. The losses stop before that, because
    /// an end with nothing to send would not notice that the other is gone.
    #[test]
    fn every_connection_ends(
        seed in any::<u64>(),
        loss in 0u64..60,
        server_closes in any::<bool>(),
        short in any::<bool>(),
    ) {
        use rand::Rng;
        let config = Config { allow_short_seqnos: short, linger: secs(30), ..Config::default() };
        let mut pair = Pair::new(config.clone(), config);
        let mut rng = rng(seed);
        pair.network = Box::new(move |_| match rng.next_u64() % 100 {
            draw if draw < loss => Fate::Drop,
            draw if draw < loss + 10 => Fate::Duplicate,
            draw if draw < loss + 20 => Fate::Delay(millis(draw * 3)),
            draw if draw < loss + 25 => Fate::Mark,
            _ => Fate::Deliver,
        });
        for _ in 0..30 {
            pair.send(Client, 500);
            pair.send(Server, 500);
        }
        pair.run_for(secs(10));
        let was_open = pair.states() == (State::Open, State::Open);
        pair.run_for(secs(30));
        pair.close(side(!server_closes));
        pair.run_for(secs(60));
        pair.network = Box::new(|_| Fate::Deliver);
        pair.run_for(secs(1_440));
        for side in [Client, Server] {
            let state = pair.get(side).state();
            prop_assert!(matches!(state, State::Closed | State::Listen), "{side:?}: {state:?}");
        }
        let (client, server) = (pair.received(Client).len(), pair.received(Server).len());
        prop_assert!(client <= 30 && server <= 30, "delivered twice");
        if loss < 10 && was_open {
            prop_assert!(client + server >= 30, "{client} and {server} of 30 delivered");
        }
    }
}

/// Thousands of connections must fit in memory: the size of a connection without data in flight.
#[test]
fn a_connection_is_small() {
    let size = std::mem::size_of::<Connection>();
    assert!(size <= 1_728, "{size} bytes");
}
