//! The addresses of a connection, and the system's route between them.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;

use nix::libc;
use nix::sys::socket::{getsockopt, sockopt};
use skywave_wire::{AddressPair, Checksum};
use socket2::{Domain, Protocol, Socket, Type};

/// The encapsulation of DCCP packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encapsulation {
    /// UDP datagrams.
    Udp,
    /// IP packets.
    Ip,
}

/// The common properties of an endpoint's sockets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Local {
    pub(crate) encapsulation: Encapsulation,
    /// The address that they are bound to; the port is 0 over IP.
    pub(crate) address: SocketAddr,
    /// Whether they are IPv6 sockets that also accept IPv4.
    pub(crate) is_dual: bool,
}

impl Local {
    /// Returns the IP address that they are bound to; `None` if bound to all.
    pub(crate) fn bound(&self) -> Option<IpAddr> {
        Some(self.address.ip()).filter(|address| !address.is_unspecified())
    }
}

/// The addresses of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    /// This host's address.
    pub(crate) local: IpAddr,
    /// The peer's address and UDP port; zero over IP.
    pub(crate) peer: SocketAddr,
}

/// The identity of a connection: RFC 6773's 6-tuple, in which the local UDP port is the endpoint's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) path: Path,
    /// Local DCCP port.
    pub(crate) local_port: u16,
    /// The peer's DCCP port.
    pub(crate) remote_port: u16,
}

/// Hashes all fields in one call, which is several times as fast as hashing each.
impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut bytes = [0; 38];
        bytes[..34].copy_from_slice(&self.path.to_bytes());
        bytes[34..36].copy_from_slice(&self.local_port.to_be_bytes());
        bytes[36..].copy_from_slice(&self.remote_port.to_be_bytes());
        state.write(&bytes);
    }
}

/// By the peer's IP address, then by the DCCP ports, then by the rest.
impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        let parts = |key: &Self| {
            let Path { local, peer } = key.path;
            (peer.ip(), key.local_port, key.remote_port, peer, local)
        };
        parts(self).cmp(&parts(other))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Key {
    /// Returns the range of all keys with a peer, and with these DCCP ports (ours and the peer's)
    /// if they are known.
    pub(crate) fn all_to(peer: IpAddr, ports: Option<(u16, u16)>) -> RangeInclusive<Self> {
        let end = |ports: (u16, u16), udp_port, local| Self {
            path: Path {
                local,
                peer: SocketAddr::new(peer, udp_port),
            },
            local_port: ports.0,
            remote_port: ports.1,
        };
        let first = ports.unwrap_or((0, 0));
        let last = ports.unwrap_or((u16::MAX, u16::MAX));
        let highest = Ipv6Addr::from_bits(u128::MAX);
        end(first, 0, Ipv4Addr::UNSPECIFIED.into())..=end(last, u16::MAX, highest.into())
    }
}

impl Path {
    /// Encodes the addresses as bytes, unambiguously.
    pub(crate) fn to_bytes(self) -> [u8; 34] {
        let octets = |address: IpAddr| match address {
            IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
            IpAddr::V6(address) => address.octets(),
        };
        let mut bytes = [0; 34];
        bytes[..16].copy_from_slice(&octets(self.local));
        bytes[16..32].copy_from_slice(&octets(self.peer.ip()));
        bytes[32..].copy_from_slice(&self.peer.port().to_be_bytes());
        bytes
    }

    /// Returns how to compute the DCCP checksum (RFC 6773 section 3.3); the pseudo-header sum is
    /// the same in both directions.
    pub(crate) fn checksum(&self, encapsulation: Encapsulation) -> Checksum {
        match encapsulation {
            Encapsulation::Udp => Checksum::Ignored,
            Encapsulation::Ip => AddressPair::new(self.local, self.peer.ip())
                .map_or(Checksum::Ignored, Checksum::Over),
        }
    }

    /// Returns the bytes of headers in front of DCCP's (RFC 6773 section 3.7).
    pub(crate) fn lower_headers(&self, encapsulation: Encapsulation) -> u32 {
        let ip = match self.peer.ip().to_canonical() {
            IpAddr::V4(_) => 20,
            IpAddr::V6(_) => 40,
        };
        let udp = match encapsulation {
            Encapsulation::Udp => 8,
            Encapsulation::Ip => 0,
        };
        ip + udp
    }
}

/// The system's route to a peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    /// The source address of packets to the peer.
    pub(crate) source: IpAddr,
    /// The largest IP packet in bytes, as far as is known.
    pub(crate) mtu: u32,
}

/// The MTU of the route to the peer of a connected socket, over IPv6 (ipv6(7)).
#[derive(Clone, Copy)]
struct Ipv6Mtu;

nix::getsockopt_impl!(
    Ipv6Mtu,
    libc::IPPROTO_IPV6,
    libc::IPV6_MTU,
    libc::c_int,
    sockopt::GetStruct<libc::c_int>
);

/// Asks the system for the route from `local` to `peer`, without sending anything.
pub(crate) fn route(local: &Local, peer: SocketAddr) -> io::Result<Route> {
    let probe = Socket::new(Domain::for_address(peer), Type::DGRAM, Some(Protocol::UDP))?;
    if local.bound().is_some() {
        // With its interface, without which a link-local address cannot be bound.
        let mut source = local.address;
        source.set_port(0);
        probe.bind(&source.into())?;
    }
    let mut target = peer;
    if target.port() == 0 {
        target.set_port(skywave_wire::udp::DCCP_PORT);
    }
    probe.connect(&target.into())?;
    let source = probe
        .local_addr()?
        .as_socket()
        .map_or(Ipv4Addr::UNSPECIFIED.into(), |address| address.ip());
    let is_v4 = peer.ip().to_canonical().is_ipv4();
    let mtu = if is_v4 {
        getsockopt(&probe, sockopt::IpMtu)?
    } else {
        getsockopt(&probe, Ipv6Mtu)?
    };
    let mtu = mtu.cast_unsigned();
    Ok(Route { source, mtu })
}

#[cfg(test)]
mod tests {
    use super::*;

    // U-6: the eight bytes of UDP encapsulation count as headers.
    #[test]
    fn headers_before_dccp() {
        let path = |peer: &str| Path {
            local: Ipv4Addr::LOCALHOST.into(),
            peer: peer.parse().unwrap(),
        };
        let udp = Encapsulation::Udp;
        assert_eq!(path("192.0.2.1:1").lower_headers(udp), 28);
        assert_eq!(path("192.0.2.1:0").lower_headers(Encapsulation::Ip), 20);
        assert_eq!(path("[2001:db8::1]:1").lower_headers(udp), 48);
        assert_eq!(path("[::ffff:192.0.2.1]:1").lower_headers(udp), 28);
    }

    #[test]
    fn the_way_to_this_host_is_known() {
        let any = Local {
            encapsulation: Encapsulation::Udp,
            address: (Ipv4Addr::UNSPECIFIED, 0).into(),
            is_dual: false,
        };
        let route = route(&any, "127.0.0.1:9".parse().unwrap()).unwrap();
        assert_eq!(route.source, IpAddr::from(Ipv4Addr::LOCALHOST));
        assert!(route.mtu >= 1500, "{}", route.mtu);
    }
}
