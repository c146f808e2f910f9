//! The table of DCCP options. Each row contains everything known about an option type; code that
//! decodes, encodes, measures, prints or generates options uses this table.
//!
//! A macro turns each row into an arm of exhaustive matches over [`DccpOption`], so a variant
//! without a row does not compile, and layouts are inlined. A slice of structs with function
//! pointers would need an indirect call per option, and its `emit` would only be valid for its own
//! variant.
//!
//! To add an option, add a variant of [`DccpOption`] and a row; if no
//! [layout](super::option_layouts) fits its data, add a layout as well.

use core::fmt;

use super::FeatureSide::{Local, Remote};
use super::display::{after, list, listed, loss_event_rate};
use super::option_layouts::{self, Length, Sink};
use super::{AckVectorCell, DccpOption, EmitError, LoadVectorCell, OptionBytes};

/// The column "DCCP-Data?" of RFC 4340's table 3.
const Y: bool = true;
const N: bool = false;

/// Bytes of type and length in front of an option's data.
pub(super) const PREFIX: usize = 2;

/// The type of an option: its first byte (RFC 4340 section 5.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OptionType(pub u8);

/// The owner of an option (RFC 4340 section 10.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionOwner {
    /// DCCP itself, for any CCID: types 0 to 127.
    Dccp,
    /// The CCID; sent by the half that sends data: types 128 to 191.
    HcSender,
    /// The CCID; sent by the half that receives data: types 192 to 255.
    HcReceiver,
}

impl OptionType {
    /// Returns whether a length and data follow the type. Types 0 to 31 are a single byte.
    pub(super) const fn has_length(self) -> bool {
        self.0 >= 32
    }

    /// Returns the option's owner, for any type.
    pub const fn owner(self) -> OptionOwner {
        match self.0 {
            0..=127 => OptionOwner::Dccp,
            128..=191 => OptionOwner::HcSender,
            192..=255 => OptionOwner::HcReceiver,
        }
    }
}

/// Writes what precedes `data` bytes of data: the type and, if the option has one, the length.
#[inline]
fn put_prefix<S: Sink>(kind: OptionType, data: usize, out: &mut S) -> Result<(), S::Error> {
    if !kind.has_length() {
        out.put(&[kind.0]);
        return Ok(());
    }
    let length = PREFIX + data;
    out.check(|| {
        let fits = length <= u8::MAX.into();
        fits.then_some(()).ok_or(EmitError::OptionTooLong {
            kind: kind.0,
            length: data,
        })
    })?;
    out.put(&[kind.0, length as u8]);
    Ok(())
}

macro_rules! option_types {
    ($(
        $constant:ident = $number:literal, $name:literal, $on_data:ident,
            $variant:ident $fields:tt: $layout:ident($($field:ident),*), $($shown:expr),+;
    )*) => {
        impl OptionType {
            $(
                #[doc = concat!($name, ".")]
                pub const $constant: Self = Self($number);
            )*

            /// All types for which [`DccpOption`] has a variant, in ascending order.
            pub const ALL: &'static [Self] = &[$(Self::$constant),*];

            /// Returns the option's name in its specification, or `None` for an unknown type.
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$constant => Some($name),)*
                    _ => None,
                }
            }

            /// Returns whether the type's layout is known, so that [`DccpOption::Other`] of this
            /// type is malformed.
            pub const fn is_known(self) -> bool {
                matches!(self, $(Self::$constant)|*)
            }

            /// Returns whether the option may appear on a DCCP-Data packet; receivers ignore others
            /// (RFC 4340 table 3). Unknown types may.
            pub const fn is_allowed_on_data(self) -> bool {
                match self {
                    $(Self::$constant => $on_data,)*
                    _ => true,
                }
            }
        }

        impl DccpOption {
            /// Returns the option's type; for [`DccpOption::Malformed`], the type of the option
            /// with the invalid length.
            #[allow(unused_variables, reason = "only the variant and the flags tell the type")]
            pub fn option_type(&self) -> OptionType {
                match self {
                    $(Self::$variant $fields => OptionType::$constant,)*
                    Self::Other { kind, .. } => OptionType(*kind),
                    Self::Malformed(bytes) => OptionType(bytes.first().copied().unwrap_or(0)),
                }
            }

            /// Decodes an option of this type from `data`, which follows type and length. Returns
            /// [`DccpOption::Other`] if the type is unknown or the data is invalid for it.
            /// Single-byte types have no data, so `data` is ignored.
            pub fn parse(kind: OptionType, data: &[u8]) -> Self {
                match kind {
                    $(OptionType::$constant => {
                        if let Some(($($field,)*)) = option_layouts::$layout::read(data) {
                            return Self::$variant $fields;
                        }
                    })*
                    _ => {}
                }
                Self::Other {
                    kind: kind.0,
                    value: kind.has_length().then(|| OptionBytes::from_slice(data)),
                }
            }

            /// Encodes the whole option: type, length and data.
            pub(super) fn write<S: Sink>(&self, out: &mut S) -> Result<(), S::Error> {
                match self {
                    $(Self::$variant $fields => {
                        let mut length = Length(0);
                        let Ok(()) = option_layouts::$layout::write($($field,)* &mut length);
                        put_prefix(OptionType::$constant, length.0, out)?;
                        option_layouts::$layout::write($($field,)* out)
                    })*
                    Self::Other { kind, value } => {
                        let kind = OptionType(*kind);
                        let value = value.as_deref().filter(|_| kind.has_length());
                        let value = value.unwrap_or_default();
                        put_prefix(kind, value.len(), out)?;
                        option_layouts::bytes::write(value, out)
                    }
                    Self::Malformed(bytes) => option_layouts::bytes::write(bytes, out),
                }
            }
        }

        /// The option's name, and its value.
        impl fmt::Display for DccpOption {
            #[allow(unused_variables, reason = "not every part of a value is shown")]
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$variant $fields => {
                        f.write_str($name)?;
                        write!(f, $($shown),+)
                    })*
                    Self::Other { kind, value: None } => write!(f, "option {kind}"),
                    Self::Other {
                        kind,
                        value: Some(value),
                    } => write!(f, "option {kind} {value:02x?}"),
                    Self::Malformed(bytes) => write!(f, "malformed {bytes:02x?}"),
                }
            }
        }
    };
}

