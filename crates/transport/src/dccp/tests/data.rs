//! Data and acknowledgements (RFC 4340 sections 5.4, 8.2, 11 and 12; RFC 4341).

use std::collections::VecDeque;

use bytes::Bytes;

use super::*;
use crate::dccp::SendError;

/// Queues that never overflow.
fn roomy() -> Config {
    Config {
        send_queue: 10_000,
        receive_queue: 10_000,
        ..Config::default()
    }
}

/// D5.4-1: datagrams of zero bytes are datagrams.
#[test]
fn empty_datagrams_are_delivered() {
    let mut pair = Pair::opened();
    for size in [0, 5, 0] {
        pair.send(Client, size);
    }
    pair.run_for(secs(1));
    assert_eq!(pair.received(Server), [0, 5, 0]);
}

/// D5.4-2: data on packets of the other types is ignored.
#[test]
fn padding_of_other_types_is_not_data() {
    let mut pair = Pair::opened();
    let (seq, ack) = (pair.gss(Client), SeqNo::new(pair.gss(Server)));
    let kinds = [
        Kind::Ack { ack },
        Kind::Sync { ack },
        Kind::SyncAck { ack },
        Kind::Close { ack },
    ];
    for (index, kind) in kinds.into_iter().enumerate() {
        pair.inject(
            Server,
            with_data(packet(Client, seq + 1 + index as u64, kind), 99),
        );
    }
    assert!(pair.received(Server).is_empty());
    assert_eq!(pair.get(Server).stats().counters.data_packets_received, 0);
}

/// A transfer in one direction without losses: every two Data packets get an Ack with an Ack
/// Vector.
#[test]
fn bulk_transfer() {
    let mut pair = Pair::open(Config::default(), roomy());
    let before = pair.log.len();
    let mut queued = 0;
    while queued < 1_000 {
        if pair
            .apply(Client, |client| client.send(Payload::Synthetic(1_000)))
            .is_ok()
        {
            queued += 1;
        } else {
            pair.run_for(millis(20));
        }
    }
    pair.run_for(secs(5));
    let data = pair.sent_by(Client, before).len();
    let acks = pair.sent_by(Server, before);
    assert!(acks.iter().all(|sent| sent.kind() == PacketType::Ack));
    let have_vectors = acks
        .iter()
        .all(|sent| sent.option(OptionType::ACK_VECTOR_0).is_some());
    assert!(have_vectors, "D11.5-1, C2-10");
    assert!(
        (400..=600).contains(&acks.len()),
        "{} acks for {data} packets",
        acks.len()
    );
    // Acks of acks keep the vector short (C2-13).
    let longest = acks
        .iter()
        .filter_map(|sent| match sent.option(OptionType::ACK_VECTOR_0)? {
            DccpOption::AckVector { cells, .. } => Some(cells.len()),
            _ => None,
        });
    // Two windows of at most 64 packets in a cell.
    let longest = longest.max().unwrap();
    assert!(
        longest as f64 <= pair.window(Client).cwnd * 2.0 / 64.0 + 2.0,
        "{longest}"
    );
    let acks_of_acks = pair
        .sent_by(Client, before)
        .iter()
        .filter(|sent| sent.packet.kind.ack().is_some())
        .count();
    assert!(
        (5..200).contains(&acks_of_acks),
        "{acks_of_acks} acks of acks"
    );
    assert_eq!(pair.received(Server).len(), 1_000);
    let stats = pair.get(Client).stats();
    assert_eq!(stats.counters.data_packets_sent, 1_000);
    assert_eq!(stats.counters.bytes_sent, 1_000_000);
    assert_eq!(stats.queued, 0);
    let window = pair.window(Client);
    assert_eq!((window.lost, window.pipe), (0, 0));
    assert!(window.cwnd > 10.0);
    let srtt = stats.srtt.unwrap();
    assert!(srtt >= millis(100) && srtt < millis(120), "{srtt}");
}

