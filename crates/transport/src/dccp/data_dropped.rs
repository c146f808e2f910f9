//! Data Dropped options (RFC 4340 section 11.7): the receiver's record of packets whose data did
//! not reach its application, and the sender's reading of an acknowledgement.

use std::collections::VecDeque;

use skywave_wire::dccp::{DccpOption, OptionBytes, OptionList, SeqNo};

/// The most drops remembered until the peer knows about them. A peer that lets more accumulate
/// ignores Drop Codes.
const ENTRIES_MAX: usize = 64;

/// The number of packets with the option to remember; the peer need acknowledge only one of them.
const CARRIERS: usize = 8;

/// The most bytes of the option's value. The Ack Vector needs most of the space for options.
const OPTION_MAX: usize = 64;

/// Why a packet's data was dropped (table 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum DropCode {
    /// Protocol constraints.
    ProtocolConstraints = 0,
    /// The application has stopped reading.
    NotListening = 1,
    /// No room in the receive queue.
    ReceiveBuffer = 2,
    /// The Data Checksum was wrong.
    Corrupt = 3,
    /// 4 to 6.
    Reserved = 4,
    /// The Data Checksum was wrong, and the data was delivered anyway.
    DeliveredCorrupt = 7,
}

impl DropCode {
    /// Returns the code of a Drop Block.
    const fn of_block(block: u8) -> Self {
        match block >> 4 & 0b111 {
            0 => Self::ProtocolConstraints,
            1 => Self::NotListening,
            2 => Self::ReceiveBuffer,
            3 => Self::Corrupt,
            7 => Self::DeliveredCorrupt,
            _ => Self::Reserved,
        }
    }
}

/// The drops not yet reliably reported to the peer.
#[derive(Clone, Debug, Default)]
pub(crate) struct DataDropped {
    /// In increasing order of sequence number.
    entries: VecDeque<Entry>,
    /// Our recent packets that carried the option.
    carriers: VecDeque<SeqNo>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    seq: SeqNo,
    code: DropCode,
    /// Our greatest sequence number at the time of the drop: only later packets report it.
    gss: SeqNo,
}

impl DataDropped {
    /// Records that the data of packet `seq` was dropped, after we sent packet `gss`.
    pub(crate) fn record(&mut self, seq: SeqNo, code: DropCode, gss: SeqNo) {
        if self.entries.len() == ENTRIES_MAX {
            self.entries.pop_front();
        }
        let place = self
            .entries
            .partition_point(|entry| entry.seq.is_before(seq));
        if self
            .entries
            .get(place)
            .is_some_and(|entry| entry.seq == seq)
        {
            return;
        }
        self.entries.insert(place, Entry { seq, code, gss });
    }

    /// Returns the option for our packet `own_seq`, whose acknowledgement number is `ack`.
    pub(crate) fn option(&mut self, ack: SeqNo, own_seq: SeqNo) -> Option<DccpOption> {
        let mut blocks = OptionBytes::new();
        let mut next = ack;
        for entry in self.entries.iter().rev() {
            let Ok(mut normal) = u64::try_from(next.distance_from(entry.seq)) else {
                continue;
            };
            if blocks.len() as u64 + normal / 128 + 2 > OPTION_MAX as u64 {
                break;
            }
            while normal > 0 {
                let run = normal.min(128);
                blocks.push((run - 1) as u8);
                normal -= run;
            }
            let drop_block = 0x80 | (entry.code as u8) << 4;
            match blocks.last_mut() {
                Some(last) if *last & 0xf0 == drop_block && *last & 0x0f < 15 => *last += 1,
                _ => blocks.push(drop_block),
            }
            next = entry.seq.previous();
        }
        if blocks.is_empty() {
            return None;
        }
        if self.carriers.len() == CARRIERS {
            self.carriers.pop_front();
        }
        self.carriers.push_back(own_seq);
        Some(DccpOption::DataDropped(blocks))
    }

    /// Handles an acknowledgement of our packet `own_seq`.
    pub(crate) fn acked(&mut self, own_seq: SeqNo) {
        if self.carriers.contains(&own_seq) {
            self.entries.retain(|entry| !entry.gss.is_before(own_seq));
            self.carriers.retain(|carrier| carrier.is_after(own_seq));
        }
    }
}

