//! The DCCP codec through its public interface: RFC 4340 sections 3.1, 5 and 9, RFC 4342, 5596 and
//! 5622.

mod option;
mod packet;

use bytes::Bytes;
use skywave_wire::dccp::{Kind, OptionList, Packet, ParseError, ResetCode, SeqNo, ServiceCode};
use skywave_wire::{AddressPair, Checksum, Payload};

pub(crate) const V4: Checksum = Checksum::Over(AddressPair::V4 {
    source: std::net::Ipv4Addr::new(192, 0, 2, 1),
    destination: std::net::Ipv4Addr::new(192, 0, 2, 2),
});

pub(crate) fn packet(kind: Kind) -> Packet {
    Packet {
        source_port: 0x1234,
        destination_port: 0x5678,
        ccval: 0,
        cscov: 0,
        extended: true,
        seq: SeqNo::new(0x0102_0304_0506),
        kind,
        options: OptionList::new(),
        payload: Payload::EMPTY,
    }
}

/// One packet of every type.
pub(crate) fn every_type() -> Vec<Packet> {
    let (ack, service) = (SeqNo::new(0x0a0b_0c0d_0e0f), ServiceCode(0xc0de_c0de));
    [
        Kind::Request { service },
        Kind::Response { ack, service },
        Kind::Data,
        Kind::Ack { ack },
        Kind::DataAck { ack },
        Kind::CloseReq { ack },
        Kind::Close { ack },
        Kind::Reset {
            ack,
            code: ResetCode::MANDATORY_ERROR,
            data: [7, 8, 9],
        },
        Kind::Sync { ack },
        Kind::SyncAck { ack },
        Kind::Listen { service },
    ]
    .map(packet)
    .into()
}

pub(crate) fn emitted(packet: &Packet) -> Vec<u8> {
    packet.to_bytes(Checksum::Ignored).unwrap().into()
}

pub(crate) fn parsed(bytes: &[u8]) -> Result<Packet, ParseError> {
    Packet::parse(&Bytes::copy_from_slice(bytes), Checksum::Ignored)
}
