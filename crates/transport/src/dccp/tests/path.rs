//! Path MTU and changes of the path (RFC 4340 sections 10.5 and 14).

use skywave_wire::dccp::QuotedHeader;

use super::*;
use crate::dccp::{Ccid, SendError};

/// IPv6 and UDP.
const LOWER: u32 = 48;

fn limited(path_mtu: u32) -> Config {
    Config {
        path_mtu,
        lower_headers: LOWER,
        mps: 60_000,
        send_queue: 2_000,
        receive_queue: 4_000,
        ..Config::default()
    }
}

fn quoted(side: Side, packet: &Packet) -> QuotedHeader {
    let bytes = packet.to_bytes(Checksum::Ignored).unwrap();
    let quoted = QuotedHeader::parse(&bytes).unwrap();
    let (local, _) = match side {
        Client => (CLIENT_PORT, SERVER_PORT),
        Server => (SERVER_PORT, CLIENT_PORT),
    };
    assert_eq!(quoted.source_port, local);
    quoted
}

fn last_of(pair: &Pair, side: Side) -> QuotedHeader {
    quoted(side, &pair.sent_by(side, 0).last().unwrap().packet)
}

fn too_big(pair: &mut Pair, mtu: u32, quoted: QuotedHeader) -> bool {
    let now = pair.now;
    pair.apply(Client, |client| client.on_too_big(now, mtu, quoted))
}

/// D14-1, U-6: the MPS is what the path carries, minus all headers and the usual options; larger
/// datagrams are refused, and the application can query the limit.
#[test]
fn mps_follows_the_path_mtu() {
    let mut pair = Pair::open(limited(1_500), limited(1_500));
    let mps = pair.get(Client).mps();
    assert_eq!(mps, 1_500 - LOWER - 24 - 62);
    assert_eq!(pair.get(Client).path_mtu(), 1_500);
    let mut send = |size| pair.apply(Client, |client| client.send(Payload::Synthetic(size)));
    let size = mps as usize + 1;
    assert_eq!(send(mps + 1), Err(SendError::TooLarge { size, mps }));
    assert_eq!(send(mps), Ok(()));
    // If the path has no limit, the application's applies.
    assert_eq!(Pair::opened().get(Client).mps(), Config::default().mps);
}

/// D14-1, U-6: a driver can set the path of each of many connections that share a configuration;
/// later reports lower the MPS, nothing raises it.
#[test]
fn a_driver_knows_the_path() {
    let mut pair = Pair::open(limited(9_000), limited(9_000));
    let now = pair.now;
    pair.apply(Client, |client| client.set_path(now, 1_500, 28));
    let mps = 1_500 - 28 - 24 - 62;
    assert_eq!(pair.get(Client).mps(), mps);
    assert_eq!(pair.events(Client), [Event::PathMtu { mps, discarded: 0 }]);
    pair.apply(Client, |client| client.on_local_mtu(now, 1_500));
    pair.apply(Client, |client| client.on_local_mtu(now, 9_000));
    assert_eq!(pair.get(Client).path_mtu(), 1_500);
    assert!(pair.events(Client).is_empty());
    pair.apply(Client, |client| client.on_local_mtu(now, 296));
    let mps = 296 - 28 - 24 - 62;
    assert_eq!(pair.get(Client).mps(), mps);
    pair.apply(Client, |client| client.on_local_mtu(now, 0));
    assert_eq!(pair.get(Client).path_mtu(), 68);
    assert_eq!(pair.get(Client).mps(), 0);
}

