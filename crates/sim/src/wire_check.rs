//! Holding the simulator's typed packets against the wire.

use std::net::Ipv4Addr;

use bytes::Bytes;
use skywave_wire::ip::{DEFAULT_HOP_LIMIT, IpPacket};
use skywave_wire::{AddressPair, Checksum, Ecn, dccp, tcp};

use crate::packet::Body;

/// A packet that was not the same after it had been encoded and parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a packet does not survive the wire: {reason}; it was {packet}")]
pub struct WireMismatch {
    /// The packet before.
    pub packet: String,
    /// What went wrong.
    pub reason: String,
}

/// A packet with its IP header, as bytes. `from` and `to` number the nodes.
pub(crate) fn encode(body: &Body, ecn: Ecn, from: u32, to: u32) -> Result<Bytes, WireMismatch> {
    let addresses = AddressPair::V4 {
        source: address(from),
        destination: address(to),
    };
    let mismatch = |error: &dyn std::error::Error| WireMismatch {
        packet: format!("{body:?}"),
        reason: error.to_string(),
    };
    let (protocol, payload) = match body {
        Body::Tcp(segment) => (
            tcp::IP_PROTOCOL,
            segment
                .to_bytes(Checksum::Over(addresses))
                .map_err(|e| mismatch(&e))?,
        ),
        Body::Dccp(packet) => (
            dccp::IP_PROTOCOL,
            packet
                .to_bytes(Checksum::Over(addresses))
                .map_err(|e| mismatch(&e))?,
        ),
    };
    let mut bytes = Vec::new();
    IpPacket {
        addresses,
        ecn,
        hop_limit: DEFAULT_HOP_LIMIT,
        protocol,
        payload,
    }
    .emit(&mut bytes)
    .map_err(|error| mismatch(&error))?;
    Ok(bytes.into())
}

/// The address of a node: 10.0.0.0 and its index, from 1.
fn address(node: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(Ipv4Addr::new(10, 0, 0, 1).to_bits() + node)
}

/// Encodes a packet, parses it and answers with what came out.
///
/// # Errors
/// [`WireMismatch`] where that is not the same packet.
pub(crate) fn round_trip(body: &Body, ecn: Ecn) -> Result<Body, WireMismatch> {
    let mismatch = |reason: String| WireMismatch {
        packet: format!("{body:?}"),
        reason,
    };
    let bytes = encode(body, ecn, 0, 1)?;
    let ip = IpPacket::parse(&bytes).map_err(|error| mismatch(error.to_string()))?;
    let checksum = Checksum::Over(ip.addresses);
    let parsed = match body {
        Body::Tcp(_) => tcp::Segment::parse(&ip.payload, checksum)
            .map(Body::Tcp)
            .map_err(|error| mismatch(error.to_string()))?,
        Body::Dccp(_) => dccp::Packet::parse(&ip.payload, checksum)
            .map(Body::Dccp)
            .map_err(|error| mismatch(error.to_string()))?,
    };
    if parsed != *body || ip.ecn != ecn {
        return Err(mismatch(format!("it came out as {parsed:?}")));
    }
    Ok(parsed)
}
