//! Sans-IO transports.
//!
//! An [`End`] is one end of a connection, or of a flow of datagrams: packets and times go in, packets
//! and deadlines come out. The same end runs in the simulator and on sockets.
//!
//! - [`dccp`]: the Datagram Congestion Control Protocol (RFC 4340) and its CCIDs.
//! - [`tcp`]: one direction of TCP, to compare with.
//! - [`udp`]: UDP, which nothing restrains.

pub mod dccp;
mod end;
pub mod tcp;
pub mod udp;

pub use end::{Drain, Drained, Driven, End, Transmit};
