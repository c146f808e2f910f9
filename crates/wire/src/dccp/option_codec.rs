//! DCCP options to bytes and back (RFC 4340 section 5.8).

use smallvec::SmallVec;

use super::{
    DccpOption, ElapsedTime, EmitError, FeatureNumber, FeatureSide, LossInterval, OptionList,
};

/// Bytes of type and length in front of an option's value.
const PREFIX: usize = 2;
/// Types below this one are a single byte.
const FIRST_WITH_LENGTH: u8 = 32;
/// Bytes of one interval in a Loss Intervals option.
const LOSS_INTERVAL: usize = 9;
/// Bytes of one count in a Dropped Packets option.
const DROP_COUNT: usize = 3;

/// Reads an option space; its length is a multiple of four bytes. Total: what makes no sense is kept
/// as [`DccpOption::Other`] or [`DccpOption::Malformed`].
pub(super) fn parse(space: &[u8]) -> OptionList {
    let mut options = OptionList::new();
    let mut rest = space;
    while let Some((&kind, tail)) = rest.split_first() {
        if is_implied_padding(rest) && options.last() != Some(&DccpOption::Mandatory) {
            break;
        }
        if kind < FIRST_WITH_LENGTH {
            options.push(single_byte(kind));
            rest = tail;
            continue;
        }
        let value = tail.split_first().and_then(|(&length, value)| {
            value.split_at_checked(usize::from(length).checked_sub(PREFIX)?)
        });
        let Some((value, tail)) = value else {
            options.push(DccpOption::Malformed(SmallVec::from_slice(rest)));
            break;
        };
        options.push(
            with_value(kind, value).unwrap_or_else(|| DccpOption::Other {
                kind,
                value: Some(SmallVec::from_slice(value)),
            }),
        );
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

fn single_byte(kind: u8) -> DccpOption {
    match kind {
        0 => DccpOption::Padding,
        1 => DccpOption::Mandatory,
        2 => DccpOption::SlowReceiver,
        _ => DccpOption::Other { kind, value: None },
    }
}

/// The option of a known type; `None` where the type is not known or the value does not fit it.
fn with_value(kind: u8, value: &[u8]) -> Option<DccpOption> {
    let option = match kind {
        32..=35 => {
            let (&feature, value) = value.split_first()?;
            let side = if kind < 34 {
                FeatureSide::Local
            } else {
                FeatureSide::Remote
            };
            let feature = FeatureNumber(feature);
            let value = SmallVec::from_slice(value);
            if matches!(kind, 32 | 34) {
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
        36 => DccpOption::InitCookie(SmallVec::from_slice(value)),
        37 if (1..=6).contains(&value.len()) => DccpOption::NdpCount {
            count: number(value),
            width: value.len() as u8,
        },
        38 | 39 => DccpOption::AckVector {
            nonce: kind == 39,
            cells: SmallVec::from_slice(value),
        },
        40 => DccpOption::DataDropped(SmallVec::from_slice(value)),
        41 => DccpOption::Timestamp(u32_of(value)?),
        42 => {
            let (echo, elapsed) = value.split_at_checked(4)?;
            let elapsed = if elapsed.is_empty() {
                None
            } else {
                Some(elapsed_time(elapsed)?)
            };
            DccpOption::TimestampEcho {
                echo: u32_of(echo)?,
                elapsed,
            }
        }
        43 => DccpOption::ElapsedTime(elapsed_time(value)?),
        44 => DccpOption::DataChecksum(u32_of(value)?),
        128 if (1..=3).contains(&value.len()) => DccpOption::RttEstimate {
            micros: number(value) as u32,
            width: value.len() as u8,
        },
        192 => DccpOption::LossEventRate(u32_of(value)?),
        193 => {
            let (&skip_length, intervals) = value.split_first()?;
            if intervals.is_empty() || !intervals.len().is_multiple_of(LOSS_INTERVAL) {
                return None;
            }
            let intervals = intervals
                .chunks_exact(LOSS_INTERVAL)
                .map(loss_interval)
                .collect();
            DccpOption::LossIntervals {
                skip_length,
                intervals,
            }
        }
        194 => DccpOption::ReceiveRate(u32_of(value)?),
        195 if !value.is_empty() && value.len().is_multiple_of(DROP_COUNT) => {
            DccpOption::DroppedPackets(
                value
                    .chunks_exact(DROP_COUNT)
                    .map(|n| number(n) as u32)
                    .collect(),
            )
        }
        200 => DccpOption::LoadVector(SmallVec::from_slice(value)),
        _ => return None,
    };
    Some(option)
}

/// The big-endian number in at most eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |number, &byte| (number << 8) | u64::from(byte))
}

fn u32_of(value: &[u8]) -> Option<u32> {
    value.try_into().ok().map(u32::from_be_bytes)
}

fn elapsed_time(value: &[u8]) -> Option<ElapsedTime> {
    match value.len() {
        2 => Some(ElapsedTime::Short(number(value) as u16)),
        4 => Some(ElapsedTime::Long(number(value) as u32)),
        _ => None,
    }
}

fn loss_interval(bytes: &[u8]) -> LossInterval {
    let (lossless, rest) = bytes.split_at(3);
    let (loss, data) = rest.split_at(3);
    let loss = number(loss) as u32;
    LossInterval {
        lossless_length: number(lossless) as u32,
        nonce: loss >> 23 != 0,
        loss_length: loss & 0x7f_ffff,
        data_length: number(data) as u32,
    }
}

impl ElapsedTime {
    const fn width(self) -> usize {
        match self {
            Self::Short(_) => 2,
            Self::Long(_) => 4,
        }
    }

    fn emit(self, out: &mut Vec<u8>) {
        match self {
            Self::Short(units) => out.extend_from_slice(&units.to_be_bytes()),
            Self::Long(units) => out.extend_from_slice(&units.to_be_bytes()),
        }
    }
}

impl DccpOption {
    /// Bytes on the wire, type and length included.
    pub fn encoded_len(&self) -> usize {
        let value = match self {
            Self::Padding | Self::Mandatory | Self::SlowReceiver => return 1,
            Self::Malformed(bytes) => return bytes.len(),
            Self::Other { kind, .. } if *kind < FIRST_WITH_LENGTH => return 1,
            Self::Other { value, .. } => value.as_ref().map_or(0, SmallVec::len),
            Self::Change { value, .. } | Self::Confirm { value, .. } => 1 + value.len(),
            Self::InitCookie(value) | Self::DataDropped(value) => value.len(),
            Self::NdpCount { width, .. } => ndp_width(*width),
            Self::RttEstimate { width, .. } => rtt_width(*width),
            Self::AckVector { cells, .. } | Self::LoadVector(cells) => cells.len(),
            Self::TimestampEcho { elapsed, .. } => 4 + elapsed.map_or(0, ElapsedTime::width),
            Self::ElapsedTime(elapsed) => elapsed.width(),
            Self::Timestamp(_)
            | Self::DataChecksum(_)
            | Self::LossEventRate(_)
            | Self::ReceiveRate(_) => 4,
            Self::LossIntervals { intervals, .. } => 1 + LOSS_INTERVAL * intervals.len(),
            Self::DroppedPackets(counts) => DROP_COUNT * counts.len(),
        };
        PREFIX + value
    }

    /// Appends the option's bytes to `out`.
    pub(super) fn emit(&self, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let kind = self.type_number();
        match self {
            Self::Malformed(bytes) => {
                out.extend_from_slice(bytes);
                return Ok(());
            }
            _ if kind < FIRST_WITH_LENGTH => {
                out.push(kind);
                return Ok(());
            }
            _ => {}
        }
        let length = self.encoded_len();
        let encoded = u8::try_from(length).map_err(|_| EmitError::OptionTooLong {
            kind,
            length: length - PREFIX,
        })?;
        out.extend_from_slice(&[kind, encoded]);
        match self {
            Self::Padding | Self::Mandatory | Self::SlowReceiver | Self::Malformed(_) => {}
            Self::Other { value, .. } => out.extend_from_slice(value.as_deref().unwrap_or(&[])),
            Self::Change { feature, value, .. } | Self::Confirm { feature, value, .. } => {
                out.push(feature.0);
                out.extend_from_slice(value);
            }
            Self::InitCookie(value) | Self::DataDropped(value) => out.extend_from_slice(value),
            Self::NdpCount { count, width } => {
                emit_number("NDP Count", *count, ndp_width(*width), out)?;
            }
            Self::RttEstimate { micros, width } => {
                emit_number("RTT Estimate", (*micros).into(), rtt_width(*width), out)?;
            }
            Self::AckVector { cells, .. } | Self::LoadVector(cells) => out.extend_from_slice(cells),
            Self::TimestampEcho { echo, elapsed } => {
                out.extend_from_slice(&echo.to_be_bytes());
                if let Some(elapsed) = elapsed {
                    elapsed.emit(out);
                }
            }
            Self::ElapsedTime(elapsed) => elapsed.emit(out),
            Self::Timestamp(value)
            | Self::DataChecksum(value)
            | Self::LossEventRate(value)
            | Self::ReceiveRate(value) => out.extend_from_slice(&value.to_be_bytes()),
            Self::LossIntervals {
                skip_length,
                intervals,
            } => {
                out.push(*skip_length);
                for interval in intervals {
                    emit_loss_interval(interval, out)?;
                }
            }
            Self::DroppedPackets(counts) => {
                for &count in counts {
                    emit_number("Drop Count", u64::from(count), DROP_COUNT, out)?;
                }
            }
        }
        Ok(())
    }
}

/// An NDP Count takes one to six bytes, whatever `width` says.
fn ndp_width(width: u8) -> usize {
    usize::from(width.clamp(1, 6))
}

/// An RTT Estimate takes one to three bytes, whatever `width` says.
fn rtt_width(width: u8) -> usize {
    usize::from(width.clamp(1, 3))
}

fn emit_loss_interval(interval: &LossInterval, out: &mut Vec<u8>) -> Result<(), EmitError> {
    bounded("Loss Length", u64::from(interval.loss_length), 0x7f_ffff)?;
    let loss = u64::from(interval.nonce) << 23 | u64::from(interval.loss_length);
    emit_number(
        "Lossless Length",
        u64::from(interval.lossless_length),
        3,
        out,
    )?;
    emit_number("Loss Length", loss, 3, out)?;
    emit_number("Data Length", u64::from(interval.data_length), 3, out)
}

fn emit_number(
    field: &'static str,
    value: u64,
    width: usize,
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
    let bytes = value.to_be_bytes();
    let (high, low) = bytes.split_at(bytes.len() - width);
    if high.iter().any(|&byte| byte != 0) {
        return Err(EmitError::FieldTooLarge {
            field,
            value,
            maximum: (1 << (8 * width)) - 1,
        });
    }
    out.extend_from_slice(low);
    Ok(())
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
