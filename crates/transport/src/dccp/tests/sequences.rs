//! Sequence numbers between two connections, and Syncs (RFC 4340 sections 5.7 and 7).

use super::*;

/// D7.1-1: every packet of every type takes the next number.
#[test]
fn each_packet_has_the_next_number() {
    let mut pair = Pair::default();
    for _ in 0..40 {
        pair.send(Client, 300);
        pair.send(Server, 300);
    }
    pair.run_for(secs(3));
    pair.close(Server);
    pair.run_for(secs(3));
    for side in [Client, Server] {
        let sent = pair.sent_by(side, 0);
        assert!(sent.len() > 40);
        for neighbours in sent.windows(2) {
            assert_eq!(neighbours[1].packet.seq, neighbours[0].packet.seq.next());
        }
    }
}

/// D7.4-1: the acknowledgement number is the greatest sequence number received.
#[test]
fn acknowledges_the_greatest_number() {
    let mut pair = Pair::opened();
    let (seq, ack) = (pair.gss(Client), SeqNo::new(pair.gss(Server)));
    let data = |seq| with_data(packet(Client, seq, Kind::DataAck { ack }), 100);
    pair.inject(Server, data(seq + 5));
    let sent = pair.inject(Server, data(seq + 2));
    let acked = sent.last().unwrap().kind.ack();
    assert_eq!(acked, Some(SeqNo::new(seq + 5)));
}

/// D7.5-4, D7.5-5: a packet outside the window is not processed; the Sync in response has a new
/// number and acknowledges the packet, or GSR if it was a Reset. Invalid Syncs are ignored.
#[test]
fn invalid_packets() {
    let mut pair = Pair::opened();
    let (gsr, gss) = (pair.gss(Client), pair.gss(Server));
    let ack = SeqNo::new(gss);
    let far = gsr + 76; // W = 100: SWH = GSR + 75
    let invalid = [
        (packet(Client, far, Kind::Data), far),
        (packet(Client, far, Kind::Ack { ack }), far),
        (
            packet(Client, gsr + 1, Kind::Ack { ack: ack.add(50) }),
            gsr + 1,
        ),
        (packet(Client, gsr, Kind::Close { ack }), gsr),
        (packet(Client, far, Kind::Close { ack }), far),
        (
            packet(
                Client,
                gsr,
                Kind::Reset {
                    ack,
                    code: ResetCode::CLOSED,
                    data: [0; 3],
                },
            ),
            gsr,
        ),
        (
            packet(
                Client,
                far,
                Kind::Reset {
                    ack,
                    code: ResetCode::CLOSED,
                    data: [0; 3],
                },
            ),
            gsr,
        ),
    ];
    for (index, (packet, acked)) in invalid.into_iter().enumerate() {
        pair.now += secs(1); // clear of the rate limit
        let packet = with_options(
            with_data(packet, 10),
            &[DccpOption::Mandatory, DccpOption::Mandatory],
        );
        let sent = pair.inject(Server, packet.clone());
        assert_eq!(sent.len(), 1, "{packet:?}");
        assert_eq!(
            sent[0].kind,
            Kind::Sync {
                ack: SeqNo::new(acked)
            },
            "{packet:?}"
        );
        assert_eq!(sent[0].seq, SeqNo::new(gss + 1 + index as u64));
    }
    for kind in [
        Kind::Sync {
            ack: SeqNo::new(gss + 50),
        },
        Kind::SyncAck { ack: ack.sub(500) },
    ] {
        assert!(
            pair.inject(Server, packet(Client, gsr + 1, kind))
                .is_empty()
        );
    }
    assert_eq!(pair.get(Server).state(), State::Open);
    assert!(pair.received(Server).is_empty());
}

/// D7.5-7: at most eight Syncs per second.
#[test]
fn syncs_are_rate_limited() {
    let mut pair = Pair::opened();
    let far = pair.gss(Client) + 1_000;
    let mut sent = 0;
    for step in 0..300 {
        sent += pair
            .inject(Server, packet(Client, far + step, Kind::Data))
            .len();
        pair.now += millis(10);
    }
    assert_eq!(sent, 3 * 8);
}

