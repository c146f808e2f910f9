//! TCP segments (RFC 9293) with the options that congestion control needs, as typed values, and
//! their encoding.
//!
//! [`Segment::parse`] decodes and [`Segment::emit`] encodes. [`Segment::encoded_len`] returns the
//! length of the encoding without producing it. `Display` prints one line.

use arrayvec::ArrayVec;

use crate::Payload;

mod accurate_ecn;
mod codec;
mod display;

pub use accurate_ecn::{AccurateEcn, AccurateEcnOrder};
pub use codec::{EmitError, IP_PROTOCOL, MIN_HEADER, ParseError};

/// A TCP segment.
///
/// The urgent pointer, and options not in [`TcpOptions`], are not kept. The checksum is not a
/// field: it is computed on encoding and verified on decoding. Only a deliberate difference from it
/// is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Port of the sender.
    pub source_port: u16,
    /// Port of the receiver.
    pub destination_port: u16,
    /// Sequence number of the first byte (or of SYN).
    pub seq: u32,
    /// Acknowledgement number; only meaningful if `flags` contains ACK.
    pub ack: u32,
    /// Control bits.
    pub flags: Flags,
    /// Receive window as in the header (not scaled).
    pub window: u16,
    /// By how much the checksum deliberately differs, because a header extension decreased the
    /// sequence or acknowledgement number after computing it; otherwise 0.
    pub checksum_offset: u8,
    /// The identification field of the IPv4 header it travels in, if a header extension chose it;
    /// otherwise 0. Not part of the segment's encoding.
    pub identification: u16,
    /// Options.
    pub options: TcpOptions,
    /// Data.
    pub payload: Payload,
}

/// The control bits of a TCP header (RFC 9293 section 3.1, RFC 3168 section 6.1, RFC 9768 section
/// 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u16);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement number is valid.
    pub const ACK: Self = Self(0x10);
    /// Urgent.
    pub const URG: Self = Self(0x20);
    /// ECN echo.
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced.
    pub const CWR: Self = Self(0x80);
    /// Accurate ECN, once the nonce sum (NS) of RFC 3540.
    pub const AE: Self = Self(0x100);

    /// How many control bits there are.
    pub const COUNT: u32 = 9;

    /// Creates flags from the low [`Flags::COUNT`] bits of `bits`, FIN lowest; the other bits are
    /// ignored.
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits & ((1 << Self::COUNT) - 1))
    }

    /// Returns the bits, FIN lowest.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Returns whether all bits of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the flags that are set in either.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The options of a segment, each at most once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// Maximum segment size in bytes (RFC 9293 section 3.7.1).
    pub mss: Option<u16>,
    /// Window scale shift (RFC 7323 section 2).
    pub window_scale: Option<u8>,
    /// Whether SACK is permitted (RFC 2018 section 2).
    pub sack_permitted: bool,
    /// SACK blocks, most recent first (RFC 2018 section 3).
    pub sack: ArrayVec<SackBlock, 4>,
    /// Timestamps (RFC 7323 section 3).
    pub timestamps: Option<Timestamps>,
    /// Counters of the ECN code points that have arrived (RFC 9768 section 3.2.3).
    pub accurate_ecn: Option<AccurateEcn>,
}

impl TcpOptions {
    /// Returns whether there are no options.
    pub const fn is_empty(&self) -> bool {
        self.mss.is_none()
            && self.window_scale.is_none()
            && !self.sack_permitted
            && self.sack.is_empty()
            && self.timestamps.is_none()
            && self.accurate_ecn.is_none()
    }
}

/// A block of received bytes: from `left` up to, but not including, `right` (RFC 2018).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackBlock {
    /// First byte.
    pub left: u32,
    /// The byte after the last.
    pub right: u32,
}

/// The timestamps option (RFC 7323 section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval: the sender's clock.
    pub value: u32,
    /// TSecr: the echo.
    pub echo: u32,
}
