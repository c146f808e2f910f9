//! CCIDs 3 and 4 between two connections: negotiation, reports, rates.

use skywave_congestion::tfrc;

use super::*;
use crate::dccp::{Ccid, RateStats};

/// Both directions under `ccid`.
fn under(ccid: Ccid) -> Config {
    Config {
        sender_ccids: vec![ccid],
        receiver_ccids: vec![ccid],
        send_queue: 1_000_000,
        send_queue_bytes: usize::MAX,
        silence_timeout: None,
        receive_queue_bytes: usize::MAX,
        receive_queue: 1_000_000,
        ..Config::default()
    }
}

fn is_data(sent: &Sent) -> bool {
    matches!(sent.kind(), PacketType::Data | PacketType::DataAck)
}

/// The number of data packets `side` sent in each `step`, starting from its first.
fn packets_per(pair: &Pair, side: Side, step: Duration) -> Vec<usize> {
    let mut counts = Vec::new();
    let mut start = None;
    for sent in pair.sent_by(side, 0) {
        if !is_data(sent) {
            continue;
        }
        let slot = (sent.at - *start.get_or_insert(sent.at)).as_nanos() / step.as_nanos();
        counts.resize(slot as usize + 1, 0);
        counts[slot as usize] += 1;
    }
    counts
}

fn send_many(pair: &mut Pair, side: Side, count: usize, size: u32) {
    for _ in 0..count {
        pair.send(side, size);
    }
}

/// C3-1, C3-4, C3-13, C3-14, D10-1, D10.3-1: the CCID is negotiated in the handshake, and its own
/// features once it is settled; each report has its mandatory contents.
#[test]
fn ccid_3_carries_data() {
    let mut pair = Pair::open(under(Ccid::TFRC), under(Ccid::TFRC));
    for sent in &pair.log {
        let is_request = sent.kind() == PacketType::Request;
        for option in &sent.packet.options {
            if let DccpOption::Change { feature, .. } = option {
                assert!(!is_request || feature.0 == 1, "{option:?} before CCID 3");
            }
        }
    }
    send_many(&mut pair, Client, 500, 1_000);
    let before = pair.log.len();
    pair.run_for(secs(4));
    assert_eq!(pair.received(Server).len(), 500);
    let RateStats {
        loss_event_rate,
        reports,
        ..
    } = pair.rate(Client);
    assert_eq!(loss_event_rate, 0.0);
    let acks = pair.sent_by(Server, before);
    assert_eq!(reports, acks.len() as u64, "each Ack is a report");
    for ack in acks {
        for kind in [
            OptionType::ELAPSED_TIME,
            OptionType::LOSS_EVENT_RATE,
            OptionType::LOSS_INTERVALS,
            OptionType::RECEIVE_RATE,
        ] {
            assert!(ack.option(kind).is_some(), "{kind:?} in {ack:?}");
        }
    }
    let sent = pair.sent_by(Client, before);
    for data in sent.iter().filter(|sent| sent.kind() == PacketType::Data) {
        assert!(
            data.packet
                .options
                .iter()
                .all(DccpOption::is_allowed_on_data)
        );
    }
    assert_eq!(pair.rate(Server).reports, 0);
}

/// T-4, T-6: the rate starts with four packets per round-trip time, as measured by the handshake.
/// It doubles every two round-trip times, because X_recv describes the previous one.
#[test]
fn t_6_lossless_start() {
    let mut pair = Pair::open(under(Ccid::TFRC), under(Ccid::TFRC));
    send_many(&mut pair, Client, 2_000, 1_000);
    pair.run_for(secs(2));
    let counts = packets_per(&pair, Client, millis(100));
    assert_eq!(counts[0], 4);
    for (round, pair) in counts.windows(2).enumerate().take(10) {
        assert!(pair[1] <= 2 * pair[0] + 2, "round {round} of {counts:?}");
    }
    assert!(counts[10] >= 16 * counts[0], "{counts:?}");
}

