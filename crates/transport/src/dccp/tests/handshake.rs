//! Connection establishment (RFC 4340 sections 5.2, 5.3 and 8.1).

use super::*;
use crate::dccp::Origin;

#[test]
fn three_way_handshake() {
    let mut pair = Pair::default();
    pair.run_for(secs(1));
    assert_eq!(pair.states(), (State::Open, State::Open));
    assert_eq!(pair.events(Client), [Event::Connected]);
    assert_eq!(pair.events(Server), [Event::Connected]);
    assert_eq!(pair.kinds(Client), [PacketType::Request, PacketType::Ack]);
    assert_eq!(pair.kinds(Server), [PacketType::Response, PacketType::Ack]);
    assert!(pair.log.iter().all(|sent| sent.packet.extended), "D5.1-5");
}

/// D5.2-1, D5.3-1: the Response repeats the Request's Service Code.
#[test]
fn response_repeats_the_service_code() {
    let code = ServiceCode(0x66_64_70_7a);
    let config = Config {
        service_codes: vec![ServiceCode(7), code],
        ..Config::default()
    };
    let mut pair = Pair::new(
        Config {
            service_codes: vec![code],
            ..Config::default()
        },
        config,
    );
    pair.run_for(secs(1));
    assert_eq!(pair.log[0].packet.kind, Kind::Request { service: code });
    let request_seq = pair.log[0].packet.seq;
    assert_eq!(
        pair.log[1].packet.kind,
        Kind::Response {
            ack: request_seq,
            service: code
        }
    );
    assert_eq!(pair.get(Server).service_code(), code);
}

/// D8.1-3: a Service Code that is not offered, and the invalid one, are refused with code 8.
#[test]
fn bad_service_code() {
    for code in [ServiceCode(9), ServiceCode::INVALID] {
        let client = Config {
            service_codes: vec![code],
            ..Config::default()
        };
        let service_codes = vec![ServiceCode(1), ServiceCode::INVALID];
        let server = Config {
            service_codes,
            ..Config::default()
        };
        let mut pair = Pair::new(client, server);
        pair.run_for(secs(1));
        assert_eq!(pair.states(), (State::TimeWait, State::Listen));
        let closed = Event::Closed {
            code: ResetCode::BAD_SERVICE_CODE,
            origin: Origin::Remote,
        };
        assert_eq!(pair.events(Client), [closed]);
    }
}

/// D8.1-1, D8.1-2: Requests are retransmitted after 1, 2, 4, ... s, with new numbers and the same
/// content; after three minutes a Reset with code 2 and acknowledgement number zero follows.
#[test]
fn request_retries_and_gives_up() {
    let mut pair = Pair::default();
    pair.network = Box::new(|_| Fate::Drop);
    pair.run_for(secs(200));
    let sent = pair.sent_by(Client, 0);
    let times: Vec<u64> = sent
        .iter()
        .map(|sent| sent.at.since_epoch().as_millis() / 1_000)
        .collect();
    assert_eq!(times, [0, 1, 3, 7, 15, 31, 63, 127, 180]);
    let (reset, requests) = sent.split_last().unwrap();
    for (index, request) in requests.iter().enumerate() {
        assert_eq!(request.packet.kind, requests[0].packet.kind);
        assert_eq!(request.packet.options, requests[0].packet.options);
        assert_eq!(
            request.packet.seq,
            requests[0].packet.seq.add(index as u64),
            "D7.1-1"
        );
    }
    let given_up = Kind::Reset {
        ack: SeqNo::ZERO,
        code: ResetCode::ABORTED,
        data: [0; 3],
    };
    assert_eq!(reset.packet.kind, given_up);
    assert_eq!(pair.get(Client).state(), State::Closed);
}

/// D8.1-1: the interval does not grow beyond 64 s.
#[test]
fn request_back_off_is_limited() {
    let config = Config {
        request_give_up: secs(400),
        ..Config::default()
    };
    let mut pair = Pair::new(config, Config::default());
    pair.network = Box::new(|_| Fate::Drop);
    pair.run_for(secs(399));
    let times: Vec<u64> = pair
        .sent_by(Client, 0)
        .iter()
        .map(|sent| sent.at.since_epoch().as_millis() / 1_000)
        .collect();
    assert_eq!(times, [0, 1, 3, 7, 15, 31, 63, 127, 191, 255, 319, 383]);
}

