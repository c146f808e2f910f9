//! The cells of a Load Vector, the option that reports the ECN code point with which each packet
//! arrived.

use super::AckVectorCell;
use crate::Ecn;

/// One byte of a Load Vector: consecutive packets that arrived with the same code, laid out like an
/// [`AckVectorCell`]. The two high bits are the code point. 00 stands for packets that did not
/// arrive, so a packet that arrived with 00 is reported with the code it was sent with, 01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LoadVectorCell(u8);

impl LoadVectorCell {
    /// The most packets that one cell can describe.
    pub const MAX_PACKETS: u8 = AckVectorCell::MAX_PACKETS;

    /// Creates a cell for `packets` packets that arrived with `code`, or that did not arrive if
    /// `code` is `None`. Returns `None` unless `packets` is 1 to 64.
    pub const fn new(code: Option<Ecn>, packets: u8) -> Option<Self> {
        let bits = match code {
            None => 0,
            Some(Ecn::NotEct) => Ecn::Ect1.bits(),
            Some(code) => code.bits(),
        };
        match packets {
            1..=Self::MAX_PACKETS => Some(Self(bits << 6 | (packets - 1))),
            _ => None,
        }
    }

    /// Decodes a byte of a Load Vector.
    pub const fn from_byte(byte: u8) -> Self {
        Self(byte)
    }

    /// Returns the encoded byte.
    pub const fn byte(self) -> u8 {
        self.0
    }

    /// Returns the code with which the packets arrived, or `None` if they did not.
    pub const fn code(self) -> Option<Ecn> {
        match Ecn::from_bits(self.0 >> 6) {
            Ecn::NotEct => None,
            code => Some(code),
        }
    }

    /// Returns the number of packets, 1 to 64: the Run Length field plus one.
    pub const fn packets(self) -> u8 {
        AckVectorCell::from_byte(self.0).packets()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_a_cell() {
        for byte in 0..=255 {
            let cell = LoadVectorCell::from_byte(byte);
            assert_eq!(LoadVectorCell::new(cell.code(), cell.packets()), Some(cell));
            assert_eq!(cell.byte(), byte);
        }
        assert_eq!(LoadVectorCell::new(None, 0), None);
        assert_eq!(LoadVectorCell::new(None, 65), None);
    }

    #[test]
    fn what_came_without_a_code_is_not_reported_missing() {
        let cell = LoadVectorCell::new(Some(Ecn::NotEct), 3).unwrap();
        assert_eq!((cell.code(), cell.packets()), (Some(Ecn::Ect1), 3));
    }
}
