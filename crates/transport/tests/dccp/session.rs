//! Sessions with a toy layer, and without one.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;
use skywave_transport::dccp::{Config, Connection, Outlet, SendError, State, Train};
use skywave_transport::session::{Cause, Event, Layer, Session};
use skywave_transport::{Driven, End, Transmit};
use skywave_units::{Duration, Instant};
use skywave_wire::dccp::{Packet, ResetCode};
use skywave_wire::{Checksum, Ecn, Payload};

use crate::network::Side::{self, Client, Server};
use crate::network::{Network, Sent};
use crate::path::Path;

/// The bytes in front of a sealed datagram: its number, from 1. A datagram of the handshake has 0.
const OVERHEAD: usize = 4;
const DELAY: Duration = Duration::from_millis(20);
const REPEAT: Duration = Duration::from_millis(300);
const HELLO: u8 = 1;
const REPLY: u8 = 2;
/// The kind of the datagram that an end sends when it closes.
const BYE: u8 = 3;
/// Data after which the receiver's layer fails.
const FORGED: &[u8] = b"forged";

/// A layer whose client sends hello until the server replies. Data is XORed with its number. Each
/// end sends bye when it closes.
#[derive(Debug)]
struct Toy {
    side: Side,
    is_ready: bool,
    /// What to send next for the handshake.
    own: Option<u8>,
    /// How many datagrams the handshake has sent.
    attempts: u8,
    repeat_at: Option<Instant>,
    sealed: u32,
    has_failed: bool,
}

impl Toy {
    fn new(side: Side) -> Self {
        Self {
            side,
            is_ready: false,
            own: (side == Client).then_some(HELLO),
            attempts: 0,
            repeat_at: None,
            sealed: 0,
            has_failed: false,
        }
    }
}

fn mixed(number: [u8; OVERHEAD], data: &[u8]) -> impl Iterator<Item = u8> {
    let key = 0xa5 ^ number[OVERHEAD - 1];
    data.iter().map(move |byte| byte ^ key)
}

impl Layer for Toy {
    fn seal(&mut self, datagram: Bytes) -> Bytes {
        assert!(self.is_ready);
        self.sealed += 1;
        let number = self.sealed.to_be_bytes();
        number
            .into_iter()
            .chain(mixed(number, &datagram))
            .collect::<Vec<_>>()
            .into()
    }

    fn open(&mut self, _now: Instant, datagram: Bytes) -> Option<Bytes> {
        let (&number, data) = datagram.split_first_chunk::<OVERHEAD>()?;
        if number != [0; OVERHEAD] {
            let opened: Bytes = self.is_ready.then(|| mixed(number, data).collect())?;
            self.has_failed |= opened == FORGED;
            return (!self.has_failed).then_some(opened);
        }
        match (self.side, data) {
            (Server, &[HELLO, _]) => self.own = Some(REPLY),
            (Client, &[REPLY, _]) => self.repeat_at = None,
            _ => return None,
        }
        self.is_ready = true;
        None
    }

    fn transmit(&mut self, now: Instant, mps: u32) -> Option<Bytes> {
        assert!(mps as usize > OVERHEAD + 2);
        let kind = self.own.take()?;
        self.attempts += 1;
        if self.side == Client {
            self.repeat_at = Some(now + REPEAT);
        }
        Some([&[0; OVERHEAD][..], &[kind, self.attempts]].concat().into())
    }

    fn is_ready(&self) -> bool {
        self.is_ready
    }

    fn overhead(&self) -> u32 {
        OVERHEAD as u32
    }

    fn deadline(&self) -> Option<Instant> {
        self.repeat_at
    }

    fn expire(&mut self, now: Instant) {
        if self.repeat_at.is_some_and(|at| at <= now) {
            self.repeat_at = None;
            self.own = Some(HELLO);
        }
    }

    fn failure(&self) -> Option<&str> {
        self.has_failed.then_some("a datagram was forged")
    }

    fn close(&mut self, _now: Instant, mps: u32) -> Option<Bytes> {
        assert!(mps as usize > OVERHEAD + 2);
        Some([&[0; OVERHEAD][..], &[BYE, 0]].concat().into())
    }
}

fn configs() -> [Arc<Config>; 2] {
    [Arc::default(), Arc::default()]
}

fn layered(paths: [Path; 2], seed: u64) -> Network<Session> {
    let mut sides = Side::BOTH.into_iter();
    let mut network = Network::between(configs(), paths, seed, |connection| {
        let side = sides.next().expect("two ends");
        Session::with_layer(connection, Box::new(Toy::new(side)))
    });
    network.log = Some(Vec::new());
    network.start();
    network
}

fn clean() -> [Path; 2] {
    [Path::clean(DELAY), Path::clean(DELAY)]
}

