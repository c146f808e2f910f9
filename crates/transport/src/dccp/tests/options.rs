//! Options on received packets (RFC 4340 sections 5.8, 9, 11.7 and 13).

use skywave_wire::dccp::ElapsedTime;

use super::*;

/// Passes an Ack with `options` to the server. Returns its immediate response.
fn options_on_an_ack(options: &[DccpOption]) -> (Pair, Vec<Packet>) {
    let mut pair = Pair::opened();
    let (seq, ack) = (pair.gss(Client) + 1, SeqNo::new(pair.gss(Server)));
    let sent = pair.inject(
        Server,
        with_options(packet(Client, seq, Kind::Ack { ack }), options),
    );
    (pair, sent)
}

fn other(kind: u8, value: &[u8]) -> DccpOption {
    DccpOption::Other {
        kind,
        value: (kind >= 32).then(|| value.into()),
    }
}

/// D5.8-3, D15-1: unknown types and impossible lengths are ignored.
#[test]
fn unknown_options_are_ignored() {
    let (pair, _) = options_on_an_ack(&[
        other(17, &[]),
        other(45, &[1]),
        other(44, &[1, 2]), // a Data Checksum of four bytes
        other(127, &[]),
        other(200, &[9; 30]),
    ]);
    assert_eq!(pair.get(Server).state(), State::Open);
}

/// D5.8.2-1: Mandatory.
#[test]
fn mandatory_option() {
    let mandatory = DccpOption::Mandatory;
    let fine: [&[DccpOption]; 4] = [
        &[mandatory.clone(), DccpOption::Padding],
        &[mandatory.clone(), DccpOption::Timestamp(1)],
        &[mandatory.clone(), DccpOption::Padding, other(45, &[])],
        &[mandatory.clone(), DccpOption::SlowReceiver],
    ];
    for options in fine {
        let (pair, _) = options_on_an_ack(options);
        assert_eq!(pair.get(Server).state(), State::Open, "{options:?}");
    }
    let errors: [(&[DccpOption], ResetCode, [u8; 3]); 6] = [
        (
            &[mandatory.clone(), other(45, &[7, 8, 9])],
            ResetCode::MANDATORY_ERROR,
            [45, 7, 8],
        ),
        (
            &[mandatory.clone(), other(17, &[])],
            ResetCode::MANDATORY_ERROR,
            [17, 0, 0],
        ),
        (
            &[mandatory.clone(), other(41, &[5])],
            ResetCode::MANDATORY_ERROR,
            [41, 5, 0],
        ),
        (
            std::slice::from_ref(&mandatory),
            ResetCode::OPTION_ERROR,
            [1, 0, 0],
        ),
        (
            &[mandatory.clone(), mandatory.clone(), DccpOption::Padding],
            ResetCode::OPTION_ERROR,
            [1, 0, 0],
        ),
        (
            &[mandatory.clone(), DccpOption::InitCookie([4, 5][..].into())],
            ResetCode::MANDATORY_ERROR,
            [36, 4, 5],
        ),
    ];
    for (options, code, data) in errors {
        let (pair, sent) = options_on_an_ack(options);
        assert_eq!(sent.len(), 1, "{options:?}");
        assert_eq!(reset_code(&sent[0]), Some((code, data)), "{options:?}");
        assert_eq!(pair.get(Server).state(), State::Closed);
    }
}

/// The option of this type with as many of the bytes 7, 8, 9, ... as form a value.
fn example(kind: OptionType) -> (DccpOption, Vec<u8>) {
    let data: Vec<u8> = (7..=16).collect();
    (0..=data.len())
        .rev()
        .map(|length| &data[..length])
        .map(|data| (DccpOption::parse(kind, data), data.to_vec()))
        .find(|(option, _)| !matches!(option, DccpOption::Other { .. }))
        .unwrap()
}

/// D5.6-2, D5.8.2-1: if an option after Mandatory is not processed, the Reset quotes the option's
/// type and first two bytes of data, for every type.
#[test]
fn a_reset_tells_the_options_own_bytes() {
    let mut processed = Vec::new();
    for &kind in OptionType::ALL {
        let (option, data) = example(kind);
        let (pair, sent) = options_on_an_ack(&[DccpOption::Mandatory, option.clone()]);
        if pair.get(Server).state() == State::Open {
            processed.push(kind);
            continue;
        }
        let bytes = match kind {
            OptionType::MANDATORY => [0; 2],
            _ => [data[0], data[1]],
        };
        let (_, told) = reset_code(&sent[0]).unwrap();
        assert_eq!(told, [kind.0, bytes[0], bytes[1]], "{option}");
    }
    let malformed = DccpOption::Malformed([41, 99, 5, 6, 7][..].into());
    let (_, sent) = options_on_an_ack(&[DccpOption::Mandatory, malformed]);
    let told = (ResetCode::MANDATORY_ERROR, [41, 5, 6]);
    assert_eq!(reset_code(&sent[0]), Some(told));
    let by_ccid_2 = [
        OptionType::PADDING,
        OptionType::SLOW_RECEIVER,
        OptionType::CONFIRM_L,
        OptionType::CONFIRM_R,
        OptionType::NDP_COUNT,
        OptionType::ACK_VECTOR_0,
        OptionType::ACK_VECTOR_1,
        OptionType::DATA_DROPPED,
        OptionType::TIMESTAMP,
        OptionType::TIMESTAMP_ECHO,
        OptionType::ELAPSED_TIME,
        OptionType::DATA_CHECKSUM,
        OptionType::QUICK_START_RESPONSE,
    ];
    assert_eq!(processed, by_ccid_2);
}