/// D14-1: no data packet is longer than the path permits, for any options: over a long exchange of
/// full datagrams in both directions, with losses, marks, renegotiation, dropped data and echoes.
#[test]
fn no_packet_exceeds_the_path_mtu() {
    let config = Config {
        send_data_checksum: true,
        request_ndp_count: true,
        receive_queue: 20,
        ..limited(1_280)
    };
    let mut pair = Pair::open(config.clone(), config);
    let mps = pair.get(Client).mps();
    let mut count = 0u32;
    pair.network = Box::new(move |_| {
        count += 1;
        match count {
            count if count.is_multiple_of(13) => Fate::Drop,
            count if count.is_multiple_of(29) => Fate::Mark,
            _ => Fate::Deliver,
        }
    });
    for round in 0..40 {
        for _ in 0..40 {
            pair.send(Client, mps);
            pair.send(Server, mps);
        }
        let (seq, ack) = (pair.gss(Client), pair.gss(Server));
        let sync = packet(
            Client,
            seq,
            Kind::Sync {
                ack: SeqNo::new(ack),
            },
        );
        pair.receive(
            Server,
            Ecn::Ect0,
            with_options(sync, &[DccpOption::Timestamp(round)]),
        );
        pair.run_for(millis(700));
    }
    let mut full = 0;
    for sent in &pair.log {
        let length = sent.packet.encoded_len() + LOWER as usize;
        assert!(length <= 1_280, "{length} bytes: {:?}", sent.packet);
        full += usize::from(sent.packet.payload.len() == mps as usize);
    }
    assert!(full > 400, "{full} full datagrams");
}

/// D14-1, D8.1-6: cookies leave no room for a full datagram in PARTOPEN, so it waits for OPEN
/// instead of leaving in a packet that is too long.
#[test]
fn data_waits_where_cookies_fill_the_packet() {
    let mut pair = Pair::new(limited(1_280), Config::default());
    pair.drain(Client);
    let mps = pair.get(Client).mps();
    pair.send(Client, mps);
    let kind = Kind::Response {
        ack: SeqNo::new(pair.gss(Client)),
        service: ServiceCode::NONE,
    };
    let options = [
        DccpOption::InitCookie([5; 100][..].into()),
        confirm(FeatureSide::Local, 6, &[1, 1, 0]),
    ];
    let sent = pair.inject(Client, with_options(packet(Server, 7_000, kind), &options));
    assert!(!sent.is_empty());
    assert!(sent.iter().all(|sent| sent.payload.is_empty()), "{sent:?}");
    let ack = Kind::Ack { ack: sent[0].seq };
    let sent = pair.inject(Client, packet(Server, 7_001, ack));
    assert_eq!(sent.last().unwrap().payload.len(), mps as usize);
}

/// D14-2: a report lowers the Path MTU if it quotes a recently sent packet and a lower MTU; the
/// application is notified, and queued datagrams that are now too large are discarded.
#[test]
fn reports_of_packets_too_big() {
    let mut pair = Pair::open(limited(1_500), limited(1_500));
    pair.network = Box::new(|_| Fate::Drop);
    let mps = pair.get(Client).mps();
    for size in [mps, 100, mps, 100, mps, 100] {
        pair.send(Client, size);
    }
    pair.drain(Client);
    pair.send(Client, mps);
    let good = last_of(&pair, Client);
    let bad = [
        QuotedHeader {
            seq: good.seq.add(1),
            ..good
        },
        QuotedHeader {
            seq: good.seq.sub(101),
            ..good
        },
        QuotedHeader {
            source_port: 1,
            ..good
        },
        QuotedHeader {
            destination_port: 1,
            ..good
        },
    ];
    for bad in bad {
        assert!(!too_big(&mut pair, 1_400, bad), "{bad:?}");
    }
    assert!(!too_big(&mut pair, 1_500, good) && !too_big(&mut pair, 9_000, good));
    assert!(pair.events(Client).is_empty());
    let queued = pair.get(Client).stats().queued;
    assert!(too_big(&mut pair, 1_400, good));
    let (mps, left) = (pair.get(Client).mps(), pair.get(Client).stats().queued);
    assert_eq!(mps, 1_400 - LOWER - 24 - 62);
    let discarded = queued - left;
    assert!(discarded > 0 && left > 0, "{discarded} {left}");
    assert_eq!(pair.events(Client), [Event::PathMtu { mps, discarded }]);
    let before = pair.log.len();
    pair.run_for(secs(100));
    let sent = pair.sent_by(Client, before);
    assert!(sent.iter().any(|sent| sent.packet.payload.len() == 100));
    assert!(
        sent.iter()
            .all(|sent| sent.packet.payload.len() <= mps as usize)
    );
}

