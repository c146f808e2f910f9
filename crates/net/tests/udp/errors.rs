//! Errors that a user may see.

use std::net::{Ipv4Addr, Ipv6Addr, UdpSocket};

use skywave_net::{
    ConnectError, ConnectionError, Endpoint, EndpointConfig, ListenError, OpenError, Peer,
};
use skywave_transport::dccp::Config;
use skywave_units::{Duration, Rate};
use skywave_wire::dccp::{Kind, OptionList, Packet, ResetCode, SeqNo, ServiceCode};
use skywave_wire::{Checksum, Payload};

use crate::relay::Relay;
use crate::{PORT, endpoint, endpoint_with, pair, peer, quick, soon};

async fn connection_error(endpoint: &Endpoint, peer: Peer, config: Config) -> ConnectionError {
    match soon(endpoint.connect(peer, config)).await {
        Err(ConnectError::Connection(error)) => error,
        other => panic!("{other:?}"),
    }
}

/// For tests that count Requests: the client sends only one.
fn once() -> Config {
    Config {
        request_retry: Duration::from_secs(60),
        ..quick()
    }
}

// S-3: a port without a listener.
#[tokio::test]
async fn s_3_refused() {
    let (client, server) = (endpoint(), endpoint());
    let error = connection_error(&client, peer(&server), once()).await;
    assert_eq!(error, ConnectionError::Refused);
    assert!(error.to_string().contains("check the port"), "{error}");
    assert_eq!(server.stats().strays, 1);
}

// S-3: the same as reported by Linux: Reset "No Connection", with sequence number 0.
#[tokio::test]
async fn s_3_refused_by_linux() {
    let linux = tokio::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .unwrap();
    let target = Peer {
        address: linux.local_addr().unwrap(),
        port: PORT,
    };
    let refusing = async {
        let mut bytes = vec![0; 2_048];
        let (length, client) = linux.recv_from(&mut bytes).await.unwrap();
        bytes.truncate(length);
        let request = Packet::read(bytes.into(), Checksum::Ignored).unwrap();
        let reset = Packet {
            source_port: request.destination_port,
            destination_port: request.source_port,
            seq: SeqNo::ZERO,
            kind: Kind::Reset {
                ack: request.seq,
                code: ResetCode::NO_CONNECTION,
                data: [0; 3],
            },
            options: OptionList::new(),
            payload: Payload::EMPTY,
            ..request
        };
        let mut bytes = Vec::new();
        reset.emit(Checksum::Ignored, &mut bytes).unwrap();
        linux.send_to(&bytes, client).await.unwrap();
    };
    let client = endpoint();
    let ((), error) = tokio::join!(refusing, connection_error(&client, target, quick()));
    assert_eq!(error, ConnectionError::Refused);
}

// S-2, S-3: several codes on one port: the server learns which was requested; another one is
// refused.
#[tokio::test]
async fn s_3_bad_service_code() {
    let (client, server) = (endpoint(), endpoint());
    let [one, two, three] = [ServiceCode(1), ServiceCode(2), ServiceCode(3)];
    let asking = |code| Config {
        service_codes: vec![code],
        ..quick()
    };
    let config = Config {
        service_codes: vec![one, two],
        ..quick()
    };
    let listener = server.listen(PORT, config).unwrap();
    let error = connection_error(&client, peer(&server), asking(three)).await;
    assert_eq!(error, ConnectionError::BadServiceCode);
    let (connected, accepted) = tokio::join!(
        client.connect(peer(&server), asking(two)),
        listener.accept()
    );
    assert_eq!(connected.unwrap().service_code(), two);
    assert_eq!(accepted.unwrap().service_code(), two);
}

#[tokio::test]
async fn nobody_answers() {
    let silent = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let target = Peer {
        address: silent.local_addr().unwrap(),
        port: PORT,
    };
    let impatient = Config {
        request_give_up: Duration::from_millis(300),
        ..quick()
    };
    let error = connection_error(&endpoint(), target, impatient).await;
    assert_eq!(error, ConnectionError::TimedOut);
}

// U-5, D14-2: a report that a UDP port is closed ends a handshake, but no other connection.
#[tokio::test]
async fn u_5_unreachable() {
    let pair = pair(quick()).await;
    let closed = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let target = Peer {
        address: closed.local_addr().unwrap(),
        port: PORT,
    };
    // Bound to reserve the port, but connected to itself, so that it accepts from nobody else.
    closed.connect(closed.local_addr().unwrap()).unwrap();
    let patient = Config::default();
    let error = connection_error(&pair.endpoints[0], target, patient).await;
    assert_eq!(error, ConnectionError::Unreachable);
    assert!(pair.endpoints[0].stats().network_errors > 0);
    pair.client.send("still there").await.unwrap();
    let datagram = soon(pair.server.recv()).await.unwrap().unwrap();
    assert_eq!(datagram.data, "still there");
}