/// D5.8-2: options are processed individually and in order: the last of several valid ones counts.
#[test]
fn options_are_processed_in_order() {
    let (_, sent) = options_on_an_ack(&[
        change(FeatureSide::Local, 5, &[0, 7]),
        change(FeatureSide::Local, 5, &[0, 3]),
        DccpOption::Timestamp(5),
        DccpOption::Timestamp(6),
    ]);
    assert!(
        sent[0]
            .options
            .contains(&confirm(FeatureSide::Remote, 5, &[0, 3])),
        "{sent:?}"
    );
    let echo = DccpOption::TimestampEcho {
        echo: 6,
        elapsed: None,
    };
    assert!(sent[0].options.contains(&echo));
}

/// D5.8-4, D5.8.2-2, D11-1: options not permitted on Data are ignored there: no reset, no
/// acknowledgement processed.
#[test]
fn options_not_allowed_on_data() {
    let mut pair = Pair::opened();
    pair.network = Box::new(|_| Fate::Drop);
    pair.send(Client, 100);
    pair.drain(Client);
    let seq = pair.gss(Server) + 1;
    let options = [
        DccpOption::AckVector {
            nonce: false,
            cells: [0x05][..].into(),
        },
        DccpOption::DataDropped([0x90][..].into()),
        DccpOption::InitCookie([1][..].into()),
        DccpOption::Mandatory,
        DccpOption::ElapsedTime(ElapsedTime::Short(9)),
        DccpOption::Mandatory,
        other(99, &[]),
    ];
    pair.inject(
        Client,
        with_options(with_data(packet(Server, seq, Kind::Data), 7), &options),
    );
    assert_eq!(pair.get(Client).state(), State::Open);
    assert_eq!(pair.window(Client).pipe, 1, "the Ack Vector says nothing");
    assert_eq!(pair.received(Client), [7]);
    assert!(pair.events(Client).is_empty());
}

/// D13-1: a Timestamp is echoed on the next packet, once, with the time it waited.
#[test]
fn timestamp_is_echoed() {
    let (mut pair, _) = options_on_an_ack(&[DccpOption::Timestamp(0xabcd)]);
    pair.now += millis(30);
    pair.send(Server, 10);
    pair.drain(Server);
    let elapsed = Some(ElapsedTime::Short(3_000));
    let echo = DccpOption::TimestampEcho {
        echo: 0xabcd,
        elapsed,
    };
    assert!(pair.log.last().unwrap().packet.options.contains(&echo));
    pair.send(Server, 10);
    pair.drain(Server);
    assert!(
        pair.log
            .last()
            .unwrap()
            .option(OptionType::TIMESTAMP_ECHO)
            .is_none()
    );
}

/// Passes a DataAck to the server, and another one to trigger an acknowledgement. Returns the
/// delivered data, and the blocks of the Data Dropped option in the response.
fn dropped_by(server: Config, data: Packet) -> (Vec<(usize, bool)>, Option<Vec<u8>>) {
    let mut pair = Pair::open(Config::default(), server);
    let (seq, ack) = (pair.gss(Client) + 1, SeqNo::new(pair.gss(Server)));
    let kind = Kind::DataAck { ack };
    let first = Packet {
        seq: SeqNo::new(seq),
        kind,
        ..data
    };
    let mut sent = pair.inject(Server, first);
    sent.extend(pair.inject(Server, with_data(packet(Client, seq + 1, kind), 1)));
    let blocks = sent
        .last()
        .unwrap()
        .options
        .iter()
        .find_map(|option| match option {
            DccpOption::DataDropped(blocks) => Some(blocks.to_vec()),
            _ => None,
        });
    let delivered = pair.apply(Server, |server| {
        std::iter::from_fn(|| server.recv())
            .map(|datagram| (datagram.payload.len(), datagram.corrupted))
            .collect()
    });
    (delivered, blocks)
}

