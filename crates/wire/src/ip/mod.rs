//! IPv4 and IPv6 packets (RFC 791, RFC 8200).

mod forwarded;

pub use forwarded::Forwarded;

use bytes::Bytes;
use core::net::IpAddr;
use etherparse::checksum::Sum16BitWords;
use etherparse::{IpEcn, IpNumber, IpSlice, Ipv4Header, Ipv4HeaderSlice, Ipv6Header, err};
use thiserror::Error;

use crate::{AddressPair, Ecn};

/// The offset of the Header Checksum of IPv4.
const CHECKSUM: usize = 10;

/// The hop limit of outgoing packets.
pub const DEFAULT_HOP_LIMIT: u8 = 64;

/// An IP packet: the header fields that a transport needs, and the payload.
///
/// Decoding skips options, extension headers, DSCP and flow label; encoding never writes them.
/// Fragments are rejected. Encoded IPv4 packets have Don't Fragment set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IpPacket {
    /// Source and destination.
    pub addresses: AddressPair,
    /// The ECN field.
    pub ecn: Ecn,
    /// IPv4's identification field. IPv6 has none: 0 when decoded, and not encoded.
    pub identification: u16,
    /// Time To Live or Hop Limit.
    pub hop_limit: u8,
    /// The protocol number of `payload`: 33 for DCCP, 6 for TCP, 17 for UDP.
    pub protocol: u8,
    /// The transport's packet.
    pub payload: Bytes,
}

/// Why bytes are not a complete IP packet.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Fewer bytes than a header or a length field requires.
    #[error("byte {offset}: the {what} takes {needed} bytes, but only {length} are left")]
    TooShort {
        /// The offset of the incomplete part.
        offset: usize,
        /// The name of the incomplete part.
        what: String,
        /// The number of bytes it requires.
        needed: usize,
        /// The number of bytes available.
        length: usize,
    },
    /// A field has an invalid value.
    #[error("invalid IP header: {reason}")]
    Header {
        /// The field and the reason.
        reason: String,
    },
    /// The checksum of an IPv4 header is wrong.
    #[error("the checksum of the IPv4 header is {found:#06x}, but should be {computed:#06x}")]
    Checksum {
        /// The checksum in the header.
        found: u16,
        /// The correct checksum.
        computed: u16,
    },
    /// The packet is a fragment.
    #[error("the packet is a fragment; reassembly is not supported")]
    Fragment,
}

impl ParseError {
    /// Returns the offset of the fault, in bytes from the start of the IP header.
    pub const fn offset(&self) -> usize {
        match self {
            Self::TooShort { offset, .. } => *offset,
            Self::Header { .. } => 0,
            Self::Checksum { .. } => CHECKSUM,
            Self::Fragment => 6,
        }
    }
}

/// A payload is longer than IP's length fields can describe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the payload takes {length} bytes, but at most {maximum} fit; send less data")]
#[non_exhaustive]
pub struct TooLong {
    /// The length of the payload in bytes.
    pub length: usize,
    /// The maximum length in bytes.
    pub maximum: usize,
}

impl From<err::ip::SliceError> for ParseError {
    fn from(error: err::ip::SliceError) -> Self {
        match error {
            err::ip::SliceError::Len(error) => Self::TooShort {
                offset: error.layer_start_offset,
                what: error.layer.to_string(),
                needed: error.required_len,
                length: error.len,
            },
            err::ip::SliceError::IpHeaders(error) => Self::Header {
                reason: error.to_string(),
            },
        }
    }
}

/// Verifies the checksum of an IPv4 header over all of its bytes, the reserved flag among them (RFC
/// 791 section 3.1).
fn check_checksum(header: &Ipv4HeaderSlice<'_>) -> Result<(), ParseError> {
    let bytes = header.slice();
    // Sum all bytes, as a receiver does, because the field may have either representation of zero.
    let whole = Sum16BitWords::new().add_slice(bytes);
    if whole.ones_complement() == 0 {
        return Ok(());
    }
    let rest = Sum16BitWords::new()
        .add_slice(&bytes[..CHECKSUM])
        .add_slice(&bytes[CHECKSUM + 2..]);
    Err(ParseError::Checksum {
        found: header.header_checksum(),
        computed: u16::from_be(rest.ones_complement()),
    })
}

impl IpPacket {
    /// Decodes the packet at the start of `bytes`; the payload shares them. Bytes beyond the
    /// header's length are ignored, because link layers add padding.
    ///
    /// # Errors
    ///
    /// `bytes` is not a complete IP packet: see [`ParseError`].
    pub fn parse(bytes: &Bytes) -> Result<Self, ParseError> {
        let ip = IpSlice::from_slice(bytes)?;
        if let IpSlice::Ipv4(ip) = &ip {
            check_checksum(&ip.header())?;
        }
        Self::read(bytes, &ip)
    }

