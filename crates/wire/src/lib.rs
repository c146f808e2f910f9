//! Packet formats: decoding and encoding, without I/O or clock.
//!
//! - [`dccp`]: DCCP packets and options (RFC 4340, 4342, 5622, 5596, 5634).
//! - [`tcp`]: TCP segments (RFC 9293) with MSS, window scale, SACK and timestamps.
//! - [`udp`]: UDP datagrams, which carry DCCP through middleboxes (RFC 6773).
//! - [`ip`]: IPv4 and IPv6 packets around them, with the ECN bits.
//! - `capture`: pcapng and pcap files, for reading and writing (feature `capture`).
//! - [`quick_start`]: Quick-Start's option of the IP header (RFC 4782).
//! - [`Ecn`] and [`Payload`] are common to all protocols. [`Checksum`] and [`AddressPair`] are what
//!   checksums need from IP.
//!
//! Packets are typed values. The simulator passes them on as they are; sockets encode them. All
//! protocols use the same method names: `parse` decodes (the payload shares the memory of the
//! input), `emit` appends the encoded packet to a `Vec`, `encoded_len` is its length, and `Display`
//! prints one line. `parse` accepts any bytes: it returns a packet, or a typed error with the
//! offset of the fault.
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

#[cfg(feature = "capture")]
pub mod capture;
mod checksum;
pub mod dccp;
mod ecn;
pub mod ip;
mod payload;
pub mod quick_start;
pub mod tcp;
pub mod udp;

// Re-exported because their types occur in signatures, so that users need not match the version.
pub use {arrayvec, bytes, smallvec};

pub use checksum::{AddressPair, Checksum};
pub use ecn::Ecn;
pub use payload::Payload;
