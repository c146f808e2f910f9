//! The ECN field of the IP header.

/// The two ECN bits of an IP header (RFC 3168 section 5).
///
/// Congestion controls may define their own meanings for the four values, so the full code point is
/// kept instead of only "marked or not".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Ecn {
    /// `00`: not ECN-capable transport.
    #[default]
    NotEct = 0b00,
    /// `01`: ECN-capable transport, ECT(1).
    Ect1 = 0b01,
    /// `10`: ECN-capable transport, ECT(0).
    Ect0 = 0b10,
    /// `11`: congestion experienced.
    Ce = 0b11,
}

impl Ecn {
    /// Returns the code point in the two low bits of `bits`; the other bits are ignored.
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0b00 => Self::NotEct,
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// Returns the two bits.
    pub const fn bits(self) -> u8 {
        self as u8
    }

    /// Returns whether this is ECT(0), ECT(1) or CE.
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }

    /// Returns whether this is CE.
    pub const fn is_ce(self) -> bool {
        matches!(self, Self::Ce)
    }
}
