//! A path whose MTU is smaller than that of its first link, without a router that says so.

use std::time::Duration;

use skywave_net::{Connection, Peer, SendError};
use skywave_transport::dccp::Config;
use skywave_units::Duration as Span;

use crate::relay::Relay;
use crate::{PORT, endpoint, peer, quick, soon};

/// The headers of IPv4 and UDP, and those for which the maximum packet size leaves room.
const LOWER: usize = 28;
const HEADERS: usize = LOWER + 24 + 62;

/// Sends datagrams as large as permitted, up to `most`, until one of at least `least` bytes arrives.
/// Returns the number of those that were accepted.
async fn until_arrival(from: &Connection, to: &Connection, least: usize, most: usize) -> u64 {
    let mut accepted = 0;
    soon(async {
        loop {
            let size = from.max_datagram_size().min(most);
            match from.send(vec![0; size]).await {
                Ok(()) => accepted += 1,
                // It has just shrunk.
                Err(SendError::TooLarge { .. }) => {}
                Err(error) => panic!("{error}"),
            }
            let next = tokio::time::timeout(Duration::from_millis(10), to.recv()).await;
            if let Ok(datagram) = next
                && datagram.unwrap().unwrap().data.len() >= least
            {
                return accepted;
            }
        }
    })
    .await
}

/// D14-2: large datagrams vanish, the connection detects the smaller MTU, and data flows again.
/// When the path MTU grows, datagrams may be larger again.
#[tokio::test]
async fn d14_2_data_flow_again_on_a_path_that_has_shrunk() {
    let config = Config {
        path_mtu_raise: Span::from_secs(3),
        ..quick()
    };
    let (here, there) = (endpoint(), endpoint());
    let listener = there.listen(PORT, config.clone()).unwrap();
    let relay = Relay::to(there.local_address()).await;
    let target = Peer {
        address: relay.address,
        ..peer(&there)
    };
    let connecting = here.connect(target, config);
    let (client, server) = soon(async { tokio::join!(connecting, listener.accept()) }).await;
    let (client, server) = (client.unwrap(), server.unwrap());
    let mut accepted = until_arrival(&client, &server, 1_400, 1_400).await;

    relay.limit(1_280 - LOWER);
    while server.try_recv().is_some() {}
    while client.max_datagram_size() > 1_280 - HEADERS {
        accepted += until_arrival(&client, &server, 1, 1_400).await;
    }
    let discarded = client.stats().counters.datagrams_discarded;
    client.flush().await.unwrap();
    let stats = client.stats();
    assert_eq!(stats.counters.data_packets_sent + discarded, accepted);

    relay.limit(1_500 - LOWER);
    until_arrival(&client, &server, 1_480 - HEADERS, 1_400).await;
    let probes = client.stats().counters.mtu_probes_sent;
    assert!((10..60).contains(&probes), "{probes}");
}
