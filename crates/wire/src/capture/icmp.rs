//! ICMP (RFC 792) and ICMPv6 (RFC 4443) messages, in words.

use core::fmt;

use etherparse::checksum::Sum16BitWords;
use etherparse::icmpv4::DestUnreachableHeader as Unreachable;
use etherparse::icmpv6::DestUnreachableCode as Unreachable6;
use etherparse::{
    IcmpEchoHeader, Icmpv4Slice, Icmpv4Type, Icmpv6Slice, Icmpv6Type, IpNumber, LaxIpSlice, icmpv4,
    icmpv6,
};
use thiserror::Error;

use crate::checksum::internet_checksum;
use crate::ip::IpPacket;
use crate::{AddressPair, Checksum, dccp, tcp, udp};

/// An ICMP or ICMPv6 message.
///
/// `Display` names its type and code, and the packet that an error is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IcmpMessage {
    /// The Type field.
    pub icmp_type: u8,
    /// The Code field.
    pub code: u8,
    /// The packet that an error is about, if enough of it is quoted.
    pub quoted: Option<QuotedPacket>,
    meaning: Meaning,
    /// The number of bytes behind the header.
    length: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Meaning {
    V4(Icmpv4Type),
    V6(Icmpv6Type),
}

/// The packet that an ICMP error quotes, as far as the quoted start describes it.
///
/// `Display` prints addresses, protocol and ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuotedPacket {
    /// Source and destination.
    pub addresses: AddressPair,
    /// The protocol number of the payload.
    pub protocol: u8,
    /// Ports of the sender and of the receiver, of DCCP, TCP or UDP.
    pub ports: Option<(u16, u16)>,
    /// Ports of DCCP in a UDP datagram (RFC 6773).
    pub dccp_ports: Option<(u16, u16)>,
}

/// Why bytes are not an ICMP message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum IcmpError {
    /// Too few bytes for a header, or a length that a message of this type cannot have.
    #[error("{length} bytes are too few or too many for a message of its type")]
    Length {
        /// The number of bytes available.
        length: usize,
    },
    /// The checksum is wrong.
    #[error("the checksum is {found:#06x}, which does not match the message")]
    Checksum {
        /// The checksum in the message.
        found: u16,
    },
}

impl IcmpMessage {
    /// Returns whether a packet carries a message of the ICMP for its IP version.
    pub(super) const fn is_in(ip: &IpPacket) -> bool {
        let own = match ip.addresses {
            AddressPair::V4 { .. } => IpNumber::ICMP,
            AddressPair::V6 { .. } => IpNumber::IPV6_ICMP,
        };
        ip.protocol == own.0
    }

    /// Decodes the message `bytes` between `addresses`, and verifies its checksum if `checksum`
    /// requires it. `dccp_ports` are the UDP ports of DCCP.
    pub(super) fn parse(
        bytes: &[u8],
        addresses: AddressPair,
        checksum: Checksum,
        dccp_ports: &[u16],
    ) -> Result<Self, IcmpError> {
        let length = bytes.len();
        let wrong_length = |_| IcmpError::Length { length };
        let (meaning, fields, found, payload, sum) = match addresses {
            AddressPair::V4 { .. } => {
                let slice = Icmpv4Slice::from_slice(bytes).map_err(wrong_length)?;
                (
                    Meaning::V4(slice.icmp_type()),
                    (slice.type_u8(), slice.code_u8()),
                    slice.checksum(),
                    slice.payload(),
                    // There is no pseudo-header.
                    Sum16BitWords::new().add_slice(bytes).ones_complement(),
                )
            }
            AddressPair::V6 { .. } => {
                let slice = Icmpv6Slice::from_slice(bytes).map_err(wrong_length)?;
                (
                    Meaning::V6(slice.icmp_type()),
                    (slice.type_u8(), slice.code_u8()),
                    slice.checksum(),
                    slice.payload(),
                    internet_checksum(addresses, IpNumber::IPV6_ICMP.0, length as u32, bytes),
                )
            }
        };
        if sum != 0 && matches!(checksum, Checksum::Over(_)) {
            return Err(IcmpError::Checksum { found });
        }
        let quoted = meaning
            .is_error()
            .then(|| QuotedPacket::parse(payload, dccp_ports))
            .flatten();
        Ok(Self {
            icmp_type: fields.0,
            code: fields.1,
            quoted,
            meaning,
            length: payload.len(),
        })
    }

