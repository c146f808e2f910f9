//! Sans-IO transports.
//!
//! An [`End`] is one end of a connection, or of a flow of datagrams: packets and times go in, packets
//! and deadlines come out. The same end runs in the simulator and on sockets.
//!
//! - [`dccp`]: the Datagram Congestion Control Protocol (RFC 4340) and its CCIDs.
//! - [`tcp`]: one direction of TCP, to compare with.
//! - [`udp`]: UDP, which nothing restrains.

// Some tests are written as a stranger would write them, and are compiled here too.
#[cfg(test)]
extern crate self as skywave_transport;

pub mod dccp;
mod end;
pub mod tcp;
pub mod udp;

pub use end::{Drain, Drained, Driven, End, Transmit};