/// D5.7-2, D7.5-6, D8.2-1: a valid Sync raises GSR and is answered at once; the SyncAck
/// acknowledges the Sync, even if GSR has advanced.
#[test]
fn sync_is_answered() {
    let mut pair = Pair::opened();
    let (gsr, ack) = (pair.gss(Client), SeqNo::new(pair.gss(Server)));
    let sent = pair.inject(Server, packet(Client, gsr + 10, Kind::Sync { ack }));
    assert_eq!(sent.len(), 1);
    assert_eq!(
        sent[0].kind,
        Kind::SyncAck {
            ack: SeqNo::new(gsr + 10)
        }
    );
    let sent = pair.inject(Server, packet(Client, gsr + 9, Kind::Sync { ack }));
    assert_eq!(
        sent[0].kind,
        Kind::SyncAck {
            ack: SeqNo::new(gsr + 9)
        }
    );
    // GSR is gsr + 10 now: an old Close is invalid.
    let sent = pair.inject(Server, packet(Client, gsr + 10, Kind::Close { ack }));
    assert_eq!(sent[0].kind.packet_type(), PacketType::Sync);
}

/// D7.5-4: while packets arrive, a Sync from far ahead is rejected; after three round-trip times of
/// silence it is accepted.
#[test]
fn active_connections_check_syncs_strictly() {
    let mut pair = Pair::opened();
    let (gsr, gss) = (pair.gss(Client), pair.gss(Server));
    let ack = SeqNo::new(gss);
    pair.inject(Server, packet(Client, gsr + 1, Kind::Ack { ack }));
    let sync = packet(Client, gsr + 1_000, Kind::Sync { ack });
    assert!(pair.inject(Server, sync.clone()).is_empty());
    pair.now += millis(301);
    let sent = pair.inject(Server, sync);
    assert_eq!(
        sent[0].kind,
        Kind::SyncAck {
            ack: SeqNo::new(gsr + 1_000)
        }
    );
}

/// D5.7-1: the acknowledgement number of a Sync acknowledges nothing: a sender that has received
/// nothing else still counts its data as outstanding.
#[test]
fn sync_does_not_acknowledge() {
    let mut pair = Pair::opened();
    pair.network = Box::new(|_| Fate::Drop);
    pair.send(Client, 100);
    pair.drain(Client);
    let (gss, seq) = (pair.gss(Client), pair.gss(Server) + 1);
    assert_eq!(pair.window(Client).pipe, 1);
    let lie = DccpOption::AckVector {
        nonce: false,
        cells: [0][..].into(),
    };
    let sync = packet(
        Server,
        seq,
        Kind::Sync {
            ack: SeqNo::new(gss),
        },
    );
    pair.inject(Client, with_options(sync, std::slice::from_ref(&lie)));
    assert_eq!(pair.window(Client).pipe, 1);
    let ack = packet(
        Server,
        seq + 1,
        Kind::Ack {
            ack: SeqNo::new(gss),
        },
    );
    pair.inject(Client, with_options(ack, &[lie]));
    assert_eq!(pair.window(Client).pipe, 0);
}

/// The first example of section 7.5.6: recovery from a burst of losses longer than the window.
#[test]
fn recovers_from_a_long_burst_of_loss() {
    let mut pair = Pair::opened();
    let (gsr, ack) = (pair.gss(Client), SeqNo::new(pair.gss(Server)));
    // The server has missed 199 packets.
    pair.now += secs(1);
    let sent = pair.inject(Server, packet(Client, gsr + 200, Kind::Ack { ack }));
    let sync = &sent[0];
    assert_eq!(
        sync.kind,
        Kind::Sync {
            ack: SeqNo::new(gsr + 200)
        }
    );
    let answer = packet(Client, gsr + 201, Kind::SyncAck { ack: sync.seq });
    assert!(pair.inject(Server, answer).is_empty());
    let data = with_data(packet(Client, gsr + 202, Kind::Data), 60);
    pair.inject(Server, data);
    assert_eq!(pair.received(Server), [60], "back in sync");
}

