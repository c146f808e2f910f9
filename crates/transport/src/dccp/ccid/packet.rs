//! What a connection tells the halves of a CCID about packets.

use skywave_units::Instant;
use skywave_wire::Ecn;
use skywave_wire::dccp::{OptionList, SeqNo};

/// Whether a data packet may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    /// Now.
    Now,
    /// Not before this time (pacing).
    At(Instant),
    /// Not until an acknowledgement or a timer changes something.
    Blocked,
}

/// A packet of ours that has just left, data or not: each one uses a sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentPacket {
    /// Its sequence number.
    pub seq: SeqNo,
    /// Bytes of application data; `None` where the packet cannot carry data.
    pub data: Option<u32>,
    /// Its acknowledgement number; `None` on the types without one.
    pub ack: Option<SeqNo>,
    /// The ECN bits it was sent with.
    pub ecn: Ecn,
    /// Whether no datagram waits behind it: the application has nothing more to send.
    pub is_last: bool,
}

/// Data packets of ours that have left together, one after the other, all alike.
#[derive(Clone, Copy, Debug)]
pub struct SentTrain {
    /// The sequence number of the first one.
    pub first: SeqNo,
    /// Packets; perhaps none.
    pub count: u64,
    /// Bytes of application data in each.
    pub data: u32,
    /// The ECN bits that they were sent with.
    pub ecn: Ecn,
    /// Whether no datagram waits behind the last one.
    pub is_last: bool,
}

impl SentTrain {
    /// Its packet number `index`, counted from zero.
    pub const fn packet(&self, index: u64) -> SentPacket {
        SentPacket {
            seq: self.first.add(index),
            data: Some(self.data),
            ack: None,
            ecn: self.ecn,
            is_last: self.is_last && index + 1 == self.count,
        }
    }

    /// The last one; `None` where there are none.
    pub fn last(&self) -> Option<SentPacket> {
        Some(self.packet(self.count.checked_sub(1)?))
    }

    /// Hands over each packet by itself.
    pub fn for_each(&self, mut take: impl FnMut(&SentPacket)) {
        for index in 0..self.count {
            take(&self.packet(index));
        }
    }
}

/// A sequence-valid packet of the peer's, as congestion control sees it.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedPacket<'a> {
    /// Its sequence number, extended to 48 bits.
    pub seq: SeqNo,
    /// Whether it has not come before.
    pub is_new: bool,
    /// Its acknowledgement number, where it has one.
    pub ack: Option<SeqNo>,
    /// Bytes of application data; `None` where the type cannot carry data.
    pub data: Option<u32>,
    /// Whether its data failed the Data Checksum. Congestion control is to take that for a mark (RFC
    /// 4340 section 11.7.2, Drop Codes 3 and 7).
    pub is_corrupted: bool,
    /// CCVal.
    pub ccval: u8,
    /// The ECN bits of its IP header.
    pub ecn: Ecn,
    /// NDP Count, where the packet carries one.
    pub ndp_count: Option<u64>,
    /// All its options, for the CCID's own ones and the Ack Vector.
    pub options: &'a OptionList,
}

/// Data packets without options that have come together, new and in order, all alike.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedTrain {
    /// The sequence number of the first one.
    pub first: SeqNo,
    /// Packets, at least one.
    pub count: u64,
    /// Bytes of application data in each.
    pub data: u32,
    /// CCVal.
    pub ccval: u8,
    /// The ECN bits of their IP headers.
    pub ecn: Ecn,
}

impl ReceivedTrain {
    /// The sequence number of the last packet.
    pub const fn last(&self) -> SeqNo {
        self.first.add(self.count - 1)
    }

    /// Hands over each packet by itself.
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

    /// Its first `count` packets, or all.
    pub fn oldest(&self, count: u64) -> Self {
        Self {
            count: count.min(self.count),
            ..*self
        }
    }
}
