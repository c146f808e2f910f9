//! No packet or configuration may cause packets that cannot be encoded, or endless work.

use super::*;
use crate::dccp::Ccid;

fn cookies(sizes: &[usize]) -> Vec<DccpOption> {
    let cookie = |&size: &usize| DccpOption::InitCookie(vec![7; size].into());
    sizes.iter().map(cookie).collect()
}

/// A client in REQUEST state with data to send, and a Response with Init Cookies of these sizes.
fn response_with_cookies(sizes: &[usize]) -> (Pair, Packet) {
    let mut pair = Pair::default();
    pair.drain(Client);
    let kind = Kind::Response {
        ack: SeqNo::new(pair.gss(Client)),
        service: ServiceCode::NONE,
    };
    let mut options = cookies(sizes);
    options.push(change(FeatureSide::Remote, 6, &[1]));
    options.push(confirm(FeatureSide::Local, 6, &[1, 1, 0]));
    options.push(DccpOption::Timestamp(1));
    pair.send(Client, 1_400);
    (pair, with_options(packet(Server, 7_000, kind), &options))
}

/// D8.1-6: cookies are echoed as far as they fit a packet, with or without the Ack Vector; longer
/// ones are an error.
#[test]
fn cookies_that_fill_a_packet() {
    let (mut pair, response) = response_with_cookies(&[253; 3]);
    let echoes_all = |packet: &Packet| {
        let is_cookie = |option: &&DccpOption| matches!(option, DccpOption::InitCookie(_));
        packet.options.iter().filter(is_cookie).count() == 3
    };
    let sent = pair.inject(Client, response.clone());
    let kinds: Vec<PacketType> = sent.iter().map(|sent| sent.kind.packet_type()).collect();
    assert_eq!(kinds, [PacketType::Ack, PacketType::DataAck]);
    assert!(
        sent.iter()
            .all(|sent| echoes_all(sent) && ack_vector(sent).is_some())
    );
    let mut ack = sent[1].seq;
    for age in 1..=100 {
        let sync = packet(Server, 7_000 + 2 * age, Kind::Sync { ack });
        ack = pair.inject(Client, sync)[0].seq;
    }
    let service = ServiceCode::NONE;
    let again = Packet {
        seq: SeqNo::new(7_202),
        kind: Kind::Response { ack, service },
        ..response
    };
    let sent = pair.inject(Client, again);
    assert_eq!(sent[0].kind.packet_type(), PacketType::Ack);
    assert!(echoes_all(&sent[0]) && ack_vector(&sent[0]).is_none());

    let (mut pair, response) = response_with_cookies(&[253, 253, 253, 0]);
    let sent = pair.inject(Client, response);
    assert_eq!(
        reset_code(&sent[0]),
        Some((ResetCode::OPTION_ERROR, [36, 0, 0]))
    );
}

/// D5.8-1: an Ack Vector of maximum length, Data Dropped, answers to a flood of Changes, and
/// everything else leave in packets that can be encoded (checked by `drain`).
#[test]
fn everything_at_once_fits() {
    let config = Config {
        receive_queue: 1,
        // The client acknowledges nothing new for a long time.
        sequence_window: 100_000,
        request_ndp_count: true,
        send_data_checksum: true,
        ..Config::default()
    };
    let mut pair = Pair::open(config.clone(), config);
    let (first, ack) = (pair.gss(Client) + 1, SeqNo::new(pair.gss(Server)));
    let mut options: Vec<DccpOption> = (10..=255)
        .map(|feature| change(FeatureSide::Local, feature, &[1]))
        .collect();
    options.push(DccpOption::Timestamp(9));
    let mut longest = 0;
    for index in 0..2_000 {
        // Every other packet is missing: one cell each.
        let data = with_data(packet(Client, first + 2 * index, Kind::DataAck { ack }), 10);
        pair.now += millis(100);
        let _ = pair.apply(Server, |server| server.send(Payload::Synthetic(1_400)));
        for sent in pair.inject(Server, with_options(data, &options)) {
            longest = longest.max(sent.header_len());
        }
    }
    assert!((900..=1_020).contains(&longest), "{longest} bytes");
}

/// A configuration refused by [`Config::check`] still causes no packet that cannot be encoded, no
/// panic, and no endless loop.
#[test]
fn wild_configurations_are_harmless() {
    let wild = [
        Config {
            checksum_coverage: 255,
            minimum_checksum_coverage: 255,
            ..Config::default()
        },
        Config {
            sequence_window: 0,
            ack_ratio: 0,
            ..Config::default()
        },
        Config {
            sequence_window: u64::MAX,
            ..Config::default()
        },
        Config {
            service_codes: vec![],
            sender_ccids: vec![],
            receiver_ccids: vec![],
            ..Config::default()
        },
        Config {
            sender_ccids: vec![Ccid::TCP_LIKE; 300],
            receiver_ccids: vec![Ccid::TCP_LIKE; 300],
            ..Config::default()
        },
        Config {
            path_mtu: 0,
            lower_headers: u32::MAX,
            ..Config::default()
        },
        Config {
            request_retry: Duration::ZERO,
            partopen_retry: Duration::ZERO,
            backoff_limit: Duration::ZERO,
            linger: Duration::ZERO,
            timewait: Duration::ZERO,
            ..Config::default()
        },
    ];
    for config in wild {
        for (client, server) in [
            (config.clone(), Config::default()),
            (Config::default(), config.clone()),
            (config.clone(), config.clone()),
        ] {
            let mut pair = Pair::new(client, server);
            pair.network = Box::new(|sent| match sent.packet.seq.get() % 7 {
                0 => Fate::Drop,
                _ => Fate::Deliver,
            });
            for side in [Client, Server] {
                let _ = pair.apply(side, |end| end.send(Payload::Synthetic(100)));
            }
            pair.run_for(secs(2));
            pair.close(Client);
            pair.run_for(secs(500));
        }
    }
}
