//! DCCP on real sockets: the sans-IO endpoint of [`skywave_transport`] on a real clock, on tokio.
//!
//! An [`Endpoint`] is one socket: over UDP (RFC 6773), which takes no privileges and passes most
//! middleboxes, or over IP as protocol 33. [`Endpoint::connect`] opens connections,
//! [`Endpoint::listen`] gives a [`Listener`] that accepts them, and a [`Connection`] carries
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
//! The way through it:
//!
//! - `endpoint`, `listener`, `connection`: what an application holds, and `handle` what the first two
//!   have in common; `config` and `error` beside it.
//! - `driver`: the task that receives, and does what is due.
//! - `dispatch`: which connection a packet is for.
//! - `flow`: one connection at an endpoint. Both its application and the driver change it under a
//!   lock, and send what follows at once.
//! - `shared`: what all of these share. `table` finds a flow by its addresses and ports (`path`),
//!   `mailbox` keeps those that wait to be accepted, `timers` and `alarm` tell when one is due. None
//!   of them knows what a flow is.
//! - `socket`, `raw`, `batch`, `sender`: system calls and their batches; `incoming` their buffers;
//!   `network_error`: ICMP.
//!
//! This is the floor where the clock and the randomness come from: time is the monotonic clock's,
//! each connection's generator is seeded by the operating system.
#![cfg(target_os = "linux")]

mod alarm;
mod batch;
mod clock;
mod config;
mod connection;
mod counters;
mod dispatch;
mod driver;
mod endpoint;
mod error;
mod flow;
mod handle;
mod incoming;
mod listener;
mod mailbox;
mod network_error;
mod path;
mod raw;
mod registered;
mod sender;
mod shared;
mod socket;
mod table;
mod timers;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use config::{EndpointConfig, EndpointStats, Peer};
pub use connection::{Connection, Datagram, RecvHalf, SendHalf};
pub use endpoint::Endpoint;
pub use error::{ConnectError, ConnectionError, ListenError, OpenError, SendError, TrySendError};
pub use listener::Listener;

/// The contents of a lock, also where another thread panicked with it: one connection's fault is not
/// to take the others down.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
