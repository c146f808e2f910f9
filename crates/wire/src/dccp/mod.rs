//! DCCP packets (RFC 4340): typed values, and their bytes.

mod options;
mod packet;
mod sequence;

pub use options::{
    DccpOption, ElapsedTime, FeatureNumber, FeatureSide, LossInterval, OptionBytes, OptionList,
};
pub use packet::{Kind, Packet, PacketType, ResetCode, ServiceCode};
pub use sequence::SeqNo;
