//! A flood of Requests with forged addresses. A separate test program, because it measures the
//! memory of the whole process.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use memory_stats::memory_stats;
use rand::{Rng, SeedableRng};
use skywave_transport::dccp::{
    Action, Config, Connection, Listener, ListenerConfig, Secret, State,
};
use skywave_transport::{Driven, dccp};
use skywave_units::{Duration, Instant, Random};
use skywave_wire::dccp::{Kind, OptionList, Packet, PacketType, SeqNo, ServiceCode};
use skywave_wire::{Ecn, Payload};

const PORT: u16 = 5_001;
const REQUESTS: u32 = 1_000_000;
const HONEST: &[u8] = b"198.51.100.7";

fn forged(rng: &mut Random) -> ([u8; 4], Packet) {
    let request = Packet {
        source_port: rng.next_u32() as u16,
        destination_port: PORT,
        ccval: 0,
        cscov: 0,
        extended: true,
        seq: SeqNo::new(rng.next_u64()),
        kind: Kind::Request {
            service: ServiceCode::NONE,
        },
        options: OptionList::new(),
        payload: Payload::EMPTY,
    };
    (rng.next_u32().to_be_bytes(), request)
}

/// A genuine client's handshake during the flood. Returns the server's end.
fn connect(listener: &mut Listener, now: Instant) -> Connection {
    let rng = Random::seed_from_u64(9);
    let client = Connection::client(Config::default(), 40_000, PORT, now, rng);
    let mut client = Driven::new(client);
    for _ in 0..4 {
        let sent: Vec<_> = client.drain(now, |mut drain| {
            let sent = std::iter::from_fn(|| drain.transmit()).collect();
            drain.finish().map(|_| sent)
        });
        for transmit in sent {
            match listener.receive(now, transmit.ecn, HONEST, transmit.packet) {
                Some(Action::Accepted(server)) => {
                    assert_eq!(client.get().state(), State::PartOpen);
                    return *server;
                }
                Some(Action::Reply(reply)) => {
                    let answer = client.receive(now, reply.ecn, reply.packet, |mut drain| {
                        let answer = drain.transmit();
                        drain.postpone().map(|()| answer)
                    });
                    if let Some(transmit) = answer {
                        let action = listener.receive(now, transmit.ecn, HONEST, transmit.packet);
                        let Some(Action::Accepted(server)) = action else {
                            panic!("{action:?}");
                        };
                        return *server;
                    }
                }
                None => {}
            }
        }
    }
    panic!("the genuine client did not connect");
}

/// D8.1-6: a million Requests from everywhere take no more memory than the listener permits for
/// half-open connections, and a genuine client connects before, during and after them.
#[test]
fn a_million_forged_requests() {
    let mut listener = Listener::new(ListenerConfig::default(), Secret::new([3; 32]));
    listener.offer(PORT, Config::default()).unwrap();
    let mut rng = Random::seed_from_u64(4);
    let mut now = Instant::ZERO;
    let resident_bytes = || memory_stats().unwrap().physical_mem;
    let mut before = 0;
    let mut responses = 0;
    for count in 0..REQUESTS {
        let (peer, request) = forged(&mut rng);
        let action = listener.receive(now, Ecn::NotEct, &peer, request);
        let Some(Action::Reply(reply)) = action else {
            panic!("{action:?}");
        };
        responses += u32::from(reply.packet.kind.packet_type() == PacketType::Response);
        now += Duration::from_micros(10);
        match count {
            // By now the half-open connections exist.
            10_000 => before = resident_bytes(),
            500_000 => assert_eq!(connect(&mut listener, now).state(), State::Open),
            _ => {}
        }
    }
    assert_eq!(responses, REQUESTS, "every Request gets a Response");
    assert_eq!(listener.half_open(), ListenerConfig::default().half_open);
    let server: dccp::Connection = connect(&mut listener, now);
    assert_eq!(
        (server.state(), server.remote_port()),
        (State::Open, 40_000)
    );
    let grown = resident_bytes().saturating_sub(before);
    println!("{REQUESTS} Requests: {grown} bytes more");
    assert!(grown < 1 << 20, "{grown} bytes");
}
