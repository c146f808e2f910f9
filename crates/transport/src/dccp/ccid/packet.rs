//! What a connection tells a CCID's halves about packets.

use skywave_units::Instant;
use skywave_wire::Ecn;
use skywave_wire::dccp::{OptionList, SeqNo};

/// Whether a data packet may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    /// Yes, now.
    Now,
    /// Not before this time (pacing).
    At(Instant),
    /// Not until an acknowledgement arrives or a timer expires.
    Blocked,
}

/// A packet that has just left. Every packet uses a sequence number, with or without data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SentPacket {
    /// Its sequence number.
    pub seq: SeqNo,
    /// Bytes of application data; `None` if the packet type cannot carry data.
    pub data: Option<u32>,
    /// Its acknowledgement number; `None` for types without one.
    pub ack: Option<SeqNo>,
    /// The ECN bits it was sent with.
    pub ecn: Ecn,
    /// Whether the send queue is empty after this packet.
    pub is_last: bool,
}

/// Identical data packets that left back to back.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SentTrain {
    /// The sequence number of the first packet.
    pub first: SeqNo,
    /// The number of packets; may be zero.
    pub count: u64,
    /// Bytes of application data in each.
    pub data: u32,
    /// The ECN bits they were sent with.
    pub ecn: Ecn,
    /// Whether the send queue is empty after the last packet.
    pub is_last: bool,
}

impl SentTrain {
    /// Returns packet `index`, counting from zero.
    pub const fn packet(&self, index: u64) -> SentPacket {
        SentPacket {
            seq: self.first.add(index),
            data: Some(self.data),
            ack: None,
            ecn: self.ecn,
            is_last: self.is_last && index + 1 == self.count,
        }
    }

    /// Returns the last packet; `None` if there are none.
    pub fn last(&self) -> Option<SentPacket> {
        Some(self.packet(self.count.checked_sub(1)?))
    }

    /// Calls `take` for each packet.
    pub fn for_each(&self, mut take: impl FnMut(&SentPacket)) {
        for index in 0..self.count {
            take(&self.packet(index));
        }
    }
}

/// A sequence-valid packet from the peer, as congestion control sees it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ReceivedPacket<'a> {
    /// Its sequence number, extended to 48 bits.
    pub seq: SeqNo,
    /// Whether this is its first arrival.
    pub is_new: bool,
    /// Its acknowledgement number; `None` for types without one.
    pub ack: Option<SeqNo>,
    /// Bytes of application data; `None` if the packet type cannot carry data.
    pub data: Option<u32>,
    /// Whether its data failed the Data Checksum. Congestion control must treat this as a mark (RFC
    /// 4340 section 11.7.2, Drop Codes 3 and 7).
    pub is_corrupted: bool,
    /// CCVal.
    pub ccval: u8,
    /// The ECN bits of its IP header.
    pub ecn: Ecn,
    /// The NDP Count, if present.
    pub ndp_count: Option<u64>,
    /// All its options: the CCID reads its own and the Ack Vectors.
    pub options: &'a OptionList,
}

/// Identical data packets without options that arrived together, new and in order.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ReceivedTrain {
    /// The sequence number of the first packet.
    pub first: SeqNo,
    /// The number of packets, at least one.
    pub count: u64,
    /// Bytes of application data in each.
    pub data: u32,
    /// CCVal.
    pub ccval: u8,
    /// The ECN bits of their IP headers.
    pub ecn: Ecn,
}

impl ReceivedTrain {
    /// Returns the sequence number of the last packet.
    pub const fn last(&self) -> SeqNo {
        self.first.add(self.count - 1)
    }

    /// Calls `take` for each packet.
    pub fn for_each(&self, mut take: impl FnMut(&ReceivedPacket<'_>)) {
        let options = OptionList::new();
        for index in 0..self.count {
            take(&ReceivedPacket {
                seq: self.first.add(index),
                is_new: true,
                ack: None,
                data: Some(self.data),
                is_corrupted: false,
                ccval: self.ccval,
                ecn: self.ecn,
                ndp_count: None,
                options: &options,
            });
        }
    }

    /// Returns the first `count` packets, or all if there are fewer.
    pub fn oldest(&self, count: u64) -> Self {
        Self {
            count: count.min(self.count),
            ..*self
        }
    }
}