/// D9.3-1, D9.3-2: a wrong Data Checksum: dropped with code 3, or delivered with code 7.
#[test]
fn data_checksum() {
    let good = DccpOption::DataChecksum(0x8a91_36aa); // 32 zero bytes
    let bad = DccpOption::DataChecksum(1);
    let data = |option| with_options(with_data(request(0), 32), &[option]);
    assert_eq!(
        dropped_by(Config::default(), data(good)),
        (vec![(32, false), (1, false)], None)
    );
    let dropped = dropped_by(Config::default(), data(bad.clone()));
    assert_eq!(dropped, (vec![(1, false)], Some(vec![0, 0xb0])));
    let delivers = Config {
        deliver_corrupted: true,
        ..Config::default()
    };
    let delivered = dropped_by(delivers, data(bad.clone()));
    assert_eq!(
        delivered,
        (vec![(32, true), (1, false)], Some(vec![0, 0xf0]))
    );
    let unchecked = Config {
        check_data_checksum: false,
        ..Config::default()
    };
    assert_eq!(
        dropped_by(unchecked, data(bad)),
        (vec![(32, false), (1, false)], None)
    );
}

/// D9.2-2: data whose coverage is too small is dropped with code 0.
#[test]
fn minimum_checksum_coverage() {
    let data = |cscov| Packet {
        cscov,
        ..with_data(request(0), 50)
    };
    let wants = |minimum_checksum_coverage| Config {
        minimum_checksum_coverage,
        ..Config::default()
    };
    for (minimum, cscov, accepted) in [
        (0, 0, true),
        (0, 1, false),
        (4, 3, false),
        (4, 4, true),
        (4, 15, true),
        (4, 0, true),
    ] {
        let (delivered, blocks) = dropped_by(wants(minimum), data(cscov));
        assert_eq!(
            delivered.len() == 2,
            accepted,
            "minimum {minimum}, cscov {cscov}"
        );
        assert_eq!(blocks, (!accepted).then(|| vec![0, 0x80]));
    }
}

/// D11.4-2: a full receive queue: Drop Code 2, and still the packets are reported as received, with
/// their nonces.
#[test]
fn full_receive_queue() {
    let config = Config {
        receive_queue: 1,
        ..Config::default()
    };
    let (delivered, blocks) = dropped_by(config, with_data(request(0), 50));
    assert_eq!(delivered, [(50, false)]);
    assert_eq!(blocks, Some(vec![0xa0]));

    for (ecn, echo) in [(Ecn::Ect0, false), (Ecn::Ect1, true)] {
        let none = Config {
            receive_queue: 0,
            ..Config::default()
        };
        let mut pair = Pair::open(Config::default(), none);
        let (seq, ack) = (pair.gss(Client) + 1, SeqNo::new(pair.gss(Server)));
        let data = |seq| with_data(packet(Client, seq, Kind::DataAck { ack }), 50);
        pair.inject_ecn(Server, Ecn::Ect0, data(seq));
        let sent = pair.inject_ecn(Server, ecn, data(seq + 1));
        let (nonce, cells) = ack_vector(&sent[0]).unwrap();
        assert_eq!((nonce, cells[0] >> 6), (echo, 0));
        assert!(cells[0] & 0x3f >= 1, "both packets");
        assert_eq!(pair.get(Server).stats().counters.datagrams_dropped, 2);
    }
}

/// D5.1-3: CCVal has no meaning for CCID 2.
#[test]
fn ccval_is_ignored() {
    let data = Packet {
        ccval: 9,
        ..with_data(request(0), 50)
    };
    assert_eq!(dropped_by(Config::default(), data).0.len(), 2);
}

/// Partial coverage is used once the peer accepts it, and Data Checksums where asked for.
#[test]
fn checksums_that_are_sent() {
    let client = Config {
        checksum_coverage: 3,
        send_data_checksum: true,
        ..Config::default()
    };
    let accepts = |minimum| Config {
        minimum_checksum_coverage: minimum,
        ..Config::default()
    };
    for (minimum, cscov) in [(0, 0), (2, 3), (3, 3), (5, 0)] {
        let mut pair = Pair::open(client.clone(), accepts(minimum));
        pair.send(Client, 32);
        pair.send(Client, 7); // too short to be covered in part
        pair.run_for(secs(1));
        let data: Vec<&Sent> = pair
            .log
            .iter()
            .filter(|sent| !sent.packet.payload.is_empty())
            .collect();
        assert_eq!(data[0].packet.cscov, cscov, "minimum {minimum}");
        assert_eq!(data[1].packet.cscov, 0);
        assert_eq!(
            data[0].option(OptionType::DATA_CHECKSUM),
            Some(&DccpOption::DataChecksum(0x8a91_36aa))
        );
        assert_eq!(pair.received(Server), [32, 7]);
    }
}