    /// Decodes a packet like [`parse`](Self::parse), but accepts any checksum of an IPv4 header.
    #[cfg(feature = "capture")]
    pub(crate) fn parse_ignoring_checksum(bytes: &Bytes) -> Result<Self, ParseError> {
        Self::read(bytes, &IpSlice::from_slice(bytes)?)
    }

    fn read(bytes: &Bytes, ip: &IpSlice<'_>) -> Result<Self, ParseError> {
        if ip.is_fragmenting_payload() {
            return Err(ParseError::Fragment);
        }
        let (addresses, ecn, hop_limit, identification) = match ip {
            IpSlice::Ipv4(ip) => {
                let header = ip.header();
                let addresses = AddressPair::V4 {
                    source: header.source_addr(),
                    destination: header.destination_addr(),
                };
                (
                    addresses,
                    header.ecn().value(),
                    header.ttl(),
                    header.identification(),
                )
            }
            IpSlice::Ipv6(ip) => {
                let header = ip.header();
                let addresses = AddressPair::V6 {
                    source: header.source_addr(),
                    destination: header.destination_addr(),
                };
                (addresses, header.traffic_class(), header.hop_limit(), 0)
            }
        };
        Ok(Self {
            addresses,
            ecn: Ecn::from_bits(ecn),
            hop_limit,
            identification,
            protocol: ip.payload_ip_number().0,
            payload: bytes.slice_ref(ip.payload().payload),
        })
    }

