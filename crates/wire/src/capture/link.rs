//! Link layers of captures: finds the IP packet in a frame.

use bytes::Bytes;
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
    #[error("byte {offset}: the frame carries protocol {protocol:#06x}, not IP")]
    NotIp {
        /// The offset of the protocol's number.
        offset: usize,
        /// EtherType or address family.
        protocol: u32,
    },
}

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
                        protocol: family,
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
                protocol: other.into(),
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
        let arp = [[0; 12].as_slice(), &[8, 6, 0, 0]].concat();
        let error = frame(LinkType::ETHERNET, &arp).network_layer().unwrap_err();
        assert_eq!(
            error,
            LinkError::NotIp {
                offset: 12,
                protocol: 0x0806
            }
        );
        let error = frame(LinkType(147), &arp).network_layer().unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("link type 147 is not supported"),
            "{error}"
        );
    }
}
