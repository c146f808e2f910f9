//! Silent peers, idle connections, and how long a close waits.

use super::*;
use crate::dccp::{Ccid, Origin, SendError};

const ABORTED: Event = Event::Closed {
    code: ResetCode::ABORTED,
    origin: Origin::Local,
};

/// When `side` sent packets of this type, in milliseconds after `start`.
fn times(pair: &Pair, side: Side, kind: PacketType, start: Instant) -> Vec<u64> {
    let sent = pair.log.iter();
    sent.filter(|sent| sent.from == side && sent.kind() == kind && sent.at >= start)
        .map(|sent| (sent.at - start).as_millis())
        .collect()
}

/// A peer that is gone while data is on its way is asked three times, then given up.
#[test]
fn a_sender_gives_up_a_silent_peer() {
    let mut pair = Pair::opened();
    pair.network = Box::new(|_| Fate::Drop);
    let start = pair.now;
    pair.send(Client, 100);
    pair.run_for(millis(29_999));
    assert_eq!(
        times(&pair, Client, PacketType::Sync, start),
        [7_500, 15_000, 22_500]
    );
    assert_eq!(pair.get(Client).state(), State::Open);
    pair.run_for(millis(1));
    assert_eq!(pair.get(Client).state(), State::Closed);
    assert_eq!(pair.events(Client), [ABORTED]);
    assert!(!pair.get(Client).ended_idle());
}

/// A server that is gone once it has sent its Response is noticed as soon as one that goes later,
/// whether or not the client has data to send.
#[test]
fn a_client_gives_up_a_server_that_vanishes_after_its_response() {
    for datagrams in [0, 3] {
        let mut pair = Pair::default();
        for _ in 0..datagrams {
            pair.send(Client, 100);
        }
        pair.network = Box::new(|sent| match sent.kind() {
            PacketType::Request | PacketType::Response => Fate::Deliver,
            _ => Fate::Drop,
        });
        pair.run_for(millis(100));
        let start = pair.now;
        assert_eq!(pair.get(Client).state(), State::PartOpen);
        pair.run_for(millis(29_999));
        assert_eq!(pair.get(Client).state(), State::PartOpen, "{datagrams}");
        pair.run_for(millis(201));
        assert_eq!(pair.get(Client).state(), State::Closed, "{datagrams}");
        assert_eq!(pair.events(Client), [Event::Connected, ABORTED]);
        let asked = times(&pair, Client, PacketType::Sync, start);
        assert_eq!(asked.len(), 3, "{asked:?}");
    }
}

/// A server that has nothing to send need not answer an Ack (RFC 4340 section 8.1.5), but is there:
/// its SyncAck ends PARTOPEN.
#[test]
fn a_server_that_answers_only_syncs_ends_partopen() {
    let mut pair = Pair::default();
    pair.network = Box::new(|sent| match (sent.from, sent.kind()) {
        (Server, PacketType::Ack) => Fate::Drop,
        _ => Fate::Deliver,
    });
    pair.run_for(secs(7));
    assert_eq!(pair.states(), (State::PartOpen, State::Open));
    pair.run_for(secs(600));
    assert_eq!(pair.states(), (State::Open, State::Open));
}

/// A peer that answers only Syncs, as Linux does for a single packet under CCID 2, is there.
#[test]
fn a_peer_that_answers_syncs_is_there() {
    let mut pair = Pair::opened();
    pair.network = Box::new(|sent| match sent.kind() {
        PacketType::Ack => Fate::Drop,
        _ => Fate::Deliver,
    });
    pair.send(Client, 100);
    pair.run_for(secs(300));
    assert_eq!(pair.get(Client).state(), State::Open);
}

/// Without data, Syncs keep the connection alive; when the path is cut, both ends notice.
#[test]
fn keepalive_finds_peers_that_are_gone() {
    let mut pair = Pair::opened();
    let start = pair.now;
    pair.run_for(secs(3_600));
    assert_eq!(pair.states(), (State::Open, State::Open));
    let asked = times(&pair, Client, PacketType::Sync, start).len()
        + times(&pair, Server, PacketType::Sync, start).len();
    assert!((30..=33).contains(&asked), "{asked} in an hour");
    pair.network = Box::new(|_| Fate::Drop);
    pair.run_for(secs(150));
    assert_eq!(pair.states(), (State::Closed, State::Closed));
}

/// Without keepalive, an idle connection sends nothing.
#[test]
fn keepalive_can_be_switched_off() {
    let config = Config {
        keepalive: None,
        ..Config::default()
    };
    let mut pair = Pair::open(config.clone(), config);
    pair.run_for(secs(10));
    let before = pair.log.len();
    pair.run_for(secs(3_600));
    assert_eq!(pair.log.len(), before);
    assert_eq!(pair.states(), (State::Open, State::Open));
}

/// A connection without data ends, even if its peer answers; data in either direction prolongs it.
#[test]
fn an_idle_connection_ends() {
    let impatient = Config {
        idle_timeout: Some(secs(60)),
        ..Config::default()
    };
    let mut pair = Pair::open(Config::default(), impatient);
    pair.run_for(secs(50));
    pair.send(Client, 100);
    pair.run_for(secs(50));
    pair.send(Server, 100);
    pair.run_for(secs(50));
    assert_eq!(pair.states(), (State::Open, State::Open));
    pair.run_for(secs(11));
    assert_eq!(pair.states(), (State::TimeWait, State::Closed));
    assert!(pair.get(Server).ended_idle());
    assert_eq!(pair.events(Server), [ABORTED]);
}

