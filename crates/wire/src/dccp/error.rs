//! Errors of decoding and encoding DCCP packets.

use thiserror::Error;

use super::PacketType;

/// Why an endpoint must not process these bytes as a DCCP packet (RFC 4340 section 8.5, step 1).
///
/// A receiver drops such a packet silently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Fewer bytes than the shortest DCCP header.
    #[error("a DCCP header takes at least 12 bytes, but only {length} are left")]
    TooShort {
        /// The number of bytes available.
        length: usize,
    },
    /// A reserved packet type (section 5.1).
    #[error("packet type {number} is reserved")]
    ReservedType {
        /// The type's number, 11 to 15.
        number: u8,
    },
    /// X = 0 on a type other than Data, Ack and DataAck (section 5.1).
    #[error("a {packet_type} must have X = 1 (48-bit sequence numbers)")]
    ShortNumbers {
        /// The type.
        packet_type: PacketType,
    },
    /// Data Offset is smaller than the fixed header of the type (section 5.1).
    #[error("Data Offset is {offset} bytes, but the header of a {packet_type} takes {minimum}")]
    DataOffsetTooSmall {
        /// The type.
        packet_type: PacketType,
        /// Data Offset in bytes.
        offset: usize,
        /// The minimum for the type, in bytes.
        minimum: usize,
    },
    /// Data Offset points beyond the end of the packet (section 5.1).
    #[error("Data Offset is {offset} bytes, but the packet has only {length}")]
    DataOffsetTooLarge {
        /// Data Offset in bytes.
        offset: usize,
        /// The length of the packet in bytes.
        length: usize,
    },
    /// CsCov covers more data than there is (section 9.2).
    #[error("CsCov {cscov} covers {covered} bytes of data, but there are only {data}")]
    Coverage {
        /// The field.
        cscov: u8,
        /// The number of bytes it covers.
        covered: usize,
        /// The number of data bytes in the packet.
        data: usize,
    },
    /// The checksum is wrong (section 9.1).
    #[error("the checksum is {found:#06x}, but should be {computed:#06x}")]
    Checksum {
        /// The checksum in the packet.
        found: u16,
        /// The correct checksum.
        computed: u16,
    },
}

impl ParseError {
    /// Returns the offset of the fault, in bytes from the start of the DCCP header.
    pub const fn offset(&self) -> usize {
        match *self {
            Self::TooShort { length } => length,
            Self::ReservedType { .. } | Self::ShortNumbers { .. } => 8,
            Self::DataOffsetTooSmall { .. } | Self::DataOffsetTooLarge { .. } => 4,
            Self::Coverage { .. } => 5,
            Self::Checksum { .. } => 6,
        }
    }
}

/// Why a packet cannot be encoded: a field does not fit the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EmitError {
    /// A number is too large for its field.
    #[error("{field} is {value}, but at most {maximum} fits")]
    FieldTooLarge {
        /// The field.
        field: &'static str,
        /// Its value.
        value: u64,
        /// The greatest possible value.
        maximum: u64,
    },
    /// X = 0 on a type other than Data, Ack and DataAck (RFC 4340 section 5.1).
    #[error("a {packet_type} must be sent with `extended` (48-bit sequence numbers)")]
    ShortNumbers {
        /// The type.
        packet_type: PacketType,
    },
    /// CCVal or CsCov is set on a Listen (RFC 5596 section 2.2.1).
    #[error("a DCCP-Listen must be sent with `ccval` 0 and `cscov` 0")]
    ListenFields,
    /// CsCov covers more data than there is (section 9.2).
    #[error("CsCov {cscov} covers {covered} bytes of data, but there are only {data}")]
    Coverage {
        /// The field.
        cscov: u8,
        /// The number of bytes it covers.
        covered: usize,
        /// The number of data bytes in the packet.
        data: usize,
    },
    /// The value of one option is longer than 253 bytes.
    #[error(
        "the value of an option of type {kind} takes {length} bytes, but at most 253 fit; split it"
    )]
    OptionTooLong {
        /// Option type.
        kind: u8,
        /// The length of the value in bytes.
        length: usize,
    },
    /// The options do not fit the header (section 5.1: Data Offset has eight bits).
    #[error("the options take {length} bytes, but a {packet_type} has room for {maximum}")]
    OptionsTooLong {
        /// The type.
        packet_type: PacketType,
        /// The length of all options with padding, in bytes.
        length: usize,
        /// The maximum length, in bytes.
        maximum: usize,
    },
    /// The packet is longer than an IP packet can carry.
    #[error("the packet takes {length} bytes, but IP carries at most 65535; send less data")]
    PacketTooLong {
        /// The length of the packet in bytes.
        length: usize,
    },
}

/// Checks that `value` fits its `field`.
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