// U-5, D14-2: if a host reports that the peer is gone, the Close is not retransmitted for minutes.
#[tokio::test]
async fn u_5_a_peer_that_is_gone_when_the_connection_closes() {
    let (client, server) = (endpoint(), endpoint());
    let listener = server.listen(PORT, quick()).unwrap();
    let relay = Relay::to(server.local_address()).await;
    let target = Peer {
        address: relay.address,
        port: PORT,
    };
    let patient = Config::default();
    let connecting = async { tokio::join!(client.connect(target, patient), listener.accept()) };
    let (client, server) = soon(connecting).await;
    let (client, server) = (client.unwrap(), server.unwrap());
    client.send("hello").await.unwrap();
    soon(server.recv()).await.unwrap();
    relay.stop().await;
    assert_eq!(
        soon(client.close()).await,
        Err(ConnectionError::Unreachable)
    );
}

#[tokio::test]
async fn reset_by_the_peer() {
    let pair = pair(quick()).await;
    pair.client.send("before").await.unwrap();
    assert_eq!(
        soon(pair.server.recv()).await.unwrap().unwrap().data,
        "before"
    );
    pair.server.abort();
    assert_eq!(pair.server.closed().await, ConnectionError::Aborted);
    let reset = ConnectionError::Reset {
        code: ResetCode::ABORTED,
    };
    assert_eq!(soon(pair.client.recv()).await, Err(reset.clone()));
    assert!(
        reset.to_string().contains("aborted (Reset Code 2)"),
        "{reset}"
    );
    let error = pair.client.send("after").await.unwrap_err();
    assert_eq!(error, reset.into());
}

// D8.3-3: a peer that has restarted answers unknown packets with "No Connection".
#[tokio::test]
async fn d8_3_3_a_server_that_has_restarted() {
    let (before, after) = (endpoint(), endpoint());
    let relay = Relay::to(before.local_address()).await;
    let listener = before.listen(PORT, quick()).unwrap();
    let target = Peer {
        address: relay.address,
        port: PORT,
    };
    let client = endpoint();
    let (client, server) =
        soon(async { tokio::join!(client.connect(target, quick()), listener.accept()) }).await;
    let (client, _server) = (client.unwrap(), server.unwrap());
    relay.redirect(after.local_address());
    client.send("anybody there?").await.unwrap();
    let error = soon(client.closed()).await;
    let code = ResetCode::NO_CONNECTION;
    assert_eq!(error, ConnectionError::Reset { code });
    assert!(error.to_string().contains("restarted"), "{error}");
}

// D8.1-5: a listener's state is bounded.
#[tokio::test]
async fn too_busy() {
    let client = endpoint();
    let server = endpoint_with(EndpointConfig {
        backlog: 2,
        ..EndpointConfig::default()
    });
    let listener = server.listen(PORT, quick()).unwrap();
    let mut connected = Vec::new();
    for _ in 0..2 {
        connected.push(soon(client.connect(peer(&server), quick())).await.unwrap());
    }
    let error = connection_error(&client, peer(&server), once()).await;
    assert_eq!(error, ConnectionError::TooBusy);
    assert_eq!(server.stats().too_busy, 1);
    let accepted = soon(listener.accept()).await.unwrap();
    connected.push(soon(client.connect(peer(&server), quick())).await.unwrap());
    drop(accepted);
}

#[tokio::test]
async fn what_cannot_be_opened_or_listened_on() {
    let first = endpoint();
    let taken = Endpoint::udp(first.local_address(), EndpointConfig::default());
    assert!(matches!(taken, Err(OpenError::Bind { .. })), "{taken:?}");

    let _listener = first.listen(PORT, quick()).unwrap();
    let error = first.listen(PORT, quick()).unwrap_err();
    assert_eq!(error, ListenError::PortInUse(PORT));
    assert_eq!(first.listen(0, quick()).unwrap_err(), ListenError::PortZero);
    let wrong = Config {
        mps: 100_000,
        ..quick()
    };
    assert!(matches!(
        first.listen(PORT + 1, wrong),
        Err(ListenError::Config(_))
    ));
    let mut asking = quick();
    asking.tfrc.quick_start = Some(Rate::from_bps(1_000_000));
    let error = first.listen(PORT + 1, asking.clone()).unwrap_err();
    assert_eq!(error, ListenError::QuickStart);
    let peer = Peer {
        address: first.local_address(),
        port: PORT,
    };
    let error = first.connect(peer, asking).await.unwrap_err();
    assert!(matches!(error, ConnectError::QuickStart), "{error:?}");

    let other_version = Peer {
        address: (Ipv6Addr::LOCALHOST, 6511).into(),
        port: PORT,
    };
    let error = first.connect(other_version, quick()).await.unwrap_err();
    assert!(
        matches!(error, ConnectError::AddressFamily { .. }),
        "{error}"
    );
}