/// D8.1-4: each Request in RESPOND gets a Response with the next number; the server sends none on
/// its own.
#[test]
fn each_request_elicits_a_response() {
    let mut pair = Pair::default();
    let first = pair.inject(Server, request(100));
    let second = pair.inject(Server, request(101));
    let [first, second] = [&first[0], &second[0]];
    assert_eq!(first.kind.packet_type(), PacketType::Response);
    assert_eq!(second.kind.ack(), Some(SeqNo::new(101)));
    assert_eq!(second.seq, first.seq.next());
    pair.client = Driven::new(Connection::listen(Config::default(), 9, rng(9)));
    let before = pair.log.len();
    pair.run_for(secs(100));
    assert_eq!(pair.sent_by(Server, before).len(), 0);
    assert_eq!(pair.get(Server).state(), State::Respond);
}

/// D8.1-4, D8.5-2: data of the first Request is delivered, that of the second dropped and reported
/// with Drop Code 0.
#[test]
fn request_data_is_delivered_once() {
    let mut pair = Pair::default();
    pair.inject(Server, with_data(request(100), 11));
    let answer = pair.inject(Server, with_data(request(101), 11));
    assert_eq!(pair.received(Server), [11]);
    let reported = answer[0].options.iter().any(
        |option| matches!(option, DccpOption::DataDropped(blocks) if blocks.as_slice() == [0x80]),
    );
    assert!(reported, "{:?}", answer[0].options);
}

