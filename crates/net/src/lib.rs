//! DCCP on real sockets: the sans-IO connections of [`skywave_transport`], driven by tokio in real
//! time.
//!
//! An [`Endpoint`] is one socket: over UDP (RFC 6773), which needs no privileges and passes most
//! middleboxes, or over IP as protocol 33. [`Endpoint::connect`] opens connections,
//! [`Endpoint::listen`] returns a [`Listener`] that accepts them, and a [`Connection`] carries
//! datagrams under congestion control.
//!
//! ```
//! use std::net::Ipv4Addr;
//!
//! use skywave_net::{Endpoint, EndpointConfig, Peer};
//! use skywave_transport::dccp::Config;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let endpoint = Endpoint::udp((Ipv4Addr::LOCALHOST, 0).into(), EndpointConfig::default())?;
//! let listener = endpoint.listen(5001, Config::default())?;
//! let peer = Peer { address: endpoint.local_address(), port: 5001 };
//! let (client, server) = tokio::join!(endpoint.connect(peer, Config::default()), listener.accept());
//! client?.send("hello").await?;
//! assert_eq!(server?.recv().await?.expect("a datagram").data, "hello");
//! # Ok(())
//! # }
//! ```
//!
//! Modules:
//!
//! - `handles`: the application's handles `endpoint`, `listener` and `connection`. `handle` is the
//!   common part of the first two. `happy_eyeballs` connects to one of several addresses.
//!   `snapshot` describes the connections of an endpoint. `config` and `error` define the options
//!   and errors of all handles.
//! - `driver`: the task that receives packets and runs timers for a shard, which is a socket and
//!   the connections that use it. Most endpoints have one shard.
//! - `dispatch`: finds the connection for a packet.
//! - `flow`: a connection of an endpoint. Both the application and the driver change it under a
//!   lock, and immediately send the resulting packets.
//! - `shared`: the state shared by all of these. `pending` lists connections whose sending waits for
//!   a driver, `table` finds a flow by addresses and ports (`path`), `mailbox` holds connections
//!   waiting to be accepted, `closing` those waiting for their peer to confirm a close, and `timers`
//!   says when a connection is due. None of these depends on `flow`.
//! - `limits`: `memory` limits the data waiting in all queues, `sources` counts connections by the
//!   network they come from, and `notices` limits the rate of log events.
//! - `system`: `socket`, `raw`, `batch` and `sender` make system calls, in batches. `incoming` has
//!   the receive buffers, `network_error` reads ICMP, `clock` reads the time, and `alarm` fires at
//!   a given time.
//! - `blocking`: sockets without `async` (feature `blocking`).
//! - `totals` adds up the counters of connections; `qlog` writes their qlog files.
//! - `sync`: the locks and atomics of all modules.
//!
//! # Logging
//!
//! The crate logs with [`tracing`]: any subscriber receives its events, for example one set with
//! `tracing_subscriber::fmt().with_max_level(tracing::Level::INFO).init()`. The target is
//! `skywave_net`, and events of a connection have the span `connection` with its number, the peer's
//! address and both ports.
//!
//! - `warn`: an endpoint has reached one of the limits of [`EndpointConfig`]; at most once a second.
//! - `info`: an established connection is over, and why: one line per connection, and at most 100 a
//!   second for those that peers have opened.
//! - `debug`: state changes, Resets with their codes, changes of the path MTU, reports of the
//!   network (ICMP) and the reaction to them, and each time a limit refuses something.
//! - `trace`: packets that are malformed or belong to no connection.
//!
//! Peers can cause `debug` and `trace` events as often as they like. Other packets are not logged;
//! `EndpointConfig::qlog` (feature `qlog`) writes all of them to files.
//!
//! Clock and randomness enter here: time comes from the monotonic clock, and each connection's
//! generator is seeded by the operating system.
//!
//! This crate needs Linux: timerfd, the error queue of sockets, and batches of raw packets.

#[cfg(not(target_os = "linux"))]
compile_error!(
    "skywave-net needs Linux: on other systems, leave it out (the crate `skywave` does so by itself; \
     build the Python extension with `--no-default-features`)"
);

#[cfg(feature = "blocking")]
pub mod blocking;
mod config;
mod counters;
mod dispatch;
mod driver;
mod error;
mod flow;
mod handles;
#[cfg(all(test, feature = "loom"))]
mod interleavings;
mod limits;
mod path;
#[cfg_attr(not(feature = "qlog"), path = "no_qlog.rs")]
mod qlog;
mod shared;
mod sync;
mod system;
mod totals;

// Re-exported because its types occur in signatures, so that users need not match the version.
pub use bytes;

pub use config::{EndpointConfig, EndpointStats, Peer};
pub use error::{ConnectError, ConnectionError, ListenError, OpenError, SendError, TrySendError};
pub use handles::connection::{Connection, Datagram, RecvHalf, SendHalf};
pub use handles::endpoint::Endpoint;
pub use handles::listener::Listener;
pub use handles::snapshot::{ConnectionSnapshot, Connections};
pub use totals::Totals;
