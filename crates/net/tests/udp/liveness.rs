//! Peers that have vanished, and idle connections.

use std::time::Duration;

use skywave_net::ConnectionError;
use skywave_transport::dccp::Config;
use skywave_units::Duration as Span;

use crate::stranger::Stranger;
use crate::{PORT, endpoint, pair, quick, soon};

/// A peer that was killed no longer sends anything. Its connections end, whether or not data was in
/// flight.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_is_gone_is_noticed() {
    let server = endpoint();
    let config = Config {
        keepalive: Some(Span::from_millis(200)),
        silence_timeout: Some(Span::from_millis(400)),
        ..quick()
    };
    let listener = server.listen(PORT, config).unwrap();
    let _killed = soon(Stranger::connected(server.local_address(), 2)).await;
    let idle = soon(listener.accept()).await.unwrap();
    let busy = soon(listener.accept()).await.unwrap();
    busy.send("are you there?").await.unwrap();
    for connection in [idle, busy] {
        assert_eq!(soon(connection.closed()).await, ConnectionError::PeerGone);
        assert!(connection.stats().counters.syncs_sent >= 3, "it was asked");
    }
    soon(async {
        while server.stats().connections > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

/// A connection without data ends after its idle timeout, and both ends learn why.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_connection_ends() {
    let config = Config {
        idle_timeout: Some(Span::from_millis(500)),
        ..quick()
    };
    let pair = pair(config).await;
    let (first, second) =
        soon(async { tokio::join!(pair.client.closed(), pair.server.closed()) }).await;
    let ends = [first, second];
    assert!(ends.contains(&ConnectionError::Idle), "{ends:?}");
    let is_reset = |end: &ConnectionError| matches!(end, ConnectionError::Reset { .. });
    assert!(
        ends.iter()
            .all(|end| *end == ConnectionError::Idle || is_reset(end)),
        "{ends:?}"
    );
}

/// `close` ends in bounded time although the peer is gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_close_ends_without_the_peer() {
    let server = endpoint();
    let config = Config {
        silence_timeout: Some(Span::from_millis(400)),
        ..quick()
    };
    let listener = server.listen(PORT, config).unwrap();
    let _gone = soon(Stranger::connected(server.local_address(), 1)).await;
    let connection = soon(listener.accept()).await.unwrap();
    assert_eq!(
        soon(connection.close()).await,
        Err(ConnectionError::PeerGone)
    );
    soon(server.shutdown()).await;
}
