//! Decodes the packet in a captured frame.

use core::fmt;

use bytes::Bytes;
use etherparse::{EtherType, IpNumber};
use thiserror::Error;

use super::icmp::{IcmpError, IcmpMessage};
use super::{Frame, LinkError};
use crate::ip::{self, IpPacket};
use crate::udp::{self, Datagram};
use crate::{Checksum, dccp, tcp};

/// The packet in a frame.
///
/// `Display` prints one line: addresses, the transport's packet, the ECN field if set, and a mark
/// if a checksum does not match.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decoded {
    /// The IP packet; its payload is decoded in `transport`.
    pub ip: IpPacket,
    /// The decoded transport packet.
    pub transport: Transport,
    /// The first checksum that does not match. Either the packet was damaged on its way, or it was
    /// captured at its sender, before the network device filled in the checksum.
    pub wrong_checksum: Option<DecodeError>,
}

/// The transport packet in a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transport {
    /// DCCP.
    Dccp(dccp::Packet),
    /// TCP.
    Tcp(tcp::Segment),
    /// UDP.
    Udp(Datagram),
    /// DCCP in a UDP datagram (RFC 6773).
    DccpUdp {
        /// UDP port of the sender.
        source_port: u16,
        /// UDP port of the receiver.
        destination_port: u16,
        /// The datagram's content.
        packet: dccp::Packet,
    },
    /// ICMP or ICMPv6.
    Icmp(IcmpMessage),
    /// Another IP packet: IP in IP (RFC 2003, RFC 4213) or GRE (RFC 2784).
    Tunnel(Box<Decoded>),
    /// A protocol that is not decoded; its number is in the IP packet.
    Other,
}

