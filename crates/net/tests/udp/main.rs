//! Two endpoints over UDP on this host.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod black_hole;
mod ccids;
mod data;
mod ecn;
mod ends;
mod errors;
mod happy_eyeballs;
mod limits;
mod liveness;
mod many;
mod relay;
mod snapshot;
mod stranger;
mod unaccepted;

use std::net::Ipv4Addr;
use std::time::Duration;

use skywave_net::{Connection, Endpoint, EndpointConfig, Listener, Peer};
use skywave_transport::dccp::Config;
use skywave_units::Duration as Span;

/// The DCCP port that servers listen on.
const PORT: u16 = 5001;

/// A time limit far beyond what any test needs.
const PATIENCE: Duration = Duration::from_secs(30);

fn endpoint() -> Endpoint {
    endpoint_with(EndpointConfig::default())
}

fn endpoint_with(config: EndpointConfig) -> Endpoint {
    Endpoint::udp((Ipv4Addr::LOCALHOST, 0).into(), config).unwrap()
}

fn peer(endpoint: &Endpoint) -> Peer {
    Peer {
        address: endpoint.local_address(),
        port: PORT,
    }
}

/// Timers for a network without delay on a possibly busy machine: losses are retransmitted at once,
/// and nothing is given up.
fn quick() -> Config {
    Config {
        request_retry: Span::from_millis(50),
        timewait: Span::from_secs(1),
        ..Config::default()
    }
}

/// A client and a server, each at its own endpoint.
struct Pair {
    endpoints: [Endpoint; 2],
    listener: Listener,
    client: Connection,
    server: Connection,
}

async fn pair(config: Config) -> Pair {
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
async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future)
        .await
        .expect("the time limit is exceeded")
}
