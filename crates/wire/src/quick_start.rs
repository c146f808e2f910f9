//! Quick-Start: the IP option with which a sender asks the routers of a path for a rate (RFC 4782
//! section 3). The answer is an option of the transport, in DCCP
//! [`DccpOption::QuickStartResponse`](crate::dccp::DccpOption::QuickStartResponse).
//!
//! These are typed values. Sockets cannot put options into IP headers here, so the option has no
//! encoding.

use skywave_units::Rate;

/// The bytes of the option in an IPv4 header (RFC 4782 section 3.1).
pub const OPTION_LEN: u32 = 8;

/// K of the encoding K * 2^N, in bits per second.
const UNIT: u64 = 40_000;

/// The Rate Request and Rate Report field: four bits, N, for 40 kbit/s * 2^N, or for nothing if N
/// is 0 (RFC 4782 table 1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RateField(u8);

impl RateField {
    /// No rate: a request that is denied.
    pub const ZERO: Self = Self(0);
    /// The greatest rate, 1.31072 Gbit/s.
    pub const MAX: Self = Self(15);
    /// The smallest rate above zero, 80 kbit/s.
    pub const MIN: Self = Self(1);

    /// Returns the field with the low four bits of `bits`.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & 0xf)
    }

    /// Returns N.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Returns whether the field stands for no rate.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Returns the rate it stands for, headers of IP and above included.
    pub const fn rate(self) -> Rate {
        match self.0 {
            0 => Rate::from_bps(0),
            n => Rate::from_bps(UNIT << n),
        }
    }

    /// Returns the greatest field that stands for no more than `rate`.
    pub const fn at_most(rate: Rate) -> Self {
        let mut n = Self::MAX.0;
        while n > 0 && UNIT << n > rate.as_bps() {
            n -= 1;
        }
        Self(n)
    }
}

/// The QS Nonce: 30 random bits, two for each step from one rate to the next lower one. A router
/// that lowers the rate replaces the bits of those steps, so a receiver that claims a higher rate
/// than it received has to guess them (RFC 4782 section 3.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct QsNonce(u32);

impl QsNonce {
    /// Creates the nonce with the low 30 bits of `bits`.
    pub const fn new(bits: u32) -> Self {
        Self(bits & ((1 << 30) - 1))
    }

    /// Returns its 30 bits. The lowest two are those of the step from rate 1 to rate 0.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Returns the nonce with the bits of the steps from `from` down to `to` taken from `random`
    /// (table 2).
    #[must_use]
    pub const fn lowered(self, from: RateField, to: RateField, random: u32) -> Self {
        let steps = below(from) & !below(to);
        Self::new(self.0 & !steps | random & steps)
    }

    /// Returns whether both have the same bits for all steps below `rate`: "the rightmost 2K bits"
    /// (section 4.4).
    pub const fn agrees(self, other: Self, rate: RateField) -> bool {
        (self.0 ^ other.0) & below(rate) == 0
    }
}

/// Returns the bits of all steps below `rate`.
const fn below(rate: RateField) -> u32 {
    (1 << (2 * rate.0)) - 1
}

/// A Rate Request, as it passes the routers (RFC 4782 section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateRequest {
    /// The rate asked for, or what routers have left of it.
    pub rate: RateField,
    /// The QS TTL, which is decremented only by routers that approve the request.
    pub ttl: u8,
    /// The QS Nonce.
    pub nonce: QsNonce,
}

impl RateRequest {
    /// Returns the TTL Diff: the difference, modulo 256, of the IP TTL and the QS TTL (equation 1).
    /// It is the same at both ends of a path if every router has approved the request.
    pub const fn ttl_diff(&self, ip_ttl: u8) -> u8 {
        ip_ttl.wrapping_sub(self.ttl)
    }
}

/// The Quick-Start option of an IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuickStart {
    /// Function 0: a Rate Request.
    Request(RateRequest),
    /// Function 8: a Report of Approved Rate, which routers do not change.
    Report {
        /// The approved rate; zero if the request was denied.
        rate: RateField,
        /// The QS Nonce of the request.
        nonce: QsNonce,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4782 section 3.1, table 1, in kbit/s.
    #[test]
    fn the_table_of_rates() {
        let kbps = [
            0, 80, 160, 320, 640, 1_280, 2_560, 5_120, 10_240, 20_480, 40_960, 81_920, 163_840,
            327_680, 655_360, 1_310_720,
        ];
        for (bits, kbps) in (0..16).zip(kbps) {
            let field = RateField::from_bits(bits);
            let rate = Rate::from_bps(kbps * 1_000);
            assert_eq!((field.bits(), field.rate()), (bits, rate));
            assert_eq!(RateField::at_most(rate), field);
            if bits > 0 {
                let less = Rate::from_bps(rate.as_bps() - 1);
                assert_eq!(RateField::at_most(less).bits(), bits - 1);
            }
        }
        assert_eq!(RateField::from_bits(0xf5).bits(), 5, "only four bits");
        assert_eq!(RateField::at_most(Rate::from_bps(u64::MAX)), RateField::MAX);
        assert_eq!(RateField::at_most(RateField::MIN.rate()), RateField::MIN);
    }

    /// RFC 4782 section 3.4: N steps down replace 2N bits; the last 2K bits are those sent.
    #[test]
    fn a_lowered_rate_shows_in_the_nonce() {
        let field = RateField::from_bits;
        let sent = QsNonce::new(u32::MAX);
        assert_eq!(sent.get(), 0x3fff_ffff, "30 bits");
        // Bits 0-1 of table 2, the first of the word, are those of the step from 15 to 14.
        assert_eq!(sent.lowered(field(15), field(14), 0).get(), 0x0fff_ffff);
        assert_eq!(sent.lowered(field(1), field(0), 0).get(), 0x3fff_fffc);
        let received = sent.lowered(field(9), field(6), 0);
        assert_eq!(received.get(), 0x3ffc_0fff);
        for rate in 0..16 {
            assert_eq!(received.agrees(sent, field(rate)), rate <= 6, "{rate}");
        }
        assert_eq!(sent.lowered(field(6), field(6), 0), sent);
    }

    /// RFC 4782 section 3.1, equation 1.
    #[test]
    fn ttl_diff_is_modulo_256() {
        let request = RateRequest {
            ttl: 200,
            ..RateRequest::default()
        };
        assert_eq!(request.ttl_diff(64), 120);
        assert_eq!(request.ttl_diff(201), 1);
    }
}