/// Why a frame cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// A fault in the link layer.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// A fault in the IP header.
    #[error("IP: {0}")]
    Ip(#[from] ip::ParseError),
    /// A fault in the DCCP packet.
    #[error("DCCP: {0}")]
    Dccp(#[from] dccp::ParseError),
    /// A fault in the TCP segment.
    #[error("TCP: {0}")]
    Tcp(#[from] tcp::ParseError),
    /// A fault in the UDP datagram.
    #[error("UDP: {0}")]
    Udp(#[from] udp::ParseError),
    /// A fault in the ICMP message.
    #[error("ICMP: {0}")]
    Icmp(#[from] IcmpError),
}

impl DecodeError {
    /// Returns whether the layer is whole, but its checksum does not match.
    const fn is_checksum(&self) -> bool {
        matches!(
            self,
            Self::Ip(ip::ParseError::Checksum { .. })
                | Self::Dccp(dccp::ParseError::Checksum { .. })
                | Self::Tcp(tcp::ParseError::Checksum { .. })
                | Self::Udp(udp::ParseError::Checksum { .. })
                | Self::Icmp(IcmpError::Checksum { .. })
        )
    }
}

impl Frame {
    /// Decodes the packet in the frame and verifies its checksums. UDP datagrams from or to one of
    /// `dccp_ports`, usually [`udp::DCCP_PORT`], contain DCCP.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] for the first malformed layer. A checksum that does not match is not an
    /// error: see [`Decoded::wrong_checksum`].
    pub fn decode(&self, dccp_ports: &[u16]) -> Result<Decoded, DecodeError> {
        Decoded::read(&self.network_layer()?, dccp_ports, MOST_TUNNELS)
    }
}

/// The most nested tunnels that are decoded; more have no use.
const MOST_TUNNELS: u32 = 8;

impl Decoded {
    /// Decodes an IP packet that may contain `tunnels` more, nested in one another.
    fn read(bytes: &Bytes, dccp_ports: &[u16], tunnels: u32) -> Result<Self, DecodeError> {
        let mut wrong = None;
        let ip = IpPacket::parse(bytes).or_else(|error| {
            note(&mut wrong, error.into())?;
            Ok::<_, DecodeError>(IpPacket::parse_ignoring_checksum(bytes)?)
        })?;
        let transport = match ip.protocol {
            dccp::IP_PROTOCOL => Transport::Dccp(read(&ip, dccp::Packet::parse, &mut wrong)?),
            tcp::IP_PROTOCOL => Transport::Tcp(read(&ip, tcp::Segment::parse, &mut wrong)?),
            udp::IP_PROTOCOL => {
                let datagram = read(&ip, Datagram::parse, &mut wrong)?;
                let ports = [datagram.source_port, datagram.destination_port];
                if ports.iter().any(|port| dccp_ports.contains(port)) {
                    Transport::DccpUdp {
                        source_port: datagram.source_port,
                        destination_port: datagram.destination_port,
                        // UDP's checksum protects the packet (RFC 6773 section 3.3).
                        packet: dccp::Packet::read(
                            datagram.payload.into_bytes(),
                            Checksum::Ignored,
                        )?,
                    }
                } else {
                    Transport::Udp(datagram)
                }
            }
            _ if IcmpMessage::is_in(&ip) => {
                let parse = |bytes: &Bytes, checksum| {
                    IcmpMessage::parse(bytes, ip.addresses, checksum, dccp_ports)
                };
                Transport::Icmp(read(&ip, parse, &mut wrong)?)
            }
            _ => match inner_packet(&ip).filter(|_| tunnels > 0) {
                Some(bytes) => {
                    let mut inner = Self::read(&bytes, dccp_ports, tunnels - 1)?;
                    // The mark is at the end of the line, once.
                    wrong = wrong.or(inner.wrong_checksum.take());
                    Transport::Tunnel(Box::new(inner))
                }
                None => Transport::Other,
            },
        };
        Ok(Self {
            ip,
            transport,
            wrong_checksum: wrong,
        })
    }
}

/// Returns the IP packet inside a tunnel's packet.
fn inner_packet(ip: &IpPacket) -> Option<Bytes> {
    match IpNumber(ip.protocol) {
        IpNumber::IPV4 | IpNumber::IPV6 => Some(ip.payload.clone()),
        IpNumber::GRE => {
            let [flags, version, protocol @ ..] = *ip.payload.first_chunk::<4>()?;
            let is_ip = matches!(
                EtherType(u16::from_be_bytes(protocol)),
                EtherType::IPV4 | EtherType::IPV6
            );
            // A checksum, a key and a sequence number (RFC 2890), of four bytes each.
            let optional = (flags & 0xb0).count_ones() as usize * 4;
            // Another version, or RFC 1701's source route.
            let is_unknown = version & 7 != 0 || flags & 0x40 != 0;
            let start = 4 + optional;
            (is_ip && !is_unknown && start <= ip.payload.len()).then(|| ip.payload.slice(start..))
        }
        _ => None,
    }
}

/// Parses the payload of an IP packet; if its checksum does not match, notes that in `wrong`.
fn read<T, E>(
    ip: &IpPacket,
    parse: impl Fn(&Bytes, Checksum) -> Result<T, E>,
    wrong: &mut Option<DecodeError>,
) -> Result<T, DecodeError>
where
    DecodeError: From<E>,
{
    parse(&ip.payload, Checksum::Over(ip.addresses)).or_else(|error| {
        note(wrong, error.into())?;
        Ok(parse(&ip.payload, Checksum::Ignored)?)
    })
}

/// Notes a checksum that does not match, unless there is one already. Any other error is returned.
fn note(wrong: &mut Option<DecodeError>, error: DecodeError) -> Result<(), DecodeError> {
    if !error.is_checksum() {
        return Err(error);
    }
    wrong.get_or_insert(error);
    Ok(())
}

impl Decoded {
    /// Returns the transport's name, for tables. In a tunnel, that of the innermost packet.
    pub const fn protocol(&self) -> &'static str {
        match &self.transport {
            Transport::Dccp(_) => "DCCP",
            Transport::Tcp(_) => "TCP",
            Transport::Udp(_) => "UDP",
            Transport::DccpUdp { .. } => "DCCP-UDP",
            Transport::Icmp(message) => message.protocol(),
            Transport::Tunnel(inner) => inner.protocol(),
            Transport::Other => "IP",
        }
    }
}

impl fmt::Display for Decoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} > {}: ", self.ip.source(), self.ip.destination())?;
        match &self.transport {
            Transport::Dccp(packet) => write!(f, "{packet}")?,
            Transport::Tcp(segment) => write!(f, "{segment}")?,
            Transport::Udp(datagram) => {
                let (from, to) = (datagram.source_port, datagram.destination_port);
                write!(f, "{from} > {to} {} bytes", datagram.payload.len())?;
            }
            Transport::DccpUdp {
                source_port,
                destination_port,
                packet,
            } => write!(f, "UDP {source_port} > {destination_port}: {packet}")?,
            Transport::Icmp(message) => write!(f, "{message}")?,
            Transport::Tunnel(inner) => {
                let name = IpNumber(self.ip.protocol).keyword_str().unwrap_or("tunnel");
                write!(f, "{name}: {inner}")?;
            }
            Transport::Other => {
                write!(
                    f,
                    "protocol {}, {} bytes",
                    self.ip.protocol,
                    self.ip.payload.len()
                )?;
            }
        }
        if self.ip.ecn.is_capable() {
            write!(f, " [{:?}]", self.ip.ecn)?;
        }
        if self.wrong_checksum.is_some() {
            write!(f, " [bad checksum]")?;
        }
        Ok(())
    }
}
