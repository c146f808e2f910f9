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
    /// PPP, with or without HDLC's address and control fields (RFC 1662).
    pub const PPP: Self = Self(9);
    /// [`LinkType::RAW_IP`] under its number on most systems, which some programs write.
    pub const RAW_IP_BSD: Self = Self(12);
    /// [`LinkType::RAW_IP`] under its number on OpenBSD.
    pub const RAW_IP_OPENBSD: Self = Self(14);
    /// PPP in HDLC-like frames (RFC 1662).
    pub const PPP_HDLC: Self = Self(50);
    /// PPP over Ethernet (RFC 2516), without the Ethernet header.
    pub const PPP_ETHER: Self = Self(51);
    /// An IP packet without a link-layer header.
    pub const RAW_IP: Self = Self(101);
    /// IEEE 802.11.
    pub const IEEE802_11: Self = Self(105);
    /// OpenBSD loopback: [`LinkType::NULL`] in network byte order.
    pub const LOOP: Self = Self(108);
    /// Linux "cooked" capture.
    pub const LINUX_SLL: Self = Self(113);
    /// IEEE 802.11 behind a radiotap header.
    pub const IEEE802_11_RADIOTAP: Self = Self(127);
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
    #[error("link type {} is not supported; use Ethernet, raw IP, Linux cooked, loopback, PPP or 802.11", .0.0)]
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
    /// A protocol with a number of PPP's, such as LCP.
    Ppp(u16),
    /// MPLS with something other than IP behind its labels.
    Mpls,
    /// An IEEE 802.11 frame that is encrypted.
    Encrypted,
    /// An IEEE 802.11 frame without data, such as a beacon, or with several units of data.
    Ieee80211,
}

impl fmt::Display for NotIp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::EtherType(ETHERTYPE_ARP) => write!(f, "ARP"),
            Self::EtherType(number) => write!(f, "EtherType {number:#06x}"),
            Self::Length(_) => write!(f, "IEEE 802.3"),
            Self::Family(number) => write!(f, "address family {number}"),
            Self::Ppp(number) => write!(f, "PPP protocol {number:#06x}"),
            Self::Mpls => write!(f, "MPLS"),
            Self::Encrypted => write!(f, "encrypted IEEE 802.11"),
            Self::Ieee80211 => write!(f, "IEEE 802.11"),
        }
    }
}

