//! The Internet checksum over a pseudo-header (RFC 1071, RFC 9293 section 3.1, RFC 8200
//! section 8.1).

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use etherparse::checksum::Sum16BitWords;

/// The addresses of an IP packet, as needed for the pseudo-header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AddressPair {
    /// IPv4.
    V4 {
        /// Sender.
        source: Ipv4Addr,
        /// Receiver.
        destination: Ipv4Addr,
    },
    /// IPv6.
    V6 {
        /// Sender.
        source: Ipv6Addr,
        /// Receiver.
        destination: Ipv6Addr,
    },
}

impl AddressPair {
    /// Creates a pair of addresses. Returns `None` if their IP versions differ.
    pub const fn new(source: IpAddr, destination: IpAddr) -> Option<Self> {
        match (source, destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => Some(Self::V4 {
                source,
                destination,
            }),
            (IpAddr::V6(source), IpAddr::V6(destination)) => Some(Self::V6 {
                source,
                destination,
            }),
            _ => None,
        }
    }

    /// Returns the sender's address.
    pub const fn source(&self) -> IpAddr {
        match *self {
            Self::V4 { source, .. } => IpAddr::V4(source),
            Self::V6 { source, .. } => IpAddr::V6(source),
        }
    }

    /// Returns the receiver's address.
    pub const fn destination(&self) -> IpAddr {
        match *self {
            Self::V4 { destination, .. } => IpAddr::V4(destination),
            Self::V6 { destination, .. } => IpAddr::V6(destination),
        }
    }

    /// Returns the pair for the opposite direction.
    #[must_use]
    pub const fn reversed(&self) -> Self {
        match *self {
            Self::V4 {
                source,
                destination,
            } => Self::V4 {
                source: destination,
                destination: source,
            },
            Self::V6 {
                source,
                destination,
            } => Self::V6 {
                source: destination,
                destination: source,
            },
        }
    }

    /// Returns the length of an IP header without options or extensions: 20 or 40 bytes.
    pub const fn ip_header_len(&self) -> usize {
        match self {
            Self::V4 { .. } => 20,
            Self::V6 { .. } => 40,
        }
    }

    /// Sums a transport packet's pseudo-header. `length` is that of header and data, whether or not
    /// the checksum covers them.
    fn pseudo_header_sum(&self, protocol: u8, length: u32) -> Sum16BitWords {
        let mut sum = Sum16BitWords::new();
        sum = match self {
            Self::V4 {
                source,
                destination,
            } => sum
                .add_4bytes(source.octets())
                .add_4bytes(destination.octets()),
            Self::V6 {
                source,
                destination,
            } => sum
                .add_16bytes(source.octets())
                .add_16bytes(destination.octets()),
        };
        sum.add_4bytes(length.to_be_bytes())
            .add_2bytes([0, protocol])
    }
}

/// How to treat the checksum field of a transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Checksum {
    /// Compute it with the pseudo-header of these addresses when emitting, and verify it when
    /// parsing.
    Over(AddressPair),
    /// Write zero when emitting, and ignore it when parsing, because another layer protects the
    /// packet, as UDP does for DCCP-UDP (RFC 6773 section 3.3).
    Ignored,
}

/// Computes the Internet checksum of a pseudo-header and `covered`, as written in the header. Zero
/// if `covered` already contains a correct checksum.
pub(crate) fn internet_checksum(
    addresses: AddressPair,
    protocol: u8,
    length: u32,
    covered: &[u8],
) -> u16 {
    u16::from_be(
        addresses
            .pseudo_header_sum(protocol, length)
            .add_slice(covered)
            .ones_complement(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 1071's own definition, word by word.
    fn by_definition(words: &[u8]) -> u16 {
        let mut sum = 0u32;
        for pair in words.chunks(2) {
            sum += u32::from(u16::from_be_bytes([
                pair[0],
                pair.get(1).copied().unwrap_or(0),
            ]));
        }
        while sum > 0xffff {
            sum = (sum >> 16) + (sum & 0xffff);
        }
        !(sum as u16)
    }

    #[test]
    fn equals_the_definition() {
        let data: Vec<u8> = (0..=250).collect();
        for length in [0, 1, 2, 31, 251] {
            let covered = &data[..length];
            let v4 = AddressPair::V4 {
                source: Ipv4Addr::new(10, 33, 0, 3),
                destination: Ipv4Addr::new(10, 33, 0, 2),
            };
            let mut words = vec![10, 33, 0, 3, 10, 33, 0, 2, 0, 33, 0, 255];
            words.extend_from_slice(covered);
            assert_eq!(
                internet_checksum(v4, 33, 255, covered),
                by_definition(&words)
            );

            let source: Ipv6Addr = "fd33::3".parse().unwrap();
            let destination: Ipv6Addr = "fd33::2".parse().unwrap();
            let v6 = AddressPair::V6 {
                source,
                destination,
            };
            let mut words = source.octets().to_vec();
            words.extend_from_slice(&destination.octets());
            words.extend_from_slice(&[0, 1, 0, 0, 0, 0, 0, 33]);
            words.extend_from_slice(covered);
            assert_eq!(
                internet_checksum(v6, 33, 65536, covered),
                by_definition(&words)
            );
        }
    }

    #[test]
    fn a_pair_has_one_version() {
        let v4: IpAddr = "10.0.0.1".parse().unwrap();
        let v6: IpAddr = "::1".parse().unwrap();
        assert_eq!(AddressPair::new(v4, v6), None);
        let pair = AddressPair::new(v4, "10.0.0.2".parse().unwrap()).unwrap();
        assert_eq!(pair.reversed().destination(), v4);
        assert_eq!(pair.ip_header_len(), 20);
    }
}
