//! The devices at the edges of the network: pairs of virtual Ethernet interfaces.

mod batch;
mod offloads;
mod port;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use nix::net::if_::if_nametoindex;
use rtnetlink::{Handle, LinkUnspec, LinkVeth, RouteMessageBuilder};

pub(crate) use batch::{BATCH, Inbox, Outbox};
pub use port::{LONGEST_PACKET, Port, enlarge};

use crate::namespace::set;
use crate::{EmulateError, Namespace};

/// The most names tried for an interface before giving up.
const MOST_NAMES: u32 = 1000;

/// Where a host is connected to the network.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The index of the host in the network.
    pub index: u32,
    /// Its addresses.
    pub addresses: [IpAddr; 2],
    /// What it reaches over the network; empty for everything.
    pub reaches: Vec<IpAddr>,
    /// The longest packet that its interface takes, in bytes.
    pub mtu: u32,
}

/// The longest packet on Ethernet, in bytes (RFC 894).
pub const ETHERNET_MTU: u32 = 1500;

/// Both ends of the pair of interfaces that connects a host to the network.
#[derive(Debug)]
pub struct Attachment {
    /// The network's end, which receives what the host sends.
    pub port: Port,
    /// The name of the host's end, in the host's namespace.
    pub name: String,
}

impl Edge {
    /// Connects the host in the namespace `host` to the network in the namespace `hub`.
    ///
    /// # Errors
    /// [`EmulateError`] if the system refuses it.
    pub fn connect(&self, hub: &Namespace, host: &Namespace) -> Result<Attachment, EmulateError> {
        let name = host.run(free_name)?;
        let ours = format!("port{}", self.index);
        let (fd, peer, port, mtu) = (host.fd(), name.clone(), ours.clone(), self.mtu);
        hub.run(move || {
            // This end has no addresses, and must not send anything of its own.
            let _ = set("ipv6/conf/default/disable_ipv6", "1");
            in_kernel(async move |kernel| {
                let links = kernel.link();
                let pair = LinkVeth::new(&port, &peer).build();
                links.add(pair).execute().await?;
                let moved = LinkUnspec::new_with_name(&peer).setns_by_fd(fd).build();
                links.set(moved).execute().await?;
                let up = LinkUnspec::new_with_name(&port).mtu(mtu).arp(false).up();
                links.set(up.build()).execute().await
            })
        })
        .map_err(cannot("create a pair of interfaces"))?;
        let (edge, there) = (self.clone(), name.clone());
        host.run(move || edge.bring_up(&there))?;
        let address = self.ethernet_address();
        let port = hub.run(move || Port::open(&ours, address))?;
        Ok(Attachment { port, name })
    }

    /// The Ethernet address of the host's interface.
    fn ethernet_address(&self) -> [u8; 6] {
        // The second lowest bit of the first byte says that it is assigned locally.
        let [.., a, b] = self.index.to_be_bytes();
        [0x02, b'd', b'c', b'c', a, b]
    }

    /// Sets up the host's interface, in the host's namespace.
    fn bring_up(self, name: &str) -> Result<(), EmulateError> {
        // Duplicate address detection takes a second, in which the address cannot be used.
        let _ = set(&format!("ipv6/conf/{name}/accept_dad"), "0");
        let _ = set(&format!("ipv6/conf/{name}/router_solicitations"), "0");
        offloads::switch_off(name)?;
        let index = if_nametoindex(name)
            .map_err(|error| EmulateError::system("cannot find the host's interface", error))?;
        in_kernel(async move |kernel| {
            let links = kernel.link();
            let loopback = LinkUnspec::new_with_name("lo").up().build();
            links.set(loopback).execute().await?;
            // Without ARP: all hosts are behind the same port.
            let interface = LinkUnspec::new_with_index(index);
            let interface = interface.address(self.ethernet_address().to_vec());
            links
                .set(interface.mtu(self.mtu).arp(false).up().build())
                .execute()
                .await?;
            for address in self.addresses {
                let add = kernel.address().add(index, address, whole(address));
                add.execute().await?;
            }
            let everything = [
                (Ipv4Addr::UNSPECIFIED.into(), 0),
                (Ipv6Addr::UNSPECIFIED.into(), 0),
            ];
            let only: Vec<_> = self.reaches.iter().map(|&to| (to, whole(to))).collect();
            let routes = if only.is_empty() {
                everything.to_vec()
            } else {
                only
            };
            for (to, length) in routes {
                let route = RouteMessageBuilder::<IpAddr>::new().output_interface(index);
                let route = route.destination_prefix(to, length);
                let route =
                    route.map_err(|error| rtnetlink::Error::NamespaceError(error.to_string()))?;
                kernel.route().add(route.build()).execute().await?;
            }
            Ok(())
        })
        .map_err(cannot("set up the host's interface"))
    }
}

impl Attachment {
    /// Opens the host's end for a protocol in user space: it receives everything that the host
    /// does, and sends to the network. The kernel does not answer for addresses that it does not
    /// have.
    ///
    /// # Errors
    /// [`EmulateError`] if the system refuses it.
    pub fn open_host_end(&self, host: &Namespace) -> Result<Port, EmulateError> {
        let name = self.name.clone();
        // The network's end takes frames for any address.
        host.run(move || Port::open(&name, [0x02; 6]))
    }
}

/// The prefix length of a single address.
const fn whole(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// Returns a name that no interface of the calling thread's namespace has.
fn free_name() -> Result<String, EmulateError> {
    (0..MOST_NAMES)
        .map(|number| format!("skywave{number}"))
        .find(|name| if_nametoindex(&**name).is_err())
        .ok_or_else(|| {
            let all = format!("there are {MOST_NAMES} interfaces of this name");
            EmulateError::system("cannot find a free name", io::Error::other(all))
        })
}

/// Opens a connection to the kernel about the calling thread's namespace.
fn in_kernel<T>(
    talk: impl AsyncFnOnce(Handle) -> Result<T, rtnetlink::Error>,
) -> Result<T, rtnetlink::Error> {
    let failed = |error: io::Error| rtnetlink::Error::NamespaceError(error.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .map_err(failed)?;
    runtime.block_on(async {
        let (connection, handle, _) = rtnetlink::new_connection().map_err(failed)?;
        tokio::spawn(connection);
        talk(handle).await
    })
}

fn cannot(what: &'static str) -> impl Fn(rtnetlink::Error) -> EmulateError {
    move |error| {
        let source = match &error {
            rtnetlink::Error::NetlinkError(message) => message.to_io(),
            other => io::Error::other(other.to_string()),
        };
        EmulateError::system(format!("cannot {what}"), source)
    }
}