/// D7.6-1: short numbers are neither sent nor accepted unless agreed; if agreed, they are sent only
/// on Data, Ack and DataAck and extended on arrival, including across the end of the 24-bit space.
#[test]
fn short_sequence_numbers() {
    let mut pair = Pair::opened();
    let seq = pair.gss(Client) + 1;
    let mut short = with_data(packet(Client, seq & 0xff_ffff, Kind::Data), 10);
    short.extended = false;
    assert!(pair.inject(Server, short).is_empty());
    assert!(pair.received(Server).is_empty(), "not agreed");

    let wishes = Config {
        allow_short_seqnos: true,
        send_queue: 200,
        ..Config::default()
    };
    let mut pair = Pair::open(wishes.clone(), wishes);
    let before = pair.log.len();
    for _ in 0..100 {
        pair.send(Client, 100);
        pair.send(Server, 100);
    }
    pair.run_for(secs(5));
    assert_eq!(pair.received(Server).len(), 100);
    assert_eq!(pair.received(Client).len(), 100);
    assert!(
        pair.log[before..]
            .iter()
            .all(|sent| { !sent.packet.extended && sent.packet.seq.get() < 1 << 24 })
    );
    pair.close(Client);
    pair.run_for(secs(1));
    assert!(
        pair.log.last().unwrap().packet.extended,
        "Close and Reset are long"
    );
    assert_eq!(pair.states(), (State::TimeWait, State::Closed));
}

/// D5.1-6, D7.6-1: a connection whose windows permit very high rates uses 48-bit numbers on every
/// packet, even if short ones were agreed.
#[test]
fn high_rates_use_long_numbers() {
    for (sequence_window, short) in [(1 << 16, true), ((1 << 16) + 1, false)] {
        let config = Config {
            allow_short_seqnos: true,
            sequence_window,
            ..Config::default()
        };
        let mut pair = Pair::open(config.clone(), config);
        let from = pair.log.len();
        pair.send(Client, 10);
        pair.run_for(secs(1));
        let sent = &pair.log[from..];
        assert!(sent.iter().any(|sent| sent.kind() == PacketType::Data));
        assert!(sent.iter().all(|sent| sent.packet.extended != short));
    }
}

/// D7.6-1: extension works on both sides of the wrap of the low 24 bits.
#[test]
fn short_numbers_wrap() {
    let config = Config {
        allow_short_seqnos: true,
        ..Config::default()
    };
    let mut pair = Pair::new(Config::default(), config);
    let start = 0x1234_56ff_fff0;
    let options = [
        change(FeatureSide::Local, 2, &[1]),
        change(FeatureSide::Remote, 6, &[1]),
    ];
    let hello = pair
        .inject(Server, with_options(request(start), &options))
        .remove(0);
    let agreed = hello
        .options
        .contains(&confirm(FeatureSide::Remote, 2, &[1, 1, 0]));
    assert!(agreed, "{hello:?}");
    pair.inject(
        Server,
        packet(Client, start + 1, Kind::Ack { ack: hello.seq }),
    );
    let mut acked = Vec::new();
    for seq in start + 2..start + 34 {
        let mut data = with_data(packet(Client, seq & 0xff_ffff, Kind::Data), 10);
        data.extended = false;
        acked.extend(
            pair.inject(Server, data)
                .iter()
                .filter_map(|packet| packet.kind.ack()),
        );
    }
    assert_eq!(pair.received(Server).len(), 32);
    assert_eq!(acked.last(), Some(&SeqNo::new(start + 33)));
}

/// D7.7-1: the example of section 7.7, depending on which kinds of packets precede.
#[test]
fn ndp_count_follows_non_data_packets() {
    let wishes = Config {
        request_ndp_count: true,
        ..Config::default()
    };
    let mut pair = Pair::open(wishes.clone(), wishes);
    for _ in 0..30 {
        pair.send(Client, 100);
        pair.run_for(millis(37));
        pair.send(Server, 100);
    }
    pair.run_for(secs(2));
    pair.close(Client);
    pair.run_for(secs(2));
    for side in [Client, Server] {
        let mut run = 0;
        let mut counted = 0;
        for (index, sent) in pair.sent_by(side, 0).iter().enumerate() {
            let count = sent.packet.options.iter().find_map(|option| match option {
                DccpOption::NdpCount { count, width } => {
                    assert_eq!(*width, 1, "the smallest format");
                    Some(*count)
                }
                _ => None,
            });
            // Before the handshake is complete the feature may not be on yet.
            if index >= 2 {
                assert_eq!(count.unwrap_or(0), run, "{side:?} packet {index}");
            }
            counted += count.is_some() as u32;
            let counts_as_data = matches!(
                sent.kind(),
                PacketType::Request | PacketType::Response | PacketType::Data | PacketType::DataAck
            );
            run = if counts_as_data { 0 } else { run + 1 };
        }
        assert!(counted > 0);
    }
}
