//! Checks the simulator's typed packets against the wire format.

use std::net::Ipv4Addr;

use bytes::Bytes;
use skywave_wire::ip::{DEFAULT_HOP_LIMIT, IpPacket};
use skywave_wire::{AddressPair, Checksum, Ecn, dccp, tcp, udp};

use crate::error::WireMismatch;
use crate::world::packet::{Body, IP_HEADER};

/// The largest checksum offset a header extension may write: it has three bits.
const MOST_OFFSET: u8 = 7;

impl WireMismatch {
    pub(crate) fn new(body: &Body, error: &dyn std::error::Error) -> Self {
        Self {
            packet: format!("{body:?}"),
            reason: error.to_string(),
        }
    }
}

/// Encodes a packet with its IP header. `from` and `to` are indices of nodes.
pub(crate) fn encode(body: &Body, ecn: Ecn, from: u32, to: u32) -> Result<Bytes, WireMismatch> {
    let addresses = AddressPair::V4 {
        source: address(from),
        destination: address(to),
    };
    let mut bytes = Vec::new();
    let packet = to_ip(body, ecn, addresses)?;
    let emitted = packet.emit(&mut bytes);
    emitted.map_err(|error| WireMismatch::new(body, &error))?;
    Ok(bytes.into())
}

/// Returns the IP packet for a packet.
pub(crate) fn to_ip(
    body: &Body,
    ecn: Ecn,
    addresses: AddressPair,
) -> Result<IpPacket, WireMismatch> {
    let mismatch = |error: &dyn std::error::Error| WireMismatch::new(body, error);
    let checksum = Checksum::Over(addresses);
    let segment = |segment: &tcp::Segment| segment.to_bytes(checksum).map_err(|e| mismatch(&e));
    let identification = match body {
        Body::Tcp(segment) => segment.identification,
        Body::Bare(_) | Body::Dccp(_) | Body::Udp(_) => 0,
    };
    let (protocol, payload) = match body {
        Body::Bare(bare) => (tcp::IP_PROTOCOL, segment(&bare.clone().into())?),
        Body::Tcp(full) => (tcp::IP_PROTOCOL, segment(full)?),
        Body::Dccp(packet) => (
            dccp::IP_PROTOCOL,
            packet.to_bytes(checksum).map_err(|e| mismatch(&e))?,
        ),
        Body::Udp(datagram) => {
            let mut bytes = Vec::new();
            datagram
                .emit(checksum, &mut bytes)
                .map_err(|e| mismatch(&e))?;
            (udp::IP_PROTOCOL, bytes.into())
        }
    };
    Ok(IpPacket {
        addresses,
        ecn,
        identification,
        hop_limit: DEFAULT_HOP_LIMIT,
        protocol,
        payload,
    })
}

/// Returns the packet in an IP packet.
///
/// # Errors
/// The reason why it contains none.
pub(crate) fn from_ip(ip: &IpPacket) -> Result<Body, String> {
    let checksum = Checksum::Over(ip.addresses);
    match ip.protocol {
        tcp::IP_PROTOCOL => tcp::Segment::parse_with_offset(&ip.payload, checksum, MOST_OFFSET)
            .map(|segment| {
                Body::from(tcp::Segment {
                    identification: ip.identification,
                    ..segment
                })
            })
            .map_err(|error| error.to_string()),
        dccp::IP_PROTOCOL => dccp::Packet::parse(&ip.payload, checksum)
            .map(Body::from)
            .map_err(|error| error.to_string()),
        udp::IP_PROTOCOL => udp::Datagram::parse(&ip.payload, checksum)
            .map(Body::from)
            .map_err(|error| error.to_string()),
        other => Err(format!("its protocol is {other}: not TCP, DCCP or UDP")),
    }
}

/// Returns the address of a node: 10.0.0.1 plus its index.
pub(crate) fn address(node: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(Ipv4Addr::new(10, 0, 0, 1).to_bits() + node)
}

/// Encodes and parses a packet, and returns the result.
///
/// # Errors
/// [`WireMismatch`] if the result differs, or if its size is not the one that links use.
pub(crate) fn round_trip(body: &Body, ecn: Ecn) -> Result<Body, WireMismatch> {
    let mismatch = |reason: String| WireMismatch {
        packet: format!("{body:?}"),
        reason,
    };
    let bytes = encode(body, ecn, 0, 1)?;
    let size = IP_HEADER + body.size();
    if bytes.len() != size as usize {
        return Err(mismatch(format!(
            "links count {size} B, and it is {} B",
            bytes.len()
        )));
    }
    let ip = IpPacket::parse(&bytes).map_err(|error| mismatch(error.to_string()))?;
    let parsed = from_ip(&ip).map_err(mismatch)?;
    if parsed != *body || ip.ecn != ecn {
        return Err(mismatch(format!("it came out as {parsed:?}")));
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use skywave_wire::Payload;

    use super::*;

    fn segment(data: u32) -> Body {
        Body::from(tcp::Segment {
            source_port: 49_152,
            destination_port: 5001,
            seq: u32::MAX,
            ack: 7,
            flags: tcp::Flags::ACK,
            window: 1000,
            checksum_offset: 0,
            identification: 0,
            options: tcp::TcpOptions::default(),
            payload: Payload::Synthetic(data),
        })
    }

    fn datagram(ccval: u8) -> Body {
        Body::from(dccp::Packet {
            source_port: 49_152,
            destination_port: 5001,
            ccval,
            cscov: 0,
            extended: true,
            seq: dccp::SeqNo::new(1 << 40),
            kind: dccp::Kind::Data,
            options: dccp::OptionList::default(),
            payload: Payload::Synthetic(500),
        })
    }

    fn udp(data: u32) -> Body {
        Body::from(udp::Datagram {
            source_port: 49_152,
            destination_port: 5001,
            payload: Payload::Synthetic(data),
        })
    }

    #[test]
    fn what_comes_off_the_wire_is_the_packet() {
        for body in [segment(1000), segment(0), datagram(15), udp(80), udp(0)] {
            for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
                assert_eq!(round_trip(&body, ecn).as_ref(), Ok(&body));
            }
        }
    }

    #[test]
    fn what_a_header_cannot_hold_is_a_mismatch() {
        // CCVal has four bits; an IPv4 packet has at most 65,535 bytes.
        for body in [datagram(16), segment(65_500)] {
            let mismatch = round_trip(&body, Ecn::NotEct).unwrap_err();
            assert!(mismatch.to_string().contains("does not survive the wire"));
        }
    }
}
