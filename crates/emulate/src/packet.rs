//! IP packets in the network.

use std::net::{IpAddr, Ipv4Addr};

use skywave_path::{CLASSES, Packet, Routed};
use skywave_wire::Ecn;
use skywave_wire::ip::{Forwarded, ParseError};
use twox_hash::XxHash3_64;

/// The protocols whose header begins with the ports: TCP, UDP, DCCP, SCTP and UDP-Lite.
const WITH_PORTS: [u8; 5] = [6, 17, 33, 132, 136];

/// An IP packet on its way through the network.
///
/// Its traffic class, which selects the sub-queue of weighted queues, is that of its class selector
/// (RFC 2474 section 4.2.2): CS0 to CS3 are classes 0 to 3, and so are CS4 to CS7.
#[derive(Debug)]
pub struct IpBuffer {
    bytes: Vec<u8>,
    ecn: Ecn,
    class: u8,
    flow: u64,
    hop: u32,
    /// The host that it is for.
    pub(crate) to: u32,
    /// Whether the link it is on has changed its ECN field.
    pub(crate) is_marked: bool,
}

impl IpBuffer {
    /// Takes a packet as it came from a device. Anything that follows it in `bytes` is cut off.
    ///
    /// # Errors
    /// What is wrong with it, and the bytes.
    pub fn new(bytes: Vec<u8>) -> Result<Self, (ParseError, Vec<u8>)> {
        Self::read(bytes).map(|(packet, _)| packet)
    }

    /// Takes a packet as [`IpBuffer::new`] does, and also returns its destination.
    pub(crate) fn read(mut bytes: Vec<u8>) -> Result<(Self, IpAddr), (ParseError, Vec<u8>)> {
        let header = match Forwarded::parse(&bytes) {
            Ok(header) => header,
            Err(error) => return Err((error, bytes)),
        };
        bytes.truncate(header.length);
        let packet = Self {
            ecn: header.ecn,
            class: (header.dscp >> 3) % CLASSES as u8,
            flow: flow(&header, &bytes),
            hop: 0,
            to: 0,
            is_marked: false,
            bytes,
        };
        Ok((packet, header.addresses.destination()))
    }

    /// Returns the packet, from its IP header on.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the size of the packet's buffer, in bytes.
    pub(crate) fn buffer_size(&self) -> u64 {
        self.bytes.capacity() as u64
    }

    /// Returns its buffer.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Returns a hash of a packet's addresses, protocol and ports.
fn flow(header: &Forwarded, packet: &[u8]) -> u64 {
    let octets = |address| match address {
        IpAddr::V4(address) => Ipv4Addr::to_ipv6_mapped(&address).octets(),
        IpAddr::V6(address) => address.octets(),
    };
    let mut key = [0; 37];
    key[..16].copy_from_slice(&octets(header.addresses.source()));
    key[16..32].copy_from_slice(&octets(header.addresses.destination()));
    key[32] = header.protocol;
    if !header.is_fragment
        && WITH_PORTS.contains(&header.protocol)
        && let Some(ports) = packet.get(header.payload..header.payload + 4)
    {
        key[33..].copy_from_slice(ports);
    }
    XxHash3_64::oneshot(&key)
}

impl Packet for IpBuffer {
    fn size(&self) -> u32 {
        self.bytes.len() as u32
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        if ecn != self.ecn {
            Forwarded::set_ecn(&mut self.bytes, ecn);
            self.ecn = ecn;
            self.is_marked = true;
        }
    }

    fn flow(&self) -> u64 {
        self.flow
    }

    fn class(&self) -> u8 {
        self.class
    }
}

impl Routed for IpBuffer {
    fn hop(&self) -> u32 {
        self.hop
    }

    fn set_hop(&mut self, hop: u32) {
        self.hop = hop;
    }
}
