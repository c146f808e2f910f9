//! CCIDs 248 to 250 on a real network, without VCP or MPCP routers.

use std::net::Ipv4Addr;
use std::time::Duration;

use skywave_mpcp::{LoadFactor, SenderParameters};
use skywave_net::{Connection, Endpoint, EndpointConfig, Peer};
use skywave_transport::dccp::{Ccid, Config};

/// A time limit far beyond what the test needs.
const PATIENCE: Duration = Duration::from_secs(30);
const DATAGRAMS: usize = 5_000;
const PORT: u16 = 5001;

/// Codes cross the socket and return: the window grows with them, and nothing counts as lost.
async fn carries_data(ccid: Ccid) {
    let parameters = SenderParameters {
        fallback: true,
        ..SenderParameters::default()
    };
    let config = Config {
        receive_queue: DATAGRAMS,
        ..Config::default()
    }
    .with_ccid(LoadFactor::new(ccid, &parameters).unwrap());
    let endpoint = || Endpoint::udp((Ipv4Addr::LOCALHOST, 0).into(), EndpointConfig::default());
    let (ours, theirs) = (endpoint().unwrap(), endpoint().unwrap());
    let listener = theirs.listen(PORT, config.clone()).unwrap();
    let peer = Peer {
        address: theirs.local_address(),
        port: PORT,
    };
    let (client, server) = tokio::join!(ours.connect(peer, config), listener.accept());
    let (client, server) = (client.unwrap(), server.unwrap());
    assert_eq!(client.ccids(), [ccid; 2]);
    let initial = cwnd(&client);
    let receive = async {
        for _ in 0..DATAGRAMS {
            let datagram = server.recv().await.unwrap().unwrap();
            assert_eq!(datagram.data.len(), 1000);
        }
    };
    let send = async {
        for _ in 0..DATAGRAMS {
            client.send(vec![0; 1000]).await.unwrap();
        }
    };
    let both = async { tokio::join!(send, receive) };
    tokio::time::timeout(PATIENCE, both)
        .await
        .expect("the time limit is exceeded");
    let window = *client.stats().congestion.window().unwrap();
    assert_eq!(window.lost, 0);
    assert!(cwnd(&client) > initial, "{window:?}");
}

#[tokio::test]
async fn vcp_carries_data() {
    carries_data(LoadFactor::VCP).await;
}

#[tokio::test]
async fn dpcp_carries_data() {
    carries_data(LoadFactor::DPCP).await;
}

#[tokio::test]
async fn tpcp_carries_data() {
    carries_data(LoadFactor::TPCP).await;
}

fn cwnd(connection: &Connection) -> f64 {
    connection.stats().congestion.window().unwrap().cwnd
}
