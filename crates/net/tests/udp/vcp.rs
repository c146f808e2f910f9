//! CCIDs 248 to 250 on a real network, where no router speaks VCP or MPCP.

use bytes::Bytes;
use skywave_transport::dccp::{Ccid, Config};

use crate::{pair, quick, soon};

/// Codes cross the socket and come back: the window grows by them, and nothing is taken for loss.
async fn carries_data(ccid: Ccid) {
    const COUNT: usize = 5_000;
    let pair = pair(Config {
        sender_ccids: vec![ccid],
        receiver_ccids: vec![ccid],
        receive_queue: COUNT,
        ..quick()
    })
    .await;
    assert_eq!(pair.client.ccids(), [ccid; 2]);
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

#[tokio::test]
async fn vcp_carries_data() {
    carries_data(Ccid::Vcp).await;
}

#[tokio::test]
async fn dpcp_carries_data() {
    carries_data(Ccid::Dpcp).await;
}

#[tokio::test]
async fn tpcp_carries_data() {
    carries_data(Ccid::Tpcp).await;
}

fn cwnd(connection: &skywave_net::Connection) -> f64 {
    connection.stats().congestion.window().unwrap().cwnd
}
