//! The Data Dropped option (RFC 4340 section 11.7): what the peer did not deliver.

use skywave_wire::dccp::{DccpOption, OptionList, SeqNo};

/// Why data was not delivered (RFC 4340 table 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DropCode {
    /// 0: no congestion.
    ProtocolConstraints,
    /// 1: nobody will read any more.
    NotListening,
    /// 2: the receiving host is congested.
    ReceiveBuffer,
    /// 3 and 7, and those to come: to be treated as marked.
    AsMarked,
}

/// The packets that the Data Dropped options of an acknowledgement of `ack` list, newest first.
pub(super) fn dropped(ack: SeqNo, options: &OptionList) -> impl Iterator<Item = (SeqNo, DropCode)> {
    options
        .iter()
        .filter_map(|option| match option {
            DccpOption::DataDropped(blocks) => Some(blocks),
            _ => None,
        })
        .flatten()
        .scan(ack, |next, &block| {
            let start = *next;
            let (code, len) = match block {
                0..0x80 => (None, u64::from(block) + 1),
                _ => (
                    Some(drop_code(block >> 4 & 0b111)),
                    u64::from(block & 0xf) + 1,
                ),
            };
            *next = start.sub(len);
            Some((start, code, len))
        })
        .filter_map(|(start, code, len)| Some((start, code?, len)))
        .flat_map(|(start, code, len)| (0..len).map(move |age| (start.sub(age), code)))
}

const fn drop_code(bits: u8) -> DropCode {
    match bits {
        0 => DropCode::ProtocolConstraints,
        1 => DropCode::NotListening,
        2 => DropCode::ReceiveBuffer,
        _ => DropCode::AsMarked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_example_of_rfc_4340() {
        // D11.7-1: section 11.7's example; its last line means 94, 93 and 92.
        let options =
            OptionList::from_iter([DccpOption::DataDropped([0u8, 160, 3, 162][..].into())]);
        let list: Vec<_> = dropped(SeqNo::new(100), &options).collect();
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
        let list: Vec<_> = dropped(SeqNo::new(1000), &options).collect();
        let expected = [
            (SeqNo::new(872), DropCode::NotListening),
            (SeqNo::new(871), DropCode::AsMarked),
            (SeqNo::new(870), DropCode::ProtocolConstraints),
        ];
        assert_eq!(list, expected);
    }
}
