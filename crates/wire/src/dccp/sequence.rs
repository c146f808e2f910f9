//! 48-bit circular sequence numbers (RFC 4340 sections 3.1 and 7).

use core::fmt;

/// A 48-bit sequence or acknowledgement number; arithmetic and comparison are circular,
/// modulo 2^48 (RFC 4340 section 3.1).
///
/// There is deliberately no `Ord`: "later" is a relation between two numbers that are less than
/// 2^47 apart, not a total order. Use [`SeqNo::is_after`] and [`SeqNo::distance_from`].
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct SeqNo(u64);

impl SeqNo {
    /// 2^48.
    pub const MODULUS: u64 = 1 << 48;
    /// Sequence number zero.
    pub const ZERO: Self = Self(0);

    /// The low 48 bits of `value`.
    pub const fn new(value: u64) -> Self {
        Self(value & (Self::MODULUS - 1))
    }

    /// The number, below 2^48.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The low 24 bits, as a short header carries them.
    pub const fn low24(self) -> u32 {
        (self.0 & 0xff_ffff) as u32
    }

    /// The number after this one.
    pub const fn next(self) -> Self {
        self.add(1)
    }

    /// The number before this one.
    pub const fn previous(self) -> Self {
        self.sub(1)
    }

    /// `count` numbers later.
    #[expect(clippy::should_implement_trait, reason = "the operand is a count, not a SeqNo")]
    pub const fn add(self, count: u64) -> Self {
        Self::new(self.0.wrapping_add(count))
    }

    /// `count` numbers earlier.
    #[expect(clippy::should_implement_trait, reason = "the operand is a count, not a SeqNo")]
    pub const fn sub(self, count: u64) -> Self {
        Self::new(self.0.wrapping_sub(count))
    }

    /// How far `self` is ahead of `other`: in [-2^47, 2^47), negative when it is behind.
    pub const fn distance_from(self, other: Self) -> i64 {
        ((self.0.wrapping_sub(other.0) << 16) as i64) >> 16
    }

    /// Whether `self` is later than `other`.
    pub const fn is_after(self, other: Self) -> bool {
        self.distance_from(other) > 0
    }

    /// Whether `self` is earlier than `other`.
    pub const fn is_before(self, other: Self) -> bool {
        self.distance_from(other) < 0
    }

    /// Whether `self` lies in the circular interval from `low` to `high`, both included.
    pub const fn is_within(self, low: Self, high: Self) -> bool {
        let span = high.0.wrapping_sub(low.0) & (Self::MODULUS - 1);
        let offset = self.0.wrapping_sub(low.0) & (Self::MODULUS - 1);
        offset <= span
    }

    /// The later of the two.
    pub const fn max(self, other: Self) -> Self {
        if other.is_after(self) { other } else { self }
    }

    /// Extends a 24-bit number to the 48-bit number nearest to `reference`
    /// (RFC 4340 section 7.6, where `reference` is GSR for sequence and GSS for acknowledgement
    /// numbers).
    pub const fn extend24(short: u32, reference: Self) -> Self {
        let short = (short & 0xff_ffff) as u64;
        let low = reference.0 & 0xff_ffff;
        let high = reference.0 >> 24;
        // RFC 4340 section 7.6: the closer of the numbers with the same, the next and the
        // previous upper half.
        let difference = short.wrapping_sub(low) & 0xff_ffff;
        let high = if difference < 0x80_0000 {
            if short < low { high + 1 } else { high }
        } else if short > low {
            high.wrapping_sub(1)
        } else {
            high
        };
        Self::new((high << 24) | short)
    }
}

impl fmt::Debug for SeqNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

impl fmt::Display for SeqNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
