//! Hosts with several addresses.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use skywave_net::{ConnectError, ConnectionError, Endpoint, EndpointConfig, Peer};

use crate::skipped::skipped;
use crate::{PORT, quick, soon};

/// An endpoint for both IP versions, if this host has both.
fn dual() -> Option<Endpoint> {
    let endpoint = Endpoint::udp_any(0, EndpointConfig::default()).unwrap();
    if endpoint.local_address().is_ipv4() || UdpSocket::bind("[::1]:0").is_err() {
        skipped("this host has no IPv6");
        return None;
    }
    Some(endpoint)
}

fn at(address: SocketAddr) -> Peer {
    Peer {
        address,
        port: PORT,
    }
}

/// An address that accepts packets and answers none.
fn silent(local: SocketAddr) -> (UdpSocket, Peer) {
    let socket = UdpSocket::bind(local).unwrap();
    let peer = at(socket.local_addr().unwrap());
    (socket, peer)
}

#[tokio::test]
async fn a_silent_ip_version_does_not_keep_the_other_waiting() {
    let Some(server) = dual() else { return };
    let listener = server.listen(PORT, quick()).unwrap();
    let port = server.local_address().port();
    for (silent_at, live) in [
        (
            (Ipv6Addr::LOCALHOST, 0).into(),
            (Ipv4Addr::LOCALHOST, port).into(),
        ),
        (
            (Ipv4Addr::LOCALHOST, 0).into(),
            (Ipv6Addr::LOCALHOST, port).into(),
        ),
    ] {
        let client = Endpoint::udp_any(0, EndpointConfig::default()).unwrap();
        let (_socket, dead) = silent(silent_at);
        // Its time limit is longer than the test's.
        let connecting = client.connect_any([dead, at(live)], quick());
        let (connection, accepted) =
            soon(async { tokio::join!(connecting, listener.accept()) }).await;
        let connection = connection.unwrap();
        assert_eq!(connection.peer_address().ip().to_canonical(), live.ip());
        connection.send("hello").await.unwrap();
        let received = soon(accepted.unwrap().recv()).await;
        assert_eq!(received.unwrap().unwrap().data, "hello");
        // The attempt that lost is aborted.
        while client.stats().connections > 1 {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn addresses_that_fail_are_passed_over_and_the_best_error_is_reported() {
    let Some(server) = dual() else { return };
    let port = server.local_address().port();
    let client = Endpoint::udp((Ipv4Addr::LOCALHOST, 0).into(), EndpointConfig::default()).unwrap();
    let unreachable = at((Ipv6Addr::LOCALHOST, port).into());
    let there = at((Ipv4Addr::LOCALHOST, port).into());

    let refused = soon(client.connect_any([unreachable, there], quick())).await;
    assert!(matches!(
        refused.unwrap_err(),
        ConnectError::Connection(ConnectionError::Refused)
    ));
    let elsewhere = soon(client.connect_any([unreachable], quick())).await;
    assert!(matches!(
        elsewhere.unwrap_err(),
        ConnectError::AddressFamily { .. }
    ));
    let nowhere = soon(client.connect_any([], quick())).await;
    assert!(matches!(nowhere.unwrap_err(), ConnectError::NoAddress));

    let listener = server.listen(PORT, quick()).unwrap();
    let connected = soon(client.connect_any([unreachable, there], quick())).await;
    assert_eq!(connected.unwrap().peer_address(), there.address);
    drop(listener);
}
