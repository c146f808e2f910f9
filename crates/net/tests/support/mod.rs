//! Two endpoints over UDP on this host, for tests.

use std::net::Ipv4Addr;
use std::time::Duration;

use skywave_net::{Connection, Endpoint, EndpointConfig, Listener, Peer};
use skywave_transport::dccp::Config;
use skywave_units::Duration as Span;

/// The DCCP port that servers listen on.
pub(crate) const PORT: u16 = 5001;

/// A time limit far beyond what any test needs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn endpoint() -> Endpoint {
    endpoint_with(EndpointConfig::default())
}

pub(crate) fn endpoint_with(config: EndpointConfig) -> Endpoint {
    Endpoint::udp((Ipv4Addr::LOCALHOST, 0).into(), config).unwrap()
}

pub(crate) fn peer(endpoint: &Endpoint) -> Peer {
    Peer {
        address: endpoint.local_address(),
        port: PORT,
    }
}

/// Timers for a network without delay on a possibly busy machine: losses are retransmitted at once,
/// and nothing is given up.
pub(crate) fn quick() -> Config {
    Config {
        request_retry: Span::from_millis(50),
        timewait: Span::from_secs(1),
        ..Config::default()
    }
}

/// A client and a server, each at its own endpoint.
pub(crate) struct Pair {
    pub(crate) endpoints: [Endpoint; 2],
    pub(crate) listener: Listener,
    pub(crate) client: Connection,
    pub(crate) server: Connection,
}

pub(crate) async fn pair(config: Config) -> Pair {
    let endpoints = [endpoint(), endpoint()];
    let listener = endpoints[1].listen(PORT, config.clone()).unwrap();
    let connecting = endpoints[0].connect(peer(&endpoints[1]), config);
    let (client, server) = soon(async { tokio::join!(connecting, listener.accept()) }).await;
    Pair {
        client: client.unwrap(),
        server: server.unwrap(),
        endpoints,
        listener,
    }
}

/// Fails instead of hanging.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future)
        .await
        .expect("the time limit is exceeded")
}
