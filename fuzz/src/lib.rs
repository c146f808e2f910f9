//! DCCP options and packet types made of arbitrary bytes: well-formed ones more often than not, so
//! that a fuzzer gets past the parser.

use arbitrary::{Result, Unstructured};
use skywave_wire::dccp::{
    DccpOption, ElapsedTime, FeatureNumber, FeatureSide, Kind, LossInterval, OptionBytes,
    OptionList, ResetCode, SeqNo, ServiceCode,
};

/// Bytes that fit an option.
fn value(u: &mut Unstructured<'_>) -> Result<OptionBytes> {
    // Long values are rare: they need as many bytes of input.
    let most = if u.ratio(1, 8)? { 253 } else { 12 };
    let len = u.int_in_range(0..=most)?;
    Ok(u.bytes(len.min(u.len()))?.into())
}

fn u24(u: &mut Unstructured<'_>) -> Result<u32> {
    u.int_in_range(0..=0xff_ffff)
}

fn elapsed(u: &mut Unstructured<'_>) -> Result<ElapsedTime> {
    Ok(if u.arbitrary()? {
        ElapsedTime::Short(u.arbitrary()?)
    } else {
        ElapsedTime::Long(u.arbitrary()?)
    })
}

fn intervals<const N: usize, T>(
    u: &mut Unstructured<'_>,
    mut one: impl FnMut(&mut Unstructured<'_>) -> Result<T>,
) -> Result<[T; N]>
where
    [T; N]: TryFrom<Vec<T>>,
{
    let all: Result<Vec<T>> = (0..N).map(|_| one(u)).collect();
    all?.try_into()
        .map_err(|_| arbitrary::Error::IncorrectFormat)
}

fn loss_interval(u: &mut Unstructured<'_>) -> Result<LossInterval> {
    Ok(LossInterval {
        lossless_length: u24(u)?,
        nonce: u.arbitrary()?,
        loss_length: u.int_in_range(0..=0x7f_ffff)?,
        data_length: u24(u)?,
    })
}

/// An option of any type, which can be emitted.
pub fn option(u: &mut Unstructured<'_>) -> Result<DccpOption> {
    Ok(match u.int_in_range(0..=20u8)? {
        0 => DccpOption::Padding,
        1 => DccpOption::Mandatory,
        2 => DccpOption::SlowReceiver,
        number @ 3..=6 => {
            let side = if number % 2 == 0 {
                FeatureSide::Local
            } else {
                FeatureSide::Remote
            };
            let feature = FeatureNumber(if u.ratio(3, 4)? {
                u.int_in_range(0..=10)?
            } else {
                u.arbitrary()?
            });
            let mut value = value(u)?;
            value.truncate(252);
            if number < 5 {
                DccpOption::Change {
                    side,
                    feature,
                    value,
                }
            } else {
                DccpOption::Confirm {
                    side,
                    feature,
                    value,
                }
            }
        }
        7 => DccpOption::InitCookie(value(u)?),
        8 => {
            let width = u.int_in_range(1..=6)?;
            let count: u64 = u.arbitrary()?;
            DccpOption::NdpCount {
                count: count & ((1 << (8 * u32::from(width))) - 1),
                width,
            }
        }
        9..=12 => DccpOption::AckVector {
            nonce: u.arbitrary()?,
            cells: value(u)?,
        },
        13 => DccpOption::DataDropped(value(u)?),
        14 => DccpOption::Timestamp(u.arbitrary()?),
        15 => DccpOption::TimestampEcho {
            echo: u.arbitrary()?,
            elapsed: if u.arbitrary()? {
                Some(elapsed(u)?)
            } else {
                None
            },
        },
        16 => DccpOption::ElapsedTime(elapsed(u)?),
        17 => DccpOption::DataChecksum(u.arbitrary()?),
        18 => match u.int_in_range(0..=3u8)? {
            0 => DccpOption::LossEventRate(u.arbitrary()?),
            1 => DccpOption::ReceiveRate(u.arbitrary()?),
            2 => DccpOption::LossIntervals {
                skip_length: u.arbitrary()?,
                intervals: intervals::<2, _>(u, loss_interval)?.into_iter().collect(),
            },
            _ => DccpOption::DroppedPackets(intervals::<2, _>(u, u24)?.into_iter().collect()),
        },
        19 => {
            let kind = u.arbitrary()?;
            let value = if kind < 32 { None } else { Some(value(u)?) };
            DccpOption::Other { kind, value }
        }
        _ => DccpOption::Malformed(value(u)?),
    })
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
