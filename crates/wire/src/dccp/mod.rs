//! DCCP packets (RFC 4340): typed values, and their bytes.
//!
//! [`Packet::parse`] and [`Packet::emit`] are the codec; [`Packet::encoded_len`] is the size on the
//! wire without emitting; `Display` is one readable line.

mod ack_vector;
mod codec;
mod data_checksum;
mod data_header;
mod display;
mod error;
mod load_vector;
mod option_codec;
mod option_layouts;
mod option_types;
mod options;
mod over_ip;
mod packet;
mod quoted;
mod sequence;

pub use ack_vector::{AckState, AckVectorCell};
pub use data_header::DataHeader;
pub use error::{EmitError, ParseError};
pub use load_vector::LoadVectorCell;
pub use option_types::{OptionOwner, OptionType};
pub use options::{
    DccpOption, ElapsedTime, FeatureNumber, FeatureSide, LossInterval, OptionBytes, OptionList,
};
pub use over_ip::IP_PROTOCOL;
pub use packet::{Kind, Packet, PacketType, ResetCode, ServiceCode};
pub use quoted::QuotedHeader;
pub use sequence::SeqNo;
