//! Circular sequence numbers (RFC 4340 sections 3.1 and 7).

use core::fmt;

/// A 48-bit sequence or acknowledgement number.
pub type SeqNo = Circular<48>;

/// A number in a circular space of 2^`BITS`. Arithmetic and comparison are modulo 2^`BITS` (RFC
/// 4340 section 3.1).
///
/// There is deliberately no `Ord`: "later" is a relation between numbers less than half the space
/// apart, not a total order. Use [`is_after`](Self::is_after) and
/// [`distance_from`](Self::distance_from).
///
/// On the wire, `BITS` is 48: [`SeqNo`]. A space of 8 bits is small enough to test every number.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Circular<const BITS: u32>(u64);

impl<const BITS: u32> Circular<BITS> {
    /// 2^`BITS`.
    pub const MODULUS: u64 = 1 << BITS;
    /// Number zero.
    pub const ZERO: Self = Self(0);

    /// The bits of a short number: half of all.
    const SHORT_BITS: u32 = BITS / 2;
    const SHORT_MASK: u64 = (1 << Self::SHORT_BITS) - 1;

    /// Returns the low `BITS` bits of `value`.
    pub const fn new(value: u64) -> Self {
        Self(value & (Self::MODULUS - 1))
    }

    /// Returns the number, below 2^`BITS`.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the low half of the bits, as in a short header: 24 of 48.
    pub const fn short(self) -> u32 {
        (self.0 & Self::SHORT_MASK) as u32
    }

    /// Returns the number after this one.
    pub const fn next(self) -> Self {
        self.add(1)
    }

    /// Returns the number before this one.
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

    /// Returns how far `self` is ahead of `other`; negative if it is behind. Of 48-bit numbers, in
    /// [-2^47, 2^47).
    pub const fn distance_from(self, other: Self) -> i64 {
        let unused = u64::BITS - BITS;
        ((self.0.wrapping_sub(other.0) << unused) as i64) >> unused
    }

    /// Returns whether `self` is later than `other`.
    pub const fn is_after(self, other: Self) -> bool {
        self.distance_from(other) > 0
    }

    /// Returns whether `self` is earlier than `other`.
    pub const fn is_before(self, other: Self) -> bool {
        self.distance_from(other) < 0
    }

    /// Returns whether `self` lies in the circular interval from `low` to `high`, inclusive.
    pub const fn is_within(self, low: Self, high: Self) -> bool {
        self.sub(low.0).0 <= high.sub(low.0).0
    }

    /// Returns the later of the two.
    pub const fn max(self, other: Self) -> Self {
        if other.is_after(self) { other } else { self }
    }

    /// Extends a short number to the nearest long number to `reference` (RFC 4340 section 7.6,
    /// where `reference` is GSR for sequence numbers and GSS for acknowledgement numbers). Higher
    /// bits of `short` are ignored.
    pub const fn extend(short: u32, reference: Self) -> Self {
        let short = short as u64 & Self::SHORT_MASK;
        let low = reference.0 & Self::SHORT_MASK;
        let high = reference.0 >> Self::SHORT_BITS;
        // "a (<) b" of section 7.6: (b - a) mod 2^24 <= 2^23. A distance of exactly 2^23 is both
        // ahead and behind; the ordinary comparison then decides, as in the RFC's pseudocode.
        let half = 1 << (Self::SHORT_BITS - 1);
        let ahead = short.wrapping_sub(low) & Self::SHORT_MASK <= half;
        let behind = low.wrapping_sub(short) & Self::SHORT_MASK <= half;
        let high = if ahead && short < low {
            high + 1
        } else if behind && low < short {
            high.wrapping_sub(1)
        } else {
            high
        };
        Self::new((high << Self::SHORT_BITS) | short)
    }
}

impl<const BITS: u32> fmt::Debug for Circular<BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

impl<const BITS: u32> fmt::Display for Circular<BITS> {
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