    /// Appends the encoded packet to `out`.
    ///
    /// # Errors
    ///
    /// [`TooLong`]; `out` is unchanged.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), TooLong> {
        self.emit_header(out)?;
        out.extend_from_slice(&self.payload);
        Ok(())
    }

    /// Returns the sender's address.
    pub const fn source(&self) -> IpAddr {
        self.addresses.source()
    }

    /// Returns the receiver's address.
    pub const fn destination(&self) -> IpAddr {
        self.addresses.destination()
    }

    fn emit_header(&self, out: &mut Vec<u8>) -> Result<(), TooLong> {
        let length = self.payload.len();
        let maximum = match self.addresses {
            AddressPair::V4 { .. } => usize::from(u16::MAX) - Ipv4Header::MIN_LEN,
            AddressPair::V6 { .. } => usize::from(u16::MAX),
        };
        let too_long = TooLong { length, maximum };
        let payload_length = u16::try_from(length).map_err(|_| too_long)?;
        match self.addresses {
            AddressPair::V4 {
                source,
                destination,
            } => {
                let mut header = Ipv4Header::new(
                    payload_length,
                    self.hop_limit,
                    IpNumber(self.protocol),
                    source.octets(),
                    destination.octets(),
                )
                .map_err(|_| too_long)?;
                header.ecn = IpEcn::try_new(self.ecn.bits()).unwrap_or_default();
                header.identification = self.identification;
                header.dont_fragment = true;
                header.header_checksum = header.calc_header_checksum();
                out.extend_from_slice(&header.to_bytes());
            }
            AddressPair::V6 {
                source,
                destination,
            } => {
                let header = Ipv6Header {
                    traffic_class: self.ecn.bits(),
                    payload_length,
                    next_header: IpNumber(self.protocol),
                    hop_limit: self.hop_limit,
                    source: source.octets(),
                    destination: destination.octets(),
                    ..Ipv6Header::default()
                };
                out.extend_from_slice(&header.to_bytes());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pair(version: u8) -> AddressPair {
        let (source, destination) = match version {
            4 => ("192.0.2.1", "198.51.100.2"),
            _ => ("2001:db8::1", "2001:db8::2"),
        };
        AddressPair::new(source.parse().unwrap(), destination.parse().unwrap()).unwrap()
    }

    fn packet(version: u8) -> IpPacket {
        IpPacket {
            addresses: pair(version),
            ecn: Ecn::Ce,
            identification: 0,
            hop_limit: DEFAULT_HOP_LIMIT,
            protocol: 33,
            payload: Bytes::from_static(b"payload"),
        }
    }

    fn emitted(packet: &IpPacket) -> Vec<u8> {
        let mut out = Vec::new();
        packet.emit(&mut out).unwrap();
        out
    }

    #[test]
    fn headers_are_those_of_the_rfcs() {
        // The checksum is the complement of 4503 + 001b + 4000 + 4021 + c000 + 0201 + c633 + 6402.
        let v4 = [
            0x45, 0x03, 0, 27, 0, 0, 0x40, 0, 64, 33, 0x4e, 0x88, 192, 0, 2, 1, 198, 51, 100, 2,
        ];
        let bytes = emitted(&packet(4));
        assert_eq!(bytes[..20], v4);
        let bytes = emitted(&packet(6));
        assert_eq!(bytes[..8], [0x60, 0x30, 0, 0, 0, 7, 33, 64]);
        assert_eq!(bytes.len(), 47);
    }

    #[test]
    fn trailers_are_ignored_and_truncation_is_an_error() {
        for version in [4, 6] {
            let whole = packet(version);
            let mut bytes = emitted(&whole);
            for length in 0..bytes.len() {
                let cut = Bytes::copy_from_slice(&bytes[..length]);
                let error = IpPacket::parse(&cut).unwrap_err();
                assert!(error.offset() <= length, "{error}");
            }
            bytes.extend_from_slice(&[0; 13]);
            assert_eq!(IpPacket::parse(&bytes.into()), Ok(whole));
        }
    }

    #[test]
    fn wrong_checksums_and_fragments_are_errors() {
        let mut bytes = emitted(&packet(4));
        bytes[1] ^= 1;
        let error = IpPacket::parse(&bytes.into()).unwrap_err();
        assert!(
            matches!(error, ParseError::Checksum { .. }) && error.offset() == 10,
            "{error}"
        );

        let (header, payload) = Ipv4Header::from_slice(&emitted(&packet(4)))
            .map(|(h, p)| (h, p.to_vec()))
            .unwrap();
        let mut header = Ipv4Header {
            more_fragments: true,
            ..header
        };
        header.header_checksum = header.calc_header_checksum();
        let fragment = [header.to_bytes().as_slice(), &payload].concat();
        assert_eq!(IpPacket::parse(&fragment.into()), Err(ParseError::Fragment));
    }

    #[test]
    fn the_checksum_covers_the_reserved_flag() {
        let mut bytes = emitted(&packet(4));
        bytes[6] |= 0x80;
        let error = IpPacket::parse(&bytes.clone().into()).unwrap_err();
        let ParseError::Checksum { found, computed } = error else {
            panic!("{error}");
        };
        // The sum grows by 8000, and its carry comes around.
        assert_eq!((found, computed), (0x4e88, 0xce87));
        assert_eq!(Forwarded::parse(&bytes), Err(error));

        bytes[CHECKSUM..CHECKSUM + 2].copy_from_slice(&computed.to_be_bytes());
        assert_eq!(IpPacket::parse(&bytes.clone().into()), Ok(packet(4)));
        assert!(Forwarded::parse(&bytes).is_ok());
    }

    #[test]
    fn too_long_a_payload_is_an_error() {
        for (version, maximum) in [(4, 65515), (6, 65535)] {
            let mut packet = packet(version);
            packet.payload = vec![0; maximum].into();
            emitted(&packet);
            packet.payload = vec![0; maximum + 1].into();
            let error = packet.emit(&mut Vec::new());
            assert_eq!(
                error,
                Err(TooLong {
                    length: maximum + 1,
                    maximum
                })
            );
        }
    }

    proptest! {
        #[test]
        fn round_trip(
            version in prop_oneof![Just(4u8), Just(6)],
            ecn in 0u8..4,
            identification: u16,
            hop_limit: u8,
            protocol in prop_oneof![Just(33u8), Just(6), Just(17)],
            payload in proptest::collection::vec(any::<u8>(), 1..200),
        ) {
            let ecn = Ecn::from_bits(ecn);
            let payload = payload.into();
            let packet = IpPacket {
                addresses: pair(version),
                ecn,
                identification: if version == 4 { identification } else { 0 },
                hop_limit,
                protocol,
                payload,
            };
            prop_assert_eq!(IpPacket::parse(&emitted(&packet).into()), Ok(packet));
        }

        #[test]
        fn any_bytes_are_a_packet_or_an_error(mut bytes in proptest::collection::vec(any::<u8>(), 0..120), version in 0u8..8) {
            if let Some(first) = bytes.first_mut() {
                // Usually something that looks like IP.
                *first = [0x45, 0x60, 0x46, 0x6f, 0x45, 0x60, 0x4f, *first][usize::from(version)];
            }
            let length = bytes.len();
            if let Err(error) = IpPacket::parse(&bytes.into()) {
                prop_assert!(error.offset() <= length.max(10));
            }
        }
    }
}