/// C3-10: CCVal is zero at first, is set on data only, and advances by at most five between
/// packets.
#[test]
fn c3_10_ccval_on_the_wire() {
    let mut pair = Pair::open(under(Ccid::TFRC), under(Ccid::TFRC));
    send_many(&mut pair, Client, 300, 500);
    pair.run_for(secs(2));
    pair.run_for(secs(3));
    send_many(&mut pair, Client, 2, 500);
    pair.run_for(secs(1));
    let mut last = 0;
    let mut seen = [false; 16];
    for sent in pair.sent_by(Client, 0) {
        let ccval = sent.packet.ccval;
        if !is_data(sent) {
            assert_eq!(ccval, 0);
            continue;
        }
        assert!(ccval.wrapping_sub(last) & 0xf <= 5);
        seen[usize::from(ccval)] = true;
        last = ccval;
    }
    assert!(seen.iter().all(|&seen| seen), "{seen:?}");
}

/// T-6, T-16: one loss event ends slow start at the greatest receive rate.
#[test]
fn t_6_one_loss_event() {
    let mut pair = Pair::open(under(Ccid::TFRC), under(Ccid::TFRC));
    let mut data = 0;
    pair.network = Box::new(move |sent| {
        let is_data = sent.from == Client && is_data(sent);
        data += u32::from(is_data);
        if is_data && data == 100 {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    send_many(&mut pair, Client, 3_000, 1_000);
    pair.run_for(secs(2));
    let rate = pair.rate(Client);
    assert_eq!(rate.loss_events, 1);
    assert!(rate.loss_event_rate > 0.0);
    let counts = packets_per(&pair, Client, millis(100));
    let (slow_start, after) = counts.split_at(6);
    assert!(slow_start[5] >= 8 * slow_start[0], "{counts:?}");
    let growth = after[after.len() - 2] as f64 / slow_start[5] as f64;
    assert!((0.7..1.1).contains(&growth), "{counts:?}");
}

/// D11.7-2: data that fails its Data Checksum is reported as corrupt, and the sender behaves as if
/// the packet had been marked, but only if checksums are checked.
#[test]
fn d11_7_2_corrupt_data_is_a_loss_event() {
    for check_data_checksum in [true, false] {
        let server = Config {
            check_data_checksum,
            ..under(Ccid::TFRC)
        };
        let mut pair = Pair::open(under(Ccid::TFRC), server);
        send_many(&mut pair, Client, 100, 1_000);
        pair.run_for(secs(2));
        assert_eq!(pair.rate(Client).loss_event_rate, 0.0);
        // The client's next packet is altered in transit: the original is lost, and the altered one
        // arrives.
        let altered = with_options(
            packet(Client, pair.gss(Client) + 1, Kind::Data),
            &[DccpOption::DataChecksum(1)],
        );
        pair.inject(Server, with_data(altered, 1_000));
        let mut is_next = true;
        pair.network = Box::new(move |sent| {
            if sent.from == Client && core::mem::take(&mut is_next) {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        });
        send_many(&mut pair, Client, 20, 1_000);
        pair.run_for(secs(2));
        let rate = pair.rate(Client);
        assert_eq!(rate.loss_events, u64::from(check_data_checksum));
        assert_eq!(rate.loss_event_rate > 0.0, check_data_checksum);
    }
}

/// T-7: a server that completes the handshake and then reports nothing, or only what is not a
/// report, gets the first flight and then a packet now and then, on a short path too.
#[test]
fn t_7_a_receiver_without_a_report_gets_the_first_flight() {
    for ccid in [Ccid::TFRC, Ccid::TFRC_SP] {
        for acknowledges in [false, true] {
            let mut pair = Pair::new(under(ccid), under(ccid));
            pair.latency = Duration::from_micros(120);
            pair.run_for(millis(100));
            pair.network = Box::new(|sent| match sent.from {
                Client => Fate::Deliver,
                Server => Fate::Drop,
            });
            send_many(&mut pair, Client, 20_000, 1_000);
            let before = pair.log.len();
            for _ in 0..120 {
                pair.run_for(millis(100));
                if acknowledges {
                    let ack = SeqNo::new(pair.gss(Client));
                    let seq = pair.gss(Server) + 1;
                    // "Options with invalid values MUST be ignored" (RFC 4340 section 5.8).
                    let report = [
                        DccpOption::ReceiveRate(1 << 30),
                        DccpOption::LossEventRate(0),
                    ];
                    let lie = with_options(packet(Server, seq, Kind::Ack { ack }), &report);
                    pair.inject(Client, lie);
                }
            }
            let sent = pair.sent_by(Client, before);
            let data = sent.iter().filter(|sent| is_data(sent)).count();
            assert!((16..=60).contains(&data), "{ccid} {acknowledges}: {data}");
            assert_eq!(pair.rate(Client).reports, 0);
        }
    }
}

/// T-7: when the path is cut, the rate is halved repeatedly, and recovers afterwards.
#[test]
fn t_7_cut_path() {
    let config = || Config {
        tfrc: tfrc::Config {
            max_rate: Some(skywave_units::Rate::from_bps(4_000_000)),
            ..tfrc::Config::rfc5348()
        },
        ..under(Ccid::TFRC)
    };
    let mut pair = Pair::open(config(), config());
    send_many(&mut pair, Client, 100_000, 1_000);
    pair.run_for(millis(1_500));
    let before = pair.rate(Client).rate.as_bps();
    pair.network = Box::new(|_| Fate::Drop);
    pair.run_for(secs(4));
    let cut = pair.rate(Client).rate.as_bps();
    assert!(cut * 32 < before, "{cut} after {before}");
    assert!(pair.get(Client).stats().timeouts >= 5);
    pair.network = Box::new(|_| Fate::Deliver);
    pair.run_for(secs(30));
    assert!(pair.rate(Client).rate.as_bps() > 4 * cut);
}

/// T-6, T-14: a sender that a long outage has left at s / t_mbi, one packet per 64 seconds, leaves
/// this floor with the first report of data, however small its packets are. "If the
/// sender is limited to a sending rate of less than one packet per round-trip time, this will be due
/// to the loss event rate, not from a limit imposed by the measured receive rate" (RFC 5348 section
/// 6.2).
#[test]
fn t_14_small_packets_leave_the_floor() {
    let sizes: [&[u32]; 5] = [&[1_000], &[100], &[20], &[0], &[30, 0, 200, 1, 330]];
    for ccid in [Ccid::TFRC, Ccid::TFRC_SP] {
        for sizes in sizes {
            let mut sizes_left = sizes.iter().copied().cycle();
            let mut pair = Pair::open(under(ccid), under(ccid));
            let mut data = 0;
            pair.network = Box::new(move |sent| {
                data += u32::from(is_data(sent));
                if is_data(sent) && data == 20 {
                    Fate::Drop
                } else {
                    Fate::Deliver
                }
            });
            for size in sizes_left.by_ref().take(60) {
                pair.send(Client, size);
            }
            pair.run_for(secs(3));
            assert!(pair.rate(Client).loss_event_rate > 0.0, "{ccid} {sizes:?}");
            pair.network = Box::new(|_| Fate::Drop);
            for size in sizes_left.take(10_000) {
                pair.send(Client, size);
            }
            pair.run_for(secs(600));
            pair.received(Server);
            pair.network = Box::new(|_| Fate::Deliver);
            // The first packet may do no more than show that numbers must be synchronised, and the
            // four bits of CCVal may hide that time has passed (RFC 4342 section 10.3). The second
            // one is reported, 64 s later at the latest.
            pair.run_for(secs(2 * 64 + 10));
            let delivered = pair.received(Server).len();
            assert!(delivered >= 50, "{ccid} {sizes:?}: {delivered} packets");
        }
    }
}

/// T-1, T-11: over a path with random loss, the mean rate is within a quarter of the equation's at
/// the measured p.
#[test]
fn long_run_rate_is_the_equations() {
    for (seed, loss) in [(1u64, 0.01), (2, 0.03), (3, 0.1)] {
        let mut pair = Pair::open(under(Ccid::TFRC), under(Ccid::TFRC));
        let mut random = rng(seed);
        pair.network = Box::new(move |sent| {
            use rand::RngExt;
            if sent.from == Client && is_data(sent) && random.random::<f64>() < loss {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        });
        send_many(&mut pair, Client, 100_000, 1_000);
        pair.run_for(secs(20));
        // Samples p once per round-trip time, and counts what leaves in between.
        let (mut by_equation, rounds) = (0.0, 800);
        let from = pair.get(Client).stats().counters.data_packets_sent;
        for _ in 0..rounds {
            pair.run_for(millis(100));
            let p = pair.rate(Client).loss_event_rate;
            by_equation += tfrc::equation::throughput(1.0, 1.0, p);
        }
        let sent = pair.get(Client).stats().counters.data_packets_sent - from;
        let ratio = sent as f64 / by_equation;
        assert!(
            (0.75..1.25).contains(&ratio),
            "loss {loss}: {ratio} (seed {seed})"
        );
    }
}

/// Each direction has its own CCID and its own application.
#[test]
fn ccids_of_the_two_directions() {
    let client = Config {
        sender_ccids: vec![Ccid::TFRC],
        receiver_ccids: vec![Ccid::TCP_LIKE],
        ..under(Ccid::TFRC)
    };
    let server = Config {
        sender_ccids: vec![Ccid::TCP_LIKE, Ccid::TFRC],
        receiver_ccids: vec![Ccid::TFRC_SP, Ccid::TFRC],
        ..under(Ccid::TFRC)
    };
    let mut pair = Pair::open(client, server);
    assert!(pair.get(Client).stats().congestion.rate().is_some());
    assert!(pair.get(Server).stats().congestion.window().is_some());
    send_many(&mut pair, Client, 200, 1_000);
    send_many(&mut pair, Server, 200, 1_000);
    pair.run_for(secs(5));
    assert_eq!(pair.received(Server).len(), 200);
    assert_eq!(pair.received(Client).len(), 200);
    // Acknowledgements are not data: those sent by the client do not affect its p.
    assert_eq!(pair.rate(Client).loss_event_rate, 0.0);

    let mut both = Pair::open(under(Ccid::TFRC), under(Ccid::TFRC));
    send_many(&mut both, Client, 200, 1_400);
    send_many(&mut both, Server, 200, 1_400);
    both.run_for(secs(5));
    assert_eq!(both.received(Server).len(), 200);
    assert_eq!(both.received(Client).len(), 200);
}

/// C3-5: thanks to NDP Counts, lost acknowledgements are not mistaken for lost data.
#[test]
fn c3_5_lost_acknowledgements_are_no_loss_event() {
    let mut pair = Pair::open(under(Ccid::TFRC), under(Ccid::TFRC));
    let mut acks = 0;
    pair.network = Box::new(move |sent| {
        let is_ack = sent.from == Client && sent.kind() == PacketType::Ack;
        acks += u32::from(is_ack);
        if is_ack && acks % 2 == 1 {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    for _ in 0..30 {
        send_many(&mut pair, Client, 2, 1_400);
        send_many(&mut pair, Server, 2, 1_400);
        pair.run_for(millis(200));
    }
    let lost = pair
        .sent_by(Client, 0)
        .iter()
        .filter(|sent| sent.kind() == PacketType::Ack)
        .count();
    assert!(lost > 10);
    assert_eq!(pair.rate(Client).loss_event_rate, 0.0);
}

/// D10-1, D6-3: the server's first CCID that both support is chosen; if there is none, a list
/// without CCID 2 is Mandatory.
#[test]
fn d10_1_ccid_preferences() {
    let with = |ccids: &[Ccid]| Config {
        sender_ccids: ccids.to_vec(),
        receiver_ccids: ccids.to_vec(),
        ..under(Ccid::TFRC)
    };
    let [two, three, four] = [Ccid::TCP_LIKE, Ccid::TFRC, Ccid::TFRC_SP];
    for (client, server, is_rate) in [
        (&[two, three][..], &[two, three][..], false),
        (&[two, three], &[three, two], true),
        (&[two, three], &[two], false),
        (&[two], &[two, three], false),
        (&[four, two], &[three, four], true),
    ] {
        let mut pair = Pair::open(with(client), with(server));
        for side in [Client, Server] {
            let congestion = pair.get(side).stats().congestion;
            assert_eq!(
                congestion.rate().is_some(),
                is_rate,
                "{client:?} {server:?}"
            );
            send_many(&mut pair, side, 20, 100);
        }
        pair.run_for(secs(10));
        assert_eq!(pair.received(Server).len(), 20, "{client:?} {server:?}");
        assert_eq!(pair.received(Client).len(), 20, "{client:?} {server:?}");
    }
    let mut pair = Pair::new(with(&[three]), with(&[two]));
    pair.run_for(secs(1));
    let reset = pair.log.iter().find_map(|sent| reset_code(&sent.packet));
    assert_eq!(
        reset.map(|(code, _)| code),
        Some(ResetCode::MANDATORY_ERROR)
    );
}

/// D10.3-1: features and options of CCID 3 are unknown while CCID 2 is in force: the answer is an
/// empty Confirm, or a Reset if they are Mandatory.
#[test]
fn d10_3_1_other_ccids_features_are_unknown() {
    let mut pair = Pair::opened();
    let (seq, ack) = (pair.gss(Client) + 1, SeqNo::new(pair.gss(Server)));
    let ask = change(FeatureSide::Remote, 192, &[1]);
    let packet = with_options(packet(Client, seq, Kind::Ack { ack }), &[ask]);
    let answer = pair.inject(Server, packet);
    let refusal = confirm(FeatureSide::Local, 192, &[]);
    assert!(
        answer
            .iter()
            .any(|packet| packet.options.contains(&refusal))
    );

    for option in [
        DccpOption::ReceiveRate(1),
        change(FeatureSide::Remote, 192, &[1]),
    ] {
        for (config, is_known) in [(Config::default(), false), (under(Ccid::TFRC), true)] {
            let mut pair = Pair::open(config.clone(), config);
            let (seq, ack) = (pair.gss(Client) + 1, SeqNo::new(pair.gss(Server)));
            let mandatory = [DccpOption::Mandatory, option.clone()];
            let packet = with_options(super::packet(Client, seq, Kind::Ack { ack }), &mandatory);
            let answer = pair.inject(Server, packet);
            let reset = answer.iter().find_map(reset_code).map(|(code, _)| code);
            let expected = (!is_known).then_some(ResetCode::MANDATORY_ERROR);
            assert_eq!(reset, expected, "{option:?}");
        }
    }
}

/// C3-9, C4-5: CCID 3's options on Data packets are ignored.
#[test]
fn c3_9_options_on_data_are_ignored() {
    let mut pair = Pair::open(under(Ccid::TFRC), under(Ccid::TFRC));
    send_many(&mut pair, Client, 50, 1_000);
    pair.run_for(millis(400));
    let before = pair.rate(Client);
    let seq = pair.gss(Server) + 1;
    let lie = [
        DccpOption::ReceiveRate(1 << 30),
        DccpOption::LossEventRate(1),
    ];
    let data = with_data(with_options(packet(Server, seq, Kind::Data), &lie), 10);
    pair.inject(Client, data);
    let after = pair.rate(Client);
    assert_eq!(
        (after.reports, after.receive_rate, after.loss_event_rate),
        (before.reports, before.receive_rate, before.loss_event_rate)
    );
}

/// C3-8, T-10: marks count as loss events.
#[test]
fn marks_are_loss_events() {
    let mut pair = Pair::open(under(Ccid::TFRC), under(Ccid::TFRC));
    let mut count = 0;
    pair.network = Box::new(move |sent| {
        count += u32::from(is_data(sent));
        if is_data(sent) && count % 50 == 0 {
            Fate::Mark
        } else {
            Fate::Deliver
        }
    });
    send_many(&mut pair, Client, 1_000, 1_000);
    pair.run_for(secs(20));
    let rate = pair.rate(Client);
    assert!((0.015..0.025).contains(&rate.loss_event_rate), "{rate:?}");
    assert_eq!(pair.received(Server).len(), 1_000);
}

/// C4-3, C4-5, C4-6: CCID 4 sends at most one packet per 10 ms, and its reports count drops.
#[test]
fn ccid_4_carries_small_packets() {
    let mut pair = Pair::open(under(Ccid::TFRC_SP), under(Ccid::TFRC_SP));
    let mut count = 0;
    pair.network = Box::new(move |sent| {
        count += u32::from(is_data(sent) && sent.from == Client);
        if is_data(sent) && count % 100 == 0 {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    send_many(&mut pair, Client, 2_000, 100);
    let before = pair.log.len();
    pair.run_for(secs(60));
    let received = pair.received(Server).len();
    assert!((1_975..=1_982).contains(&received), "{received}");
    let data: Vec<Instant> = pair
        .sent_by(Client, before)
        .iter()
        .filter(|sent| is_data(sent))
        .map(|sent| sent.at)
        .collect();
    assert!(data.windows(2).all(|pair| pair[1] - pair[0] >= millis(10)));
    // At p = 0.01, packets of 1460 bytes would leave 11.2 times per 100 ms, which for 100-byte
    // packets is more than one per 10 ms.
    let time = data[1_900] - data[900];
    assert!(time < millis(10_500), "{time}");
    for report in pair.sent_by(Server, before) {
        let counts = |kind| match report.option(kind) {
            Some(DccpOption::DroppedPackets(counts)) => Some(counts.len()),
            Some(DccpOption::LossIntervals { intervals, .. }) => Some(intervals.len()),
            _ => None,
        };
        assert_eq!(
            counts(OptionType::DROPPED_PACKETS),
            counts(OptionType::LOSS_INTERVALS),
            "{report:?}"
        );
    }
    assert!(pair.rate(Client).loss_event_rate > 0.005);
}

/// RFC 3448's rules also work, and start more slowly.
#[test]
fn rfc_3448_profile() {
    let old = || Config {
        tfrc: tfrc::Config::rfc3448(),
        ..under(Ccid::TFRC)
    };
    let mut pair = Pair::open(old(), old());
    send_many(&mut pair, Client, 300, 1_000);
    pair.run_for(secs(10));
    assert_eq!(pair.received(Server).len(), 300);
    let counts = packets_per(&pair, Client, millis(100));
    assert!(counts[0] <= 2 && counts[1] <= 4, "{counts:?}");
}

/// E-2, E-3: with the feature enabled, the round-trip time is on every data packet and Sync, and
/// losses are grouped by it; an option of invalid length causes a Reset.
#[test]
fn e_2_e_3_rtt_estimates() {
    let asking = Config {
        request_rtt_estimate: true,
        ..under(Ccid::TFRC)
    };
    let mut pair = Pair::open(under(Ccid::TFRC), asking.clone());
    let mut count = 0;
    pair.network = Box::new(move |sent| {
        count += u32::from(sent.from == Client && is_data(sent));
        if sent.from == Client && is_data(sent) && count % 100 == 0 {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    let before = pair.log.len();
    send_many(&mut pair, Client, 2_000, 1_000);
    send_many(&mut pair, Server, 10, 1_000);
    pair.run_for(secs(60));
    assert!(pair.received(Server).len() > 1_970);
    for sent in pair.sent_by(Client, before) {
        let rtt = sent.option(OptionType::RTT_ESTIMATE);
        assert_eq!(rtt.is_some(), is_data(sent), "{sent:?}");
        if let Some(DccpOption::RttEstimate { micros, .. }) = rtt {
            assert!((100_000..101_000).contains(micros), "{micros}");
        }
    }
    assert!(
        pair.sent_by(Server, before)
            .iter()
            .all(|sent| sent.option(OptionType::RTT_ESTIMATE).is_none())
    );
    let rate = pair.rate(Client);
    assert!((0.008..0.012).contains(&rate.loss_event_rate), "{rate:?}");

    let mut pair = Pair::open(under(Ccid::TFRC), asking);
    let seq = pair.gss(Client) + 1;
    let impossible = DccpOption::parse(OptionType::RTT_ESTIMATE, &[9, 8, 7, 6]);
    let data = with_data(
        with_options(packet(Client, seq, Kind::Data), &[impossible]),
        10,
    );
    let answer = pair.inject(Server, data);
    let reset = answer.iter().find_map(reset_code);
    assert_eq!(reset, Some((ResetCode::OPTION_ERROR, [128, 6, 9])));
}
