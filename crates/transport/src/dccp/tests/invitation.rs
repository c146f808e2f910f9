//! Servers that invite their client (RFC 5596).

use super::*;

/// A server that invites its client, and that client.
fn invitation() -> Pair {
    let mut pair = Pair::default();
    let server = Connection::invite(Config::default(), SERVER_PORT, CLIENT_PORT, rng(2));
    pair.server = Driven::new(server);
    pair
}

/// L-1, L-2: a server that invites its client sends three Listens, 200 ms apart, outside its
/// sequence space, and 200 ms later waits silently; it answers the Request whenever that arrives.
#[test]
fn listens() {
    let mut pair = invitation();
    pair.network = Box::new(|_| Fate::Drop);
    assert_eq!(pair.get(Server).state(), State::Invited);
    pair.run_for(millis(599));
    assert_eq!(pair.get(Server).state(), State::Invited);
    pair.run_for(secs(5));
    assert_eq!(pair.get(Server).state(), State::Listen1);
    let sent = pair.sent_by(Server, 0);
    let times: Vec<_> = sent.iter().map(|sent| sent.at.since_epoch()).collect();
    assert_eq!(times, [0, 200, 400].map(millis));
    let service = ServiceCode::NONE;
    for sent in sent {
        assert_eq!(sent.packet, packet(Server, 0, Kind::Listen { service }));
    }
    let answer = pair.inject(Server, request(100));
    assert_eq!(answer[0].kind.packet_type(), PacketType::Response);
    let mut early = invitation();
    early.drain(Server);
    let answer = early.inject(Server, request(100));
    assert_eq!(answer[0].kind.packet_type(), PacketType::Response);
    early.network = Box::new(|_| Fate::Drop);
    let before = early.log.len();
    early.run_for(secs(5));
    assert!(early.sent_by(Server, before).is_empty(), "no more Listens");
    early.close(Server);
    assert_eq!(early.get(Server).state(), State::Closed);
}

/// L-2: while waiting, it answers strays as in LISTEN, refuses other clients and services, and
/// ignores Listens.
#[test]
fn an_invitation_is_for_one_client() {
    let mut pair = invitation();
    pair.network = Box::new(|_| Fate::Drop);
    for _ in 0..2 {
        let mut other = request(100);
        other.source_port += 1;
        let ack = SeqNo::new(1);
        let service = ServiceCode(9);
        let cases = [
            (other, ResetCode::CONNECTION_REFUSED),
            (
                packet(Client, 5, Kind::Ack { ack }),
                ResetCode::NO_CONNECTION,
            ),
            (
                packet(Client, 5, Kind::Request { service }),
                ResetCode::BAD_SERVICE_CODE,
            ),
        ];
        pair.drain(Server);
        let state = pair.get(Server).state();
        for (stray, code) in cases {
            let sent = pair.inject(Server, stray);
            assert_eq!(reset_code(&sent[0]), Some((code, [0; 3])));
        }
        let service = ServiceCode::NONE;
        let listen = packet(Client, 0, Kind::Listen { service });
        assert!(pair.inject(Server, listen).is_empty());
        assert_eq!(pair.get(Server).state(), state);
        pair.run_for(secs(1));
    }
    assert_eq!(pair.get(Server).state(), State::Listen1);
    pair.close(Server);
    assert_eq!(pair.get(Server).state(), State::Closed);
}

/// L-3: the first Listen in REQUEST state makes the client retransmit its Request at once, and
/// doubles the time to the next attempt; further Listens, and those in other states, have no
/// effect. Their options and data have no meaning (L-1).
#[test]
fn a_listen_triggers_one_request() {
    let mut pair = Pair::default();
    pair.network = Box::new(|_| Fate::Drop);
    pair.run_for(millis(300));
    let service = ServiceCode::NONE;
    let listen = with_options(
        with_data(packet(Server, 12_345, Kind::Listen { service }), 9),
        &[
            DccpOption::Mandatory,
            change(FeatureSide::Local, 99, &[1]),
            DccpOption::Timestamp(4),
        ],
    );
    let mut elsewhere = listen.clone();
    elsewhere.source_port += 1;
    assert!(pair.inject(Client, elsewhere).is_empty());
    for _ in 0..3 {
        pair.receive(Client, Ecn::Ect0, listen.clone());
        pair.run_for(millis(10));
    }
    pair.run_for(secs(8));
    let sent = pair.sent_by(Client, 0);
    let times: Vec<_> = sent.iter().map(|sent| sent.at.since_epoch()).collect();
    assert_eq!(times, [0, 300, 2_300, 6_300].map(millis));
    assert!(sent.iter().all(|sent| sent.kind() == PacketType::Request));
    assert!(
        sent.iter()
            .all(|sent| sent.option(OptionType::TIMESTAMP).is_none())
    );
    let mut open = Pair::opened();
    assert!(open.inject(Client, listen).is_empty());
    assert_eq!(open.states(), (State::Open, State::Open));
}

/// L-2, L-3: both sides start; the first Request and the first Listen are lost as if dropped by
/// middleboxes, and the second Listen establishes the connection before the Request is
/// retransmitted.
#[test]
fn simultaneous_open() {
    let mut pair = invitation();
    let mut lost = [false; 2];
    pair.network = Box::new(move |sent| {
        let first = match sent.kind() {
            PacketType::Request => &mut lost[0],
            PacketType::Listen => &mut lost[1],
            _ => return Fate::Deliver,
        };
        match std::mem::replace(first, true) {
            true => Fate::Deliver,
            false => Fate::Drop,
        }
    });
    pair.run_for(millis(500));
    assert_eq!(pair.states(), (State::Open, State::Open));
    let listens = |kind: &&PacketType| **kind == PacketType::Listen;
    assert_eq!(pair.kinds(Server).iter().filter(listens).count(), 2);
}
