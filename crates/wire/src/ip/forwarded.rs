//! IP packets as a router handles them: it reads and changes headers in place.

use etherparse::{IpSlice, Ipv4HeaderSlice, Ipv6HeaderSlice};

use super::{AddressPair, CHECKSUM, Ecn, ParseError, check_checksum};

/// What a router reads from the header of an IP packet.
///
/// To a router, fragments are packets like any other; only the first one has ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Forwarded {
    /// Source and destination.
    pub addresses: AddressPair,
    /// The Differentiated Services Code Point, 6 bits (RFC 2474).
    pub dscp: u8,
    /// The ECN field.
    pub ecn: Ecn,
    /// The protocol of the payload, behind IPv6's extension headers.
    pub protocol: u8,
    /// The length of the packet, without what a link layer has added.
    pub length: usize,
    /// Where the payload begins.
    pub payload: usize,
    /// Whether it is a fragment.
    pub is_fragment: bool,
}

impl Forwarded {
    /// Reads the headers of the packet at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// `bytes` is not a complete IP packet, or the checksum of its header is wrong.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let ip = IpSlice::from_slice(bytes)?;
        let (addresses, traffic_class) = match &ip {
            IpSlice::Ipv4(ip) => {
                let header = ip.header();
                check_checksum(&header)?;
                let addresses = AddressPair::V4 {
                    source: header.source_addr(),
                    destination: header.destination_addr(),
                };
                (addresses, header.dcp().value() << 2 | header.ecn().value())
            }
            IpSlice::Ipv6(ip) => {
                let header = ip.header();
                let addresses = AddressPair::V6 {
                    source: header.source_addr(),
                    destination: header.destination_addr(),
                };
                (addresses, header.traffic_class())
            }
        };
        let rest = ip.payload().payload;
        let payload = rest.as_ptr().addr() - bytes.as_ptr().addr();
        Ok(Self {
            addresses,
            dscp: traffic_class >> 2,
            ecn: Ecn::from_bits(traffic_class),
            protocol: ip.payload_ip_number().0,
            length: payload + rest.len(),
            payload,
            is_fragment: ip.is_fragmenting_payload(),
        })
    }

    /// Writes the ECN field of the packet at the start of `bytes`, and corrects IPv4's checksum.
    /// Bytes that do not begin with a complete IP header stay as they are.
    pub fn set_ecn(bytes: &mut [u8], ecn: Ecn) {
        if let Ok(header) = Ipv4HeaderSlice::from_slice(bytes) {
            let (old, checksum) = (header.ecn().value(), header.header_checksum());
            bytes[1] = bytes[1] & !0b11 | ecn.bits();
            // RFC 1624, equation 3: HC' = ~(~HC + ~m + m'). Version and length are the same.
            let sum = u32::from(!checksum) + u32::from(!u16::from(old)) + u32::from(ecn.bits());
            let sum = (sum & 0xffff) + (sum >> 16);
            let sum = (sum & 0xffff) + (sum >> 16);
            bytes[CHECKSUM..CHECKSUM + 2].copy_from_slice(&(!(sum as u16)).to_be_bytes());
        } else if Ipv6HeaderSlice::from_slice(bytes).is_ok() {
            bytes[1] = bytes[1] & !0b0011_0000 | ecn.bits() << 4;
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use etherparse::PacketBuilder;
    use proptest::prelude::*;

    use super::*;
    use crate::ip::IpPacket;

    fn packet(version: u8, traffic_class: u8, payload: &[u8]) -> Vec<u8> {
        let (source, destination) = ([192, 0, 2, 1], [198, 51, 100, 2]);
        let builder = match version {
            4 => PacketBuilder::ipv4(source, destination, 64),
            _ => PacketBuilder::ipv6([1; 16], [2; 16], 64),
        };
        let mut bytes = Vec::new();
        builder.udp(5001, 5002).write(&mut bytes, payload).unwrap();
        if version == 4 {
            bytes[1] = traffic_class;
            let header = Ipv4HeaderSlice::from_slice(&bytes).unwrap().to_header();
            let checksum = header.calc_header_checksum();
            bytes[CHECKSUM..CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
        } else {
            bytes[0] |= traffic_class >> 4;
            bytes[1] |= traffic_class << 4;
        }
        bytes
    }

    #[test]
    fn a_router_reads_what_the_header_says() {
        for (version, header) in [(4, 20), (6, 40)] {
            let mut bytes = packet(version, 46 << 2 | 0b10, b"hello");
            bytes.extend_from_slice(&[0; 7]);
            let read = Forwarded::parse(&bytes).unwrap();
            assert_eq!((read.dscp, read.ecn), (46, Ecn::Ect0));
            assert_eq!((read.protocol, read.payload), (17, header));
            assert_eq!(read.length, header + 8 + 5);
            assert!(!read.is_fragment);
        }
    }

    #[test]
    fn what_is_no_packet_is_refused_and_not_changed() {
        let mut broken = packet(4, 0, b"hello");
        broken[CHECKSUM] ^= 1;
        let error = Forwarded::parse(&broken).unwrap_err();
        assert!(matches!(error, ParseError::Checksum { .. }), "{error}");
        for bytes in [&[][..], &[0x45], &[0x60; 39], &[0; 60]] {
            assert!(Forwarded::parse(bytes).is_err());
            let mut changed = bytes.to_vec();
            Forwarded::set_ecn(&mut changed, Ecn::Ce);
            assert_eq!(changed, bytes);
        }
    }

    proptest! {
        /// Nothing else changes, and every checksum stays right: `IpPacket` checks IPv4's.
        #[test]
        fn every_code_point_can_replace_every_other(
            version in prop_oneof![Just(4u8), Just(6)],
            traffic_class: u8,
            ecn in 0u8..4,
            payload in proptest::collection::vec(any::<u8>(), 0..50),
        ) {
            let ecn = Ecn::from_bits(ecn);
            let mut bytes = packet(version, traffic_class, &payload);
            let before = Forwarded::parse(&bytes).unwrap();
            Forwarded::set_ecn(&mut bytes, ecn);
            let after = Forwarded::parse(&bytes).unwrap();
            prop_assert_eq!(after, Forwarded { ecn, ..before });
            let wanted = packet(version, traffic_class & !0b11 | ecn.bits(), &payload);
            // The checksum has two representations of zero.
            prop_assert_eq!(&bytes[12..], &wanted[12..]);
            prop_assert_eq!(&bytes[..10], &wanted[..10]);
            prop_assert!(IpPacket::parse(&Bytes::from(bytes)).is_ok());
        }

        #[test]
        fn any_bytes_are_a_packet_or_an_error(
            mut bytes in proptest::collection::vec(any::<u8>(), 0..120),
            first in prop_oneof![Just(0x45u8), Just(0x4f), Just(0x60), any::<u8>()],
        ) {
            if let Some(byte) = bytes.first_mut() {
                *byte = first;
            }
            if let Ok(read) = Forwarded::parse(&bytes) {
                prop_assert!(read.payload <= read.length && read.length <= bytes.len());
            }
            Forwarded::set_ecn(&mut bytes, Ecn::Ce);
        }
    }
}
