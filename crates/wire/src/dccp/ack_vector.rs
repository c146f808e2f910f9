//! The cells of an Ack Vector (RFC 4340 section 11.4).

/// The state of a packet, encoded in two bits of an Ack Vector cell (table 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum AckState {
    /// 0: received, its options processed.
    Received = 0,
    /// 1: received with the ECN code point CE.
    ReceivedEcnMarked = 1,
    /// 2: reserved.
    Reserved = 2,
    /// 3: not yet received.
    NotYetReceived = 3,
}

/// One byte of an Ack Vector: consecutive packets in the same state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AckVectorCell(u8);

impl AckVectorCell {
    /// The most packets that one cell can describe.
    pub const MAX_PACKETS: u8 = 64;

    /// Creates a cell for `packets` packets in `state`. Returns `None` unless `packets` is 1 to 64.
    pub const fn new(state: AckState, packets: u8) -> Option<Self> {
        match packets {
            1..=Self::MAX_PACKETS => Some(Self((state as u8) << 6 | (packets - 1))),
            _ => None,
        }
    }

    /// Decodes a byte of an Ack Vector.
    pub const fn from_byte(byte: u8) -> Self {
        Self(byte)
    }

    /// Returns the encoded byte.
    pub const fn byte(self) -> u8 {
        self.0
    }

    /// Returns the state of the packets.
    pub const fn state(self) -> AckState {
        match self.0 >> 6 {
            0 => AckState::Received,
            1 => AckState::ReceivedEcnMarked,
            2 => AckState::Reserved,
            _ => AckState::NotYetReceived,
        }
    }

    /// Returns the number of packets, 1 to 64: the Run Length field plus one.
    pub const fn packets(self) -> u8 {
        (self.0 & 0x3f) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // D11.4-1: the example of RFC 4340 section 11.4.
    #[test]
    fn d11_4_1_reads_the_example_of_the_rfc() {
        use AckState::{NotYetReceived, Received, ReceivedEcnMarked};
        let cells: Vec<_> = [0u8, 192, 3, 64, 5]
            .into_iter()
            .map(AckVectorCell::from_byte)
            .map(|cell| (cell.state(), cell.packets()))
            .collect();
        let expected = [
            (Received, 1),
            (NotYetReceived, 1),
            (Received, 4),
            (ReceivedEcnMarked, 1),
            (Received, 6),
        ];
        assert_eq!(cells, expected);
    }

    #[test]
    fn every_byte_is_a_cell() {
        for byte in 0..=255 {
            let cell = AckVectorCell::from_byte(byte);
            assert_eq!(AckVectorCell::new(cell.state(), cell.packets()), Some(cell));
            assert_eq!(cell.byte(), byte);
        }
        assert_eq!(AckVectorCell::new(AckState::Received, 0), None);
        assert_eq!(AckVectorCell::new(AckState::Received, 65), None);
    }
}