/// D14-2: routers that report no MTU (RFC 1191 section 7) or an absurd one.
#[test]
fn reports_without_an_mtu() {
    let mut pair = Pair::open(limited(9_000), Config::default());
    let good = last_of(&pair, Client);
    for expected in [8_166, 4_352, 2_002, 1_492, 1_006, 576] {
        assert!(too_big(&mut pair, 0, good));
        assert_eq!(pair.get(Client).path_mtu(), expected);
    }
    assert!(!too_big(&mut pair, 0, good));
    let mut pair = Pair::open(limited(9_000), Config::default());
    assert!(too_big(&mut pair, 68, good));
    assert_eq!(pair.get(Client).path_mtu(), 576);
}

/// D14-2: reports about packets with short numbers quote 24 bits.
#[test]
fn reports_that_quote_short_numbers() {
    let config = Config {
        allow_short_seqnos: true,
        ..limited(1_500)
    };
    let mut pair = Pair::open(config.clone(), config);
    pair.send(Client, 10);
    pair.drain(Client);
    let good = last_of(&pair, Client);
    assert!(!good.extended);
    let wrong = QuotedHeader {
        seq: good.seq.add(1),
        ..good
    };
    assert!(!too_big(&mut pair, 1_400, wrong));
    assert!(too_big(&mut pair, 1_400, good));
}

/// D14-2: an ICMP report does not excuse a loss: a packet that was too big halves cwnd like any
/// other.
#[test]
fn too_big_is_still_a_loss() {
    let mut pair = Pair::open(limited(1_500), limited(1_500));
    for _ in 0..60 {
        pair.send(Client, 1_000);
    }
    pair.run_for(secs(5));
    let mut dropped = false;
    let before = window(&pair.get(Client).stats()).cwnd;
    for _ in 0..8 {
        pair.send(Client, 1_000);
    }
    pair.network = Box::new(move |sent| {
        if sent.from == Client && !dropped {
            dropped = true;
            return Fate::Drop;
        }
        Fate::Deliver
    });
    let from = pair.log.len();
    pair.drain(Client);
    let first = &pair.sent_by(Client, from)[0].packet;
    assert_eq!(first.payload.len(), 1_000);
    let dropped = quoted(Client, first);
    assert!(too_big(&mut pair, 1_200, dropped));
    pair.run_for(secs(1));
    let stats = pair.get(Client).stats();
    assert_eq!(window(&stats).lost, 1);
    assert!(
        window(&stats).cwnd < before,
        "{} after {before}",
        window(&stats).cwnd
    );
}

/// D10.5-1: on another path, congestion control restarts and the connection continues.
#[test]
fn another_path() {
    let mut pair = Pair::open(limited(1_500), limited(1_500));
    let mut dropped = false;
    pair.network = Box::new(move |sent| {
        if sent.kind() == PacketType::Data && !dropped {
            dropped = true;
            return Fate::Drop;
        }
        Fate::Deliver
    });
    for _ in 0..200 {
        pair.send(Client, 1_000);
    }
    pair.run_for(secs(10));
    let before = pair.get(Client).stats();
    assert!(
        window(&before).ssthresh.is_finite() && before.srtt.is_some() && window(&before).lost == 1
    );
    pair.send(Client, 1_300);
    let now = pair.now;
    pair.apply(Client, |client| client.on_path_change(now, 1_280));
    let mps = 1_280 - LOWER - 24 - 62;
    assert_eq!(
        pair.events(Client).last(),
        Some(&Event::PathMtu { mps, discarded: 1 })
    );
    let fresh = pair.get(Client).stats();
    let initial = Pair::open(limited(1_500), limited(1_500));
    let initial = initial.get(Client).stats();
    let (now, initial) = (window(&fresh), window(&initial));
    assert_eq!((now.cwnd, now.ssthresh), (initial.cwnd, initial.ssthresh));
    assert_eq!((fresh.srtt, now.pipe, now.lost), (None, 0, 1));
    pair.received(Server);
    for _ in 0..100 {
        pair.send(Client, 1_000);
        pair.send(Server, 1_000);
    }
    pair.run_for(secs(10));
    assert_eq!(pair.received(Server).len(), 100);
    assert_eq!(pair.received(Client).len(), 100);
    assert_eq!(pair.states(), (State::Open, State::Open));
    assert_eq!(pair.get(Client).stats().counters.syncs_sent, 0);
}