fn lossy() -> [Path; 2] {
    clean().map(|path| Path { loss: 0.2, ..path })
}

fn events(network: &mut Network<Session>, side: Side) -> Vec<Event> {
    network.apply(side, |end, _| core::iter::from_fn(|| end.event()).collect())
}

fn received(network: &mut Network<Session>, side: Side) -> Vec<Bytes> {
    network.apply(side, |end, _| {
        let next = core::iter::from_fn(|| end.recv());
        next.map(|datagram| datagram.payload.into_bytes()).collect()
    })
}

/// When each end reports that it is connected.
fn connected_at(network: &mut Network<Session>) -> [Option<Duration>; 2] {
    let mut at = [None; 2];
    while at.contains(&None) && network.step(Instant::ZERO + Duration::from_secs(100)) {
        for side in Side::BOTH {
            let is_connected = events(network, side).contains(&Event::Connected);
            assert_eq!(
                is_connected,
                network.get(side).is_established() && at[side as usize].is_none()
            );
            if is_connected {
                at[side as usize] = Some(network.now - Instant::ZERO);
            }
        }
    }
    at
}

#[test]
fn an_end_is_connected_when_its_layer_is_ready() {
    let mut bare = Network::between(configs(), clean(), 1, Session::new);
    bare.start();
    assert_eq!(connected_at(&mut bare), [Some(DELAY * 2), Some(DELAY * 3)]);
    // The hello leaves with the acknowledgement that completes the server's handshake.
    let at = connected_at(&mut layered(clean(), 1));
    assert_eq!(at, [Some(DELAY * 4), Some(DELAY * 3)]);
}

#[test]
fn before_the_layer_is_ready_nothing_is_accepted() {
    let mut network = layered(clean(), 1);
    network.run_for(DELAY * 3);
    let client = network.get(Client);
    assert!((State::PartOpen..=State::Open).contains(&client.connection().state()));
    assert_eq!((client.is_established(), client.send_room()), (false, 0));
    let mps = client.mps();
    let send = |network: &mut Network<Session>, size| {
        network.apply(Client, |end, _| end.send(Payload::Synthetic(size)))
    };
    assert_eq!(send(&mut network, 1), Err(SendError::QueueFull));
    let size = mps as usize + 1;
    assert_eq!(
        send(&mut network, mps + 1),
        Err(SendError::TooLarge { size, mps })
    );
    assert_eq!(events(&mut network, Client), []);
    network.run_for(DELAY * 2);
    assert_eq!(
        events(&mut network, Client),
        [Event::Connected, Event::Writable]
    );
    assert_eq!(send(&mut network, 1), Ok(()));
}

#[test]
fn a_session_that_is_over_before_its_layer_is_ready_says_so() {
    let mut network = layered(clean(), 1);
    network.run_for(DELAY * 3);
    network.apply(Client, |end, now| end.abort(now));
    let sent = network.apply(Client, |end, _| end.send(Payload::Synthetic(1)));
    assert_eq!(sent, Err(SendError::Closed));
    let seen = events(&mut network, Client);
    assert!(
        matches!(
            &seen[..],
            [Event::Closed {
                cause: Cause::Aborted,
                ..
            }]
        ),
        "{seen:?}"
    );
}

/// Of the datagrams sent, which a path may lose, those that arrive are intact.
#[test]
fn datagrams_pass_through_the_layers_of_both_ends() {
    for seed in 0..40 {
        let mut network = layered(lossy(), seed);
        let at = connected_at(&mut network);
        assert!(at.iter().all(Option::is_some), "seed {seed}: {at:?}");
        let sent: Vec<_> = (0..30_u8)
            .map(|index| Bytes::from(vec![index; 50 + usize::from(index)]))
            .collect();
        for side in Side::BOTH {
            let mut queue = VecDeque::from(sent.clone());
            assert_eq!(
                network.apply(side, |end, _| end.send_all(&mut queue)),
                Ok(())
            );
            assert!(queue.is_empty());
        }
        network.run_for(Duration::from_secs(60));
        for side in Side::BOTH {
            let received = received(&mut network, side);
            assert!(
                (5..30).contains(&received.len()),
                "seed {seed}: {}",
                received.len()
            );
            assert!(received.is_sorted(), "seed {seed}");
            assert!(
                received.iter().all(|datagram| sent.contains(datagram)),
                "seed {seed}"
            );
        }
        let log = network.log.take().unwrap();
        let is_plain = |packet: &Sent| sent.contains(&packet.packet.payload.to_bytes());
        assert!(!log.iter().any(is_plain), "seed {seed}");
    }
}

