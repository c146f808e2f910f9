//! Changes: pairs of devices, their settings, addresses and routes.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, BorrowedFd};

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use crate::Netlink;

/// The configuration of an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Its Ethernet address; `None` keeps the current one.
    pub ethernet_address: Option<[u8; 6]>,
    /// The longest packet that it takes (MTU), in bytes; `None` keeps the current value.
    pub mtu: Option<u32>,
    /// Whether it sends without asking for the Ethernet addresses of its neighbours (ARP).
    pub without_arp: bool,
}

impl Netlink {
    /// Creates a pair of virtual Ethernet interfaces in the namespace: what one sends, the other
    /// receives.
    ///
    /// # Errors
    /// The system's: `EPERM` without `CAP_NET_ADMIN`, `EEXIST` if a name is taken.
    pub fn create_pair(&mut self, names: [&str; 2]) -> io::Result<()> {
        let [mut message, peer] = names.map(named);
        message.attributes.push(LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
        ]));
        self.order(
            RouteNetlinkMessage::NewLink(message),
            NLM_F_CREATE | NLM_F_EXCL,
        )
    }

    /// Moves an interface into the network namespace that an open file refers to.
    ///
    /// # Errors
    /// The system's.
    pub fn move_to(&mut self, name: &str, namespace: BorrowedFd<'_>) -> io::Result<()> {
        let mut message = named(name);
        let namespace = LinkAttribute::NetNsFd(namespace.as_raw_fd());
        message.attributes.push(namespace);
        self.order(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Configures an interface and brings it up: from then on, it sends and receives.
    ///
    /// # Errors
    /// The system's.
    pub fn set_up(&mut self, name: &str, interface: &Interface) -> io::Result<()> {
        let mut message = named(name);
        let mut flags = LinkFlags::Up;
        if interface.without_arp {
            flags |= LinkFlags::Noarp;
        }
        message.header.flags = flags;
        message.header.change_mask = flags;
        if let Some(address) = interface.ethernet_address {
            let address = LinkAttribute::Address(address.to_vec());
            message.attributes.push(address);
        }
        if let Some(mtu) = interface.mtu {
            message.attributes.push(LinkAttribute::Mtu(mtu));
        }
        self.order(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Adds an address to an interface, with a prefix that covers only this address.
    ///
    /// # Errors
    /// The system's.
    pub fn add_address(&mut self, device: u32, address: IpAddr) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.index = device;
        message.header.family = family(address);
        message.header.prefix_len = whole(address);
        // Address is the peer's on a link between two hosts; otherwise both are the interface's.
        message.attributes.push(AddressAttribute::Address(address));
        message.attributes.push(AddressAttribute::Local(address));
        self.order(
            RouteNetlinkMessage::NewAddress(message),
            NLM_F_CREATE | NLM_F_EXCL,
        )
    }

    /// Adds a route to a single address through an interface.
    ///
    /// # Errors
    /// The system's.
    pub fn add_route(&mut self, device: u32, to: IpAddr) -> io::Result<()> {
        self.add_prefix(device, to, whole(to))
    }

    /// Adds a default route through an interface, for the IP version of `unspecified`.
    ///
    /// # Errors
    /// The system's.
    pub fn add_default_route(&mut self, device: u32, unspecified: IpAddr) -> io::Result<()> {
        self.add_prefix(device, unspecified, 0)
    }

    fn add_prefix(&mut self, device: u32, to: IpAddr, length: u8) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header.address_family = family(to);
        message.header.destination_prefix_length = length;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.protocol = RouteProtocol::Static;
        message.header.scope = RouteScope::Universe;
        message.header.kind = RouteType::Unicast;
        message.attributes.push(RouteAttribute::Oif(device));
        let to = RouteAttribute::Destination(match to {
            IpAddr::V4(to) => RouteAddress::Inet(to),
            IpAddr::V6(to) => RouteAddress::Inet6(to),
        });
        message.attributes.push(to);
        self.order(
            RouteNetlinkMessage::NewRoute(message),
            NLM_F_CREATE | NLM_F_EXCL,
        )
    }
}

/// Returns a message about the interface of this name.
fn named(name: &str) -> LinkMessage {
    let mut message = LinkMessage::default();
    let name = LinkAttribute::IfName(name.to_owned());
    message.attributes.push(name);
    message
}

const fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

/// Returns the prefix length of a single address.
const fn whole(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}
