//! How connections and endpoints end.

use std::iter;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use skywave_net::{ConnectError, ConnectionError, Endpoint, EndpointConfig, ListenError, Peer};
use skywave_transport::dccp::{Config, State};
use skywave_units::Duration as Span;
use skywave_wire::dccp::Kind;

use crate::stranger::Stranger;
use crate::{PORT, endpoint, pair, peer, quick, soon};

#[tokio::test]
async fn either_side_closes() {
    for server_closes in [false, true] {
        let pair = pair(quick()).await;
        let (closer, other) = if server_closes {
            (&pair.server, &pair.client)
        } else {
            (&pair.client, &pair.server)
        };
        closer.send("last words").await.unwrap();
        let (closed, last) = soon(async { tokio::join!(closer.close(), other.recv()) }).await;
        closed.unwrap();
        assert_eq!(last.unwrap().unwrap().data, "last words");
        assert_eq!(soon(other.recv()).await, Ok(None));
        assert_eq!(soon(other.closed()).await, ConnectionError::Closed);
        let error = other.send("too late").await.unwrap_err();
        assert_eq!(error, ConnectionError::Closed.into());
        assert!(matches!(closer.state(), State::Closed | State::TimeWait));
    }
}

#[tokio::test]
async fn dropping_closes() {
    let pair = pair(quick()).await;
    pair.client.send("last words").await.unwrap();
    drop(pair.client);
    assert_eq!(
        soon(pair.server.recv()).await.unwrap().unwrap().data,
        "last words"
    );
    assert_eq!(soon(pair.server.recv()).await, Ok(None));
}

#[tokio::test]
async fn shutdown_ends_every_connection_and_loses_nothing() {
    let pair = pair(quick()).await;
    for index in 0..50u8 {
        pair.client.send(vec![index]).await.unwrap();
    }
    let reader = async {
        let mut next = 0;
        while let Some(datagram) = pair.server.recv().await.unwrap() {
            assert_eq!(datagram.data[..], [next]);
            next += 1;
        }
        next
    };
    let (read, ()) = soon(async { tokio::join!(reader, pair.endpoints[0].shutdown()) }).await;
    assert_eq!(read, 50);
    assert_eq!(pair.endpoints[0].stats().connections, 0);
    let again = pair.endpoints[0].connect(peer(&pair.endpoints[1]), quick());
    let error = again.await.unwrap_err();
    assert!(matches!(
        error,
        ConnectError::Connection(ConnectionError::EndpointClosed)
    ));

    let (accepted, ()) =
        soon(async { tokio::join!(pair.listener.accept(), pair.endpoints[1].shutdown()) }).await;
    assert_eq!(accepted.unwrap_err(), ConnectionError::EndpointClosed);
    let error = pair.endpoints[1].listen(PORT + 1, quick()).unwrap_err();
    assert_eq!(error, ListenError::EndpointClosed);
}

#[tokio::test]
async fn connections_outlive_the_endpoint_handle() {
    let pair = pair(quick()).await;
    drop((pair.endpoints, pair.listener));
    pair.client.send("still there").await.unwrap();
    let datagram = soon(pair.server.recv()).await.unwrap().unwrap();
    assert_eq!(datagram.data, "still there");
}

#[test]
fn the_runtime_goes_down() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let first = runtime();
    let pair = first.block_on(pair(quick()));
    drop(first);
    let ended = runtime().block_on(soon(pair.client.recv()));
    assert_eq!(ended, Err(ConnectionError::EndpointClosed));
}