/// RFC 4341 section 5: the initial window is for packets that fit the path, even if the
/// configuration permits larger ones.
#[test]
fn the_initial_window_is_for_packets_of_the_path() {
    let cwnd = |client: &Connection| window(&client.stats()).cwnd;
    let ends = |path_mtu| {
        let config = Config {
            path_mtu,
            ..Config::default()
        };
        Connection::client(config, CLIENT_PORT, SERVER_PORT, Instant::ZERO, rng(1))
    };
    let mut client = ends(65_535);
    assert_eq!(cwnd(&client), 2.0);
    client.set_path(Instant::ZERO, 1_500, 28);
    assert_eq!(cwnd(&client), 3.0);
    client.on_path_change(Instant::ZERO, 1_000);
    assert_eq!(cwnd(&client), 4.0);
    assert_eq!(cwnd(&ends(1_500)), 3.0);
}

/// D14-3: no packet needs to be fragmented. Requests, Responses and Resets are small, whatever is
/// negotiated, so they pass where larger packets do not.
#[test]
fn d14_3_handshake_packets_need_no_fragmentation() {
    let config = Config {
        sender_ccids: vec![Ccid(2), Ccid(3), Ccid(4), Ccid(251)],
        receiver_ccids: vec![Ccid(4), Ccid(3), Ccid(2), Ccid(251)],
        allow_short_seqnos: true,
        sequence_window: 1 << 40,
        ecn_incapable: true,
        ack_ratio: 9,
        request_ndp_count: true,
        request_rtt_estimate: true,
        minimum_checksum_coverage: 5,
        send_data_checksum: true,
        ..limited(1_500)
    };
    let mut pair = Pair::new(config.clone(), config);
    pair.run_for(secs(1));
    let now = pair.now;
    pair.apply(Server, |server| server.abort(now));
    pair.drain(Server);
    for kind in [PacketType::Request, PacketType::Response, PacketType::Reset] {
        let lengths = pair.log.iter().filter(|sent| sent.kind() == kind);
        let longest = lengths
            .map(|sent| sent.packet.encoded_len() as u32 + LOWER)
            .max();
        assert!(longest < Some(256), "{kind:?}: {longest:?}");
        assert!(longest > Some(LOWER), "{kind:?}");
    }
}

/// D14-1: an Ack fits the path however long the Ack Vector is; it then reports the newest packets.
#[test]
fn an_ack_vector_fits_the_path() {
    let mut pair = Pair::open(limited(576), limited(576));
    let first = pair.gss(Client);
    let mut lengths = Vec::new();
    for step in 1..=400 {
        // Every other packet is lost, and no acknowledgement is acknowledged.
        let sent = pair.inject(Server, packet(Client, first + 2 * step, Kind::Data));
        lengths.extend(
            sent.iter()
                .map(|packet| packet.to_bytes(Checksum::Ignored).unwrap().len()),
        );
    }
    assert!(lengths.len() > 100, "{}", lengths.len());
    let largest = lengths.iter().max();
    assert!(
        largest > Some(&400) && largest <= Some(&(576 - LOWER as usize)),
        "{largest:?}"
    );
}
