//! Feature negotiation between two connections (RFC 4340 section 6).

use super::*;
use crate::dccp::Ccid;

/// Every request of both sides is granted, and nothing stays pending.
#[test]
fn two_connections_agree() {
    let wishes = Config {
        allow_short_seqnos: true,
        sequence_window: 1024,
        ack_ratio: 3,
        request_ndp_count: true,
        minimum_checksum_coverage: 1,
        checksum_coverage: 1,
        send_data_checksum: true,
        keepalive: None,
        ..Config::default()
    };
    let mut pair = Pair::open(wishes.clone(), wishes);
    // The server answers nine Changes, which settles two of its own: both sides requested Minimum
    // Checksum Coverage for both ends.
    for (side, expected) in [(Server, 9), (Client, 7)] {
        let confirms: usize = pair
            .sent_by(side, 0)
            .iter()
            .flat_map(|sent| &sent.packet.options)
            .filter(|option| matches!(option, DccpOption::Confirm { .. }))
            .count();
        assert_eq!(confirms, expected, "{side:?}: one for each Change");
    }
    let before = pair.log.len();
    pair.run_for(secs(200));
    assert_eq!(pair.log.len(), before, "no Change is sent again");
}

/// C2-1: no data before the peer has agreed to send Ack Vectors, even when its Confirm is lost.
#[test]
fn data_waits_for_the_ack_vector() {
    let mut pair = Pair::default();
    pair.send(Server, 100);
    let mut lost = false;
    pair.network = Box::new(move |sent| {
        // The client's Ack contains the Confirm.
        if !lost && sent.from == Client && sent.kind() == PacketType::Ack {
            lost = true;
            return Fate::Drop;
        }
        Fate::Deliver
    });
    pair.run_for(secs(5));
    let is_confirm = |sent: &&Sent| {
        sent.from == Client
            && sent.option(OptionType::CONFIRM_R).is_none()
            && sent.option(OptionType::CONFIRM_L).is_some()
    };
    let confirms: Vec<Instant> = pair
        .log
        .iter()
        .filter(is_confirm)
        .map(|sent| sent.at)
        .collect();
    assert_eq!(
        confirms.len(),
        2,
        "one Confirm is lost, another answers the retransmitted Change"
    );
    let first_data = pair
        .log
        .iter()
        .find(|sent| sent.from == Server && sent.packet.payload.len() == 100)
        .expect("the data eventually leaves");
    assert_eq!(first_data.at, confirms[1] + pair.latency);
    assert_eq!(pair.received(Client), [100]);
}

/// CCID 2 cannot be used with a peer that refuses to send Ack Vectors.
#[test]
fn refused_ack_vector_resets() {
    let refuses = Config {
        send_ack_vector: false,
        ..Config::default()
    };
    let mut pair = Pair::new(Config::default(), refuses);
    pair.run_for(secs(1));
    // D5.6-2: option 34 (Change R), then the feature's number and value.
    let reset = pair.sent_by(Server, 0)[0].packet.clone();
    assert_eq!(
        reset_code(&reset),
        Some((ResetCode::MANDATORY_ERROR, [34, 6, 1]))
    );
    assert_eq!(pair.states(), (State::TimeWait, State::Closed));
}

/// D6-1: negotiation on a Data packet is ignored, even if Mandatory and unknown.
#[test]
fn data_packets_do_not_negotiate() {
    let mut pair = Pair::opened();
    let seq = pair.gss(Client) + 1;
    let options = [
        change(FeatureSide::Local, 5, &[0, 9]),
        DccpOption::Mandatory,
        change(FeatureSide::Local, 126, &[1]),
        DccpOption::Mandatory,
    ];
    let sent = pair.inject(
        Server,
        with_options(packet(Client, seq, Kind::Data), &options),
    );
    assert_eq!(pair.get(Server).state(), State::Open);
    let answers = sent.iter().flat_map(|packet| &packet.options);
    assert_eq!(
        answers
            .filter(|option| matches!(option, DccpOption::Confirm { .. }))
            .count(),
        0
    );
}