#[test]
fn without_a_runtime() {
    let address = (Ipv4Addr::LOCALHOST, 0).into();
    let error = Endpoint::udp(address, EndpointConfig::default()).unwrap_err();
    assert!(matches!(error, OpenError::NoRuntime), "{error}");
}

// U-1, D15-1: packets that are not DCCP are dropped and counted.
#[tokio::test]
async fn u_1_garbage_is_dropped() {
    let pair = pair(quick()).await;
    let stranger = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let target = pair.endpoints[1].local_address();
    for length in [0, 1, 11, 12, 100, 1_400] {
        stranger.send_to(&vec![0xa5; length], target).unwrap();
    }
    pair.client.send("still there").await.unwrap();
    let datagram = soon(pair.server.recv()).await.unwrap().unwrap();
    assert_eq!(datagram.data, "still there");
    let stats = pair.endpoints[1].stats();
    assert!(stats.malformed + stats.strays >= 5, "{stats:?}");
}

// U-2: the DCCP checksum is sent as zero and ignored on receipt: UDP's covers the packet.
#[tokio::test]
async fn u_2_the_checksum_is_udps() {
    const CHECKSUM: std::ops::Range<usize> = 6..8;
    let relay = tokio::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .unwrap();
    let [here, there] = [endpoint(), endpoint()];
    let listener = there.listen(PORT, quick()).unwrap();
    let server = there.local_address();
    let peer = Peer {
        address: relay.local_addr().unwrap(),
        port: PORT,
    };
    let relaying = async {
        let mut buffer = [0; 2_048];
        let mut client = server;
        loop {
            let (length, from) = relay.recv_from(&mut buffer).await.unwrap();
            assert_eq!(buffer[CHECKSUM], [0, 0]);
            buffer[CHECKSUM].copy_from_slice(&[0xab, 0xcd]);
            if from != server {
                client = from;
            }
            let to = if from == server { client } else { server };
            relay.send_to(&buffer[..length], to).await.unwrap();
        }
    };
    let talking = async {
        let (client, server) = tokio::join!(here.connect(peer, quick()), listener.accept());
        client.unwrap().send("hello").await.unwrap();
        server.unwrap().recv().await.unwrap().unwrap().data
    };
    tokio::select! {
        () = relaying => {}
        data = soon(talking) => assert_eq!(data, "hello"),
    }
}

#[tokio::test]
async fn ports_that_nobody_can_have() {
    let (client, server) = (endpoint(), endpoint());
    let mut nobody = peer(&server);
    nobody.port = 0;
    let error = client.connect(nobody, quick()).await.unwrap_err();
    assert!(matches!(error, ConnectError::PortZero), "{error}");
    let mut nowhere = peer(&server);
    nowhere.address.set_port(0);
    let error = client.connect(nowhere, quick()).await.unwrap_err();
    assert!(matches!(error, ConnectError::UdpPortZero), "{error}");
    assert_eq!(client.stats().packets_sent, 0);
}

#[tokio::test]
async fn limits_that_would_forbid_everything() {
    let options = EndpointConfig::default;
    let forbidding = [
        (
            "backlog",
            EndpointConfig {
                backlog: 0,
                ..options()
            },
        ),
        (
            "max_connections",
            EndpointConfig {
                max_connections: 0,
                ..options()
            },
        ),
        (
            "max_per_address",
            EndpointConfig {
                max_per_address: 0,
                ..options()
            },
        ),
        (
            "max_per_prefix",
            EndpointConfig {
                max_per_prefix: 0,
                ..options()
            },
        ),
    ];
    for (name, config) in forbidding {
        let error = Endpoint::udp((Ipv4Addr::LOCALHOST, 0).into(), config).unwrap_err();
        assert!(
            matches!(error, OpenError::ZeroLimit(field) if field == name),
            "{error}"
        );
    }
}

#[tokio::test]
async fn no_route_says_from_where() {
    let client = endpoint();
    let away = Peer {
        address: (Ipv4Addr::new(192, 0, 2, 1), 6511).into(),
        port: PORT,
    };
    let error = client.connect(away, quick()).await.unwrap_err().to_string();
    assert!(
        error.starts_with("no route from 127.0.0.1 to 192.0.2.1:6511"),
        "{error}"
    );
    assert!(error.contains("bound to loopback"), "{error}");
}

#[tokio::test]
async fn addresses_that_are_not_those_of_one_host() {
    let client = endpoint();
    for ip in [
        Ipv4Addr::UNSPECIFIED,
        Ipv4Addr::BROADCAST,
        Ipv4Addr::new(224, 0, 0, 1),
    ] {
        let all = Peer {
            address: (ip, 6511).into(),
            port: PORT,
        };
        let error = client.connect(all, quick()).await.unwrap_err();
        assert!(matches!(error, ConnectError::NotUnicast { .. }), "{error}");
    }
}