/// Both directions: acknowledgements ride on data.
#[test]
fn data_carries_acknowledgements() {
    let mut pair = Pair::opened();
    let before = pair.log.len();
    for _ in 0..100 {
        pair.send(Client, 500);
        pair.send(Server, 500);
        pair.run_for(millis(10));
    }
    let steady_from = pair.now - millis(200);
    pair.run_for(secs(2));
    // Once the window is large enough for the rate, no datagram waits, and each carries the
    // acknowledgement that is almost due.
    let steady = pair.log[before..]
        .iter()
        .filter(|sent| sent.at >= steady_from && !sent.packet.payload.is_empty());
    let kinds: Vec<PacketType> = steady.map(Sent::kind).collect();
    assert!(kinds.len() > 30);
    assert!(
        kinds.iter().all(|&kind| kind == PacketType::DataAck),
        "{kinds:?}"
    );
}

/// A lost packet halves cwnd; so does a marked one, which is reported as marked.
#[test]
fn losses_and_marks_reach_congestion_control() {
    for mark in [false, true] {
        let mut pair = Pair::open(roomy(), roomy());
        let mut count = 0;
        pair.network = Box::new(move |sent| {
            let hit = sent.from == Client && {
                count += 1;
                count == 60
            };
            match (hit, mark) {
                (false, _) => Fate::Deliver,
                (true, false) => Fate::Drop,
                (true, true) => Fate::Mark,
            }
        });
        for _ in 0..400 {
            pair.send(Client, 500);
        }
        pair.run_for(secs(10));
        let window = pair.window(Client);
        assert_eq!(
            (window.lost, window.marked),
            if mark { (0, 1) } else { (1, 0) }
        );
        assert!(window.ssthresh.is_finite());
        assert_eq!(
            pair.get(Server).stats().counters.ce_received,
            u64::from(mark)
        );
    }
}

/// With nothing coming back, the transmit timeout fires and is counted (C2-6).
#[test]
fn timeouts_are_counted() {
    let mut pair = Pair::open(roomy(), roomy());
    pair.network = Box::new(|_| Fate::Drop);
    for _ in 0..5 {
        pair.send(Client, 500);
    }
    assert_eq!(pair.get(Client).stats().timeouts, 0);
    pair.run_for(secs(10));
    let stats = pair.get(Client).stats();
    // The RTO is 1 s before the first sample, then twice that, then four times.
    assert_eq!((stats.timeouts, pair.window(Client).cwnd), (3, 1.0));
}

/// D12.2-1: with nonces, data carries ECT(0) or ECT(1) at random, and packets without data carry
/// ECT(0). The receiver's echoes are right; a wrong one would count as a mark.
#[test]
fn ecn_nonces() {
    let config = Config {
        ecn_nonces: true,
        ..roomy()
    };
    let mut pair = Pair::open(config, roomy());
    let before = pair.log.len();
    for _ in 0..400 {
        pair.send(Client, 500);
    }
    pair.run_for(secs(10));
    let sent = pair.sent_by(Client, before);
    let ones = sent.iter().filter(|sent| sent.ecn == Ecn::Ect1).count();
    assert!((120..280).contains(&ones), "{ones} of {}", sent.len());
    assert!(
        pair.sent_by(Server, before)
            .iter()
            .all(|sent| sent.ecn == Ecn::Ect0)
    );
    assert!(
        pair.window(Client).ssthresh.is_infinite(),
        "all echoes are right"
    );
}