/// D6-1, D6-6, D5.8-4, D5.8.2-2, D11.4-1, D13-2: during a long transfer that renegotiates Ack Ratio
/// and Sequence Window, Data packets contain only permitted options, and each Confirm, Ack Vector
/// and Elapsed Time comes with an acknowledgement number. D5.1-3: CCVal is zero.
#[test]
fn long_transfer_keeps_the_rules() {
    let roomy = Config {
        send_queue: 3_000,
        receive_queue: 3_000,
        ..Config::default()
    };
    let mut pair = Pair::open(roomy.clone(), roomy);
    for _ in 0..3_000 {
        pair.send(Client, 1000);
    }
    pair.run_for(secs(20));
    assert_eq!(pair.received(Server).len(), 3_000);
    let mut windows = Vec::new();
    for sent in &pair.log {
        assert_eq!(sent.packet.ccval, 0);
        for option in &sent.packet.options {
            assert!(sent.kind() != PacketType::Data || option.is_allowed_on_data());
            match option {
                DccpOption::Change {
                    feature: FeatureNumber::SEQUENCE_WINDOW,
                    ..
                } if sent.from == Client => windows.push(sent.at),
                DccpOption::Confirm { .. }
                | DccpOption::AckVector { .. }
                | DccpOption::ElapsedTime(_) => assert!(sent.packet.kind.ack().is_some()),
                _ => {}
            }
        }
    }
    // D7.5-3: the window follows the rate; D6-7: at most one Change per round-trip time.
    assert!(!windows.is_empty(), "Sequence Window was never declared");
    for pair_of in windows.windows(2) {
        assert!(pair_of[1] - pair_of[0] >= millis(100), "{windows:?}");
    }
    assert_within_sequence_window(&pair);
    // Acknowledgements in the other direction have their own Sequence Window.
    for side in [Client, Server] {
        assert_eq!(
            pair.get(side).stats().counters.invalid_packets,
            0,
            "{side:?}"
        );
    }
}

/// D7.5-3: the client never sends more packets per round-trip time than its Sequence Window, as
/// last confirmed by the server.
fn assert_within_sequence_window(pair: &Pair) {
    let round_trip = pair.latency * 2;
    let mut window = 100;
    let mut recent = Vec::new();
    let mut most = 0;
    for sent in &pair.log {
        if sent.from == Client {
            recent.retain(|&at| sent.at - at < round_trip);
            recent.push(sent.at);
            most = most.max(recent.len());
            assert!(recent.len() <= window, "{} of {window}", recent.len());
        } else if let Some(DccpOption::Confirm { feature, value, .. }) =
            sent.option(OptionType::CONFIRM_R)
            && *feature == FeatureNumber::SEQUENCE_WINDOW
        {
            let bytes = value.iter().map(|&byte| usize::from(byte));
            window = bytes.fold(0, |value, byte| value << 8 | byte);
        }
    }
    assert!(most > 100, "the initial window was never exceeded: {most}");
}

/// A transfer over a round-trip time of 40 us, under `ccid`. `network` decides about each packet.
fn over_a_short_path(ccid: Ccid, network: Network) -> Pair {
    let roomy = || Config {
        send_queue: 20_000,
        send_queue_bytes: usize::MAX,
        receive_queue: 20_000,
        receive_queue_bytes: usize::MAX,
        sender_ccids: vec![ccid],
        receiver_ccids: vec![ccid],
        ..Config::default()
    };
    let mut pair = Pair::new(roomy(), roomy());
    pair.latency = Duration::from_micros(20);
    pair.run_for(secs(1));
    assert_eq!(pair.states(), (State::Open, State::Open));
    pair.network = network;
    for _ in 0..20_000 {
        pair.send(Client, 1_000);
    }
    pair
}

/// The most packets in flight from the client beyond those that its confirmed window lets it send,
/// and how many Changes of the window it has sent.
fn excess_over_window(pair: &Pair) -> (i64, usize) {
    let (mut window, mut acked, mut excess, mut changes) = (100, None, i64::MIN, 0);
    for sent in &pair.log {
        let sent_seq = sent.packet.seq;
        if sent.from == Server {
            acked = sent.packet.kind.ack().or(acked);
            if let Some(DccpOption::Confirm { feature, value, .. }) =
                sent.option(OptionType::CONFIRM_R)
                && *feature == FeatureNumber::SEQUENCE_WINDOW
            {
                window = value
                    .iter()
                    .fold(0, |sum, &byte| sum << 8 | i64::from(byte));
            }
            continue;
        }
        changes += usize::from(sent.packet.options.iter().any(|option| {
            matches!(option, DccpOption::Change { feature, .. } if *feature == FeatureNumber::SEQUENCE_WINDOW)
        }));
        if let Some(acked) = acked
            && sent.kind() == PacketType::Data
        {
            excess = excess.max(sent_seq.distance_from(acked) - window);
        }
    }
    (excess, changes)
}

