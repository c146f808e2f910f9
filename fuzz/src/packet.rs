//! Any bytes are a DCCP packet or an error, and what was parsed is emitted and parsed the same.

use bytes::Bytes;
use skywave_wire::dccp::{EmitError, Packet};
use skywave_wire::{AddressPair, Checksum};

use crate::handling::handle;

/// Reads and writes a packet.
pub fn fuzz(data: &[u8]) {
    let bytes = Bytes::copy_from_slice(data);
    let packet = match handle(1, || Packet::parse(&bytes, Checksum::Ignored)) {
        Ok(packet) => packet,
        Err(error) => {
            assert!(error.offset() <= bytes.len());
            return;
        }
    };
    let _ = packet.to_string();
    let _ = packet.verify_data_checksum();
    let pair = AddressPair::V6 {
        source: [1; 16].into(),
        destination: [2; 16].into(),
    };
    for checksum in [Checksum::Ignored, Checksum::Over(pair)] {
        match packet.to_bytes(checksum) {
            Ok(again) => {
                assert_eq!(again.len(), packet.encoded_len());
                // All but reserved bits and the checksum: options and data to the last bit.
                let fixed = packet.kind.packet_type().fixed_header_len(packet.extended);
                assert_eq!(again[fixed..], bytes[fixed..]);
                assert_eq!(Packet::parse(&again, checksum).as_ref(), Ok(&packet));
            }
            // What may be received but not sent.
            Err(EmitError::ListenFields | EmitError::PacketTooLong { .. }) => {}
            Err(error) => panic!("{packet} was received but cannot be sent: {error}"),
        }
    }
}
