//! Any bytes are a capture or an error; its packets, written and read again, are the same.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use skywave_wire::capture::{Reader, Writer};
use skywave_wire::ip::IpPacket;
use skywave_wire::{Checksum, dccp, tcp, udp};

fuzz_target!(|data: &[u8]| {
    let Ok(reader) = Reader::new(Bytes::copy_from_slice(data)) else {
        return;
    };
    let mut writer = Writer::new(Vec::new()).expect("a Vec takes all");
    let link = writer.add_interface("link").expect("a Vec takes all");
    let mut packets = Vec::new();
    for frame in reader {
        let frame = match frame {
            Ok(frame) => frame,
            Err(error) => {
                assert!(error.offset() <= data.len());
                break;
            }
        };
        let Ok(bytes) = frame.network_layer() else {
            continue;
        };
        let Ok(ip) = IpPacket::parse(&bytes) else {
            continue;
        };
        let checksum = Checksum::Over(ip.addresses);
        match ip.protocol {
            dccp::IP_PROTOCOL => drop(dccp::Packet::parse(&ip.payload, checksum)),
            tcp::IP_PROTOCOL => drop(tcp::Segment::parse(&ip.payload, checksum)),
            udp::IP_PROTOCOL => drop(udp::Datagram::parse(&ip.payload, checksum)),
            _ => {}
        }
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
});
