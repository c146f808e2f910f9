//! DCCP options to bytes and back (RFC 4340 section 5.8).

use smallvec::SmallVec;

use super::option_layouts::{FirstTwo, Length};
use super::{DccpOption, EmitError, OptionList, OptionType};

/// Bytes of type and length in front of an option's data.
const PREFIX: usize = 2;

/// Reads an option space; its length is a multiple of four bytes. Total: what makes no sense is kept
/// as [`DccpOption::Other`] or [`DccpOption::Malformed`].
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

/// Whether this is the padding at the end that needs no [`DccpOption::Padding`]: emitting adds it again.
/// Without it a packet received is equal to the packet that was sent.
///
/// Behind Mandatory it is not left out: Mandatory at the very end is an error, "Mandatory, Padding" is
/// none (section 5.8.2).
fn is_implied_padding(rest: &[u8]) -> bool {
    matches!(rest, [0] | [0, 0] | [0, 0, 0])
}

impl DccpOption {
    /// The option of this type with `data`, which stands behind type and length. It is
    /// [`DccpOption::Other`] where the type is not known, or the data is no value of that type.
    /// Types of a single byte have no data, so theirs is ignored.
    #[inline]
    pub fn parse(kind: OptionType, data: &[u8]) -> Self {
        Self::read(kind, data).unwrap_or_else(|| Self::Other {
            kind: kind.0,
            value: kind.has_length().then(|| SmallVec::from_slice(data)),
        })
    }

    /// Bytes on the wire, type and length included.
    pub fn encoded_len(&self) -> usize {
        if let Self::Malformed(bytes) = self {
            return bytes.len();
        }
        if !self.option_type().has_length() {
            return 1;
        }
        let mut length = Length(PREFIX);
        let Ok(()) = self.write(&mut length);
        length.0
    }

    /// Data 1 to 3 of a Reset that this option causes, with code
    /// [`OPTION_ERROR`](super::ResetCode::OPTION_ERROR) or
    /// [`MANDATORY_ERROR`](super::ResetCode::MANDATORY_ERROR): the option's type and the first two
    /// bytes of its data, zero where it has fewer (RFC 4340 section 5.6).
    ///
    /// The data of a malformed option is what stands behind its length byte.
    pub fn reset_data(&self) -> [u8; 3] {
        let kind = self.option_type();
        let mut data = FirstTwo::default();
        if kind.has_length() {
            let Ok(()) = self.write(&mut data);
        }
        let [first, second] = data.bytes;
        [kind.0, first, second]
    }

    /// Appends the option's bytes to `out`.
    pub(super) fn emit(&self, out: &mut Vec<u8>) -> Result<(), EmitError> {
        if let Self::Malformed(bytes) = self {
            out.extend_from_slice(bytes);
            return Ok(());
        }
        let kind = self.option_type();
        if !kind.has_length() {
            out.push(kind.0);
            return Ok(());
        }
        let length = self.encoded_len();
        let encoded = u8::try_from(length).map_err(|_| EmitError::OptionTooLong {
            kind: kind.0,
            length: length - PREFIX,
        })?;
        out.extend_from_slice(&[kind.0, encoded]);
        self.write(out)
    }
}

pub(super) fn bounded(field: &'static str, value: u64, maximum: u64) -> Result<(), EmitError> {
    if value > maximum {
        return Err(EmitError::FieldTooLarge {
            field,
            value,
            maximum,
        });
    }
    Ok(())
}
