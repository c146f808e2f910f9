//! Captures: pcapng and classic pcap files, read from memory and written.
//!
//! [`Reader`] gives [`Frame`]s one by one; [`Frame::decode`] gives the packet in a frame, layer by
//! layer from [`Frame::network_layer`] up. [`Writer`] writes pcapng
//! with raw IP packets and nanosecond times.

mod decode;
mod link;
mod reader;
mod writer;

use bytes::Bytes;
use skywave_units::Instant;
use thiserror::Error;

pub use decode::{DecodeError, Decoded, Transport};
pub use link::{LinkError, LinkType};
pub use reader::Reader;
pub use writer::{InterfaceId, Writer};

/// One captured frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// When it was captured, since the capture's epoch (1970 for most programs, the start of the
    /// run for a simulation).
    pub time: Instant,
    /// What `bytes` start with.
    pub link: LinkType,
    /// Length of the frame before the capture cut it off.
    pub original_len: u32,
    /// What was captured of it.
    pub bytes: Bytes,
}

/// Why a capture cannot be read on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The file starts like neither pcapng nor pcap.
    #[error("byte 0: this is no pcapng and no pcap file")]
    Format,
    /// The file ends within a block or record.
    #[error("byte {offset}: the capture is cut off, {length} bytes are left of the last record")]
    Truncated {
        /// Where the incomplete record starts.
        offset: usize,
        /// Bytes that are left.
        length: usize,
    },
    /// A block or record contradicts itself.
    #[error("byte {offset}: the capture is corrupt: {reason}")]
    Corrupt {
        /// Where the record starts.
        offset: usize,
        /// What is wrong.
        reason: String,
    },
}

impl CaptureError {
    /// Bytes from the start of the file to the record that cannot be read.
    pub const fn offset(&self) -> usize {
        match self {
            Self::Format => 0,
            Self::Truncated { offset, .. } | Self::Corrupt { offset, .. } => *offset,
        }
    }
}
