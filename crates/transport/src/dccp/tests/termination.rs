//! The end of a connection (RFC 4340 sections 5.6 and 8.3).

use super::*;
use crate::End as _;
use crate::dccp::{Origin, SendError};

fn closed(origin: Origin) -> Event {
    Event::Closed {
        code: ResetCode::CLOSED,
        origin,
    }
}

/// D8.3-1: the client closes: Close, Reset; the client stays in TIMEWAIT for 2MSL (D8.3-2).
#[test]
fn client_closes() {
    let mut pair = Pair::opened();
    let before = pair.log.len();
    pair.close(Client);
    pair.run_for(secs(1));
    assert_eq!(pair.sent_by(Client, before)[0].kind(), PacketType::Close);
    let reset = &pair.sent_by(Server, before)[0].packet;
    assert_eq!(reset_code(reset), Some((ResetCode::CLOSED, [0; 3])));
    assert_eq!(pair.states(), (State::TimeWait, State::Closed));
    assert_eq!(pair.events(Client), [closed(Origin::Remote)]);
    assert_eq!(pair.events(Server), [closed(Origin::Local)]);
    pair.run_for(secs(238));
    assert_eq!(pair.get(Client).state(), State::TimeWait);
    pair.run_for(secs(2));
    assert_eq!(pair.get(Client).state(), State::Closed);
    assert_eq!(pair.log.len(), before + 2);
}

/// D8.3-1: the server closes and leaves TIMEWAIT to the client: CloseReq, Close, Reset.
#[test]
fn server_asks_to_close() {
    let mut pair = Pair::opened();
    let before = pair.log.len();
    pair.close(Server);
    pair.run_for(secs(1));
    let kinds: Vec<PacketType> = pair.log[before..].iter().map(Sent::kind).collect();
    assert_eq!(
        kinds,
        [PacketType::CloseReq, PacketType::Close, PacketType::Reset]
    );
    assert_eq!(pair.states(), (State::TimeWait, State::Closed));
}

/// D8.3-1: the server may hold TIMEWAIT itself.
#[test]
fn server_closes() {
    let holds = Config {
        server_holds_timewait: true,
        ..Config::default()
    };
    let mut pair = Pair::open(Config::default(), holds);
    pair.close(Server);
    pair.run_for(secs(1));
    assert_eq!(pair.states(), (State::Closed, State::TimeWait));
}

#[test]
fn both_close_at_once() {
    let mut pair = Pair::opened();
    pair.close(Client);
    pair.close(Server);
    pair.run_for(secs(10));
    for state in [pair.get(Client).state(), pair.get(Server).state()] {
        assert!(
            matches!(state, State::Closed | State::TimeWait),
            "{state:?}"
        );
    }
}

/// D8.3-1: a server that receives a CloseReq answers with a Sync and stays open.
#[test]
fn server_does_not_obey_closereq() {
    let mut pair = Pair::opened();
    let (seq, ack) = (pair.gss(Client) + 1, SeqNo::new(pair.gss(Server)));
    let sent = pair.inject(Server, packet(Client, seq, Kind::CloseReq { ack }));
    assert_eq!(
        sent[0].kind,
        Kind::Sync {
            ack: SeqNo::new(seq)
        }
    );
    assert_eq!(pair.get(Server).state(), State::Open);
}

