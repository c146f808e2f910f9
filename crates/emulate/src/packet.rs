//! IP packets in the network.

use std::hash::{Hash, Hasher};

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
    pub fn new(mut bytes: Vec<u8>) -> Result<Self, (ParseError, Vec<u8>)> {
        let header = match Forwarded::parse(&bytes) {
            Ok(header) => header,
            Err(error) => return Err((error, bytes)),
        };
        bytes.truncate(header.length);
        let ports = (!header.is_fragment && WITH_PORTS.contains(&header.protocol))
            .then(|| bytes.get(header.payload..header.payload + 4))
            .flatten();
        let mut hasher = XxHash3_64::with_seed(0);
        (header.addresses, header.protocol, ports).hash(&mut hasher);
        Ok(Self {
            ecn: header.ecn,
            class: (header.dscp >> 3) % CLASSES as u8,
            flow: hasher.finish(),
            hop: 0,
            to: 0,
            is_marked: false,
            bytes,
        })
    }

    /// Returns the packet, from its IP header on.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns its buffer.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
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
