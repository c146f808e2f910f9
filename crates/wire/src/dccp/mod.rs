//! DCCP packets (RFC 4340) as typed values, and their encoding.
//!
//! [`Packet::parse`] decodes and [`Packet::emit`] encodes. [`Packet::encoded_len`] is the encoded
//! length without encoding. `Display` prints one line.

mod ack_vector;
mod codec;
mod data_checksum;
mod data_header;
mod display;
mod error;
mod feature_number;
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
pub use feature_number::FeatureNumber;
pub use load_vector::LoadVectorCell;
pub use option_types::{OptionOwner, OptionType};
pub use options::{DccpOption, ElapsedTime, FeatureSide, LossInterval, OptionBytes, OptionList};
pub use over_ip::IP_PROTOCOL;
pub use packet::{Kind, Packet, PacketType, ResetCode, ServiceCode};
pub use quoted::QuotedHeader;
pub use sequence::{Circular, SeqNo};
