//! Link layers of captures: finds the IP packet in a frame.

use core::fmt;

use bytes::Bytes;
use etherparse::EtherType;
use thiserror::Error;

use super::Frame;

/// The number of a link layer in a capture (tcpdump's LINKTYPE registry).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkType(pub u32);

impl LinkType {
    /// BSD loopback: four bytes of address family in the byte order of the capturing machine.
    pub const NULL: Self = Self(0);
    /// Ethernet.
    pub const ETHERNET: Self = Self(1);
    /// An IP packet without a link-layer header.
    pub const RAW_IP: Self = Self(101);
    /// OpenBSD loopback: [`LinkType::NULL`] in network byte order.
    pub const LOOP: Self = Self(108);
    /// Linux "cooked" capture.
    pub const LINUX_SLL: Self = Self(113);
    /// An IPv4 packet without a link-layer header.
    pub const IPV4: Self = Self(228);
    /// An IPv6 packet without a link-layer header.
    pub const IPV6: Self = Self(229);
    /// Linux "cooked" capture, version 2.
    pub const LINUX_SLL2: Self = Self(276);
}

/// Why a frame contains no IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The link type is not supported.
    #[error("link type {} is not supported; use Ethernet, raw IP, Linux cooked or loopback", .0.0)]
    UnknownLink(LinkType),
    /// The frame ends within its link-layer header.
    #[error("byte {length}: the frame ends inside its link-layer header")]
    TooShort {
        /// The length of the frame in bytes.
        length: usize,
    },
    /// The frame carries another protocol.
    #[error("byte {offset}: the frame carries {protocol}, not IP")]
    NotIp {
        /// The offset of the protocol's number.
        offset: usize,
        /// The protocol.
        protocol: NotIp,
    },
}

/// A protocol above the link layer that is not IP.
///
/// `Display` prints its name if it is a usual one, and its number otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotIp {
    /// A protocol with an EtherType, such as ARP.
    EtherType(u16),
    /// A frame whose length is in the place of an EtherType (IEEE 802.3), as spanning tree sends it.
    Length(u16),
    /// An address family of the capturing machine.
    Family(u32),
}

impl fmt::Display for NotIp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::EtherType(ETHERTYPE_ARP) => write!(f, "ARP"),
            Self::EtherType(number) => write!(f, "EtherType {number:#06x}"),
            Self::Length(_) => write!(f, "IEEE 802.3"),
            Self::Family(number) => write!(f, "address family {number}"),
        }
    }
}

const ETHERTYPE_ARP: u16 = EtherType::ARP.0;
/// The least EtherType; lower numbers are lengths (IEEE 802.3).
const ETHERTYPES: u16 = 0x0600;
const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
/// VLAN tags: 802.1Q, 802.1ad.
const ETHERTYPES_VLAN: [u16; 2] = [0x8100, 0x88a8];
/// Address families of NULL and LOOP: IPv4, then IPv6 on NetBSD and OpenBSD, FreeBSD, macOS.
const FAMILIES: [u32; 4] = [2, 24, 28, 30];

impl Frame {
    /// Returns the IP packet, including anything that the link layer appends.
    ///
    /// # Errors
    ///
    /// The frame carries another protocol, or ends before the packet: see [`LinkError`].
    pub fn network_layer(&self) -> Result<Bytes, LinkError> {
        let start = match self.link {
            LinkType::RAW_IP | LinkType::IPV4 | LinkType::IPV6 => 0,
            LinkType::ETHERNET => self.behind_ethertype(12)?,
            LinkType::LINUX_SLL => self.behind_ethertype(14)?,
            // The protocol comes first here; the packet follows the 20-byte header.
            LinkType::LINUX_SLL2 => {
                self.check_ethertype(0)?;
                20
            }
            LinkType::NULL | LinkType::LOOP => {
                let [a, b, c, d] = self.field(0)?;
                // The byte order is that of an unknown machine.
                let family = if a != 0 {
                    u32::from_le_bytes([a, b, c, d])
                } else {
                    u32::from_be_bytes([a, b, c, d])
                };
                if !FAMILIES.contains(&family) {
                    return Err(LinkError::NotIp {
                        offset: 0,
                        protocol: NotIp::Family(family),
                    });
                }
                4
            }
            other => return Err(LinkError::UnknownLink(other)),
        };
        let length = self.bytes.len();
        if start > length {
            return Err(LinkError::TooShort { length });
        }
        Ok(self.bytes.slice(start..))
    }