    /// Returns the protocol's name, for tables.
    pub(super) const fn protocol(&self) -> &'static str {
        match self.meaning {
            Meaning::V4(_) => "ICMP",
            Meaning::V6(_) => "ICMPv6",
        }
    }

    /// Returns the MTU of the link that a packet was too large for, in bytes. Routers older than
    /// RFC 1191 say 0.
    pub const fn mtu(&self) -> Option<u32> {
        match self.meaning {
            Meaning::V4(Icmpv4Type::DestinationUnreachable(Unreachable::FragmentationNeeded {
                next_hop_mtu,
            })) => Some(next_hop_mtu as u32),
            Meaning::V6(Icmpv6Type::PacketTooBig { mtu }) => Some(mtu),
            _ => None,
        }
    }
}

impl Meaning {
    /// Returns whether the message is about a packet, which it quotes.
    const fn is_error(&self) -> bool {
        use {Icmpv4Type as V4, Icmpv6Type as V6};
        matches!(
            self,
            Self::V4(
                V4::DestinationUnreachable(_)
                    | V4::Redirect(_)
                    | V4::TimeExceeded(_)
                    | V4::ParameterProblem(_)
            ) | Self::V6(
                V6::DestinationUnreachable(_)
                    | V6::PacketTooBig { .. }
                    | V6::TimeExceeded(_)
                    | V6::ParameterProblem(_)
            )
        )
    }

    /// Returns the meaning of the type, and of the code if it says more; `None` for unusual types.
    const fn words(&self) -> Option<(&'static str, &'static str)> {
        use {Icmpv4Type as V4, Icmpv6Type as V6};
        Some(match self {
            Self::V4(V4::DestinationUnreachable(code)) => {
                ("destination unreachable", unreachable_v4(code))
            }
            Self::V6(V6::DestinationUnreachable(code)) => {
                ("destination unreachable", unreachable_v6(*code))
            }
            Self::V6(V6::PacketTooBig { .. }) => ("packet too big", ""),
            Self::V4(V4::TimeExceeded(code)) => (
                "time exceeded",
                match code {
                    icmpv4::TimeExceededCode::TtlExceededInTransit => "TTL exceeded in transit",
                    icmpv4::TimeExceededCode::FragmentReassemblyTimeExceeded => {
                        "fragments were not reassembled in time"
                    }
                },
            ),
            Self::V6(V6::TimeExceeded(code)) => (
                "time exceeded",
                match code {
                    icmpv6::TimeExceededCode::HopLimitExceeded => "hop limit exceeded in transit",
                    icmpv6::TimeExceededCode::FragmentReassemblyTimeExceeded => {
                        "fragments were not reassembled in time"
                    }
                },
            ),
            Self::V4(V4::EchoRequest(_)) | Self::V6(V6::EchoRequest(_)) => ("echo request", ""),
            Self::V4(V4::EchoReply(_)) | Self::V6(V6::EchoReply(_)) => ("echo reply", ""),
            Self::V4(V4::ParameterProblem(_)) | Self::V6(V6::ParameterProblem(_)) => {
                ("parameter problem", "")
            }
            Self::V4(V4::Redirect(_)) | Self::V6(V6::Redirect) => ("redirect", ""),
            Self::V6(V6::RouterSolicitation) => ("router solicitation", ""),
            Self::V6(V6::RouterAdvertisement(_)) => ("router advertisement", ""),
            Self::V6(V6::NeighborSolicitation) => ("neighbor solicitation", ""),
            Self::V6(V6::NeighborAdvertisement(_)) => ("neighbor advertisement", ""),
            _ => return None,
        })
    }

    const fn echo(&self) -> Option<IcmpEchoHeader> {
        match self {
            Self::V4(Icmpv4Type::EchoRequest(echo) | Icmpv4Type::EchoReply(echo))
            | Self::V6(Icmpv6Type::EchoRequest(echo) | Icmpv6Type::EchoReply(echo)) => Some(*echo),
            _ => None,
        }
    }
}