/// A datagram that arrives twice is delivered once; one that arrives late is delivered.
#[test]
fn duplicates_and_reordering() {
    let mut pair = Pair::opened();
    let mut count = 0u32;
    pair.network = Box::new(move |sent| {
        if sent.from == Client {
            count += 1;
            if count.is_multiple_of(3) {
                return Fate::Duplicate;
            }
            if count.is_multiple_of(5) {
                return Fate::Delay(millis(15));
            }
        }
        Fate::Deliver
    });
    for size in 0..50 {
        pair.send(Client, size);
        pair.run_for(millis(7));
    }
    pair.run_for(secs(5));
    let mut received = pair.received(Server);
    assert_ne!(
        received,
        (0..50).collect::<Vec<_>>(),
        "nothing was reordered"
    );
    received.sort_unstable();
    assert_eq!(received, (0..50).collect::<Vec<_>>());
    assert!(pair.get(Server).stats().counters.duplicates >= 10);
}

/// D14-1: datagrams that are too large are refused, and the limit is available.
#[test]
fn send_errors() {
    let config = Config {
        send_queue: 2,
        mps: 100,
        ..Config::default()
    };
    let mut pair = Pair::new(config, Config::default());
    let send =
        |pair: &mut Pair, size| pair.apply(Client, |client| client.send(Payload::Synthetic(size)));
    assert_eq!(
        send(&mut pair, 101),
        Err(SendError::TooLarge {
            size: 101,
            mps: 100
        })
    );
    assert_eq!(pair.get(Client).mps(), 100);
    assert_eq!(send(&mut pair, 100), Ok(()));
    assert_eq!(send(&mut pair, 0), Ok(()));
    assert_eq!(send(&mut pair, 1), Err(SendError::QueueFull));
    assert_eq!(pair.get(Client).send_room(), 0);
    pair.run_for(secs(1));
    assert_eq!(pair.events(Client), [Event::Connected, Event::Writable]);
    assert_eq!(send(&mut pair, 1), Ok(()));
}

/// The same as one by one: datagrams before the first refused one are taken; the rest stays.
#[test]
fn many_at_once() {
    let config = Config {
        send_queue: 3,
        mps: 100,
        ..Config::default()
    };
    let mut pair = Pair::new(config, Config::default());
    let sizes = [10, 100, 101, 20, 30];
    let mut datagrams = VecDeque::from(sizes.map(|size| Bytes::from(vec![0; size])));
    let mut send_all = |pair: &mut Pair, skip: usize| {
        datagrams.drain(..skip);
        let result = pair.apply(Client, |client| client.send_all(&mut datagrams));
        (result, datagrams.len())
    };
    let too_large = SendError::TooLarge {
        size: 101,
        mps: 100,
    };
    assert_eq!(send_all(&mut pair, 0), (Err(too_large), 3));
    assert_eq!(send_all(&mut pair, 1), (Err(SendError::QueueFull), 1));
    pair.run_for(secs(1));
    assert_eq!(pair.events(Client), [Event::Connected, Event::Writable]);
    assert_eq!(send_all(&mut pair, 0), (Ok(()), 0));
    pair.run_for(secs(1));
    assert_eq!(pair.received(Server), [10, 100, 20, 30]);
}

/// D11.7-2: nothing more is sent to a peer whose application is gone (Drop Code 1).
#[test]
fn peer_that_does_not_listen() {
    let mut pair = Pair::opened();
    pair.network = Box::new(|_| Fate::Drop);
    pair.send(Client, 10);
    pair.drain(Client);
    let (gss, seq) = (pair.gss(Client), pair.gss(Server) + 1);
    let options = [
        DccpOption::AckVector {
            nonce: false,
            cells: [0][..].into(),
        },
        DccpOption::DataDropped([0x90][..].into()),
    ];
    let ack = packet(
        Server,
        seq,
        Kind::Ack {
            ack: SeqNo::new(gss),
        },
    );
    pair.inject(Client, with_options(ack, &options));
    assert_eq!(pair.events(Client), [Event::PeerNotListening]);
    let refused = pair.apply(Client, |client| client.send(Payload::EMPTY));
    assert_eq!(refused, Err(SendError::PeerNotListening));
}