/// D8.1-5: a server in RESPOND gives up after eight minutes.
#[test]
fn respond_gives_up() {
    let mut pair = Pair::default();
    pair.network = Box::new(|sent| {
        if sent.from == Server || sent.kind() != PacketType::Request {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    pair.run_for(secs(479));
    assert_eq!(pair.get(Server).state(), State::Respond);
    pair.run_for(secs(180));
    assert_eq!(pair.get(Server).state(), State::Closed);
    let last = pair.sent_by(Server, 0).last().unwrap().packet.clone();
    assert_eq!(reset_code(&last), Some((ResetCode::ABORTED, [0; 3])));
}

/// D8.1-6: cookies are returned in order on every packet until the server shows that it has them,
/// each packet has an acknowledgement number, and a later Response's cookies replace the first.
#[test]
fn init_cookies_are_echoed() {
    let cookie = |byte: u8| DccpOption::InitCookie([byte; 5][..].into());
    let mut pair = Pair::default();
    pair.drain(Client);
    let iss = pair.gss(Client);
    let kind = Kind::Response {
        ack: SeqNo::new(iss),
        service: ServiceCode::NONE,
    };
    let agreed = confirm(FeatureSide::Local, 6, &[1, 1, 0]);
    let options = [cookie(3), agreed, cookie(1), cookie(2)];
    pair.send(Client, 100);
    pair.send(Client, 100);
    let sent = pair.inject(Client, with_options(packet(Server, 7_000, kind), &options));
    let kinds: Vec<PacketType> = sent
        .iter()
        .map(|packet| packet.kind.packet_type())
        .collect();
    assert_eq!(
        kinds,
        [PacketType::Ack, PacketType::DataAck, PacketType::DataAck]
    );
    let cookies = |packet: &Packet| -> Vec<DccpOption> {
        let is_cookie = |option: &&DccpOption| matches!(option, DccpOption::InitCookie(_));
        packet.options.iter().filter(is_cookie).cloned().collect()
    };
    for packet in &sent {
        assert!(packet.kind.ack().is_some(), "D4.3-1: {packet:?}");
        assert_eq!(cookies(packet), [cookie(3), cookie(1), cookie(2)]);
    }
    let again = pair.inject(
        Client,
        with_options(packet(Server, 7_001, kind), &[cookie(9)]),
    );
    assert_eq!(cookies(&again[0]), [cookie(9)]);
    // The server is open: no more cookies.
    let ack = Kind::Ack { ack: again[0].seq };
    pair.inject(Client, packet(Server, 7_002, ack));
    assert_eq!(pair.get(Client).state(), State::Open);
    pair.send(Client, 100);
    let now = pair.now;
    let (sent, _) = drain(&mut pair.client, now);
    assert!(sent.iter().all(|sent| cookies(&sent.packet).is_empty()));
}

/// D8.1-6, D11-1: a cookie or an acknowledgement option on a Request has no meaning.
#[test]
fn options_that_mean_nothing_on_a_request() {
    let mut pair = Pair::default();
    let options = [
        DccpOption::InitCookie([1, 2, 3][..].into()),
        DccpOption::AckVector {
            nonce: true,
            cells: [0, 0x40][..].into(),
        },
        DccpOption::DataDropped([0x90][..].into()),
    ];
    let sent = pair.inject(Server, with_options(request(5), &options));
    assert_eq!(sent[0].kind.packet_type(), PacketType::Response);
    assert!(pair.events(Server).is_empty());
    assert_eq!(pair.window(Server).marked, 0);
}

/// D7.2-1: initial sequence numbers come from the generator and cover all 48 bits, and the low 24
/// bits are spread as well.
#[test]
fn initial_sequence_numbers_are_random() {
    let mut numbers: Vec<u64> = (0..200)
        .map(|seed| {
            let client = Connection::client(Config::default(), 1, 2, Instant::ZERO, rng(seed));
            let (sent, _) = drain(&mut Driven::new(client), Instant::ZERO);
            sent[0].packet.seq.get()
        })
        .collect();
    for bit in 0..48 {
        let ones = numbers.iter().filter(|&&seq| seq >> bit & 1 == 1).count();
        assert!((60..=140).contains(&ones), "bit {bit}: {ones} of 200");
    }
    numbers.sort_unstable_by_key(|seq| seq & 0xff_ffff);
    numbers.dedup_by_key(|seq| *seq & 0xff_ffff);
    assert_eq!(numbers.len(), 200);
}

/// D4.3-1, D8.1-7: a client in PARTOPEN sends data only in DataAck packets, and repeats its
/// acknowledgement after 200 ms without an answer, with back-off; after eight minutes it aborts.
#[test]
fn partopen() {
    // Three packets of that size are the initial window.
    let config = Config {
        mps: 1_400,
        silence_timeout: None,
        ..Config::default()
    };
    let mut pair = Pair::new(config.clone(), config);
    for _ in 0..3 {
        pair.send(Client, 500);
    }
    pair.network = Box::new(|sent| {
        let is_response = sent.kind() == PacketType::Response;
        let is_request = sent.kind() == PacketType::Request;
        if is_response || is_request {
            Fate::Deliver
        } else {
            Fate::Drop
        }
    });
    pair.run_for(millis(110));
    let sent = pair.sent_by(Client, 1);
    let kinds: Vec<PacketType> = sent.iter().map(|sent| sent.kind()).collect();
    let data = PacketType::DataAck;
    assert_eq!(kinds, [PacketType::Ack, data, data, data]);
    pair.run_for(secs(500));
    assert_eq!(pair.get(Client).state(), State::Closed);
    let sent = pair.sent_by(Client, 1);
    assert!(sent.iter().all(|sent| sent.packet.kind.ack().is_some()));
    let acks: Vec<u64> = sent
        .iter()
        .filter(|sent| sent.kind() == PacketType::Ack)
        .map(|sent| sent.at.since_epoch().as_millis())
        .collect();
    assert_eq!(acks[..2], [100, 300], "the Response came at 100 ms");
    assert!(acks.len() < 60, "no back-off: {} acks", acks.len());
    let last = &sent.last().unwrap().packet;
    assert_eq!(reset_code(last), Some((ResetCode::ABORTED, [0; 3])));
}

/// An idle client receives only the first of two Responses; a server's answer ends PARTOPEN.
#[test]
fn idle_connection_leaves_partopen_though_a_response_is_lost() {
    let mut pair = Pair::default();
    let mut responses = 0;
    pair.network = Box::new(move |sent| {
        if sent.kind() != PacketType::Response {
            return Fate::Deliver;
        }
        responses += 1;
        if responses == 1 {
            Fate::Delay(millis(1_010))
        } else {
            Fate::Drop
        }
    });
    pair.run_for(secs(30));
    assert_eq!(pair.kinds(Server)[..2], [PacketType::Response; 2]);
    assert_eq!(pair.states(), (State::Open, State::Open));
}

/// The first Ack of an idle client is lost; it sends another one, and a server's answer ends
/// PARTOPEN.
#[test]
fn idle_connection_leaves_partopen_despite_loss() {
    let mut pair = Pair::default();
    let mut lost = 0;
    pair.network = Box::new(move |sent| {
        if sent.kind() == PacketType::Ack && lost < 4 {
            lost += 1;
            return Fate::Drop;
        }
        Fate::Deliver
    });
    pair.run_for(secs(30));
    assert_eq!(pair.states(), (State::Open, State::Open));
}

/// D8.3-3, D7.5-6: anything but a Response or Reset in REQUEST state is answered with a Reset of
/// code 4 that acknowledges it and has the number after the one it acknowledges; the Request
/// continues (the last example of section 7.5.6).
#[test]
fn half_open_connection_is_cleared() {
    let mut pair = Pair::default();
    pair.drain(Client);
    let iss = pair.gss(Client);
    let kinds = [
        Kind::Sync {
            ack: SeqNo::new(iss),
        },
        Kind::Data,
        Kind::Ack {
            ack: SeqNo::new(iss),
        },
        Kind::Response {
            ack: SeqNo::new(iss + 50),
            service: ServiceCode::NONE,
        },
    ];
    for kind in kinds {
        let sent = pair.inject(Client, packet(Server, 11, kind));
        let expected = Kind::Reset {
            ack: SeqNo::new(11),
            code: ResetCode::PACKET_ERROR,
            data: [kind.packet_type() as u8, 0, 0],
        };
        assert_eq!(sent.len(), 1);
        assert_eq!(sent[0].kind, expected);
        assert_eq!(sent[0].seq, kind.ack().map_or(SeqNo::ZERO, SeqNo::next));
        assert_eq!(pair.get(Client).state(), State::Request);
    }
    // But a Reset is never answered with a Reset: two clients would do so forever.
    let ack = SeqNo::new(iss + 50);
    let reset = Kind::Reset {
        ack,
        code: ResetCode::CLOSED,
        data: [0; 3],
    };
    assert!(pair.inject(Client, packet(Server, 11, reset)).is_empty());
    assert_eq!(pair.get(Client).state(), State::Request);
}

/// D8.3-3: without a connection, a Reset's numbers are derived from the packet that it answers.
#[test]
fn stray_packets_are_reset() {
    let ack = SeqNo::new(77);
    let cases = [
        (Kind::Data, 0),
        (Kind::Ack { ack }, 78),
        (Kind::Close { ack }, 78),
        (Kind::Sync { ack }, 78),
    ];
    for (kind, seq) in cases {
        let mut pair = Pair::default();
        let sent = pair.inject(Server, packet(Client, 300, kind));
        let expected = Kind::Reset {
            ack: SeqNo::new(300),
            code: ResetCode::NO_CONNECTION,
            data: [0; 3],
        };
        assert_eq!(sent[0].kind, expected);
        assert_eq!(sent[0].seq, SeqNo::new(seq));
        assert_eq!(
            (sent[0].source_port, sent[0].destination_port),
            (SERVER_PORT, CLIENT_PORT)
        );
        assert_eq!(pair.get(Server).state(), State::Listen);
    }
    // Short numbers: the upper halves are zero, the sum wraps in 24 bits.
    let mut pair = Pair::default();
    let mut short = packet(
        Client,
        300,
        Kind::Ack {
            ack: SeqNo::new(0xff_ffff),
        },
    );
    short.extended = false;
    assert_eq!(pair.inject(Server, short)[0].seq, SeqNo::ZERO);
    // A Reset is never answered.
    let reset = Kind::Reset {
        ack,
        code: ResetCode::CLOSED,
        data: [0; 3],
    };
    assert!(pair.inject(Server, packet(Client, 300, reset)).is_empty());
    // A Request to a port where nobody listens: code 7.
    let mut elsewhere = request(1);
    elsewhere.destination_port = 9;
    let sent = pair.inject(Server, elsewhere);
    assert_eq!(
        reset_code(&sent[0]),
        Some((ResetCode::CONNECTION_REFUSED, [0; 3]))
    );
}

/// D8.1-5: Resets without a connection are limited to 1024 a second.
#[test]
fn stray_resets_are_rate_limited() {
    let mut pair = Pair::default();
    let sent: usize = (0..3_000)
        .map(|seq| pair.inject(Server, packet(Client, seq, Kind::Data)).len())
        .sum();
    assert_eq!(sent, 1024);
}

/// D5.1-5: the long types are ignored with short numbers; Listen always.
#[test]
fn step_1_drops_in_silence() {
    let mut pair = Pair::opened();
    let (seq, ack) = (pair.gss(Client) + 1, SeqNo::new(pair.gss(Server)));
    let reset = Kind::Reset {
        ack,
        code: ResetCode::CLOSED,
        data: [0; 3],
    };
    for kind in [
        Kind::Close { ack },
        Kind::Sync { ack },
        Kind::SyncAck { ack },
        reset,
    ] {
        let mut short = packet(Client, seq & 0xff_ffff, kind);
        short.extended = false;
        assert!(pair.inject(Server, short).is_empty());
    }
    let listen = Kind::Listen {
        service: ServiceCode::NONE,
    };
    assert!(pair.inject(Server, packet(Client, 0, listen)).is_empty());
    assert_eq!(pair.states(), (State::Open, State::Open));
    assert_eq!(pair.get(Server).stats().counters.invalid_packets, 5);
}

/// A server made for one Request.
#[test]
fn server_answers_the_request_it_is_made_for() {
    let server = Connection::server(
        Config::default(),
        SERVER_PORT,
        rng(3),
        Instant::ZERO,
        Ecn::Ect0,
        request(42),
    );
    assert_eq!(server.state(), State::Respond);
    assert_eq!(server.remote_port(), CLIENT_PORT);
    let (sent, _) = drain(&mut Driven::new(server), Instant::ZERO);
    assert_eq!(sent[0].packet.kind.packet_type(), PacketType::Response);
}
