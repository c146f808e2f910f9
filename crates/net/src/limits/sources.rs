//! Counts accepted connections by source.

use std::collections::HashMap;
use std::net::IpAddr;

/// The limits for one source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceLimits {
    /// For an IPv4 address or an IPv6 /64.
    pub(crate) address: usize,
    /// For an IPv4 /24 or an IPv6 /48.
    pub(crate) prefix: usize,
}

/// A group of addresses that probably belong to one party.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Group {
    V4Address([u8; 4]),
    V4Prefix([u8; 3]),
    /// One host may use all addresses of a /64 (RFC 7934).
    V6Address([u8; 8]),
    /// A common size for a site (RFC 6177).
    V6Prefix([u8; 6]),
}

impl Group {
    /// Returns the address and the prefix to which `address` belongs.
    fn of(address: IpAddr) -> [Self; 2] {
        match address.to_canonical() {
            IpAddr::V4(v4) => {
                let [a, b, c, d] = v4.octets();
                [Self::V4Address([a, b, c, d]), Self::V4Prefix([a, b, c])]
            }
            IpAddr::V6(v6) => {
                let [a, b, c, d, e, f, g, h, ..] = v6.octets();
                let host = Self::V6Address([a, b, c, d, e, f, g, h]);
                [host, Self::V6Prefix([a, b, c, d, e, f])]
            }
        }
    }
}

/// The number of accepted connections from each group. Holds nothing for groups without any.
#[derive(Debug, Default)]
pub(crate) struct Sources(HashMap<Group, usize>);

impl Sources {
    /// Returns whether `address` may have another connection.
    pub(crate) fn has_room(&self, address: IpAddr, limits: SourceLimits) -> bool {
        let count = |group| self.0.get(&group).copied().unwrap_or(0);
        let [host, prefix] = Group::of(address);
        count(host) < limits.address && count(prefix) < limits.prefix
    }

    pub(crate) fn add(&mut self, address: IpAddr) {
        for group in Group::of(address) {
            *self.0.entry(group).or_default() += 1;
        }
    }

    pub(crate) fn remove(&mut self, address: IpAddr) {
        for group in Group::of(address) {
            let Some(count) = self.0.get_mut(&group) else {
                continue;
            };
            *count -= 1;
            if *count == 0 {
                self.0.remove(&group);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: SourceLimits = SourceLimits {
        address: 2,
        prefix: 3,
    };

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn addresses_and_prefixes_are_counted() {
        let cases = [
            // An address, one of the same prefix, and one of another.
            ["192.0.2.1", "192.0.2.2", "192.0.3.1"],
            ["::ffff:192.0.2.1", "192.0.2.2", "::ffff:192.0.3.1"],
            ["2001:db8:1:2::1", "2001:db8:1:3::1", "2001:db8:2:2::1"],
        ];
        for [first, neighbour, stranger] in cases.map(|names| names.map(ip)) {
            let mut sources = Sources::default();
            sources.add(first);
            sources.add(first);
            assert!(!sources.has_room(first, LIMITS), "{first}");
            assert!(sources.has_room(neighbour, LIMITS));
            sources.add(neighbour);
            assert!(!sources.has_room(neighbour, LIMITS));
            assert!(sources.has_room(stranger, LIMITS));
            sources.remove(first);
            assert!(sources.has_room(first, LIMITS));
            sources.remove(first);
            sources.remove(neighbour);
            assert!(sources.0.is_empty());
        }
    }

    /// One IPv6 host has a complete /64.
    #[test]
    fn a_64_counts_as_one_address() {
        let mut sources = Sources::default();
        sources.add(ip("2001:db8::1"));
        sources.add(ip("2001:db8::2:3"));
        assert!(!sources.has_room(ip("2001:db8::4"), LIMITS));
    }
}