#[test]
fn a_hello_is_repeated_until_it_is_answered() {
    let dark = Path {
        blackouts: vec![(Instant::ZERO + DELAY * 2, Instant::ZERO + DELAY * 15)],
        ..Path::clean(DELAY)
    };
    let mut network = layered([Path::clean(DELAY), dark], 1);
    network.run_for(DELAY * 40);
    let log = network.log.take().unwrap();
    let hellos = log.iter().filter_map(|sent| {
        let data = sent.packet.payload.to_bytes();
        let attempt = data.strip_prefix(&[0, 0, 0, 0, HELLO])?.first().copied();
        attempt.map(|attempt| (attempt, sent.at - Instant::ZERO))
    });
    let first = DELAY * 2;
    let expected = [(1, first), (2, first + REPEAT)];
    assert_eq!(hellos.collect::<Vec<_>>(), expected);
    assert!(network.get(Client).is_established());
}

#[test]
fn sizes_leave_room_for_the_layer() {
    let mut network = layered(clean(), 1);
    connected_at(&mut network);
    let client = network.get(Client);
    let mps = client.mps();
    assert_eq!(mps, client.connection().mps() - OVERHEAD as u32);
    let data = Bytes::from(vec![7; mps as usize + 1]);
    let sent = network.apply(Client, |end, _| {
        [
            end.send(data.clone().into()),
            end.send(data.slice(1..).into()),
        ]
    });
    let size = data.len();
    assert_eq!(sent, [Err(SendError::TooLarge { size, mps }), Ok(())]);
    network.run_for(DELAY * 2);
    assert_eq!(received(&mut network, Server), [data.slice(1..)]);

    network.apply(Client, |end, now| {
        end.set_path(now, 1_000, 28);
        end.on_local_mtu(now, 900);
    });
    let mps = network.get(Client).mps();
    assert_eq!(
        mps,
        network.get(Client).connection().mps() - OVERHEAD as u32
    );
    let seen = events(&mut network, Client);
    assert!(
        matches!(seen.last(), Some(Event::PathMtu { mps: seen, .. }) if *seen == mps),
        "{seen:?}"
    );
}

#[test]
fn both_ends_close_normally() {
    let mut network = layered(clean(), 1);
    connected_at(&mut network);
    network.apply(Client, |end, now| end.close(now));
    network.run_for(Duration::from_secs(10));
    for side in Side::BOTH {
        let seen = events(&mut network, side);
        assert!(
            matches!(
                &seen[..],
                [Event::Closed {
                    code: ResetCode::CLOSED,
                    cause: Cause::Closed,
                    ..
                }]
            ),
            "{seen:?}"
        );
    }
}

/// Returns the datagrams that an end has sent, in order.
fn datagrams_of(network: &mut Network<Session>, side: Side) -> Vec<Bytes> {
    let log = network.log.take().expect("a log");
    let sent = log.iter().filter(|sent| sent.from == side);
    let data = sent.map(|sent| sent.packet.payload.to_bytes());
    data.filter(|data| !data.is_empty()).collect()
}

#[test]
fn the_last_datagram_of_a_layer_leaves_although_the_queue_is_full() {
    let mut network = layered(clean(), 1);
    connected_at(&mut network);
    let queued = network.apply(Client, |end, now| {
        let datagrams = core::iter::repeat_with(|| end.send(Payload::Synthetic(1)));
        let queued = datagrams.take_while(Result::is_ok).count();
        assert_eq!(end.send_room(), 0);
        end.close(now);
        assert_eq!(end.send(Payload::Synthetic(1)), Err(SendError::Closed));
        queued
    });
    let mut arrived = 0;
    for _ in 0..200 {
        network.run_for(DELAY * 3);
        arrived += received(&mut network, Server).len();
    }
    assert_eq!(arrived, queued);
    let sent = datagrams_of(&mut network, Client);
    assert_eq!(sent.last().unwrap()[..], [0, 0, 0, 0, BYE, 0]);
    assert_eq!(
        sent.iter()
            .filter(|sent| sent[..5] == [0, 0, 0, 0, BYE])
            .count(),
        1
    );
    for side in Side::BOTH {
        let seen = events(&mut network, side);
        let is_normal = |event: &Event| {
            matches!(
                event,
                Event::Closed {
                    cause: Cause::Closed,
                    ..
                }
            )
        };
        assert!(seen.last().is_some_and(is_normal), "{seen:?}");
    }
}

#[test]
fn a_layer_that_fails_ends_its_session_in_its_own_words() {
    let mut network = layered(clean(), 1);
    connected_at(&mut network);
    for data in [&b"honest"[..], FORGED, b"honest"] {
        let sent = network.apply(Client, |end, _| end.send(Bytes::from_static(data).into()));
        assert_eq!(sent, Ok(()));
    }
    network.run_for(Duration::from_secs(10));
    assert_eq!(received(&mut network, Server), ["honest"]);
    let cause = |network: &mut Network<Session>, side| {
        events(network, side)
            .into_iter()
            .find_map(|event| match event {
                Event::Closed { cause, .. } => Some(cause),
                _ => None,
            })
    };
    let reason = "a datagram was forged".into();
    assert_eq!(
        cause(&mut network, Server),
        Some(Cause::LayerFailed { reason })
    );
    assert_eq!(cause(&mut network, Client), Some(Cause::Closed));
    let sent = datagrams_of(&mut network, Server);
    assert_eq!(sent.last().unwrap()[..], [0, 0, 0, 0, BYE, 0]);
}

