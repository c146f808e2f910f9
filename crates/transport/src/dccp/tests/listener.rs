//! Requests without a connection: half-open state, Init Cookies, strays (RFC 4340 sections 8.1
//! and 8.3.1, RFC 5595).

use proptest::prelude::*;

use super::*;
use crate::dccp::{Action, Listener, ListenerConfig, OfferError, Secret};

const PEER: &[u8] = b"192.0.2.1";

fn listener(half_open: usize, config: Config) -> Listener {
    let limits = ListenerConfig {
        half_open,
        ..ListenerConfig::default()
    };
    let mut listener = Listener::new(limits, Secret::new([7; 32]));
    listener.offer(SERVER_PORT, config).unwrap();
    listener
}

fn always_cookies() -> Listener {
    listener(0, Config::default())
}

fn client(config: Config) -> Driven<Connection> {
    let client = Connection::client(config, CLIENT_PORT, SERVER_PORT, Instant::ZERO, rng(1));
    Driven::new(client)
}

fn at(time: Duration) -> Instant {
    Instant::ZERO + time
}

fn packets(driven: &mut Driven<Connection>, now: Instant) -> Vec<Packet> {
    let (sent, _) = drain(driven, now);
    sent.into_iter().map(|sent| sent.packet).collect()
}

#[track_caller]
fn reply(action: Option<Action>) -> Packet {
    match action {
        Some(Action::Reply(transmit)) => transmit.packet,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn accepted(action: Option<Action>) -> Connection {
    match action {
        Some(Action::Accepted(connection)) => *connection,
        other => panic!("{other:?}"),
    }
}

fn code(packet: &Packet) -> Option<ResetCode> {
    reset_code(packet).map(|(code, _)| code)
}

fn has_cookie(packet: &Packet) -> bool {
    let is_cookie = |option: &DccpOption| matches!(option, DccpOption::InitCookie(_));
    packet.options.iter().any(is_cookie)
}

/// Takes a client's Request to the listener and the answer back. Returns the client's next packets.
fn shake(
    listener: &mut Listener,
    driven: &mut Driven<Connection>,
    now: Instant,
) -> (Packet, Vec<Packet>) {
    let request = packets(driven, now).pop().unwrap();
    let response = reply(listener.receive(now, Ecn::Ect0, PEER, request));
    let back = now + millis(50);
    driven.receive(back, Ecn::Ect0, response.clone(), |drain| drain.postpone());
    (response, packets(driven, back))
}

/// A handshake with a cookie. Returns the packet that returned the cookie, and the connection.
fn cookie_handshake(listener: &mut Listener, now: Instant) -> (Packet, Connection) {
    let mut driven = client(Config::default());
    let (response, mut answer) = shake(listener, &mut driven, now);
    assert!(has_cookie(&response));
    let ack = answer.remove(0);
    let arrival = now + millis(100);
    let server = accepted(listener.receive(arrival, Ecn::Ect0, PEER, ack.clone()));
    (ack, server)
}

/// D8.1-6: a Request leaves no state; the returned cookie opens a connection, which carries data in
/// both directions and needs no more cookies.
#[test]
fn a_cookie_makes_a_connection() {
    let mut listener = always_cookies();
    let mut driven = client(Config::default());
    let (response, answer) = shake(&mut listener, &mut driven, Instant::ZERO);
    assert!(has_cookie(&response));
    assert_eq!(listener.half_open(), 0);
    assert_eq!(listener.deadline(), None);
    assert_eq!(answer[0].kind.packet_type(), PacketType::Ack);
    let server = accepted(listener.receive(at(millis(100)), Ecn::Ect0, PEER, answer[0].clone()));
    assert_eq!(server.state(), State::Open);
    assert_eq!(server.remote_port(), CLIENT_PORT);
    let mut pair = Pair::default();
    (pair.client, pair.server) = (driven, Driven::new(server));
    pair.now = at(millis(100));
    pair.send(Client, 10);
    pair.send(Server, 20);
    pair.run_for(secs(1));
    assert_eq!(pair.states(), (State::Open, State::Open));
    assert_eq!(pair.events(Server), [Event::Connected]);
    assert_eq!(pair.received(Server), [10]);
    assert_eq!(pair.received(Client), [20]);
    pair.send(Client, 30);
    pair.drain(Client);
    assert!(!has_cookie(&pair.log.last().unwrap().packet));
}

/// D8.1-6, D8.1-7: the first packet with the cookie may be lost; a DataAck carries it too, and its
/// data is delivered.
#[test]
fn any_packet_of_partopen_brings_the_cookie() {
    let mut listener = always_cookies();
    let mut driven = client(Config::default());
    let send = |client: &mut Connection| client.send(Payload::Synthetic(99));
    let (sent, ()) = driven.apply(Instant::ZERO, send, |drain| drain.postpone());
    sent.unwrap();
    let (_, answer) = shake(&mut listener, &mut driven, Instant::ZERO);
    let data = answer.last().unwrap().clone();
    assert_eq!(data.kind.packet_type(), PacketType::DataAck);
    let mut server = accepted(listener.receive(at(millis(100)), Ecn::Ect0, PEER, data));
    assert_eq!(server.recv().unwrap().payload.len(), 99);
}

/// D8.1-4, D8.5-2: the data of a Request that is not stored is reported as dropped with Drop Code
/// 0, in the Response and by the connection.
#[test]
fn request_data_is_refused_where_nothing_is_kept() {
    let mut listener = always_cookies();
    let asked = with_data(request(100), 11);
    let response = reply(listener.receive(Instant::ZERO, Ecn::Ect0, PEER, asked));
    let reports = |packet: &Packet, blocks: &[u8]| {
        packet.options.iter().any(
            |option| matches!(option, DccpOption::DataDropped(found) if found.as_slice() == blocks),
        )
    };
    assert!(reports(&response, &[0x80]), "{response:?}");
    let mut ack = packet(Client, 101, Kind::Ack { ack: response.seq });
    ack.options.extend(
        response
            .options
            .iter()
            .filter(|option| matches!(option, DccpOption::InitCookie(_)))
            .cloned(),
    );
    ack.options.push(confirm(FeatureSide::Local, 6, &[1, 1, 0]));
    let mut server = accepted(listener.receive(at(millis(100)), Ecn::Ect0, PEER, ack));
    assert_eq!(server.recv(), None);
    let mut server = Driven::new(server);
    let sent = packets(&mut server, at(millis(100)));
    // The latest packet was an Ack, the one before the Request. The Ack acknowledges the Response,
    // and with it the first report.
    assert!(sent.iter().all(|packet| !reports(packet, &[0, 0x80])));
    assert_eq!(server.get().stats().counters.datagrams_dropped, 1);
}

/// D8.1-4: below the threshold a Request is stored and its data delivered.
#[test]
fn half_open_connections_are_kept_below_the_threshold() {
    let mut listener = listener(1, Config::default());
    let asked = with_data(request(100), 11);
    let response = reply(listener.receive(Instant::ZERO, Ecn::Ect0, PEER, asked));
    assert!(!has_cookie(&response));
    assert_eq!(listener.half_open(), 1);
    let again = with_data(request(101), 11);
    let second = reply(listener.receive(at(secs(1)), Ecn::Ect0, PEER, again));
    assert_eq!(second.seq, response.seq.next());
    // Another client finds the table full, and connects anyway.
    let (_, other) = {
        let mut driven = client(Config::default());
        let mut asked = packets(&mut driven, Instant::ZERO).pop().unwrap();
        asked.source_port = 9;
        let response = reply(listener.receive(at(secs(1)), Ecn::Ect0, PEER, asked));
        (driven, response)
    };
    assert!(has_cookie(&other));
    assert_eq!(listener.half_open(), 1);
    let ack = packet(Client, 102, Kind::Ack { ack: second.seq });
    let mut server = accepted(listener.receive(at(secs(2)), Ecn::Ect0, PEER, ack));
    assert_eq!(server.recv().unwrap().payload.len(), 11);
    assert_eq!(server.recv(), None);
    assert_eq!(listener.half_open(), 0);
    assert_eq!(listener.deadline(), None);
    assert_eq!(listener.stats().accepted, 1);
}

/// D8.1-5: a half-open connection that is never completed is given up after eight minutes, with
/// Reset Code 2.
#[test]
fn half_open_connections_are_given_up() {
    let mut listener = listener(8, Config::default());
    for port in 0..3 {
        let mut asked = request(100);
        asked.source_port = port;
        let now = at(secs(port.into()));
        reply(listener.receive(now, Ecn::Ect0, PEER, asked));
    }
    assert_eq!(listener.deadline(), Some(at(secs(480))));
    assert!(listener.expire(at(secs(479))).is_empty());
    let resets = listener.expire(at(secs(480)));
    assert_eq!(resets.len(), 1);
    assert_eq!(&*resets[0].0, PEER);
    assert_eq!(code(&resets[0].1.packet), Some(ResetCode::ABORTED));
    assert_eq!(listener.deadline(), Some(at(secs(481))));
    assert_eq!(listener.expire(at(secs(600))).len(), 2);
    assert_eq!((listener.half_open(), listener.deadline()), (0, None));
}

/// D8.1-6: a cookie that was altered, comes from another address or port, or is too old gets Reset
/// Code 10 and no connection. Neither does one that does not match the packet's numbers.
#[test]
fn bad_cookies_are_refused() {
    let mut driven = client(Config::default());
    let mut first = always_cookies();
    let (_, answer) = shake(&mut first, &mut driven, Instant::ZERO);
    let good = answer[0].clone();
    let refused = |peer: &[u8], now: Duration, packet: Packet| {
        // The same secret, which is all that a listener needs.
        let mut listener = always_cookies();
        let expected = Kind::Reset {
            ack: packet.seq,
            code: ResetCode::BAD_INIT_COOKIE,
            data: [0; 3],
        };
        let seq = packet.kind.ack().unwrap().next();
        let reset = reply(listener.receive(at(now), Ecn::Ect0, peer, packet));
        assert_eq!((reset.kind, reset.seq), (expected, seq), "D8.3-3");
        assert_eq!(listener.stats().bad_cookies, 1);
    };
    let soon = millis(100);
    accepted(always_cookies().receive(at(soon), Ecn::Ect0, PEER, good.clone()));
    let mut control = always_cookies();
    refused(b"192.0.2.2", soon, good.clone());
    refused(PEER, secs(121), good.clone());
    let DccpOption::InitCookie(cookie) = good
        .options
        .iter()
        .find(|option| matches!(option, DccpOption::InitCookie(_)))
        .unwrap()
        .clone()
    else {
        unreachable!()
    };
    for index in 0..cookie.len() {
        for bit in [0, 3, 7] {
            let mut wrong = cookie.clone();
            wrong[index] ^= 1 << bit;
            let mut packet = good.clone();
            packet.options = [DccpOption::InitCookie(wrong)].into_iter().collect();
            refused(PEER, soon, packet);
        }
    }
    for length in 0..cookie.len() {
        let mut packet = good.clone();
        packet.options = [DccpOption::InitCookie(cookie[..length].into())]
            .into_iter()
            .collect();
        refused(PEER, soon, packet);
    }
    let mut wrong = good.clone();
    wrong.source_port += 1;
    refused(PEER, soon, wrong);
    let ack = good.kind.ack().unwrap();
    let numbers = [
        (good.seq, ack.next()),
        (good.seq, ack.previous()),
        (good.seq.add(1_000), ack),
        (good.seq.sub(2), ack),
    ];
    for (seq, ack) in numbers {
        let kind = Kind::Ack { ack };
        let packet = Packet {
            seq,
            kind,
            ..good.clone()
        };
        let action = control.receive(at(soon), Ecn::Ect0, PEER, packet);
        assert!(
            !matches!(action, Some(Action::Accepted(_))),
            "{seq} {ack}: {action:?}"
        );
    }
}

/// A cookie opens one connection: a packet replayed after its end opens no other, neither before
/// nor after the cookie expires.
#[test]
fn a_cookie_is_spent_once() {
    let mut listener = always_cookies();
    let (ack, _) = cookie_handshake(&mut listener, Instant::ZERO);
    for time in [1, 60, 119, 121, 240, 1_000] {
        let reset = reply(listener.receive(at(secs(time)), Ecn::Ect0, PEER, ack.clone()));
        assert_eq!(code(&reset), Some(ResetCode::BAD_INIT_COOKIE), "{time} s");
    }
    // Another connection between the same ports does not change that.
    cookie_handshake(&mut listener, at(secs(1_001)));
}

/// Keys are replaced without shortening the lifetime of cookies.
#[test]
fn cookies_outlive_a_change_of_keys() {
    for start in 0..300 {
        let mut listener = always_cookies();
        let mut driven = client(Config::default());
        // Other handshakes advance the listener's time.
        reply(listener.receive(at(secs(start)), Ecn::Ect0, PEER, request(5)));
        let asked = packets(&mut driven, Instant::ZERO).pop().unwrap();
        let response = reply(listener.receive(at(secs(start)), Ecn::Ect0, PEER, asked));
        driven.receive(at(millis(50)), Ecn::Ect0, response, |drain| {
            drain.postpone()
        });
        let ack = packets(&mut driven, at(millis(50))).remove(0);
        reply(listener.receive(at(secs(start + 60)), Ecn::Ect0, PEER, request(5)));
        accepted(listener.receive(at(secs(start + 119)), Ecn::Ect0, PEER, ack));
    }
}

/// D8.1-6: a client that has sent three Requests gets three Responses with cookies, of which some
/// may be lost, and returns one cookie. The server's later packets have different numbers than
/// those forgotten Responses, and an idle client learns that the handshake is complete.
#[test]
fn packets_after_a_cookie_are_not_taken_for_responses() {
    for (arrive, talks) in [0b111, 0b001, 0b011, 0b101, 0b110, 0b100]
        .into_iter()
        .flat_map(|arrive| [(arrive, true), (arrive, false)])
    {
        let mut listener = always_cookies();
        let mut driven = client(Config::default());
        let mut asked = packets(&mut driven, Instant::ZERO);
        for time in [1, 3] {
            driven.expire(at(secs(time)), |drain| drain.postpone());
            asked.extend(packets(&mut driven, at(secs(time))));
        }
        let now = at(millis(3_100));
        let mut answers = Vec::new();
        for (index, request) in asked.into_iter().enumerate() {
            let response = reply(listener.receive(now, Ecn::Ect0, PEER, request));
            if arrive >> index & 1 == 1 {
                driven.receive(now, Ecn::Ect0, response, |drain| drain.postpone());
                answers.extend(packets(&mut driven, now));
            }
        }
        let server = accepted(listener.receive(now, Ecn::Ect0, PEER, answers.remove(0)));
        let mut pair = Pair::default();
        (pair.client, pair.server) = (driven, Driven::new(server));
        pair.now = now;
        if talks {
            pair.send(Server, 20);
        }
        pair.drain(Server);
        for answer in answers {
            pair.receive(Server, Ecn::Ect0, answer);
        }
        pair.run_for(secs(5));
        assert_eq!(pair.states(), (State::Open, State::Open), "{arrive:03b}");
        let received = if talks { vec![20] } else { vec![] };
        assert_eq!(pair.received(Client), received, "{arrive:03b}");
        assert_eq!(pair.get(Client).stats().counters.duplicates, 0);
    }
}

/// D8.1-4, D8.1-2: without state too, each retransmitted Request is answered with the next number
/// and a matching cookie.
#[test]
fn retries_get_the_next_number() {
    let mut listener = always_cookies();
    let first = reply(listener.receive(at(secs(0)), Ecn::Ect0, PEER, request(100)));
    let second = reply(listener.receive(at(secs(1)), Ecn::Ect0, PEER, request(101)));
    assert_eq!(second.seq, first.seq.next());
    assert_eq!(second.kind.ack(), Some(SeqNo::new(101)));
    // The client receives both, the second one last: its packets carry that one's cookie.
    let mut driven = client(Config::default());
    let iss = packets(&mut driven, at(secs(0)))[0].seq;
    driven.expire(at(secs(1)), |drain| drain.postpone());
    let again = packets(&mut driven, at(secs(1))).remove(0);
    let second = reply(listener.receive(at(secs(1)), Ecn::Ect0, PEER, again.clone()));
    let first = Packet { seq: iss, ..again };
    let first = reply(listener.receive(at(secs(1)), Ecn::Ect0, PEER, first));
    let mut answer = Vec::new();
    for response in [second, first] {
        driven.receive(at(secs(2)), Ecn::Ect0, response, |drain| drain.postpone());
        answer.extend(packets(&mut driven, at(secs(2))));
    }
    // The Ack; then the Sync in response to the late Response, whose number is unknown.
    assert_eq!(answer.len(), 2);
    let sync = answer.pop().unwrap();
    assert_eq!(sync.kind.packet_type(), PacketType::Sync);
    assert!(
        listener
            .receive(at(secs(2)), Ecn::Ect0, PEER, sync)
            .is_none()
    );
    accepted(listener.receive(at(secs(2)), Ecn::Ect0, PEER, answer.remove(0)));
}

/// S-1, S-2, D8.1-3: a listening port has Service Codes, each offered once; a port may have
/// several, and the connection says which was requested.
#[test]
fn services() {
    let offer = |listener: &mut Listener, port, codes: &[u32]| {
        let service_codes = codes.iter().copied().map(ServiceCode).collect();
        let config = Config {
            service_codes,
            ..Config::default()
        };
        listener.offer(port, config)
    };
    let mut listener = Listener::new(ListenerConfig::default(), Secret::new([1; 32]));
    assert_eq!(offer(&mut listener, 5, &[]), Err(OfferError::NoServiceCode));
    let invalid = Err(OfferError::InvalidServiceCode);
    assert_eq!(offer(&mut listener, 5, &[1, u32::MAX]), invalid);
    assert_eq!(offer(&mut listener, SERVER_PORT, &[1, 2]), Ok(()));
    assert_eq!(offer(&mut listener, SERVER_PORT, &[3]), Ok(()));
    assert_eq!(offer(&mut listener, 5, &[2]), Ok(()));
    let (port, service) = (SERVER_PORT, ServiceCode(2));
    let taken = Err(OfferError::Taken { port, service });
    assert_eq!(offer(&mut listener, SERVER_PORT, &[4, 2]), taken);
    let ask = |listener: &mut Listener, seq, service| {
        let service = ServiceCode(service);
        let asked = packet(Client, seq, Kind::Request { service });
        reply(listener.receive(Instant::ZERO, Ecn::Ect0, PEER, asked))
    };
    for service in [1, 2, 3] {
        let response = ask(&mut listener, 100, service);
        let expected = ServiceCode(service);
        assert!(matches!(response.kind, Kind::Response { service, .. } if service == expected));
        let ack = packet(Client, 101, Kind::Ack { ack: response.seq });
        let server = accepted(listener.receive(Instant::ZERO, Ecn::Ect0, PEER, ack));
        assert_eq!(server.service_code(), expected);
    }
    let bad = Some(ResetCode::BAD_SERVICE_CODE);
    assert_eq!(code(&ask(&mut listener, 100, 4)), bad);
    assert_eq!(code(&ask(&mut listener, 100, u32::MAX)), bad);
    listener.withdraw(SERVER_PORT, ServiceCode(3));
    assert_eq!(code(&ask(&mut listener, 100, 3)), bad);
}

/// S-3, D5.6-2, D8.3-3: responses to packets without a connection: code 7 for a Request to a port
/// without a listener, 8 if the service is not offered, 3 for everything else, none for a Reset or
/// a Listen; never more than the rate limit permits (D8.1-5).
#[test]
fn strays() {
    let mut listener = always_cookies();
    let mut send = |packet: Packet| listener.receive(at(secs(1)), Ecn::Ect0, PEER, packet);
    let mut elsewhere = request(1);
    elsewhere.destination_port = 9;
    assert_eq!(
        code(&reply(send(elsewhere))),
        Some(ResetCode::CONNECTION_REFUSED)
    );
    let ack = SeqNo::new(77);
    for number in [1, 2, 3, 4, 5, 6, 8, 9] {
        let stray = packet(Client, 300, kind(number, ack));
        let reset = reply(send(stray.clone()));
        assert_eq!(
            code(&reset),
            Some(ResetCode::NO_CONNECTION),
            "type {number}"
        );
        let seq = if number == 2 { SeqNo::ZERO } else { ack.next() };
        assert_eq!((reset.seq, reset.kind.ack()), (seq, Some(stray.seq)));
    }
    for number in [7, 10] {
        assert!(send(packet(Client, 300, kind(number, ack))).is_none());
    }
    let mut short = packet(Client, 300, kind(6, ack));
    short.extended = false;
    assert!(send(short).is_none(), "D5.1-5");
    let cookie = DccpOption::InitCookie([1; 60][..].into());
    let reset = with_options(
        packet(Client, 300, kind(7, ack)),
        std::slice::from_ref(&cookie),
    );
    assert!(send(reset).is_none(), "cookie or not");
    let data = with_options(packet(Client, 300, Kind::Data), &[cookie]);
    assert_eq!(
        code(&reply(send(data))),
        Some(ResetCode::NO_CONNECTION),
        "a cookie on Data means nothing (D8.1-6)"
    );
    let more = (0..3_000)
        .filter(|&seq| send(packet(Client, seq, Kind::Data)).is_some())
        .count();
    assert_eq!(more, 1_024 - 10);
}

/// D5.6-2: a busy server refuses with code 9; a Request that cannot be granted gets the Reset that
/// a connection would send, and leaves no state.
#[test]
fn requests_that_are_refused() {
    for half_open in [0, 1] {
        let mut listener = listener(half_open, Config::default());
        listener.set_busy(true);
        let reset = reply(listener.receive(Instant::ZERO, Ecn::Ect0, PEER, request(1)));
        assert_eq!(code(&reset), Some(ResetCode::TOO_BUSY));
        listener.set_busy(false);
        let unknown = [DccpOption::Mandatory, change(FeatureSide::Local, 99, &[1])];
        let asked = with_options(request(1), &unknown);
        let reset = reply(listener.receive(Instant::ZERO, Ecn::Ect0, PEER, asked));
        assert_eq!(code(&reset), Some(ResetCode::MANDATORY_ERROR));
        assert_eq!(listener.half_open(), 0);
    }
    // Too many negotiation options for a cookie.
    let long: Vec<_> = (0..3)
        .map(|feature| change(FeatureSide::Local, 100 + feature, &[1; 250]))
        .collect();
    let mut listener = always_cookies();
    let asked = with_options(request(1), &long);
    let reset = reply(listener.receive(Instant::ZERO, Ecn::Ect0, PEER, asked));
    assert_eq!(code(&reset), Some(ResetCode::TOO_BUSY));
}

/// D8.1-6: negotiation that takes more than one cookie option is returned completely.
#[test]
fn long_cookies() {
    let mut asked = with_options(request(1), &[change(FeatureSide::Local, 6, &[1, 0])]);
    asked
        .options
        .push(change(FeatureSide::Local, 99, &[9; 240]));
    let mut listener = always_cookies();
    let response = reply(listener.receive(Instant::ZERO, Ecn::Ect0, PEER, asked));
    let cookies: Vec<_> = response
        .options
        .iter()
        .filter(|option| matches!(option, DccpOption::InitCookie(_)))
        .cloned()
        .collect();
    assert_eq!(cookies.len(), 2);
    let ack = packet(Client, 2, Kind::Ack { ack: response.seq });
    accepted(listener.receive(Instant::ZERO, Ecn::Ect0, PEER, with_options(ack, &cookies)));
}

/// D8.1-6: a hundred thousand Requests from as many addresses leave no state beyond the threshold,
/// and a genuine client connects.
#[test]
fn flood_of_requests() {
    let mut listener = listener(16, Config::default());
    for index in 0..100_000u32 {
        let mut asked = request(index.into());
        asked.source_port = index as u16;
        let sent = listener.receive(at(secs(1)), Ecn::Ect0, &index.to_be_bytes(), asked);
        assert_eq!(reply(sent).kind.packet_type(), PacketType::Response);
    }
    assert_eq!(listener.half_open(), 16);
    assert_eq!(listener.stats().cookies_sent, 100_000 - 16);
    cookie_handshake(&mut listener, at(secs(2)));
}

/// D8.1-5: Requests that cannot be granted are also answered with no more Resets than the limit.
#[test]
fn resets_of_handshakes_are_limited() {
    let unknown = [DccpOption::Mandatory, change(FeatureSide::Local, 99, &[1])];
    for half_open in [0, 1] {
        let mut listener = listener(half_open, Config::default());
        let sent = (0..3_000).filter(|&seq| {
            let asked = with_options(request(seq), &unknown);
            let action = listener.receive(at(secs(1)), Ecn::Ect0, PEER, asked);
            action.is_some_and(|action| code(&reply(Some(action))).is_some())
        });
        assert_eq!(sent.count(), 1_024);
    }
}

fn any_config() -> impl Strategy<Value = Config> {
    (any::<[bool; 8]>(), 32u64..5_000, 1u16..9, 0u8..16).prop_map(
        |([short, incapable, nonces, ndp, sum, check, vector, hold], window, ratio, coverage)| {
            Config {
                allow_short_seqnos: short,
                ecn_incapable: incapable,
                ecn_nonces: nonces,
                request_ndp_count: ndp,
                send_data_checksum: sum,
                check_data_checksum: check,
                send_ack_vector: vector || !hold,
                server_holds_timewait: hold,
                sequence_window: window,
                ack_ratio: ratio,
                checksum_coverage: coverage,
                minimum_checksum_coverage: coverage / 2,
                ..Config::default()
            }
        },
    )
}

proptest! {
    /// For any input, with valid cookies, invalid ones and fragments of them, a listener does not
    /// panic, keeps no more state than allowed, and has no timer in the past.
    #[test]
    fn nothing_panics(
        inputs in prop::collection::vec(
            (0u8..11, 0u64..4, 0u64..4, 0usize..120, any::<u8>(), 0u64..200),
            1..60,
        ),
        half_open in 0usize..3,
    ) {
        let mut listener = listener(half_open, Config::default());
        let mut now = at(secs(1));
        let mut heard = request(1);
        for (number, seq, ack, length, noise, wait) in inputs {
            now += secs(wait);
            let ack = heard.seq.add(ack).previous();
            let mut packet = packet(Client, 1 + seq, kind(number, ack));
            packet.source_port = u16::from(noise & 3);
            for option in &heard.options {
                let mut option = option.clone();
                if let DccpOption::InitCookie(cookie) = &mut option {
                    cookie.truncate(length);
                    if let Some(byte) = cookie.last_mut() {
                        *byte ^= noise & 4;
                    }
                }
                packet.options.push(option);
            }
            let peer = [noise >> 6];
            let action = listener.receive(now, Ecn::from_bits(noise), &peer, packet);
            if let Some(Action::Reply(transmit)) = action
                && matches!(transmit.packet.kind, Kind::Response { .. })
            {
                heard = transmit.packet;
            }
            let _ = listener.expire(now);
            prop_assert!(listener.half_open() <= half_open);
            prop_assert!(listener.deadline().is_none_or(|at| at > now));
        }
    }

    /// D8.1-6: for any negotiation, the connection opened by a cookie is the same, in every field,
    /// as the one that would have been stored.
    #[test]
    fn a_cookie_makes_the_connection_that_would_have_been_kept(
        client_config in any_config(),
        server_config in any_config(),
        ecn in 0u8..4,
        waited in 0u64..100_000,
    ) {
        let [kept, redone] = [1, 0].map(|half_open| {
            let mut listener = listener(half_open, server_config.clone());
            let mut driven = client(client_config.clone());
            let request = packets(&mut driven, Instant::ZERO).pop().unwrap();
            let ecn = Ecn::from_bits(ecn);
            let mut answer = reply(listener.receive(Instant::ZERO, ecn, PEER, request));
            let cookies: Vec<_> = answer.options.iter()
                .filter(|option| matches!(option, DccpOption::InitCookie(_)))
                .cloned()
                .collect();
            answer.options.retain(|option| !cookies.contains(option));
            driven.receive(Instant::ZERO, Ecn::Ect0, answer, |drain| drain.postpone());
            // After a refusal the client has nothing more to send.
            let mut back = packets(&mut driven, Instant::ZERO).into_iter().next()?;
            let end = at(millis(waited));
            // Another test checks the client's own echo; here both listeners get the same packet.
            back.options.extend(cookies);
            listener.receive(end, Ecn::Ect1, PEER, back)
        });
        match (kept, redone) {
            (Some(Action::Accepted(kept)), Some(Action::Accepted(redone))) => {
                let [kept, redone] = [kept, redone].map(|end| format!("{end:#?}"));
                for (kept, redone) in kept.lines().zip(redone.lines()) {
                    // Only the stored connection can receive late data of a Request.
                    if !kept.contains("handshake_data_settled") {
                        prop_assert_eq!(kept, redone);
                    }
                }
                prop_assert_eq!(kept.lines().count(), redone.lines().count());
            }
            (Some(Action::Reply(kept)), Some(Action::Reply(redone))) => {
                prop_assert_eq!(kept, redone);
            }
            // A Reset from the client ends the stored connection, and finds no other to end.
            (None, None) => {}
            other => prop_assert!(false, "{other:?}"),
        }
    }
}