/// D11.7-2, D11.7-1: when the application stops reading, data is dropped with Drop Code 1, the
/// packets still count as received, and the peer stops sending data.
#[test]
fn application_that_stops_listening() {
    let mut pair = Pair::open(roomy(), roomy());
    pair.send(Client, 10);
    pair.run_for(secs(1));
    pair.apply(Server, Connection::stop_listening);
    assert!(pair.received(Server).is_empty(), "the queue is discarded");
    for _ in 0..20 {
        pair.send(Client, 10);
    }
    pair.send(Server, 30);
    let from = pair.log.len();
    pair.run_for(secs(2));
    assert!(pair.received(Server).is_empty());
    assert_eq!(pair.received(Client), [30], "it may still send");
    let reports = pair
        .sent_by(Server, from)
        .iter()
        .any(|sent| matches!(sent.option(OptionType::DATA_DROPPED), Some(DccpOption::DataDropped(blocks)) if blocks[0] & 0xf0 == 0x90));
    assert!(reports);
    assert_eq!(pair.events(Client), [Event::PeerNotListening]);
    let stats = pair.get(Client).stats();
    let window = window(&stats);
    assert_eq!((window.lost, window.marked, stats.queued), (0, 0, 0));
    assert!(pair.get(Server).stats().counters.datagrams_dropped > 0);
}

/// D11.6-1: while an application is slow, its acknowledgements carry Slow Receiver, and the peer's
/// window does not grow. Afterwards it grows again.
#[test]
fn slow_receiver() {
    let mut pair = Pair::open(roomy(), roomy());
    pair.apply(Server, |server| server.set_slow(true));
    let load = |pair: &mut Pair| {
        let before = pair.get(Client).stats();
        let from = pair.log.len();
        for _ in 0..60 {
            pair.send(Client, 100);
        }
        pair.run_for(secs(4));
        assert_eq!(pair.received(Server).len(), 60);
        let slow = pair
            .sent_by(Server, from)
            .iter()
            .filter(|sent| sent.kind() == PacketType::Ack)
            .map(|sent| sent.option(OptionType::SLOW_RECEIVER).is_some())
            .collect::<Vec<_>>();
        let after = pair.get(Client).stats();
        let heard = after.counters.slow_receiver_reports - before.counters.slow_receiver_reports;
        (slow, heard, window(&before).cwnd, window(&after).cwnd)
    };
    let (slow, heard, before, after) = load(&mut pair);
    assert!(slow.len() > 10 && slow.iter().all(|&slow| slow));
    assert_eq!(heard, slow.len() as u64);
    // The first acknowledgement carries the option.
    assert!(after <= before + 1.0, "{before} to {after}");
    pair.apply(Server, |server| server.set_slow(false));
    let (slow, heard, before, after) = load(&mut pair);
    assert!(slow.iter().all(|&slow| !slow) && heard == 0);
    assert!(after > before + 2.0, "{before} to {after}");
}

/// D12-1, D11-1: ECN works in both directions at once: data leaves as ECT, and a mark on either
/// side's data is reported as a mark and halves cwnd. Nothing is lost.
#[test]
fn marks_both_ways() {
    let mut pair = Pair::open(roomy(), roomy());
    let mut marked = [false; 2];
    pair.network = Box::new(move |sent| {
        assert!(sent.ecn.is_capable());
        let done = &mut marked[usize::from(sent.from == Server)];
        if sent.packet.payload.is_empty() || std::mem::replace(done, true) {
            return Fate::Deliver;
        }
        Fate::Mark
    });
    for _ in 0..100 {
        pair.send(Client, 100);
        pair.send(Server, 100);
    }
    pair.run_for(secs(10));
    for side in [Client, Server] {
        assert_eq!(pair.received(side).len(), 100);
        let stats = pair.get(side).stats();
        let window = window(&stats);
        assert_eq!((window.marked, window.lost), (1, 0), "{side:?}");
        assert_eq!(stats.counters.ce_received, 1, "{side:?}");
        assert!(window.ssthresh.is_finite(), "{side:?}");
    }
}

