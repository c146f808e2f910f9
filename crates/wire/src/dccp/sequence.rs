//! 48-bit circular sequence numbers (RFC 4340 sections 3.1 and 7).

use core::fmt;

/// A 48-bit sequence or acknowledgement number. Arithmetic and comparison are circular, modulo 2^48
/// (RFC 4340 section 3.1).
///
/// There is deliberately no `Ord`: "later" is a relation between numbers less than 2^47 apart, not
/// a total order. Use [`SeqNo::is_after`] and [`SeqNo::distance_from`].
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

    /// The low 24 bits, as in a short header.
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

    /// Returns the number `count` later.
    pub const fn add(self, count: u64) -> Self {
        Self::new(self.0.wrapping_add(count))
    }

    /// Returns the number `count` earlier.
    pub const fn sub(self, count: u64) -> Self {
        Self::new(self.0.wrapping_sub(count))
    }

    /// How far `self` is ahead of `other`, in [-2^47, 2^47); negative if it is behind.
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

    /// Whether `self` lies in the circular interval from `low` to `high`, inclusive.
    pub const fn is_within(self, low: Self, high: Self) -> bool {
        let span = high.0.wrapping_sub(low.0) & (Self::MODULUS - 1);
        let offset = self.0.wrapping_sub(low.0) & (Self::MODULUS - 1);
        offset <= span
    }

    /// The later of the two.
    pub const fn max(self, other: Self) -> Self {
        if other.is_after(self) { other } else { self }
    }

    /// Extends a 24-bit number to the nearest 48-bit number to `reference` (RFC 4340 section 7.6,
    /// where `reference` is GSR for sequence numbers and GSS for acknowledgement numbers). Bits of
    /// `short` above the 24th are ignored.
    pub const fn extend24(short: u32, reference: Self) -> Self {
        let short = (short & 0xff_ffff) as u64;
        let low = reference.0 & 0xff_ffff;
        let high = reference.0 >> 24;
        // "a (<) b" of section 7.6: (b - a) mod 2^24 <= 2^23. A distance of exactly 2^23 is both
        // ahead and behind; the ordinary comparison then decides, as in the RFC's pseudocode.
        let ahead = short.wrapping_sub(low) & 0xff_ffff <= 0x80_0000;
        let behind = low.wrapping_sub(short) & 0xff_ffff <= 0x80_0000;
        let high = if ahead && short < low {
            high + 1
        } else if behind && low < short {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LAST: u64 = SeqNo::MODULUS - 1;

    // D3.1-3
    #[test]
    fn d3_1_3_comparison_is_circular() {
        let half = 1 << 47;
        for (earlier, later) in [
            (0, 1),
            (LAST, 0),
            (LAST, 1),
            (LAST - 10, 10),
            (0, half - 1),
            (half + 1, 0),
        ] {
            let (a, b) = (SeqNo::new(earlier), SeqNo::new(later));
            assert!(b.is_after(a) && a.is_before(b), "{earlier} before {later}");
            assert!(
                !a.is_after(b) && !b.is_before(a),
                "{later} not before {earlier}"
            );
            assert_eq!(a.max(b), b);
            assert_eq!(b.max(a), b);
        }
        assert!(!SeqNo::ZERO.is_after(SeqNo::ZERO) && !SeqNo::ZERO.is_before(SeqNo::ZERO));
        assert_eq!(SeqNo::new(LAST).next(), SeqNo::ZERO);
        assert_eq!(SeqNo::ZERO.previous(), SeqNo::new(LAST));
        assert_eq!(SeqNo::ZERO.distance_from(SeqNo::new(half)), -(half as i64));
    }

    // D3.1-3
    #[test]
    fn d3_1_3_intervals_wrap() {
        let (low, high) = (SeqNo::new(LAST - 1), SeqNo::new(2));
        for inside in [LAST - 1, LAST, 0, 2] {
            assert!(SeqNo::new(inside).is_within(low, high), "{inside}");
        }
        for outside in [LAST - 2, 3, 1 << 47] {
            assert!(!SeqNo::new(outside).is_within(low, high), "{outside}");
        }
    }

    /// Extend_Sequence_Number of RFC 4340 section 7.6, line by line.
    fn extend_by_the_rfc(s: u32, reference: u64) -> u64 {
        let (s, ref_low, ref_hi) = (u64::from(s), reference % (1 << 24), reference >> 24);
        let circular_less = |a: u64, b: u64| (b + (1 << 24) - a) % (1 << 24) <= 1 << 23;
        if circular_less(ref_low, s) && s < ref_low {
            return (((ref_hi + 1) % (1 << 24)) << 24) | s;
        }
        if circular_less(s, ref_low) && ref_low < s {
            return (((ref_hi + (1 << 24) - 1) % (1 << 24)) << 24) | s;
        }
        (ref_hi << 24) | s
    }

    // D7.6-1
    #[test]
    fn d7_6_1_short_numbers_extend_as_the_rfc_says_at_the_edges() {
        let edges = [0, 1, 0x7f_ffff, 0x80_0000, 0x80_0001, 0xff_fffe, 0xff_ffff];
        for short in edges {
            for low in edges {
                for high in [0, 1, 0x80_0000, 0xff_ffff] {
                    let reference = (high << 24) | u64::from(low);
                    assert_eq!(
                        SeqNo::extend24(short, SeqNo::new(reference)).get(),
                        extend_by_the_rfc(short, reference),
                        "{short:#x} near {reference:#x}"
                    );
                }
            }
        }
        assert_eq!(SeqNo::extend24(5, SeqNo::new(0xff_fff0)).get(), 0x100_0005);
        assert_eq!(
            SeqNo::extend24(0xff_fff0, SeqNo::new(0x100_0005)).get(),
            0xff_fff0
        );
        assert_eq!(SeqNo::extend24(0xff_fff0, SeqNo::new(5)).get(), LAST - 15);
    }

    proptest! {
        // D7.6-1
        #[test]
        fn extend24_equals_the_rfc(short in 0u32..1 << 24, reference in 0..SeqNo::MODULUS) {
            let extended = SeqNo::extend24(short, SeqNo::new(reference));
            prop_assert_eq!(extended.get(), extend_by_the_rfc(short, reference));
            prop_assert_eq!(extended.low24(), short);
            prop_assert!(extended.distance_from(SeqNo::new(reference)).abs() <= 1 << 23);
        }

        #[test]
        fn extend24_finds_what_is_near(reference in 0..SeqNo::MODULUS, ahead in -0x7f_ffff..0x80_0000_i64) {
            let number = SeqNo::new(reference.wrapping_add_signed(ahead));
            prop_assert_eq!(SeqNo::extend24(number.low24(), SeqNo::new(reference)), number);
        }

        #[test]
        fn distance_undoes_addition(start in 0..SeqNo::MODULUS, count in 0..1u64 << 47) {
            let start = SeqNo::new(start);
            prop_assert_eq!(start.add(count).distance_from(start), count as i64);
            prop_assert_eq!(start.add(count).sub(count), start);
        }
    }
}
