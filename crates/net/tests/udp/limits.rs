//! Limits on the memory of an endpoint, whatever its peers do.

use std::net::Ipv4Addr;
use std::time::Duration;

use skywave_net::{ConnectError, ConnectionError, Endpoint, EndpointConfig, EndpointStats};
use skywave_transport::dccp::Config;
use skywave_units::Bytes;
use skywave_wire::dccp::{DccpOption, Kind, Packet, ResetCode};

use crate::stranger::Stranger;
use crate::{PORT, endpoint, endpoint_with, peer, quick, soon};

/// Waits until the counters are as expected.
async fn until(endpoint: &Endpoint, expected: impl Fn(&EndpointStats) -> bool) {
    let wait = async {
        while !expected(&endpoint.stats()) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(crate::PATIENCE, wait)
        .await
        .unwrap_or_else(|_| panic!("{:?}", endpoint.stats()));
}

fn reset_code(packet: &Packet) -> Option<ResetCode> {
    match packet.kind {
        Kind::Reset { code, .. } => Some(code),
        _ => None,
    }
}

/// A connection that nobody reads holds no more than its limit, whatever its peer sends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unread_connection_is_bounded() {
    const LIMIT: usize = 100_000;
    let server = endpoint();
    let config = Config {
        receive_queue_bytes: LIMIT,
        ..quick()
    };
    let listener = server.listen(PORT, config).unwrap();
    let client = endpoint();
    let (sender, unread) =
        soon(async { tokio::join!(client.connect(peer(&server), quick()), listener.accept()) })
            .await;
    let (sender, unread) = (sender.unwrap(), unread.unwrap());
    let dropped = || unread.stats().counters.datagrams_dropped;
    soon(async {
        while dropped() < 10 {
            sender.send(vec![0; 10_000]).await.unwrap();
        }
    })
    .await;
    assert!(server.stats().queued_bytes <= LIMIT);
    assert_eq!(unread.stats().counters.datagrams_delivered, 10);
    // Reading gives the memory back.
    for _ in 0..10 {
        assert_eq!(
            soon(unread.recv()).await.unwrap().unwrap().data.len(),
            10_000
        );
    }
    assert_eq!(server.stats().queued_bytes, 0);
    drop(sender);
}

/// Many unread connections together hold no more than the endpoint's limit and a datagram each, and
/// one that is read still gets its data.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_connections_are_bounded_together() {
    const LIMIT: usize = 100_000;
    const SIZE: usize = 10_000;
    const COUNT: usize = 5;
    let server = endpoint_with(EndpointConfig {
        max_queued_bytes: Bytes::new(LIMIT as u64),
        ..EndpointConfig::default()
    });
    let listener = server.listen(PORT, quick()).unwrap();
    let client = endpoint();
    let mut connections = Vec::new();
    for _ in 0..COUNT {
        let connect = client.connect(peer(&server), quick());
        let (sender, unread) = soon(async { tokio::join!(connect, listener.accept()) }).await;
        connections.push((sender.unwrap(), unread.unwrap()));
    }
    for (sender, unread) in &connections {
        soon(async {
            while unread.stats().counters.datagrams_dropped < 3 {
                sender.send(vec![0; SIZE]).await.unwrap();
            }
        })
        .await;
    }
    let held = server.stats().queued_bytes;
    assert!((LIMIT..=LIMIT + COUNT * SIZE).contains(&held), "{held}");
    let (sender, reader) = connections.pop().unwrap();
    let before = reader.stats().counters.datagrams_delivered;
    soon(async {
        while reader.stats().counters.datagrams_delivered < before + 20 {
            sender.send(vec![0; SIZE]).await.unwrap();
            while reader.try_recv().is_some() {}
        }
    })
    .await;
    drop((sender, reader, connections));
    until(&server, |stats| stats.queued_bytes == 0).await;
}

/// A source has no more than its share of the connections; others still get theirs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_has_its_share() {
    let server = endpoint_with(EndpointConfig {
        max_connections: 4,
        max_per_address: 2,
        max_per_prefix: 3,
        ..EndpointConfig::default()
    });
    let _listener = server.listen(PORT, quick()).unwrap();
    let target = server.local_address();
    let attempts = tokio::task::spawn_blocking(move || {
        // Two from one address, one from its neighbour, and one from elsewhere find room.
        let places = [
            ([127, 0, 0, 2], [true, true, false]),
            ([127, 0, 0, 3], [true, false, false]),
            ([127, 0, 1, 1], [true, false, false]),
        ];
        for (address, expected) in places {
            let stranger = Stranger::from(Ipv4Addr::from(address), target);
            for (port, expected) in (1..).zip(expected) {
                stranger.request(port, 1, &[]);
                let answer = stranger.receive(port);
                let code = reset_code(&answer);
                let refused = Some(ResetCode::TOO_BUSY);
                assert_eq!(code, refused.filter(|_| !expected), "{address:?} {port}");
            }
        }
    });
    soon(attempts).await.unwrap();
    assert_eq!(server.stats().connections, 4);
    assert_eq!(server.stats().too_busy, 5);
    let error = soon(server.connect(peer(&endpoint()), quick())).await;
    let error = error.unwrap_err();
    assert!(
        matches!(error, ConnectError::TooManyConnections { limit: 4 }),
        "{error}"
    );
}