/// D8.3-2: Close and CloseReq are retransmitted after two round-trip times, with back-off to once
/// per 64 s.
#[test]
fn close_is_retransmitted() {
    let patient = Config {
        silence_timeout: None,
        ..Config::default()
    };
    for (side, kind) in [(Client, PacketType::Close), (Server, PacketType::CloseReq)] {
        let mut pair = Pair::open(patient.clone(), patient.clone());
        pair.network = Box::new(|_| Fate::Drop);
        let (before, start) = (pair.log.len(), pair.now);
        pair.close(side);
        pair.run_for(secs(479));
        let sent = pair.sent_by(side, before);
        assert!(sent.iter().all(|sent| sent.kind() == kind));
        let times: Vec<u64> = sent
            .iter()
            .map(|sent| (sent.at - start).as_millis())
            .collect();
        assert_eq!(
            times[..5],
            [0, 200, 600, 1_400, 3_000],
            "round-trip time 100 ms"
        );
        let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(gaps.last(), Some(&64_000));
        pair.run_for(secs(2));
        let last = &pair.sent_by(side, before).last().unwrap().packet.clone();
        assert_eq!(reset_code(last), Some((ResetCode::ABORTED, [0; 3])));
        assert_eq!(pair.get(side).state(), State::Closed);
    }
}

/// Even without latency between the endpoints, there is time between two Closes.
#[test]
fn close_without_latency() {
    let mut pair = Pair::default();
    pair.latency = Duration::ZERO;
    pair.run_for(secs(1));
    pair.network = Box::new(|_| Fate::Drop);
    let before = pair.log.len();
    pair.close(Client);
    pair.run_for(secs(10));
    assert!((5..20).contains(&pair.sent_by(Client, before).len()));
}

/// The last Reset is lost: the retransmitted Close is answered without a connection.
#[test]
fn lost_last_reset() {
    let mut pair = Pair::opened();
    let mut lost = false;
    pair.network = Box::new(move |sent| {
        if !lost && sent.kind() == PacketType::Reset {
            lost = true;
            return Fate::Drop;
        }
        Fate::Deliver
    });
    pair.close(Client);
    pair.run_for(secs(5));
    assert_eq!(pair.states(), (State::TimeWait, State::Closed));
    let code = ResetCode::NO_CONNECTION;
    assert_eq!(
        pair.events(Client),
        [Event::Closed {
            code,
            origin: Origin::Remote
        }]
    );
}

/// D8.3-1: a Close and its retransmission arrive together while the server's data is in flight: the
/// Reset that answers the first one is sent.
#[test]
fn two_closes_at_once() {
    let mut pair = Pair::opened();
    let (seq, ack) = (pair.gss(Client) + 1, SeqNo::new(pair.gss(Server)));
    pair.network = Box::new(|_| Fate::Drop);
    pair.send(Server, 100);
    pair.drain(Server);
    let (now, before) = (pair.now, pair.log.len());
    pair.apply(Server, |server| {
        for seq in [seq, seq + 1] {
            server.receive(now, Ecn::Ect0, packet(Client, seq, Kind::Close { ack }));
        }
    });
    pair.drain(Server);
    let sent = pair.sent_by(Server, before);
    let reset = &sent.last().unwrap().packet;
    assert_eq!(reset_code(reset), Some((ResetCode::CLOSED, [0; 3])));
    assert_eq!(reset.seq, ack.next().next());
}

/// `close` sends queued datagrams; nothing more can be queued.
#[test]
fn close_sends_what_waits() {
    let mut pair = Pair::default();
    for _ in 0..20 {
        pair.send(Client, 700);
    }
    pair.run_for(millis(120));
    pair.close(Client);
    let refused = pair.apply(Client, |client| client.send(Payload::Synthetic(1)));
    assert_eq!(refused, Err(SendError::Closed));
    pair.run_for(secs(10));
    assert_eq!(pair.received(Server).len(), 20);
    assert_eq!(pair.states(), (State::TimeWait, State::Closed));
}

/// It does so for at most `linger`.
#[test]
fn linger_is_limited() {
    let config = Config {
        linger: secs(5),
        ..Config::default()
    };
    let mut pair = Pair::open(config, Config::default());
    pair.network = Box::new(|sent| match sent.packet.payload.len() {
        0 => Fate::Deliver,
        _ => Fate::Drop,
    });
    for _ in 0..30 {
        pair.send(Client, 700);
    }
    pair.close(Client);
    pair.run_for(secs(4));
    assert_eq!(pair.get(Client).state(), State::Open);
    pair.run_for(secs(2));
    assert_eq!(pair.states(), (State::TimeWait, State::Closed));
}

