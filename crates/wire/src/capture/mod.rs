//! Captures: reads pcapng and classic pcap files from memory, compressed or not, and writes pcapng.
//!
//! [`Reader`] iterates over [`Frame`]s. [`Frame::decode`] decodes the packet in a frame, layer by
//! layer from [`Frame::network_layer`] up. [`Writer`] writes pcapng with raw IP packets and
//! nanosecond timestamps.

mod decode;
mod gzip;
mod icmp;
mod link;
mod pcapng;
mod reader;
mod skipped;
mod writer;

use bytes::Bytes;
use skywave_units::Instant;
use thiserror::Error;

pub use decode::{DecodeError, Decoded, Transport};
pub use icmp::{IcmpError, IcmpMessage, QuotedPacket};
pub use link::{LinkError, LinkType, NotIp};
pub use reader::Reader;
pub use skipped::{Flaw, SkippedParts};
pub use writer::{InterfaceId, Writer};

/// One captured frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// When it was captured, relative to the capture's epoch (1970 for most programs, the start of
    /// the run for a simulation).
    pub time: Instant,
    /// The type of the link-layer header at the start of `bytes`.
    pub link: LinkType,
    /// The length of the original frame, which the capture may have truncated.
    pub original_len: u32,
    /// The captured bytes.
    pub bytes: Bytes,
}

/// Why a capture cannot be read further.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The file is neither pcapng nor pcap.
    #[error("byte 0: this is neither a pcapng nor a pcap file")]
    Format,
    /// A compressed file is truncated, corrupt or too large.
    #[error("byte {offset} of the uncompressed capture: {reason}")]
    Gzip {
        /// The number of bytes that were uncompressed.
        offset: usize,
        /// What is wrong.
        reason: String,
    },
    /// The file ends within a block or record.
    #[error(
        "byte {offset}: the capture is truncated: only {length} bytes of the last record are present"
    )]
    Truncated {
        /// The offset of the incomplete record.
        offset: usize,
        /// The number of bytes left.
        length: usize,
    },
    /// A block or record is inconsistent.
    #[error("byte {offset}: the capture is corrupt: {reason}")]
    Corrupt {
        /// The offset of the record.
        offset: usize,
        /// What is wrong.
        reason: String,
    },
}

impl CaptureError {
    /// Returns the offset in the uncompressed file of the record that cannot be read, in bytes.
    pub const fn offset(&self) -> usize {
        match self {
            Self::Format => 0,
            Self::Gzip { offset, .. }
            | Self::Truncated { offset, .. }
            | Self::Corrupt { offset, .. } => *offset,
        }
    }
}