const ETHERTYPE_ARP: u16 = EtherType::ARP.0;
/// The least EtherType; lower numbers are lengths (IEEE 802.3).
const ETHERTYPES: u16 = 0x0600;
const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
/// VLAN tags: 802.1Q, 802.1ad, and 802.1ad before the standard.
const ETHERTYPES_VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// MPLS (RFC 3032): unicast, multicast.
const ETHERTYPES_MPLS: [u16; 2] = [0x8847, 0x8848];
const ETHERTYPE_PPPOE_SESSION: u16 = 0x8864;
/// LLC and SNAP headers before an EtherType (RFC 1042).
const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];
/// IEEE 802.2 in the place of an EtherType of a cooked capture.
const SLL_LLC: u16 = 4;
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
            LinkType::RAW_IP
            | LinkType::RAW_IP_BSD
            | LinkType::RAW_IP_OPENBSD
            | LinkType::IPV4
            | LinkType::IPV6 => 0,
            LinkType::ETHERNET => self.behind_ethertype(12)?,
            LinkType::LINUX_SLL => self.behind_ethertype(14)?,
            // The protocol comes first here; its data follows the 20-byte header.
            LinkType::LINUX_SLL2 => self.behind_header(0, 20)?,
            LinkType::PPP | LinkType::PPP_HDLC => self.behind_ppp(0)?,
            LinkType::PPP_ETHER => self.behind_pppoe(0)?,
            LinkType::IEEE802_11 => self.behind_ieee80211(0)?,
            LinkType::IEEE802_11_RADIOTAP => {
                let length = u16::from_le_bytes(self.field(2)?);
                self.behind_ieee80211(length.into())?
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
                    return not_ip(0, NotIp::Family(family));
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

    /// Returns where the IP packet of the EtherType at `offset` begins.
    fn behind_ethertype(&self, offset: usize) -> Result<usize, LinkError> {
        self.behind_header(offset, offset + 2)
    }

    /// Returns where the IP packet of the EtherType at `offset` begins. What the EtherType stands for
    /// begins at `data`.
    fn behind_header(&self, mut offset: usize, mut data: usize) -> Result<usize, LinkError> {
        loop {
            let ethertype = u16::from_be_bytes(self.field(offset)?);
            if ETHERTYPES_VLAN.contains(&ethertype) {
                (offset, data) = (data + 2, data + 4);
                continue;
            }
            let is_llc = match self.link {
                LinkType::ETHERNET => ethertype < ETHERTYPES,
                LinkType::LINUX_SLL | LinkType::LINUX_SLL2 => ethertype == SLL_LLC,
                _ => false,
            };
            if is_llc && self.field(data).is_ok_and(|header| header == SNAP) {
                (offset, data) = (data + SNAP.len(), data + SNAP.len() + 2);
                continue;
            }
            return match ethertype {
                ETHERTYPE_IPV4 | ETHERTYPE_IPV6 => Ok(data),
                ETHERTYPE_PPPOE_SESSION => self.behind_pppoe(data),
                _ if ETHERTYPES_MPLS.contains(&ethertype) => self.behind_mpls(data),
                other if self.link == LinkType::ETHERNET && is_llc => {
                    not_ip(offset, NotIp::Length(other))
                }
                other => not_ip(offset, NotIp::EtherType(other)),
            };
        }
    }

    /// Returns where the IP packet behind a stack of MPLS labels begins (RFC 3032).
    fn behind_mpls(&self, mut offset: usize) -> Result<usize, LinkError> {
        loop {
            let [_, _, bottom, _] = self.field(offset)?;
            offset += 4;
            if bottom & 1 == 1 {
                break;
            }
        }
        // Only the routers know what the labels stand for.
        let [first] = self.field(offset)?;
        match first >> 4 {
            4 | 6 => Ok(offset),
            _ => not_ip(offset, NotIp::Mpls),
        }
    }

    /// Returns where the IP packet behind a PPPoE header begins (RFC 2516).
    fn behind_pppoe(&self, offset: usize) -> Result<usize, LinkError> {
        self.behind_ppp(offset + 6)
    }

    /// Returns where the IP packet behind a PPP header begins (RFC 1661), which may be compressed.
    fn behind_ppp(&self, mut offset: usize) -> Result<usize, LinkError> {
        if self.field(offset)? == [0xff, 3] {
            offset += 2;
        }
        let [first] = self.field(offset)?;
        let (protocol, data) = if first & 1 == 1 {
            (first.into(), offset + 1)
        } else {
            (u16::from_be_bytes(self.field(offset)?), offset + 2)
        };
        match protocol {
            0x0021 | 0x0057 => Ok(data),
            0x0281 | 0x0283 => self.behind_mpls(data),
            other => not_ip(offset, NotIp::Ppp(other)),
        }
    }

    /// Returns where the IP packet of an IEEE 802.11 frame at `offset` begins.
    fn behind_ieee80211(&self, offset: usize) -> Result<usize, LinkError> {
        let [control, flags] = self.field(offset)?;
        let (kind, subtype) = (control >> 2 & 3, control >> 4);
        // Data frames are of kind 2; the bit 4 of their subtype says that they have no data.
        if kind != 2 || subtype & 4 != 0 {
            return not_ip(offset, NotIp::Ieee80211);
        }
        if flags & 0x40 != 0 {
            return not_ip(offset, NotIp::Encrypted);
        }
        let mut data = offset + 24;
        if flags & 3 == 3 {
            // From one access point to another: a fourth address.
            data += 6;
        }
        if subtype & 8 != 0 {
            let [quality, _] = self.field(data)?;
            if quality & 0x80 != 0 {
                return not_ip(offset, NotIp::Ieee80211);
            }
            data += if flags & 0x80 == 0 { 2 } else { 6 };
        }
        if self.field(data)? != SNAP {
            return not_ip(data, NotIp::Ieee80211);
        }
        self.behind_ethertype(data + SNAP.len())
    }

    fn field<const N: usize>(&self, offset: usize) -> Result<[u8; N], LinkError> {
        let field = self.bytes.get(offset..).and_then(|rest| rest.first_chunk());
        field.copied().ok_or(LinkError::TooShort {
            length: self.bytes.len(),
        })
    }
}