#[test]
fn abort_sends_code_2() {
    let mut pair = Pair::opened();
    let (before, now) = (pair.log.len(), pair.now);
    pair.apply(Server, |server| server.abort(now));
    pair.run_for(secs(1));
    let reset = &pair.sent_by(Server, before)[0].packet;
    assert_eq!(reset_code(reset), Some((ResetCode::ABORTED, [0; 3])));
    assert_eq!(pair.states(), (State::TimeWait, State::Closed));
}

/// D8.3-3: TIMEWAIT and CLOSED answer with code 3, but not to a Reset.
#[test]
fn packets_after_the_end() {
    let mut pair = Pair::opened();
    pair.close(Client);
    pair.run_for(secs(1));
    for side in [Client, Server] {
        let ack = SeqNo::new(900);
        let sent = pair.inject(side, packet(side.other(), 500, Kind::Ack { ack }));
        let no_connection = Kind::Reset {
            ack: SeqNo::new(500),
            code: ResetCode::NO_CONNECTION,
            data: [0; 3],
        };
        assert_eq!(sent[0].kind, no_connection);
        assert_eq!(sent[0].seq, SeqNo::new(901));
        assert!(
            pair.inject(side, packet(side.other(), 500, no_connection))
                .is_empty()
        );
    }
}

/// D8.3-3: the acknowledgement number of a Reset, "No Connection", is that of the packet that it
/// refuses, which nobody received.
#[test]
fn what_is_refused_was_not_received() {
    let acknowledged = |code| {
        let mut pair = Pair::opened();
        pair.network = Box::new(|_| Fate::Drop);
        pair.send(Client, 100);
        pair.drain(Client);
        let (seq, ack) = (pair.gss(Server) + 1, SeqNo::new(pair.gss(Client)));
        let data = [0; 3];
        pair.inject(Client, packet(Server, seq, Kind::Reset { ack, code, data }));
        let stats = pair.get(Client).stats();
        stats.congestion.window().unwrap().acked
    };
    assert_eq!(acknowledged(ResetCode::NO_CONNECTION), 0);
    assert_eq!(acknowledged(ResetCode::ABORTED), 1);
}

/// D5.6-1: unknown Reset codes end the connection like code 0, and are passed to the application.
#[test]
fn unknown_reset_code() {
    for code in [0, 12, 127, 128, 255] {
        let mut pair = Pair::opened();
        let (seq, ack) = (pair.gss(Server) + 1, SeqNo::new(pair.gss(Client)));
        let reset = Kind::Reset {
            ack,
            code: ResetCode(code),
            data: [1, 2, 3],
        };
        assert!(pair.inject(Client, packet(Server, seq, reset)).is_empty());
        assert_eq!(pair.get(Client).state(), State::TimeWait);
        let event = Event::Closed {
            code: ResetCode(code),
            origin: Origin::Remote,
        };
        assert_eq!(pair.events(Client), [event]);
    }
}

/// D5.6-3: a Reset's options are processed; an invalid one causes a Reset, and no more.
#[test]
fn options_of_a_reset_are_processed() {
    let mut pair = Pair::opened();
    let (seq, ack) = (pair.gss(Server) + 1, SeqNo::new(pair.gss(Client)));
    let reset = packet(
        Server,
        seq,
        Kind::Reset {
            ack,
            code: ResetCode::CLOSED,
            data: [0; 3],
        },
    );
    let bad = [
        DccpOption::Mandatory,
        DccpOption::Other {
            kind: 99,
            value: Some(Default::default()),
        },
    ];
    let sent = pair.inject(Client, with_options(reset, &bad));
    assert_eq!(sent.len(), 1);
    assert_eq!(
        reset_code(&sent[0]),
        Some((ResetCode::MANDATORY_ERROR, [99, 0, 0]))
    );
    assert_eq!(pair.get(Client).state(), State::Closed);
}