// D8.3-2: the ports of an ended connection are blocked in TIMEWAIT, then free.
#[tokio::test]
async fn d8_3_2_time_wait() {
    let pair = pair(quick()).await;
    soon(pair.client.close()).await.unwrap();
    let stats = pair.endpoints[0].stats();
    assert_eq!((stats.connections, stats.time_waits), (0, 1));
    soon(async {
        while pair.endpoints[0].stats().time_waits > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_listener_that_is_dropped_refuses() {
    let pair = pair(quick()).await;
    drop(pair.listener);
    let error = soon(pair.endpoints[0].connect(peer(&pair.endpoints[1]), quick()))
        .await
        .unwrap_err();
    assert!(matches!(
        error,
        ConnectError::Connection(ConnectionError::Refused)
    ));
    pair.client.send("still there").await.unwrap();
    assert!(soon(pair.server.recv()).await.unwrap().is_some());
}

/// A server at `::` is reachable over IPv6 and IPv4, and answers from the address that was
/// contacted.
#[tokio::test]
async fn both_ip_versions() {
    let any = (Ipv6Addr::UNSPECIFIED, 0).into();
    let server = Endpoint::udp(any, EndpointConfig::default()).unwrap();
    let listener = server.listen(PORT, quick()).unwrap();
    let port = server.local_address().port();
    for ip in [
        IpAddr::from(Ipv4Addr::LOCALHOST),
        Ipv4Addr::new(127, 0, 0, 9).into(),
        Ipv6Addr::LOCALHOST.into(),
    ] {
        let target = Peer {
            address: (ip, port).into(),
            port: PORT,
        };
        let (connected, accepted) =
            soon(async { tokio::join!(server.connect(target, quick()), listener.accept()) }).await;
        let (connected, accepted) = (connected.unwrap(), accepted.unwrap());
        connected.send("hello").await.unwrap();
        let datagram = soon(accepted.recv()).await.unwrap().unwrap();
        assert_eq!(datagram.data, "hello");
        assert_eq!(accepted.local_ip().to_canonical(), ip);
        assert_eq!(connected.peer_address().ip().to_canonical(), ip);
    }
}

/// The peer closes while data waits for its acknowledgements. Unsent data is counted, and `flush`
/// does not report it as sent.
#[tokio::test]
async fn what_an_end_discards_is_told() {
    const COUNT: u64 = 100;
    let server = endpoint();
    let listener = server.listen(PORT, quick()).unwrap();
    let (stranger, ack) = soon(Stranger::connected(server.local_address(), 1)).await;
    let connection = soon(listener.accept()).await.unwrap();
    for _ in 0..COUNT {
        connection.send("unheard").await.unwrap();
    }
    stranger.send(1, 3, Kind::Close { ack }, &[]);
    assert_eq!(soon(connection.flush()).await, Err(ConnectionError::Closed));
    let counters = connection.stats().counters;
    let datagrams = counters.datagrams_discarded;
    assert!(datagrams > 0);
    let discarded = Err(ConnectionError::Discarded { datagrams });
    assert_eq!(soon(connection.close()).await, discarded);
    assert_eq!(
        counters.data_packets_sent + counters.datagrams_discarded,
        COUNT
    );
}

/// The peer of an aborted connection holds TIMEWAIT and refuses its ports, so the client that aborts
/// does not use them again either.
#[tokio::test]
async fn a_client_that_aborts_is_not_refused_later() {
    let (client, server) = (endpoint(), endpoint());
    let rest = Config {
        timewait: Span::from_secs(240),
        ..quick()
    };
    let listener = server.listen(PORT, rest.clone()).unwrap();
    // By chance, one of 800 such ports would meet another.
    for _ in 0..800 {
        let connecting = client.connect(peer(&server), rest.clone());
        let (ours, theirs) = soon(async { tokio::join!(connecting, listener.accept()) }).await;
        ours.unwrap().abort();
        drop(theirs);
    }
    assert_eq!(client.stats().time_waits, 800);
}

/// A close reports the datagrams that it could not send in its time to linger.
#[tokio::test]
async fn a_close_tells_what_did_not_leave_in_time() {
    const COUNT: u64 = 100;
    let server = endpoint();
    let config = Config {
        linger: Span::from_millis(50),
        ..quick()
    };
    let listener = server.listen(PORT, config).unwrap();
    let (stranger, _) = soon(Stranger::connected(server.local_address(), 1)).await;
    let connection = soon(listener.accept()).await.unwrap();
    for _ in 0..COUNT {
        connection.send("unheard").await.unwrap();
    }
    let closing = tokio::spawn(async move { (connection.close().await, connection) });
    let answering = tokio::task::spawn_blocking(move || {
        let asked = iter::repeat_with(|| stranger.receive(1))
            .find(|packet| matches!(packet.kind, Kind::CloseReq { .. }));
        let ack = asked.unwrap().seq;
        stranger.send(1, 3, Kind::Close { ack }, &[]);
    });
    let (closed, connection) = soon(closing).await.unwrap();
    answering.await.unwrap();
    let datagrams = connection.stats().counters.datagrams_discarded;
    assert!(datagrams > 0);
    assert_eq!(closed, Err(ConnectionError::Discarded { datagrams }));
}

#[tokio::test]
async fn a_listener_that_is_closed() {
    let (client, server) = (endpoint(), endpoint());
    let listener = server.listen(PORT, quick()).unwrap();
    let waiting = client.connect(peer(&server), quick());
    let unaccepted = soon(waiting).await.unwrap();
    listener.close();
    listener.close();
    let error = soon(unaccepted.closed()).await;
    assert!(matches!(error, ConnectionError::Reset { .. }), "{error}");
    let error = soon(listener.accept()).await.unwrap_err();
    assert_eq!(error, ConnectionError::ListenerClosed);
    // The port is free, and its next listener is not disturbed by the end of the first.
    let next = server.listen(PORT, quick()).unwrap();
    drop(listener);
    let connecting = client.connect(peer(&server), quick());
    let (ours, theirs) = soon(async { tokio::join!(connecting, next.accept()) }).await;
    ours.unwrap();
    theirs.unwrap();
}
