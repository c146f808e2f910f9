//! Encodes and decodes DCCP options (RFC 4340 section 5.8).

use smallvec::SmallVec;

use super::option_layouts::{First, Length};
use super::option_types::PREFIX;
use super::{DccpOption, OptionList, OptionType};

/// Decodes an option space, whose length is a multiple of four bytes. Never fails: invalid options
/// are kept as [`DccpOption::Other`] or [`DccpOption::Malformed`].
pub(super) fn parse(space: &[u8]) -> OptionList {
    let mut options = OptionList::new();
    let mut rest = space;
    while let Some((&kind, tail)) = rest.split_first() {
        if is_implied_padding(rest) && options.last() != Some(&DccpOption::Mandatory) {
            break;
        }
        let kind = OptionType(kind);
        if !kind.has_length() {
            options.push(DccpOption::parse(kind, &[]));
            rest = tail;
            continue;
        }
        let data = tail.split_first().and_then(|(&length, data)| {
            data.split_at_checked(usize::from(length).checked_sub(PREFIX)?)
        });
        let Some((data, tail)) = data else {
            options.push(DccpOption::Malformed(SmallVec::from_slice(rest)));
            break;
        };
        options.push(DccpOption::parse(kind, data));
        rest = tail;
    }
    options
}

/// Returns whether `rest` is final padding, which needs no [`DccpOption::Padding`] because encoding
/// adds it again. Without it, a received packet equals the packet that was sent.
///
/// After Mandatory it is kept, because Mandatory at the very end is an error but "Mandatory,
/// Padding" is not (section 5.8.2).
fn is_implied_padding(rest: &[u8]) -> bool {
    matches!(rest, [0] | [0, 0] | [0, 0, 0])
}

impl DccpOption {
    /// Returns the encoded length in bytes, including type and length.
    pub fn encoded_len(&self) -> usize {
        let mut length = Length(0);
        let Ok(()) = self.write(&mut length);
        length.0
    }

    /// Returns Data 1 to 3 of a Reset caused by this option with code
    /// [`OPTION_ERROR`](super::ResetCode::OPTION_ERROR) or
    /// [`MANDATORY_ERROR`](super::ResetCode::MANDATORY_ERROR): the option's type and the first two
    /// bytes of its data, padded with zeros (RFC 4340 section 5.6).
    ///
    /// The data of a malformed option is what follows its length byte.
    pub fn reset_data(&self) -> [u8; 3] {
        let mut first = First::new();
        let Ok(()) = self.write(&mut first);
        let [kind, _length, data_1, data_2] = first.bytes;
        [kind, data_1, data_2]
    }
}