/// D20-1, D11.4-5: an acknowledgement reports everything that the peer may not know. While all
/// acknowledgements are lost, each one reaches back to the first packet; once one is known to have
/// arrived, they are short again.
#[test]
fn acknowledgements_carry_the_whole_buffer() {
    let mut pair = Pair::opened();
    let isr = pair.sent_by(Client, 0)[0].packet.seq;
    let (first, ack) = (pair.gss(Client) + 1, SeqNo::new(pair.gss(Server)));
    let covered = |sent: &[Packet]| {
        let sent = sent.last().unwrap();
        let (_, cells) = ack_vector(sent).unwrap();
        let cells: u64 = cells.iter().map(|cell| u64::from(cell & 0x3f) + 1).sum();
        (sent.kind.ack().unwrap().distance_from(isr) as u64, cells)
    };
    let mut last = None;
    for index in 0..40 {
        // Every third packet is missing.
        let seq = first + index + index / 3;
        let data = with_data(packet(Client, seq, Kind::DataAck { ack }), 10);
        let sent = pair.inject(Server, data);
        if let Some(answer) = sent.last() {
            let (behind, cells) = covered(&sent);
            // The report of the handshake's own packets is known to have arrived.
            assert!(cells + 3 >= behind, "{cells} cells, {behind} packets");
            last = Some(answer.seq);
        }
    }
    let ack = last.unwrap();
    let data = with_data(packet(Client, first + 60, Kind::DataAck { ack }), 10);
    let mut sent = pair.inject(Server, data);
    let data = with_data(packet(Client, first + 61, Kind::DataAck { ack }), 10);
    sent.extend(pair.inject(Server, data));
    let (behind, cells) = covered(&sent);
    assert!(cells + 30 < behind, "{cells} cells, {behind} packets");
}

/// A vector too long to fit a full datagram's packet leaves in its own packet (section 11.2).
#[test]
fn long_vectors_are_not_piggybacked() {
    let config = Config {
        mps: 1_400,
        ..Config::default()
    };
    let mut pair = Pair::open(config.clone(), config);
    let (first, ack) = (pair.gss(Client) + 1, SeqNo::new(pair.gss(Server)));
    let mut sent = Vec::new();
    for index in 0..70 {
        // Every other packet is missing: one cell each.
        let data = with_data(packet(Client, first + 2 * index, Kind::DataAck { ack }), 10);
        sent.extend(pair.inject(Server, data));
    }
    assert!(
        sent.iter()
            .all(|packet| packet.kind.packet_type() == PacketType::Ack)
    );
    pair.send(Server, 1_400);
    let answer = pair.inject(
        Server,
        with_data(packet(Client, first + 140, Kind::Data), 10),
    );
    let kinds: Vec<PacketType> = answer
        .iter()
        .map(|packet| packet.kind.packet_type())
        .collect();
    assert_eq!(kinds, [PacketType::Ack, PacketType::Data]);
}

/// A sender at cwnd 1 that waits for a delayed acknowledgement is not idle: its window grows again.
#[test]
fn waiting_for_a_delayed_acknowledgement_is_not_idling() {
    let mut pair = Pair::opened();
    let mut left = 12;
    pair.network = Box::new(move |sent| {
        let is_data = matches!(sent.kind(), PacketType::Data | PacketType::DataAck);
        if sent.from == Client && is_data && left > 0 {
            left -= 1;
            Fate::Mark
        } else {
            Fate::Deliver
        }
    });
    for _ in 0..3_000 {
        pair.apply(Client, |connection| {
            // A full queue takes no more.
            let _ = connection.send(Payload::Synthetic(100));
        });
        pair.run_for(millis(20));
        let _ = pair.received(Server);
    }
    assert!(window(&pair.get(Client).stats()).cwnd >= 4.0);
    let sent = pair.get(Client).stats().counters.data_packets_sent;
    assert!(sent > 2_000, "{sent} of 3,000");
}
