//! Many connections on one socket.

use std::collections::BTreeSet;

use skywave_net::EndpointConfig;
use tokio::task::JoinSet;

use crate::stranger::Stranger;
use crate::{PORT, endpoint, peer, quick, soon};

const CONNECTIONS: u32 = 1_000;

// U-7: distinguished by the 6-tuple, over one pair of UDP ports.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u_7_a_thousand_connections_between_two_sockets() {
    let (client, server) = (endpoint(), endpoint());
    let listener = server.listen(PORT, quick()).unwrap();
    let target = peer(&server);

    let serve = async {
        let mut echoes = JoinSet::new();
        for _ in 0..CONNECTIONS {
            let connection = listener.accept().await.unwrap();
            echoes.spawn(async move {
                while let Some(datagram) = connection.recv().await.unwrap() {
                    connection.send(datagram.data).await.unwrap();
                }
            });
        }
        echoes.join_all().await;
    };
    let ask = async {
        let mut clients = JoinSet::new();
        for index in 0..CONNECTIONS {
            let client = client.clone();
            clients.spawn(async move {
                let connection = client.connect(target, quick()).await.unwrap();
                for round in 0..3 {
                    let word = format!("{index}/{round}");
                    connection.send(word.clone()).await.unwrap();
                    let back = connection.recv().await.unwrap().unwrap();
                    assert_eq!(back.data, word);
                }
                let port = connection.local_port();
                connection.close().await.unwrap();
                port
            });
        }
        clients.join_all().await
    };
    let ((), ports) = soon(async { tokio::join!(serve, ask) }).await;
    let distinct: BTreeSet<u16> = ports.into_iter().collect();
    assert_eq!(distinct.len(), CONNECTIONS as usize);
}

/// Requests with all kinds of DCCP ports from a sender that never answers.
fn flood(target: std::net::SocketAddr, requests: u32) {
    let stranger = Stranger::of(target);
    for count in 0..requests {
        stranger.request(count as u16, count.into(), &[]);
    }
}

// D8.1-6: a flood uses only the limited storage for handshakes; a client that returns its cookie
// connects anyway, and its data arrives.
#[tokio::test]
async fn d8_1_6_a_flood_shuts_nobody_out() {
    let (client, server) = (endpoint(), endpoint());
    let listener = server.listen(PORT, quick()).unwrap();
    let remembered = EndpointConfig::default().half_open;
    while server.stats().cookies_sent == 0 {
        flood(server.local_address(), 400);
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(server.stats().connections <= remembered);
    let (connected, accepted) =
        soon(async { tokio::join!(client.connect(peer(&server), quick()), listener.accept()) })
            .await;
    let (connected, accepted) = (connected.unwrap(), accepted.unwrap());
    flood(server.local_address(), 400);
    connected.send("honest").await.unwrap();
    assert_eq!(soon(accepted.recv()).await.unwrap().unwrap().data, "honest");
    accepted.send("answer").await.unwrap();
    assert_eq!(
        soon(connected.recv()).await.unwrap().unwrap().data,
        "answer"
    );
    assert_eq!(server.stats().too_busy, 0);
    assert!(server.stats().connections <= remembered + 1);
}
