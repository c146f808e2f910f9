//! Decodes the packet in a captured frame.

use core::fmt;

use thiserror::Error;

use super::{Frame, LinkError};
use crate::ip::{self, IpPacket};
use crate::udp::{self, Datagram};
use crate::{Checksum, dccp, tcp};

/// The packet in a frame.
///
/// `Display` prints one line: addresses, the transport's packet, and the ECN field if set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The IP packet; its payload is decoded in `transport`.
    pub ip: IpPacket,
    /// The decoded transport packet.
    pub transport: Transport,
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
}

impl Frame {
    /// Decodes the packet in the frame and verifies its checksums.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] for the first malformed layer.
    pub fn decode(&self) -> Result<Decoded, DecodeError> {
        let ip = IpPacket::parse(&self.network_layer()?)?;
        let checksum = Checksum::Over(ip.addresses);
        let transport = match ip.protocol {
            dccp::IP_PROTOCOL => Transport::Dccp(dccp::Packet::parse(&ip.payload, checksum)?),
            tcp::IP_PROTOCOL => Transport::Tcp(tcp::Segment::parse(&ip.payload, checksum)?),
            udp::IP_PROTOCOL => Transport::Udp(Datagram::parse(&ip.payload, checksum)?),
            _ => Transport::Other,
        };
        Ok(Decoded { ip, transport })
    }
}

impl Decoded {
    /// The transport's name, for tables.
    pub const fn protocol(&self) -> &'static str {
        match self.transport {
            Transport::Dccp(_) => "DCCP",
            Transport::Tcp(_) => "TCP",
            Transport::Udp(_) => "UDP",
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
        Ok(())
    }
}