// CONSTANT = type, "Name", allowed on DCCP-Data,
//     Variant with fields: layout(of the fields), "what Display adds to the name", its arguments;
option_types! {
    PADDING = 0, "Padding", Y,
        Padding {}: nothing(), "";
    MANDATORY = 1, "Mandatory", N,
        Mandatory {}: nothing(), "";
    SLOW_RECEIVER = 2, "Slow Receiver", Y,
        SlowReceiver {}: nothing(), "";
    CHANGE_L = 32, "Change L", N,
        Change { side: Local, feature, value }: feature(feature, value), "({feature}{})", listed(value);
    CONFIRM_L = 33, "Confirm L", N,
        Confirm { side: Local, feature, value }: feature(feature, value), "({feature}{})", listed(value);
    CHANGE_R = 34, "Change R", N,
        Change { side: Remote, feature, value }: feature(feature, value), "({feature}{})", listed(value);
    CONFIRM_R = 35, "Confirm R", N,
        Confirm { side: Remote, feature, value }: feature(feature, value), "({feature}{})", listed(value);
    INIT_COOKIE = 36, "Init Cookie", N,
        InitCookie(cookie): bytes(cookie), " of {} bytes", cookie.len();
    NDP_COUNT = 37, "NDP Count", Y,
        NdpCount { count, width }: ndp_count(count, width), " {count}";
    ACK_VECTOR_0 = 38, "Ack Vector [Nonce 0]", N,
        AckVector { nonce: false, cells }: bytes(cells),
            " {}", list(cells.iter().copied().map(AckVectorCell::from_byte));
    ACK_VECTOR_1 = 39, "Ack Vector [Nonce 1]", N,
        AckVector { nonce: true, cells }: bytes(cells),
            " {}", list(cells.iter().copied().map(AckVectorCell::from_byte));
    DATA_DROPPED = 40, "Data Dropped", N,
        DataDropped(blocks): bytes(blocks), " {blocks:02x?}";
    TIMESTAMP = 41, "Timestamp", Y,
        Timestamp(value): word(value), " {value}";
    TIMESTAMP_ECHO = 42, "Timestamp Echo", Y,
        TimestampEcho { echo, elapsed }: timestamp_echo(echo, elapsed), " {echo}{}", after(*elapsed);
    ELAPSED_TIME = 43, "Elapsed Time", N,
        ElapsedTime(elapsed): elapsed_time(elapsed), " {elapsed}";
    DATA_CHECKSUM = 44, "Data Checksum", Y,
        DataChecksum(crc): word(crc), " {crc:#010x}";
    QUICK_START_RESPONSE = 45, "Quick-Start Response", Y,
        QuickStartResponse { rate, ttl_diff, nonce, reserved }:
            quick_start_response(rate, ttl_diff, nonce, reserved), " {}", rate.rate();
    RTT_ESTIMATE = 128, "RTT Estimate", Y,
        RttEstimate { micros, width }: rtt_estimate(micros, width), " {micros} us";
    LOSS_EVENT_RATE = 192, "Loss Event Rate", N,
        LossEventRate(inverse): word(inverse), " {}", loss_event_rate(*inverse);
    LOSS_INTERVALS = 193, "Loss Intervals", N,
        LossIntervals { skip_length, intervals }: loss_intervals(skip_length, intervals),
            " skip {skip_length} {}", list(intervals.iter());
    RECEIVE_RATE = 194, "Receive Rate", N,
        ReceiveRate(rate): word(rate), " {rate} B/s";
    DROPPED_PACKETS = 195, "Dropped Packets", N,
        DroppedPackets(counts): drop_counts(counts), " {}", list(counts.iter());
    LOAD_VECTOR = 200, "Load Vector", N,
        LoadVector(cells): bytes(cells),
            " {}", list(cells.iter().copied().map(LoadVectorCell::from_byte));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An option of this type, decoded from as many of the bytes 1, 2, 3, ... as form a value.
    fn example(kind: OptionType) -> DccpOption {
        let data: Vec<u8> = (1..=10).collect();
        (0..=data.len())
            .rev()
            .map(|length| DccpOption::parse(kind, &data[..length]))
            .find(|option| !matches!(option, DccpOption::Other { .. }))
            .unwrap()
    }

    /// Table 3 of RFC 4340, table 1 of each of RFC 6323, RFC 4342 and RFC 5622, section 5 of RFC
    /// 5634, and the project's own Load Vector.
    #[test]
    fn the_rows_are_those_of_the_rfcs() {
        use OptionOwner::{Dccp, HcReceiver, HcSender};
        let expected = [
            (0, "Padding", true, Dccp),
            (1, "Mandatory", false, Dccp),
            (2, "Slow Receiver", true, Dccp),
            (32, "Change L", false, Dccp),
            (33, "Confirm L", false, Dccp),
            (34, "Change R", false, Dccp),
            (35, "Confirm R", false, Dccp),
            (36, "Init Cookie", false, Dccp),
            (37, "NDP Count", true, Dccp),
            (38, "Ack Vector [Nonce 0]", false, Dccp),
            (39, "Ack Vector [Nonce 1]", false, Dccp),
            (40, "Data Dropped", false, Dccp),
            (41, "Timestamp", true, Dccp),
            (42, "Timestamp Echo", true, Dccp),
            (43, "Elapsed Time", false, Dccp),
            (44, "Data Checksum", true, Dccp),
            (45, "Quick-Start Response", true, Dccp),
            (128, "RTT Estimate", true, HcSender),
            (192, "Loss Event Rate", false, HcReceiver),
            (193, "Loss Intervals", false, HcReceiver),
            (194, "Receive Rate", false, HcReceiver),
            (195, "Dropped Packets", false, HcReceiver),
            (200, "Load Vector", false, HcReceiver),
        ];
        let rows: Vec<_> = OptionType::ALL
            .iter()
            .map(|kind| {
                let name = kind.name().unwrap();
                (kind.0, name, kind.is_allowed_on_data(), kind.owner())
            })
            .collect();
        assert_eq!(rows, expected);
    }

    /// An option parsed by a row's type has that type and displays the row's name. (The compiler
    /// checks that every variant has a row.)
    #[test]
    fn rows_and_variants_agree() {
        for &kind in OptionType::ALL {
            let option = example(kind);
            assert_eq!(option.option_type(), kind);
            let shown = option.to_string();
            assert!(shown.starts_with(kind.name().unwrap()), "{shown}");
        }
        assert!(OptionType::ALL.is_sorted_by(|a, b| a < b), "a type twice");
    }

    #[test]
    fn a_type_without_a_row_has_neither_name_nor_value() {
        for number in 0..=255 {
            let kind = OptionType(number);
            if OptionType::ALL.contains(&kind) {
                continue;
            }
            assert_eq!(kind.name(), None);
            let option = DccpOption::parse(kind, &[1, 2, 3, 4]);
            assert!(matches!(option, DccpOption::Other { .. }), "{option}");
            assert!(kind.is_allowed_on_data());
        }
    }
}