/// D7.5-3, D6-7: on a short path too, the window is requested as often as once per round-trip time.
#[test]
fn the_window_keeps_up_on_a_short_path() {
    let mut pair = over_a_short_path(Ccid::TCP_LIKE, Box::new(|_| Fate::Deliver));
    pair.run_for(Duration::from_micros(360));
    let (excess, changes) = excess_over_window(&pair);
    assert!(excess < 0, "{excess} beyond the window");
    assert!(changes >= 3, "{changes} Changes");
    for side in [Client, Server] {
        let counters = pair.get(side).stats().counters;
        assert_eq!(counters.invalid_packets, 0, "{side:?}");
    }
}

/// D7.5-3: while Confirms of the window are lost, data goes on within the confirmed one, and the
/// Change is soon repeated.
#[test]
fn a_lost_confirm_does_not_stall_data() {
    for ccid in [Ccid::TCP_LIKE, Ccid::TFRC] {
        let mut lost = 0;
        let network = move |sent: &Sent| {
            let confirms = matches!(
                sent.option(OptionType::CONFIRM_R),
                Some(DccpOption::Confirm { feature, .. }) if *feature == FeatureNumber::SEQUENCE_WINDOW
            );
            lost += u32::from(confirms);
            if confirms && lost <= 2 {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        };
        let mut pair = over_a_short_path(ccid, Box::new(network));
        pair.run_for(millis(5));
        let (excess, changes) = excess_over_window(&pair);
        assert!(excess < 0, "{ccid}: {excess} beyond the window");
        assert!(changes >= 3, "{ccid}: {changes} Changes");
        let counters = pair.get(Client).stats().counters;
        assert_eq!(counters.invalid_packets, 0, "{ccid}");
    }
}

/// D7.5-3: a window that is full of lost packets does not stop the connection for good.
#[test]
fn a_window_of_lost_packets_is_given_up() {
    for ccid in [Ccid::TCP_LIKE, Ccid::TFRC] {
        let mut pair = over_a_short_path(ccid, Box::new(|_| Fate::Deliver));
        pair.run_for(Duration::from_micros(250));
        pair.network = Box::new(|_| Fate::Drop);
        pair.run_for(millis(500));
        pair.network = Box::new(|_| Fate::Deliver);
        let before = pair.received(Server).len();
        pair.run_for(secs(10));
        let after = pair.received(Server).len();
        assert!(after > 1_000, "{ccid}: {before} before, {after} after");
    }
}

/// D6-9: an unanswered Change is retransmitted after at least a round-trip time, with back-off.
#[test]
fn changes_are_retransmitted_with_back_off() {
    let mut pair = Pair::default();
    // The server's Change R(Send Ack Vector) never gets its Confirm.
    pair.network = Box::new(|_| Fate::Deliver);
    pair.run_for(millis(60));
    let hello = pair.log.last().unwrap().packet.clone();
    assert_eq!(hello.kind.packet_type(), PacketType::Response);
    let ack = Kind::Ack { ack: hello.seq };
    let iss = pair.gss(Client);
    pair.inject(Server, packet(Client, iss + 1, ack));
    pair.flights.clear();
    pair.network = Box::new(|_| Fate::Drop);
    let before = pair.log.len();
    pair.run_for(secs(300));
    let times: Vec<u64> = pair
        .sent_by(Server, before)
        .iter()
        .filter(|sent| sent.option(OptionType::CHANGE_R).is_some())
        .map(|sent| sent.at.since_epoch().as_millis())
        .collect();
    let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.len() >= 7, "{gaps:?}");
    for (earlier, later) in gaps.iter().zip(&gaps[1..]) {
        assert_eq!(*later, (earlier * 2).min(64_000), "{gaps:?}");
    }
}

/// D12-1, D12.1-1: an ECN-incapable endpoint announces this, and both sides then send no ECT.
#[test]
fn ecn_incapable() {
    let incapable = Config {
        ecn_incapable: true,
        ..Config::default()
    };
    let mut pair = Pair::open(Config::default(), incapable);
    let before = pair.log.len();
    pair.send(Client, 100);
    pair.send(Server, 100);
    pair.run_for(secs(1));
    assert!(
        pair.log[before..]
            .iter()
            .all(|sent| sent.ecn == Ecn::NotEct)
    );
    assert_eq!(pair.received(Server), [100]);
    let capable = Pair::opened();
    assert!(capable.log.iter().all(|sent| sent.ecn == Ecn::Ect0));
}

