//! Packet formats: parse and emit, no I/O, no clock.
//!
//! - [`dccp`]: DCCP packets and options (RFC 4340, 4342, 5622, 5596).
//! - [`tcp`]: TCP segments (RFC 9293) with MSS, SACK and timestamps.
//! - [`Ecn`] and [`Payload`]: what packets of every protocol have in common.
//!
//! Packets are typed values; an endpoint hands them to the simulator as they are and to a socket
//! as bytes. Parsing is total: any bytes give a packet or a typed error.

pub mod dccp;
mod ecn;
mod payload;
pub mod tcp;

pub use ecn::Ecn;
pub use payload::Payload;
