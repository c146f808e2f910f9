//! DCCP options and packet types made of arbitrary bytes: well-formed ones more often than not, so
//! that a fuzzer gets past the parser.

use arbitrary::{Result, Unstructured};
use skywave_wire::dccp::{
    DccpOption, Kind, OptionBytes, OptionList, OptionType, ResetCode, SeqNo, ServiceCode,
};

/// Bytes that fit an option.
fn value(u: &mut Unstructured<'_>) -> Result<OptionBytes> {
    // Long values are rare: they need as many bytes of input.
    let most = if u.ratio(1, 8)? { 253 } else { 12 };
    let len = u.int_in_range(0..=most)?;
    Ok(u.bytes(len.min(u.len()))?.into())
}

/// An option of any type, which can be emitted.
pub fn option(u: &mut Unstructured<'_>) -> Result<DccpOption> {
    let kind = match u.int_in_range(0..=15u8)? {
        0 => return Ok(DccpOption::Malformed(value(u)?)),
        1 => OptionType(u.arbitrary()?),
        _ => *u.choose(OptionType::ALL)?,
    };
    let data = value(u)?;
    // As much of the bytes as makes up a value, if any does.
    let mut option = (0..=data.len())
        .rev()
        .map(|length| DccpOption::parse(kind, &data[..length]))
        .find(|option| !matches!(option, DccpOption::Other { .. }))
        .unwrap_or_else(|| DccpOption::parse(kind, &data));
    if let DccpOption::Change { feature, .. } | DccpOption::Confirm { feature, .. } = &mut option
        && u.ratio(3, 4)?
    {
        // One of those that are known, most of the time.
        feature.0 %= 11;
    }
    Ok(option)
}

/// Options that together fit a packet of any type.
pub fn options(u: &mut Unstructured<'_>) -> Result<OptionList> {
    let mut options = OptionList::new();
    let mut room: usize = 1020 - 28;
    for _ in 0..u.int_in_range(0..=8)? {
        let option = option(u)?;
        let Some(left) = room.checked_sub(option.encoded_len()) else {
            break;
        };
        room = left;
        options.push(option);
    }
    Ok(options)
}

/// A packet type with this acknowledgement number.
pub fn kind(u: &mut Unstructured<'_>, ack: SeqNo) -> Result<Kind> {
    let service = ServiceCode(u.int_in_range(0..=2)?);
    Ok(match u.int_in_range(0..=13u8)? {
        0 => Kind::Request { service },
        1 => Kind::Response { ack, service },
        2 | 3 => Kind::Data,
        4 | 5 => Kind::Ack { ack },
        6 | 7 => Kind::DataAck { ack },
        8 => Kind::CloseReq { ack },
        9 => Kind::Close { ack },
        10 => Kind::Reset {
            ack,
            code: ResetCode(u.int_in_range(0..=15)?),
            data: u.arbitrary()?,
        },
        11 => Kind::Sync { ack },
        12 => Kind::SyncAck { ack },
        _ => Kind::Listen { service },
    })
}
