//! Connections that end before anybody accepts them.

use std::time::Duration;

use skywave_net::EndpointConfig;
use skywave_wire::dccp::Kind;

use crate::stranger::Stranger;
use crate::{PORT, endpoint, endpoint_with, peer, quick, soon};

const BACKLOG: usize = 8;

/// A peer that completes handshakes and resets the connections fills neither the memory nor the
/// backlog, and connections that are over are not accepted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_is_reset_leaves_the_queue() {
    let server = endpoint_with(EndpointConfig {
        backlog: BACKLOG,
        ..EndpointConfig::default()
    });
    let listener = server.listen(PORT, quick()).unwrap();
    let target = server.local_address();
    let attack = tokio::task::spawn_blocking(move || {
        let stranger = Stranger::of(target);
        for port in 1..=5 * BACKLOG as u16 {
            let ack = stranger.connect(port, &[7; 1_000]);
            stranger.reset(port, ack);
        }
    });
    soon(attack).await.unwrap();
    while server.stats().connections > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(server.stats().too_busy, 0);
    let client = endpoint();
    let (connected, accepted) =
        soon(async { tokio::join!(client.connect(peer(&server), quick()), listener.accept()) })
            .await;
    let (connected, accepted) = (connected.unwrap(), accepted.unwrap());
    assert_eq!(
        accepted.peer_port(),
        connected.local_port(),
        "the first one"
    );
}

/// A connection that its peer has closed after sending data is still accepted and read, and counts
/// against the backlog until then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_was_closed_with_data_waits_to_be_accepted() {
    let server = endpoint_with(EndpointConfig {
        backlog: BACKLOG,
        ..EndpointConfig::default()
    });
    let listener = server.listen(PORT, quick()).unwrap();
    let target = server.local_address();
    let visits = tokio::task::spawn_blocking(move || {
        let stranger = Stranger::of(target);
        for port in 1..=BACKLOG as u16 {
            let ack = stranger.connect(port, b"a postcard");
            stranger.send(port, 3, Kind::Close { ack }, &[]);
        }
        stranger.request(1_000, 1, &[]);
    });
    soon(visits).await.unwrap();
    while server.stats().too_busy == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for _ in 0..BACKLOG {
        let accepted = soon(listener.accept()).await.unwrap();
        let card = soon(accepted.recv()).await.unwrap().unwrap();
        assert_eq!(card.data, "a postcard");
        assert_eq!(soon(accepted.recv()).await, Ok(None));
    }
}