/// The bytes of everything that two ends send while their applications talk.
fn bytes_sent<E: End<Packet = Packet>>(
    seed: u64,
    end: impl FnMut(Connection) -> E,
    send: impl Fn(&mut E, Payload) -> bool,
    close: impl Fn(&mut E, Instant),
) -> Vec<(Instant, Side, Ecn, Bytes)> {
    let mut network = Network::between(configs(), lossy(), seed, end);
    network.log = Some(Vec::new());
    network.start();
    for size in 0..300 {
        for side in Side::BOTH {
            network.apply(side, |end, _| send(end, Payload::Synthetic(size)));
        }
        network.run_for(Duration::from_millis(10));
    }
    network.apply(Server, |end, now| close(end, now));
    network.run_for(Duration::from_secs(60));
    let log = network.log.take().unwrap();
    let bytes = |sent: Sent| {
        let bytes = sent.packet.to_bytes(sent.from.checksum()).unwrap();
        (sent.at, sent.from, sent.ecn, bytes)
    };
    log.into_iter().map(bytes).collect()
}

#[test]
fn without_a_layer_the_packets_are_those_of_the_connection() {
    let mut packets = 0;
    for seed in 0..10 {
        let bare = bytes_sent(
            seed,
            |connection| connection,
            |end, datagram| end.send(datagram).is_ok(),
            Connection::close,
        );
        let session = bytes_sent(
            seed,
            Session::new,
            |end, datagram| end.send(datagram).is_ok(),
            Session::close,
        );
        assert_eq!(session, bare, "seed {seed}");
        packets += bare.len();
    }
    assert!(packets > 2_000, "{packets}");
}

/// What a driver that sends trains takes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Taken {
    packets: u64,
    in_trains: u64,
}

impl Outlet for Taken {
    fn packet(&mut self, _transmit: Transmit<Packet>) -> ControlFlow<()> {
        self.packets += 1;
        ControlFlow::Continue(())
    }

    fn train(&mut self, train: &mut Train<'_>) -> ControlFlow<()> {
        let taken = train.take_out(usize::MAX, |_, _| {
            self.in_trains += 1;
            Ok::<(), ()>(())
        });
        taken.map_or_else(ControlFlow::Break, ControlFlow::Continue)
    }
}

/// Queues two datagrams of one size at the client, and takes them together.
fn taken(network: &mut Network<Session>) -> Taken {
    connected_at(network);
    network.run_for(Duration::from_secs(1));
    let now = network.clock(Client);
    let end: &mut Driven<Session> = &mut network.ends[Client as usize];
    let mut taken = Taken::default();
    let send = |end: &mut Session| {
        let mut datagrams = VecDeque::from(vec![Bytes::from_static(&[1; 100]); 2]);
        end.send_all(&mut datagrams)
    };
    let (sent, ()) = end.apply(now, send, |mut drain| {
        let _ = drain.transmit_all(&mut taken);
        drain.postpone()
    });
    assert_eq!(sent, Ok(()));
    taken
}

#[test]
fn only_a_layer_turns_trains_off() {
    let mut plain = Network::between(configs(), clean(), 1, Session::new);
    plain.start();
    let (packets, in_trains) = (1, 1);
    assert_eq!(taken(&mut plain), Taken { packets, in_trains });
    let (packets, in_trains) = (2, 0);
    assert_eq!(
        taken(&mut layered(clean(), 1)),
        Taken { packets, in_trains }
    );
}

/// Packets that arrive together pass through the layer one by one.
#[test]
fn packets_that_arrive_together_are_opened() {
    let mut network = layered(clean(), 1);
    connected_at(&mut network);
    network.run_for(Duration::from_secs(1));
    network.log = Some(Vec::new());
    let data = Bytes::from_static(b"hello");
    for _ in 0..2 {
        network
            .apply(Client, |end, _| end.send(data.clone().into()))
            .unwrap();
    }
    let log = network.log.take().unwrap();
    let packets = log
        .iter()
        .map(|sent| sent.packet.to_bytes(Checksum::Ignored).unwrap());
    let now = network.clock(Server);
    let malformed = network.apply(Server, |end, _| {
        end.receive_all(now, Ecn::NotEct, Checksum::Ignored, packets)
    });
    assert_eq!(malformed, 0);
    assert_eq!(received(&mut network, Server), vec![data; 2]);
}
