//! Any bytes are a capture or an error; its packets, written and read again, are the same.

use bytes::Bytes;
use skywave_wire::capture::{Frame, Reader, Writer};
use skywave_wire::ip::IpPacket;
use skywave_wire::{Checksum, dccp, tcp, udp};

use crate::handling::handle;

/// Reads the packets that a frame carries. Returns that of the network layer.
fn read(frame: &Frame) -> Option<Bytes> {
    let bytes = frame.network_layer().ok()?;
    let ip = IpPacket::parse(&bytes).ok()?;
    let checksum = Checksum::Over(ip.addresses);
    match ip.protocol {
        dccp::IP_PROTOCOL => drop(dccp::Packet::parse(&ip.payload, checksum)),
        tcp::IP_PROTOCOL => drop(tcp::Segment::parse(&ip.payload, checksum)),
        udp::IP_PROTOCOL => drop(udp::Datagram::parse(&ip.payload, checksum)),
        _ => {}
    }
    Some(bytes)
}

/// Reads a capture, and writes and reads its packets again.
pub fn fuzz(data: &[u8]) {
    let bytes = Bytes::copy_from_slice(data);
    let Ok(mut reader) = handle(0, || Reader::new(bytes)) else {
        return;
    };
    let mut writer = Writer::new(Vec::new()).expect("a Vec takes all");
    let link = writer.add_interface("link").expect("a Vec takes all");
    let mut packets = Vec::new();
    while let Some(frame) = handle(1, || reader.next()) {
        let frame = match frame {
            Ok(frame) => frame,
            Err(error) => {
                let is_compressed = data.starts_with(&[0x1f, 0x8b]);
                assert!(is_compressed || error.offset() <= data.len());
                break;
            }
        };
        let Some(bytes) = handle(0, || read(&frame)) else {
            continue;
        };
        writer
            .write(link, frame.time, &bytes, frame.original_len)
            .expect("a Vec takes all");
        packets.push((frame.time, frame.original_len, bytes));
    }
    let again: Vec<_> = Reader::new(writer.into_inner().into())
        .expect("what was written can be read")
        .map(|frame| frame.expect("what was written can be read"))
        .map(|frame| (frame.time, frame.original_len, frame.bytes))
        .collect();
    assert_eq!(again, packets);
}