/// D12.1-1, D12.2-1: it ignores ECN bits: no packet is reported as marked, and every nonce is zero.
#[test]
fn ecn_incapable_does_not_read_ecn() {
    let incapable = Config {
        ecn_incapable: true,
        ..Config::default()
    };
    for (config, echo, is_marked) in [(incapable, false, false), (Config::default(), true, true)] {
        let mut pair = Pair::open(Config::default(), config);
        let (seq, ack) = (pair.gss(Client) + 1, SeqNo::new(pair.gss(Server)));
        let data = |seq| with_data(packet(Client, seq, Kind::DataAck { ack }), 10);
        let mut sent = pair.inject_ecn(Server, Ecn::Ce, data(seq));
        sent.extend(pair.inject_ecn(Server, Ecn::Ect1, data(seq + 1)));
        sent.extend(pair.inject_ecn(Server, Ecn::Ect0, data(seq + 2)));
        sent.extend(pair.inject_ecn(Server, Ecn::Ect0, data(seq + 3)));
        let (nonce, cells) = ack_vector(sent.last().unwrap()).unwrap();
        assert_eq!(nonce, echo);
        assert_eq!(cells.iter().any(|cell| cell >> 6 == 1), is_marked);
    }
}

/// D12.1-1: it accepts no data before the peer has confirmed the announcement.
#[test]
fn ecn_incapable_takes_no_data_before_it_is_confirmed() {
    let incapable = Config {
        ecn_incapable: true,
        ..Config::default()
    };
    let mut pair = Pair::new(Config::default(), incapable);
    let hello = pair.inject(Server, request(10)).remove(0);
    let data = with_data(packet(Client, 11, Kind::DataAck { ack: hello.seq }), 50);
    pair.inject(Server, data.clone());
    assert!(pair.received(Server).is_empty());
    assert_eq!(pair.get(Server).stats().counters.datagrams_dropped, 1);
    let confirmed = confirm(FeatureSide::Remote, 4, &[1, 1]);
    let data = Packet {
        seq: SeqNo::new(12),
        ..data
    };
    pair.inject(Server, with_options(data, &[confirmed]));
    assert_eq!(pair.received(Server), [50]);
}

/// D6-9: Confirms are never retransmitted, but in PARTOPEN each packet repeats those of the
/// client's first Ack: the Ack may be lost or overtaken, and Linux resets a connection without
/// them.
#[test]
fn confirms_stand_on_every_packet_in_partopen() {
    let mut pair = Pair::default();
    for _ in 0..3 {
        pair.send(Client, 100);
    }
    pair.run_for(secs(2));
    let confirms = |sent: &Sent| {
        let options = sent.packet.options.iter();
        let confirms = options.filter(|option| matches!(option, DccpOption::Confirm { .. }));
        confirms.cloned().collect::<Vec<_>>()
    };
    let in_partopen: Vec<&Sent> = pair
        .sent_by(Client, 0)
        .into_iter()
        .skip(1)
        .take_while(|sent| sent.kind() != PacketType::Data)
        .take(4)
        .collect();
    assert!(in_partopen.len() >= 3, "{in_partopen:?}");
    let first = confirms(in_partopen[0]);
    assert!(!first.is_empty());
    for sent in &in_partopen {
        assert_eq!(confirms(sent), first, "{:?}", sent.kind());
    }
    let before = pair.log.len();
    pair.send(Client, 100);
    pair.run_for(secs(2));
    for sent in pair.sent_by(Client, before) {
        assert!(confirms(sent).is_empty());
    }
}

/// C2-1: a client that offers several CCIDs may omit Ack Vectors from its Request, as Linux does; a
/// server that will receive under CCID 2 then offers them.
#[test]
fn a_server_offers_ack_vectors_that_nobody_asked_for() {
    let mut pair = Pair::default();
    let request = with_options(
        request(1_000),
        &[
            change(FeatureSide::Local, 1, &[2, 3]),
            change(FeatureSide::Remote, 1, &[2, 3]),
        ],
    );
    let answer = pair.inject(Server, request);
    let offer = change(FeatureSide::Local, 6, &[1, 0]);
    assert!(answer[0].options.contains(&offer), "{answer:?}");
    // A client that asks for them gets a Confirm and no Change.
    let mut pair = Pair::default();
    pair.run_for(secs(1));
    let sent = pair.sent_by(Server, 0);
    assert!(!sent.iter().any(|sent| sent.packet.options.contains(&offer)));
}
