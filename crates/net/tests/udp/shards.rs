//! Endpoints with several sockets.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};

use skywave_net::{Endpoint, EndpointConfig, OpenError};
use tokio::task::JoinSet;

use crate::{PORT, endpoint, endpoint_with, peer, quick, soon};

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

fn sharded(shards: usize) -> EndpointConfig {
    EndpointConfig {
        shards,
        ..EndpointConfig::default()
    }
}

/// Connections of all shards, between the same two UDP ports.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_datagram_is_answered() {
    const CONNECTIONS: usize = 12;
    for (ours, theirs) in [(1, 4), (4, 1), (3, 4)] {
        let (client, server) = (endpoint_with(sharded(ours)), endpoint_with(sharded(theirs)));
        let listener = server.listen(PORT, quick()).unwrap();
        let mut tasks = JoinSet::new();
        for _ in 0..CONNECTIONS {
            let connect = client.connect(peer(&server), quick());
            let (asking, answering) =
                soon(async { tokio::join!(connect, listener.accept()) }).await;
            let (asking, answering) = (asking.unwrap(), answering.unwrap());
            tasks.spawn(async move {
                // One at a time, so that no queue is ever full.
                for number in 0..500_u32 {
                    asking.send(number.to_be_bytes().to_vec()).await.unwrap();
                    let answer = asking.recv().await.unwrap().unwrap();
                    assert_eq!(*answer.data, number.to_be_bytes());
                }
                asking.close().await.unwrap();
            });
            tasks.spawn(async move {
                while let Some(datagram) = answering.recv().await.unwrap() {
                    answering.send(datagram.data).await.unwrap();
                }
            });
        }
        soon(tasks.join_all()).await;
        soon(async { tokio::join!(client.shutdown(), server.shutdown()) }).await;
    }
}

/// Sharing a port among the sockets of one endpoint does not share it with other endpoints.
#[tokio::test]
async fn a_port_belongs_to_one_endpoint() {
    for (first, second) in [(1, 2), (2, 1), (2, 2)] {
        let endpoint = endpoint_with(sharded(first));
        let again = Endpoint::udp(endpoint.local_address(), sharded(second));
        let Err(OpenError::Bind { source, .. }) = again else {
            panic!("{again:?}");
        };
        assert_eq!(source.kind(), ErrorKind::AddrInUse);
    }
}

#[tokio::test]
async fn the_number_of_sockets_is_bounded() {
    let refused = Endpoint::udp(ANY, sharded(257)).unwrap_err();
    let OpenError::TooManyShards { shards, limit } = refused else {
        panic!("{refused}");
    };
    assert_eq!((shards, limit), (257, 256));
    // One for each processor.
    let server = endpoint_with(sharded(0));
    let listener = server.listen(PORT, quick()).unwrap();
    let client = endpoint();
    let connect = client.connect(peer(&server), quick());
    let (ours, theirs) = soon(async { tokio::join!(connect, listener.accept()) }).await;
    ours.unwrap();
    theirs.unwrap();
}