/// Returns the packets listed by the Data Dropped options of an acknowledgement of `ack`, newest
/// first, down to `oldest`. Each option starts where the previous one ended.
///
/// A block describes up to 16 packets, so the options of one acknowledgement may list thousands, most
/// of them never sent. Without a lower end, a peer could make each acknowledgement cost that much.
pub(crate) fn dropped(
    ack: SeqNo,
    options: &OptionList,
    oldest: SeqNo,
) -> impl Iterator<Item = (SeqNo, DropCode)> {
    options
        .iter()
        .filter_map(|option| match option {
            DccpOption::DataDropped(blocks) => Some(blocks),
            _ => None,
        })
        .flatten()
        .scan(ack, move |next, &block| {
            let start = *next;
            let room = u64::try_from(start.distance_from(oldest)).ok()? + 1;
            let (code, len) = match block {
                0..0x80 => (None, u64::from(block) + 1),
                _ => (Some(DropCode::of_block(block)), u64::from(block & 0xf) + 1),
            };
            *next = start.sub(len);
            Some((start, code, len.min(room)))
        })
        .filter_map(|(start, code, len)| Some((start, code?, len)))
        .flat_map(|(start, code, len)| (0..len).map(move |age| (start.sub(age), code)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(dropped: &mut DataDropped, ack: u64, own_seq: u64) -> Vec<u8> {
        match dropped.option(SeqNo::new(ack), SeqNo::new(own_seq)) {
            Some(DccpOption::DataDropped(blocks)) => blocks.to_vec(),
            Some(other) => panic!("{other:?}"),
            None => Vec::new(),
        }
    }

    /// The example of section 11.7 (whose last line miscounts by one: 0,160,3,162 covers 100 to
    /// 92).
    #[test]
    fn example_of_section_11_7() {
        let mut dropped = DataDropped::default();
        for seq in [94, 93, 92, 99] {
            dropped.record(SeqNo::new(seq), DropCode::ReceiveBuffer, SeqNo::new(5));
        }
        assert_eq!(blocks(&mut dropped, 100, 6), [0, 160, 3, 162]);
    }

    #[test]
    fn long_runs_take_several_blocks() {
        let mut dropped = DataDropped::default();
        for seq in 1000..1020 {
            dropped.record(SeqNo::new(seq), DropCode::Corrupt, SeqNo::new(5));
        }
        // 1300 to 1020 is 281 packets: 128 + 128 + 25; then 16 + 4 dropped.
        assert_eq!(
            blocks(&mut dropped, 1300, 6),
            [127, 127, 24, 0x80 | 3 << 4 | 15, 0x80 | 3 << 4 | 3]
        );
    }

    #[test]
    fn adjacent_codes_stay_apart() {
        let mut dropped = DataDropped::default();
        dropped.record(SeqNo::new(10), DropCode::ProtocolConstraints, SeqNo::new(5));
        dropped.record(SeqNo::new(9), DropCode::DeliveredCorrupt, SeqNo::new(5));
        assert_eq!(blocks(&mut dropped, 10, 6), [0x80, 0xf0]);
    }

    /// Reports are repeated until one is acknowledged, and later drops survive that.
    #[test]
    fn reported_until_acknowledged() {
        let mut dropped = DataDropped::default();
        dropped.record(SeqNo::new(10), DropCode::Corrupt, SeqNo::new(5));
        assert_eq!(blocks(&mut dropped, 10, 6), [0xb0]);
        dropped.record(SeqNo::new(11), DropCode::Corrupt, SeqNo::new(6));
        assert_eq!(blocks(&mut dropped, 11, 8), [0xb1]);
        dropped.acked(SeqNo::new(7));
        assert_eq!(blocks(&mut dropped, 11, 9), [0xb1], "7 did not carry it");
        dropped.acked(SeqNo::new(6));
        assert_eq!(
            blocks(&mut dropped, 11, 10),
            [0xb0],
            "11 happened after 6 was sent"
        );
        dropped.acked(SeqNo::new(10));
        assert!(blocks(&mut dropped, 11, 11).is_empty());
    }

    /// D11.7-1: the same example.
    #[test]
    fn reads_the_example_of_section_11_7() {
        let options =
            OptionList::from_iter([DccpOption::DataDropped([0u8, 160, 3, 162][..].into())]);
        let list: Vec<_> = dropped(SeqNo::new(100), &options, SeqNo::ZERO).collect();
        let expected = [99, 94, 93, 92].map(|seq| (SeqNo::new(seq), DropCode::ReceiveBuffer));
        assert_eq!(list, expected);
    }

    #[test]
    fn a_second_option_begins_where_the_first_left_off() {
        let options = OptionList::from_iter([
            DccpOption::DataDropped([127u8][..].into()),
            DccpOption::SlowReceiver,
            DccpOption::DataDropped([0x90u8, 0xb0, 0x80][..].into()),
        ]);
        let list: Vec<_> = dropped(SeqNo::new(1000), &options, SeqNo::ZERO).collect();
        let expected = [
            (SeqNo::new(872), DropCode::NotListening),
            (SeqNo::new(871), DropCode::Corrupt),
            (SeqNo::new(870), DropCode::ProtocolConstraints),
        ];
        assert_eq!(list, expected);
    }

    /// D11.7-1: what the options list below the oldest packet of interest is not even looked at.
    #[test]
    fn blocks_below_the_oldest_packet_are_skipped() {
        let option = || DccpOption::DataDropped([0xafu8; 253][..].into());
        let options = OptionList::from_iter([option(), option(), option()]);
        let listed = |oldest: u64| {
            let oldest = SeqNo::new(oldest);
            dropped(SeqNo::new(20_000), &options, oldest).map(|(seq, _)| seq.get())
        };
        assert!(listed(19_970).eq((19_970..=20_000).rev()));
        assert_eq!(listed(20_000).count(), 1);
        assert_eq!(listed(20_001).count(), 0);
        assert_eq!(listed(0).count(), 3 * 253 * 16);
        // Across the wrap.
        let list: Vec<_> = dropped(SeqNo::ZERO, &options, SeqNo::ZERO.sub(2)).collect();
        assert_eq!(list.len(), 3);
    }
}
