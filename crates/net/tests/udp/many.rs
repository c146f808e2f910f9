//! Many connections on one socket.

use std::collections::BTreeSet;

use tokio::task::JoinSet;

use crate::{PORT, endpoint, peer, quick, soon};

const CONNECTIONS: u32 = 1_000;

// U-7: told apart by the 6-tuple, over one pair of UDP ports.
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
                let config = skywave_transport::dccp::Config {
                    request_give_up: skywave_units::Duration::from_secs(30),
                    handshake_give_up: skywave_units::Duration::from_secs(30),
                    ..quick()
                };
                let connection = client.connect(target, config).await.unwrap();
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