/// A Close must not overtake data on a path that reorders: the peer would end the connection before
/// the data arrives.
#[test]
fn a_close_does_not_overtake_data() {
    for (closer, peer) in [(Client, Server), (Server, Client)] {
        let mut pair = Pair::opened();
        pair.network = Box::new(|sent| match sent.kind() {
            PacketType::Data | PacketType::DataAck => Fate::Delay(millis(90)),
            _ => Fate::Deliver,
        });
        // Slow start lets four leave at once, and the others with the acknowledgements.
        for _ in 0..8 {
            pair.send(closer, 100);
        }
        pair.close(closer);
        pair.run_for(secs(5));
        assert_eq!(pair.received(peer).len(), 8, "{closer:?} closes");
        assert!(
            pair.get(closer).state() >= State::TimeWait
                || pair.get(closer).state() == State::Closed
        );
    }
}

/// A SyncAck says that the Sync has arrived, not the data that it overtook: a close goes on waiting.
#[test]
fn a_syncack_acknowledges_no_data() {
    let tfrc = Config {
        sender_ccids: vec![Ccid::TFRC],
        receiver_ccids: vec![Ccid::TFRC],
        ..Config::default()
    };
    let mut pair = Pair::open(tfrc.clone(), tfrc);
    pair.network = Box::new(|sent| match sent.kind() {
        PacketType::Data | PacketType::DataAck => Fate::Delay(millis(400)),
        _ => Fate::Deliver,
    });
    pair.send(Client, 100);
    pair.close(Client);
    // As if a question or a probe were under way.
    pair.apply(Client, |connection| connection.ask_peer());
    pair.run_for(secs(5));
    assert_eq!(pair.received(Server).len(), 1);
}

/// A close waits for acknowledgements, but not forever.
#[test]
fn a_close_does_not_wait_for_lost_acknowledgements() {
    let mut pair = Pair::opened();
    pair.network = Box::new(|sent| match sent.kind() {
        PacketType::Ack => Fate::Drop,
        _ => Fate::Deliver,
    });
    let start = pair.now;
    pair.send(Client, 100);
    pair.close(Client);
    pair.run_for(secs(5));
    assert_eq!(times(&pair, Client, PacketType::Close, start), [1_000]);
}

/// A silent peer cannot keep a closing connection for long.
#[test]
fn a_close_gives_up_a_silent_peer() {
    for side in [Client, Server] {
        let mut pair = Pair::opened();
        pair.network = Box::new(|_| Fate::Drop);
        pair.close(side);
        pair.run_for(secs(30));
        assert_eq!(pair.get(side).state(), State::Closed, "{side:?}");
    }
}

/// Both queues are limited in bytes, and each takes at least one datagram.
#[test]
fn queues_are_limited_in_bytes() {
    let small = Config {
        send_queue_bytes: 2_500,
        receive_queue_bytes: 2_500,
        ..Config::default()
    };
    let mut pair = Pair::open(small.clone(), small);
    let send = |pair: &mut Pair, size| {
        pair.apply(Client, |connection| {
            connection.send(Payload::Synthetic(size))
        })
    };
    assert_eq!(send(&mut pair, 4_000), Ok(()), "an empty queue takes one");
    assert_eq!(send(&mut pair, 0), Err(SendError::QueueFull));
    pair.run_for(secs(1));
    assert_eq!(pair.events(Client).last(), Some(&Event::Writable));
    for _ in 0..2 {
        assert_eq!(send(&mut pair, 1_000), Ok(()));
    }
    assert_eq!(send(&mut pair, 1_000), Err(SendError::QueueFull));
    // Four have arrived by then, but the first alone is more than the receiver may keep.
    pair.run_for(secs(1));
    assert_eq!(pair.get(Server).queued_bytes(), 4_000);
    assert_eq!(pair.get(Server).stats().counters.datagrams_dropped, 2);
    assert_eq!(pair.received(Server).len(), 1);
    assert_eq!(pair.get(Server).queued_bytes(), 0);
}

/// Without any memory each queue takes one datagram, so that readers still make progress.
#[test]
fn without_memory_each_queue_takes_one_datagram() {
    let mut pair = Pair::opened();
    for side in [Client, Server] {
        pair.apply(side, |connection| connection.set_queue_room(0));
    }
    let send =
        |pair: &mut Pair| pair.apply(Client, |connection| connection.send(Payload::Synthetic(10)));
    assert_eq!(send(&mut pair), Ok(()));
    assert_eq!(send(&mut pair), Err(SendError::QueueFull));
    pair.run_for(secs(1));
    assert_eq!(send(&mut pair), Ok(()));
    pair.run_for(secs(1));
    assert_eq!(pair.received(Server).len(), 1, "the second found no room");
    assert_eq!(send(&mut pair), Ok(()));
    pair.run_for(secs(1));
    assert_eq!(pair.received(Server).len(), 1);
}

/// A datagram that is a small part of its buffer is copied out of it.
#[test]
fn a_datagram_need_not_keep_its_buffer() {
    let mut pair = Pair::opened();
    let buffer = bytes::Bytes::from(vec![7; 1_000]);
    for range in [0..10, 10..20, 20..30] {
        let data = Payload::Bytes(buffer.slice(range));
        pair.apply(Client, |connection| connection.send(data))
            .unwrap();
    }
    pair.run_for(secs(1));
    pair.apply(Server, |connection| connection.detach_newest(2));
    let received: Vec<Payload> = pair.apply(Server, |connection| {
        std::iter::from_fn(|| connection.recv())
            .map(|next| next.payload)
            .collect()
    });
    let is_part = |payload: &Payload| {
        let Payload::Bytes(bytes) = payload else {
            panic!("bytes were sent")
        };
        assert_eq!(bytes[..], [7; 10]);
        buffer.as_ptr_range().contains(&bytes.as_ptr())
    };
    let parts: Vec<bool> = received.iter().map(is_part).collect();
    assert_eq!(parts, [true, false, false]);
}
