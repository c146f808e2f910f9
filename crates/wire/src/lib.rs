//! Packet formats: parse and emit, no I/O, no clock.
//!
//! The way through, from the inside out:
//!
//! - [`dccp`]: DCCP packets and options (RFC 4340, 4342, 5622, 5596).
//! - [`tcp`]: TCP segments (RFC 9293) with MSS, window scale, SACK and timestamps.
//! - [`udp`]: UDP datagrams, which carry DCCP through middleboxes (RFC 6773).
//! - [`ip`]: IPv4 and IPv6 packets around them, with the ECN bits.
//! - [`capture`]: pcapng and pcap files, read and written.
//! - [`Ecn`] and [`Payload`]: what packets of every protocol have in common; [`Checksum`] and
//!   [`AddressPair`]: what the checksum needs to know of IP.
//!
//! Packets are typed values; an endpoint hands them to the simulator as they are and to a socket
//! as bytes. Every protocol has the same verbs: `parse` shares the bytes it is given, `emit`
//! appends to a `Vec`, `encoded_len` is the size on the wire without emitting, `Display` is one
//! readable line. Parsing is total: any bytes give a packet or a typed error with the offset of the
//! fault.
//!
//! ```
//! use skywave_wire::dccp::{Kind, OptionList, Packet, SeqNo, ServiceCode};
//! use skywave_wire::{AddressPair, Checksum, Payload};
//!
//! let checksum = Checksum::Over(AddressPair::V4 {
//!     source: [192, 0, 2, 1].into(),
//!     destination: [192, 0, 2, 2].into(),
//! });
//! let request = Packet {
//!     source_port: 49152,
//!     destination_port: 5001,
//!     ccval: 0,
//!     cscov: 0,
//!     extended: true,
//!     seq: SeqNo::new(1000),
//!     kind: Kind::Request { service: ServiceCode(42) },
//!     options: OptionList::new(),
//!     payload: Payload::EMPTY,
//! };
//! let bytes = request.to_bytes(checksum)?;
//! assert_eq!(bytes.len(), request.encoded_len());
//! assert_eq!(Packet::parse(&bytes, checksum)?, request);
//! assert_eq!(request.to_string(), "49152 > 5001 Request service SC=42 seq 1000, 0 bytes");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod capture;
mod checksum;
pub mod dccp;
mod ecn;
pub mod ip;
mod payload;
pub mod tcp;
pub mod udp;

pub use checksum::{AddressPair, Checksum};
pub use ecn::Ecn;
pub use payload::Payload;
