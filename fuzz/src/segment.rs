//! Any bytes are a TCP segment or an error, and what was parsed is emitted and parsed the same.

use bytes::Bytes;
use skywave_wire::tcp::{EmitError, Segment};
use skywave_wire::{AddressPair, Checksum};

use crate::handling::handle;

/// Reads and writes a segment.
pub fn fuzz(data: &[u8]) {
    let bytes = Bytes::copy_from_slice(data);
    let segment = match handle(1, || Segment::parse(&bytes, Checksum::Ignored)) {
        Ok(segment) => segment,
        Err(error) => {
            assert!(error.offset() <= bytes.len());
            return;
        }
    };
    let _ = segment.to_string();
    let pair = AddressPair::V4 {
        source: [1; 4].into(),
        destination: [2; 4].into(),
    };
    for checksum in [Checksum::Ignored, Checksum::Over(pair)] {
        match segment.to_bytes(checksum) {
            Ok(again) => {
                assert_eq!(again.len(), segment.encoded_len());
                assert_eq!(Segment::parse(&again, checksum).as_ref(), Ok(&segment));
            }
            Err(EmitError::SegmentTooLong { .. }) => {}
            Err(error) => panic!("{segment} was received but cannot be sent: {error}"),
        }
    }
}