const fn not_ip<T>(offset: usize, protocol: NotIp) -> Result<T, LinkError> {
    Err(LinkError::NotIp { offset, protocol })
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
        let ethernet_of = |payload: &[u8]| [&[0; 12], payload].concat();
        let qinq = ethernet_of(&[0x91, 0, 0, 1, 0x81, 0, 0, 2, 8, 0]);
        let mpls = ethernet_of(&[0x88, 0x47, 0, 0, 0, 64, 0, 0, 1, 64]);
        let pppoe = ethernet_of(&[0x88, 0x64, 0x11, 0, 0, 1, 0, 9, 0, 0x21]);
        let snap = [&SNAP[..], &[8, 0]].concat();
        let wifi = [&[8, 1], [0; 22].as_slice(), &snap].concat();
        // With an access point's fourth address and a quality of service.
        let quality = [&[0x88, 3], [0; 30].as_slice(), &snap].concat();
        let radiotap = [&[0, 0, 8, 0, 0, 0, 0, 0], wifi.as_slice()].concat();
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
            (LinkType::RAW_IP_BSD, &[]),
            (LinkType::RAW_IP_OPENBSD, &[]),
            (LinkType::ETHERNET, &qinq),
            (LinkType::ETHERNET, &mpls),
            (LinkType::ETHERNET, &pppoe),
            (LinkType::PPP, &[0xff, 3, 0, 0x21]),
            (LinkType::PPP, &[0x57]),
            (LinkType::PPP_HDLC, &[0, 0x57]),
            (LinkType::PPP_ETHER, &pppoe[14..]),
            (LinkType::IEEE802_11, &wifi),
            (LinkType::IEEE802_11, &quality),
            (LinkType::IEEE802_11_RADIOTAP, &radiotap),
        ] {
            // An IP packet, as far as MPLS looks at it.
            let whole = [header, b"Epacket"].concat();
            let packet = frame(link, &whole).network_layer();
            assert_eq!(packet.as_deref(), Ok(b"Epacket".as_slice()), "{link:?}");
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
            (L::PPP, 0, 0xc021, NotIp::Ppp(0xc021), "PPP protocol 0xc021"),
            (L::IEEE802_11, 0, 0x8000, NotIp::Ieee80211, "IEEE 802.11"),
            (
                L::IEEE802_11,
                0,
                0x0840,
                NotIp::Encrypted,
                "encrypted IEEE 802.11",
            ),
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
        let mpls = [&[0; 12][..], &[0x88, 0x47, 0, 0, 1, 64, 0x10]].concat();
        let error = frame(L::ETHERNET, &mpls).network_layer().unwrap_err();
        assert_eq!(error.to_string(), "byte 18: the frame carries MPLS, not IP");
        // IEEE 802.3 with SNAP, as an EtherType would be.
        let snap = [&[0; 12][..], &[0, 38], &SNAP, &[8, 0], b"packet"].concat();
        let packet = frame(L::ETHERNET, &snap).network_layer();
        assert_eq!(packet.as_deref(), Ok(b"packet".as_slice()));
        let error = frame(LinkType(147), &[0; 20]).network_layer().unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("link type 147 is not supported"),
            "{error}"
        );
    }
}