/// Describes the codes of RFC 792, RFC 1122 section 3.2.2.1 and RFC 1812 section 5.2.7.1.
const fn unreachable_v4(code: &Unreachable) -> &'static str {
    match code {
        Unreachable::Network => "network unreachable",
        Unreachable::Host => "host unreachable",
        Unreachable::Protocol => "protocol unreachable",
        Unreachable::Port => "port unreachable",
        Unreachable::FragmentationNeeded { .. } => "fragmentation needed",
        Unreachable::SourceRouteFailed => "source route failed",
        Unreachable::NetworkUnknown => "network unknown",
        Unreachable::HostUnknown => "host unknown",
        Unreachable::Isolated => "source host isolated",
        Unreachable::NetworkProhibited => "network prohibited by an administrator",
        Unreachable::HostProhibited => "host prohibited by an administrator",
        Unreachable::TosNetwork => "network unreachable for this type of service",
        Unreachable::TosHost => "host unreachable for this type of service",
        Unreachable::FilterProhibited => "communication prohibited by an administrator",
        Unreachable::HostPrecedenceViolation => "host precedence violation",
        Unreachable::PrecedenceCutoff => "precedence too low",
    }
}

/// Describes the codes of RFC 4443 section 3.1.
const fn unreachable_v6(code: Unreachable6) -> &'static str {
    match code {
        Unreachable6::NoRoute => "no route",
        Unreachable6::Prohibited => "communication prohibited by an administrator",
        Unreachable6::BeyondScope => "beyond the scope of the source address",
        Unreachable6::Address => "address unreachable",
        Unreachable6::Port => "port unreachable",
        Unreachable6::SourceAddressFailedPolicy => "source address not allowed by policy",
        Unreachable6::RejectRoute => "route that rejects",
    }
}

impl fmt::Display for IcmpMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.meaning.words() {
            None => write!(f, "type {} code {}", self.icmp_type, self.code)?,
            Some((message, "")) => write!(f, "{message}")?,
            Some((message, code)) => write!(f, "{message}: {code}")?,
        }
        if let Some(mtu) = self.mtu() {
            write!(f, ", MTU {mtu}")?;
        }
        if let Some(IcmpEchoHeader { id, seq }) = self.meaning.echo() {
            write!(f, " id {id} seq {seq}")?;
        }
        match &self.quoted {
            Some(quoted) => write!(f, ", quotes {quoted}"),
            None => write!(f, ", {} bytes", self.length),
        }
    }
}

impl QuotedPacket {
    /// Reads the start of a packet, which may be cut anywhere behind its IP header.
    fn parse(bytes: &[u8], udp_ports: &[u16]) -> Option<Self> {
        let (ip, _) = LaxIpSlice::from_slice(bytes).ok()?;
        let addresses = AddressPair::new(ip.source_addr(), ip.destination_addr())?;
        let protocol = ip.payload_ip_number().0;
        let payload = ip.payload().payload;
        // Only the first fragment has ports, and this may be another.
        let has_ports = matches!(
            protocol,
            dccp::IP_PROTOCOL | tcp::IP_PROTOCOL | udp::IP_PROTOCOL
        ) && !ip.is_fragmenting_payload();
        let ports = has_ports.then(|| ports(payload)).flatten();
        let is_dccp = |(from, to)| udp_ports.contains(&from) || udp_ports.contains(&to);
        let dccp_ports = ports
            .filter(|&ports| protocol == udp::IP_PROTOCOL && is_dccp(ports))
            .and_then(|_| self::ports(payload.get(udp::Datagram::HEADER_LEN..)?));
        Some(Self {
            addresses,
            protocol,
            ports,
            dccp_ports,
        })
    }
}

/// Returns the ports with which the headers of DCCP, TCP and UDP begin.
fn ports(header: &[u8]) -> Option<(u16, u16)> {
    let [a, b, c, d] = *header.first_chunk()?;
    Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])))
}

impl fmt::Display for QuotedPacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (self.addresses.source(), self.addresses.destination());
        write!(f, "{from} > {to}: ")?;
        match IpNumber(self.protocol).keyword_str() {
            Some(name) => write!(f, "{name}")?,
            None => write!(f, "protocol {}", self.protocol)?,
        }
        if let Some((from, to)) = self.ports {
            write!(f, " {from} > {to}")?;
        }
        if let Some((from, to)) = self.dccp_ports {
            write!(f, ": DCCP {from} > {to}")?;
        }
        Ok(())
    }
}