    /// Returns the end of an EtherType at `offset`, skipping VLAN tags.
    fn behind_ethertype(&self, mut offset: usize) -> Result<usize, LinkError> {
        while ETHERTYPES_VLAN.contains(&u16::from_be_bytes(self.field(offset)?)) {
            offset += 4;
        }
        self.check_ethertype(offset)?;
        Ok(offset + 2)
    }

    fn check_ethertype(&self, offset: usize) -> Result<(), LinkError> {
        match u16::from_be_bytes(self.field(offset)?) {
            ETHERTYPE_IPV4 | ETHERTYPE_IPV6 => Ok(()),
            other => Err(LinkError::NotIp {
                offset,
                protocol: if self.link == LinkType::ETHERNET && other < ETHERTYPES {
                    NotIp::Length(other)
                } else {
                    NotIp::EtherType(other)
                },
            }),
        }
    }

    fn field<const N: usize>(&self, offset: usize) -> Result<[u8; N], LinkError> {
        let field = self.bytes.get(offset..).and_then(|rest| rest.first_chunk());
        field.copied().ok_or(LinkError::TooShort {
            length: self.bytes.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use skywave_units::Instant;

    use super::*;

    fn frame(link: LinkType, bytes: &[u8]) -> Frame {
        let original_len = bytes.len() as u32;
        Frame {
            time: Instant::ZERO,
            link,
            original_len,
            bytes: Bytes::copy_from_slice(bytes),
        }
    }

    #[test]
    fn finds_the_packet_behind_every_link_layer() {
        let ethernet = [[0; 12].as_slice(), &[8, 0]].concat();
        let vlan = [
            [0; 12].as_slice(),
            &[0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 0x86, 0xdd],
        ]
        .concat();
        let sll = [[0; 14].as_slice(), &[8, 0]].concat();
        let sll2 = [[0x86, 0xdd].as_slice(), &[0; 18]].concat();
        for (link, header) in [
            (LinkType::RAW_IP, [].as_slice()),
            (LinkType::IPV4, &[]),
            (LinkType::IPV6, &[]),
            (LinkType::ETHERNET, &ethernet),
            (LinkType::ETHERNET, &vlan),
            (LinkType::LINUX_SLL, &sll),
            (LinkType::LINUX_SLL2, &sll2),
            (LinkType::NULL, &[2, 0, 0, 0]),
            (LinkType::NULL, &[0, 0, 0, 30]),
            (LinkType::LOOP, &[0, 0, 0, 24]),
        ] {
            let whole = [header, b"packet"].concat();
            let packet = frame(link, &whole).network_layer();
            assert_eq!(packet.as_deref(), Ok(b"packet".as_slice()), "{link:?}");
            for length in 0..header.len() {
                let error = frame(link, &whole[..length]).network_layer().unwrap_err();
                assert_eq!(error, LinkError::TooShort { length }, "{link:?}");
            }
        }
    }

    #[test]
    fn other_protocols_and_links_are_errors() {
        use LinkType as L;
        for (link, offset, number, protocol, name) in [
            (L::ETHERNET, 12, 0x0806, NotIp::EtherType(0x0806), "ARP"),
            (
                L::ETHERNET,
                12,
                0x88cc,
                NotIp::EtherType(0x88cc),
                "EtherType 0x88cc",
            ),
            (L::ETHERNET, 12, 38, NotIp::Length(38), "IEEE 802.3"),
            (
                L::LINUX_SLL,
                14,
                12,
                NotIp::EtherType(12),
                "EtherType 0x000c",
            ),
            (L::LINUX_SLL2, 0, 0x0806, NotIp::EtherType(0x0806), "ARP"),
            (L::LOOP, 2, 7, NotIp::Family(7), "address family 7"),
        ] {
            let mut bytes = [0; 20];
            bytes[offset..offset + 2].copy_from_slice(&u16::to_be_bytes(number));
            let error = frame(link, &bytes).network_layer().unwrap_err();
            // A family is a field of four bytes.
            let offset = if link == L::LOOP { 0 } else { offset };
            assert_eq!(error, LinkError::NotIp { offset, protocol });
            assert_eq!(
                error.to_string(),
                format!("byte {offset}: the frame carries {name}, not IP")
            );
        }
        let error = frame(LinkType(147), &[0; 20]).network_layer().unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("link type 147 is not supported"),
            "{error}"
        );
    }
}
