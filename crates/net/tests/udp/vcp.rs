//! CCID 248 on a real network, where no router speaks VCP.

use bytes::Bytes;
use skywave_transport::dccp::{Ccid, Config};

use crate::{pair, quick, soon};

/// Codes cross the socket and come back: the window grows by them, and nothing is taken for loss.
#[tokio::test]
async fn vcp_carries_data() {
    const COUNT: usize = 5_000;
    let pair = pair(Config {
        sender_ccids: vec![Ccid::Vcp],
        receiver_ccids: vec![Ccid::Vcp],
        receive_queue: COUNT,
        ..quick()
    })
    .await;
    assert_eq!(pair.client.ccids(), [Ccid::Vcp; 2]);
    let initial = cwnd(&pair.client);
    let receive = async {
        for _ in 0..COUNT {
            let datagram = soon(pair.server.recv()).await.unwrap().unwrap();
            assert_eq!(datagram.data.len(), 1000);
        }
    };
    let send = async {
        for _ in 0..COUNT {
            pair.client.send(Bytes::from(vec![0; 1000])).await.unwrap();
        }
    };
    tokio::join!(send, receive);
    let window = *pair.client.stats().congestion.window().unwrap();
    assert_eq!(window.lost, 0);
    assert!(cwnd(&pair.client) > initial, "{window:?}");
}

fn cwnd(connection: &skywave_net::Connection) -> f64 {
    connection.stats().congestion.window().unwrap().cwnd
}