    /// Extend_Sequence_Number of RFC 4340 section 7.6, line by line, with short numbers of
    /// `BITS / 2` bits.
    fn extend_by_the_rfc<const BITS: u32>(s: u32, reference: u64) -> u64 {
        let short = 1 << (BITS / 2);
        let (s, ref_low, ref_hi) = (u64::from(s), reference % short, reference / short);
        let circular_less = |a: u64, b: u64| (b + short - a) % short <= short / 2;
        if circular_less(ref_low, s) && s < ref_low {
            return (ref_hi + 1) % short * short + s;
        }
        if circular_less(s, ref_low) && ref_low < s {
            return (ref_hi + short - 1) % short * short + s;
        }
        ref_hi * short + s
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
                        SeqNo::extend(short, SeqNo::new(reference)).get(),
                        extend_by_the_rfc::<48>(short, reference),
                        "{short:#x} near {reference:#x}"
                    );
                }
            }
        }
        assert_eq!(SeqNo::extend(5, SeqNo::new(0xff_fff0)).get(), 0x100_0005);
        assert_eq!(
            SeqNo::extend(0xff_fff0, SeqNo::new(0x100_0005)).get(),
            0xff_fff0
        );
        assert_eq!(SeqNo::extend(0xff_fff0, SeqNo::new(5)).get(), LAST - 15);
    }

    /// The byte of a plain integer.
    const fn byte(number: i64) -> Circular<8> {
        Circular::new(number as u8 as u64)
    }

    // D3.1-3
    #[test]
    fn d3_1_3_all_of_8_bits_compare_as_plain_integers() {
        for a in 1_000..1_256 {
            for b in a - 127..=a + 127 {
                let (x, y) = (byte(a), byte(b));
                assert_eq!(y.distance_from(x), b - a, "{a} {b}");
                assert_eq!(y.is_after(x), b > a, "{a} {b}");
                assert_eq!(y.is_before(x), b < a, "{a} {b}");
                assert_eq!(x.is_after(y), y.is_before(x), "{a} {b}");
                assert_eq!(x.max(y), byte(a.max(b)), "{a} {b}");
                assert_eq!(x == y, a == b, "{a} {b}");
            }
            // Half the space away, the RFC has no "later". No number is then later.
            let (x, y) = (byte(a), byte(a + 128));
            assert!(!x.is_after(y) && !y.is_after(x), "{a}");
            assert_eq!(
                (byte(a).next(), byte(a).previous()),
                (byte(a + 1), byte(a - 1))
            );
            for count in 0..1_000 {
                assert_eq!(byte(a).add(count), byte(a + count as i64));
                assert_eq!(byte(a).sub(count), byte(a - count as i64));
            }
        }
    }

    // D3.1-3
    #[test]
    fn d3_1_3_all_intervals_of_8_bits_contain_what_plain_intervals_do() {
        for low in 1_000..1_256 {
            for high in low..low + 256 {
                for number in low..low + 256 {
                    assert_eq!(
                        byte(number).is_within(byte(low), byte(high)),
                        number <= high,
                        "{number} in {low}..={high}"
                    );
                }
            }
        }
    }

    // D7.6-1
    #[test]
    fn d7_6_1_all_short_numbers_of_8_bits_extend_as_the_rfc_says() {
        for reference in 1_000..1_256 {
            for number in reference - 7..=reference + 7 {
                let extended = Circular::extend(byte(number).short(), byte(reference));
                assert_eq!(extended, byte(number), "near {reference}");
            }
            for short in 0..16 {
                let near = byte(reference);
                assert_eq!(
                    Circular::extend(short, near).get(),
                    extend_by_the_rfc::<8>(short, near.get()),
                    "{short} near {near}"
                );
            }
        }
    }

    proptest! {
        // D7.6-1
        #[test]
        fn extend_equals_the_rfc(short in 0u32..1 << 24, reference in 0..SeqNo::MODULUS) {
            let extended = SeqNo::extend(short, SeqNo::new(reference));
            prop_assert_eq!(extended.get(), extend_by_the_rfc::<48>(short, reference));
            prop_assert_eq!(extended.short(), short);
            prop_assert!(extended.distance_from(SeqNo::new(reference)).abs() <= 1 << 23);
        }

        #[test]
        fn extend_finds_what_is_near(reference in 0..SeqNo::MODULUS, ahead in -0x7f_ffff..0x80_0000_i64) {
            let number = SeqNo::new(reference.wrapping_add_signed(ahead));
            prop_assert_eq!(SeqNo::extend(number.short(), SeqNo::new(reference)), number);
        }

        #[test]
        fn distance_undoes_addition(start in 0..SeqNo::MODULUS, count in 0..1u64 << 47) {
            let start = SeqNo::new(start);
            prop_assert_eq!(start.add(count).distance_from(start), count as i64);
            prop_assert_eq!(start.add(count).sub(count), start);
        }
    }
}