/// Requests from forged addresses do not lock out a client that returns no cookies, as Linux is: the
/// oldest of them makes room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forged_requests_lock_nobody_out() {
    const HALF_OPEN: usize = 4;
    let server = endpoint_with(EndpointConfig {
        half_open: HALF_OPEN,
        ..EndpointConfig::default()
    });
    let _listener = server.listen(PORT, quick()).unwrap();
    let target = server.local_address();
    let flood = tokio::task::spawn_blocking(move || {
        let stranger = Stranger::of(target);
        let has_cookie = |packet: &Packet| {
            let mut options = packet.options.iter();
            options.any(|option| matches!(option, DccpOption::InitCookie(_)))
        };
        let answer = |port, seq| {
            stranger.request(port, seq, &[]);
            let answer = stranger.receive(port);
            assert_eq!(reset_code(&answer), None);
            has_cookie(&answer)
        };
        for port in 1..=HALF_OPEN as u16 {
            assert!(!answer(port, 1));
        }
        assert!(answer(1_000, 1), "they are new: the next one gets a cookie");
        // An honest client repeats its Request.
        let mut seq = 2;
        while answer(1_000, seq) {
            seq += 1;
            let pause = tokio::time::sleep(Duration::from_millis(100));
            tokio::runtime::Handle::current().block_on(pause);
        }
    });
    soon(flood).await.unwrap();
    assert!(server.stats().half_open_dropped >= 1);
    assert_eq!(server.stats().connections, HALF_OPEN);
}

/// The number of connections that wait for silent peers to confirm a close is limited; beyond it,
/// the oldest is reset.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_connections_are_bounded() {
    const CLOSING: usize = 3;
    let server = endpoint_with(EndpointConfig {
        max_closing: CLOSING,
        ..EndpointConfig::default()
    });
    let listener = server.listen(PORT, quick()).unwrap();
    let target = server.local_address();
    let silent = tokio::task::spawn_blocking(move || {
        let stranger = Stranger::of(target);
        for port in 1..=5 {
            stranger.connect(port, &[]);
        }
        stranger
    });
    let mut ends = Vec::new();
    for _ in 0..5 {
        let connection = soon(listener.accept()).await.unwrap();
        let closed = connection.clone();
        ends.push(tokio::spawn(async move { closed.closed().await }));
        tokio::spawn(async move { connection.close().await });
        let expected = ends.len().min(CLOSING);
        until(&server, |stats| stats.closing == expected).await;
    }
    let _stranger = soon(silent).await.unwrap();
    for end in ends.drain(..2) {
        assert_eq!(soon(end).await.unwrap(), ConnectionError::TooManyClosing);
    }
    until(&server, |stats| stats.connections == CLOSING).await;
    assert_eq!(server.stats().closing_dropped, 2);
}

/// D8.3-3, D8.5-1: step 2 answers even a Request with a Reset while the ports are in TIMEWAIT.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d8_5_1_a_request_in_timewait_is_reset() {
    let server = endpoint_with(EndpointConfig {
        max_time_waits: 2,
        ..EndpointConfig::default()
    });
    let rests_long = Config::default();
    let _listener = server.listen(PORT, rests_long).unwrap();
    let target = server.local_address();
    let stranger = tokio::task::spawn_blocking(move || {
        let stranger = Stranger::of(target);
        for port in 1..=3 {
            let ack = stranger.connect(port, &[]);
            stranger.reset(port, ack);
        }
        stranger
    });
    let stranger = soon(stranger).await.unwrap();
    until(&server, |stats| stats.connections == 0).await;
    assert_eq!(server.stats().time_waits, 2, "the oldest made room");
    let again = tokio::task::spawn_blocking(move || {
        stranger.request(3, 1_000, &[]);
        let code = |port| loop {
            let answer = stranger.receive(port);
            // Skip what the first connection still sent.
            if answer.kind.ack().is_some_and(|ack| ack.get() == 1_000) {
                return reset_code(&answer);
            }
        };
        assert_eq!(code(3), Some(ResetCode::NO_CONNECTION));
        stranger.request(1, 1_000, &[]);
        assert_eq!(code(1), None, "its rest has ended");
    });
    soon(again).await.unwrap();
}
