//! Sans-IO transport endpoints.
//!
//! [`Endpoint`] is the boundary: packets and times go in, packets and deadlines come out. The same
//! endpoint runs in the simulator and on sockets.
//!
//! - [`dccp`]: the Datagram Congestion Control Protocol (RFC 4340) and its CCIDs.
//! - [`tcp`]: one direction of TCP, to compare with.
//! - [`udp`]: UDP, which nothing restrains.

pub mod dccp;
mod endpoint;
pub mod tcp;
pub mod udp;

pub use endpoint::{Drain, Driven, Endpoint, Transmit};
