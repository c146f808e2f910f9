//! Sans-IO transports.
//!
//! An [`End`] is one end of a connection, or of a flow of datagrams. It is a state machine: packets
//! and times go in, packets and deadlines come out. The same code runs in the simulator and on
//! sockets.
//!
//! - [`dccp`]: the Datagram Congestion Control Protocol (RFC 4340) and its CCIDs.
//! - [`session`]: a DCCP connection as an application sees it, with an optional layer such as DTLS.
//! - [`tcp`]: one direction of TCP, for comparison.
//! - [`udp`]: UDP, without congestion control.
//!
//! # Run loop
//!
//! A driver owns the clock, the network and a [`Driven`] end:
//!
//! 1. There are three kinds of input: [`receive`](Driven::receive) when a packet arrives,
//!    [`expire`](Driven::expire) when the deadline passes, and [`apply`](Driven::apply) for the
//!    application. A new end may already have packets to send: [`drain`](Driven::drain) it, unless
//!    it gets an input right away.
//! 2. After every input, the driver sends packets until [`transmit`](Drain::transmit) returns
//!    `None`.
//! 3. [`finish`](Drain::finish) then returns the new deadline, which replaces the previous one.
//!    `None` means that no timer is running.
//! 4. `now` never goes backwards. Calling `expire` early has no effect; calling it late only delays
//!    the actions that were due.
//!
//! This loop connects two DCCP ends over an in-memory path with a delay of 10 ms:
//!
//! ```
//! use std::collections::VecDeque;
//!
//! use skywave_transport::dccp::{Config, Connection, SendError};
//! use skywave_transport::{Drain, Drained, Driven, Transmit};
//! use skywave_units::rand_core::SeedableRng;
//! use skywave_units::{Duration, Instant, Random};
//! use skywave_wire::{Payload, dccp::Packet};
//!
//! const DELAY: Duration = Duration::from_millis(10);
//!
//! /// Packets in flight: when each arrives, at which end, and the packet.
//! type Network = VecDeque<(Instant, usize, Transmit<Packet>)>;
//!
//! fn send(
//!     network: &mut Network,
//!     now: Instant,
//!     to: usize,
//!     mut drain: Drain<'_, Connection>,
//! ) -> Drained<Option<Instant>> {
//!     while let Some(transmit) = drain.transmit() {
//!         network.push_back((now + DELAY, to, transmit));
//!     }
//!     drain.finish()
//! }
//!
//! let rng = Random::seed_from_u64;
//! let mut now = Instant::ZERO;
//! let mut ends = [
//!     Driven::new(Connection::client(Config::default(), 40_000, 5_001, now, rng(1))),
//!     Driven::new(Connection::listen(Config::default(), 5_001, rng(2))),
//! ];
//! let mut network = Network::new();
//! let mut deadlines = [None; 2];
//!
//! // The client's application queues a datagram; it waits for the handshake.
//! let (queued, deadline) = ends[0].apply(
//!     now,
//!     |client| client.send(Payload::from(b"hello".to_vec())),
//!     |drain| send(&mut network, now, 1, drain),
//! );
//! queued?;
//! deadlines[0] = deadline;
//!
//! while ends[1].get().readable() == 0 {
//!     let arrival = network.front().map(|(at, ..)| *at);
//!     let deadline = deadlines.iter().copied().flatten().min();
//!     now = [arrival, deadline].into_iter().flatten().min().expect("something is pending");
//!
//!     if arrival == Some(now) {
//!         let (_, to, Transmit { ecn, packet }) = network.pop_front().expect("it arrives now");
//!         deadlines[to] =
//!             ends[to].receive(now, ecn, packet, |drain| send(&mut network, now, 1 - to, drain));
//!     } else {
//!         for from in 0..2 {
//!             if deadlines[from] == Some(now) {
//!                 deadlines[from] =
//!                     ends[from].expire(now, |drain| send(&mut network, now, 1 - from, drain));
//!             }
//!         }
//!     }
//! }
//!
//! let (datagram, deadline) = ends[1].apply(
//!     now,
//!     |server| server.recv(),
//!     |drain| send(&mut network, now, 0, drain),
//! );
//! deadlines[1] = deadline;
//! let datagram = datagram.expect("one is readable");
//! assert_eq!(datagram.payload, Payload::from(b"hello".to_vec()));
//! assert_eq!(now, Instant::ZERO + DELAY * 3, "Request, Response, then the data");
//! # Ok::<(), SendError>(())
//! ```

// Some tests use the crate as an external user would, and are also compiled here.
#[cfg(test)]
extern crate self as skywave_transport;

pub mod dccp;
mod dplpmtud;
mod end;
pub mod peer;
mod sending_end;
pub mod session;
mod status;
pub mod tcp;
pub mod udp;

// Re-exported because its types occur in signatures, so that users need not match the version.
pub use bytes;

pub use end::{Drain, Drained, Driven, End, Transmit};
pub use sending_end::{Carrier, SendingEnd};
pub use status::{EndStats, Status};
