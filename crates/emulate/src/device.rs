//! The devices at the edges of the network: pairs of virtual Ethernet interfaces.

mod batch;
mod offloads;
mod port;
mod tun;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

use nix::net::if_::if_nametoindex;
use skywave_netlink::{Interface, Netlink};

pub use batch::Inbox;
pub(crate) use batch::{BATCH, Outbox};
pub use port::{LONGEST_PACKET, Port, enlarge};
pub use tun::TunQueue;

use crate::namespace::set;
use crate::{EmulateError, Namespace};

/// The most names tried for an interface before giving up.
const MOST_NAMES: u32 = 1000;

/// The most times to ask whether an interface is up, a millisecond apart.
const MOST_QUESTIONS: u32 = 5000;

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
        let (file, peer, port, mtu) = (host.file()?, name.clone(), ours.clone(), self.mtu);
        hub.run(move || {
            // This end has no addresses, and must not send anything of its own.
            let _ = set("ipv6/conf/default/disable_ipv6", "1");
            let mut kernel = Netlink::open()?;
            kernel.create_pair([&port, &peer])?;
            kernel.move_to(&peer, file.as_fd())?;
            let port_setup = Interface {
                mtu: Some(mtu),
                without_arp: true,
                ..Interface::default()
            };
            kernel.set_up(&port, &port_setup)
        })
        .map_err(|error| EmulateError::system("cannot create a pair of interfaces", error))?;
        let (edge, there) = (self.clone(), name.clone());
        host.run(move || edge.bring_up(&there))?;
        let address = self.ethernet_address();
        let port = hub.run(move || {
            wait_until_up(&ours).map_err(|error| {
                EmulateError::system("cannot bring up a pair of interfaces", error)
            })?;
            Port::open(&ours, address)
        })?;
        Ok(Attachment { port, name })
    }

    /// Returns the Ethernet address of the host's interface.
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
        self.configure(name)
            .map_err(|error| EmulateError::system("cannot set up the host's interface", error))
    }

    fn configure(&self, name: &str) -> io::Result<()> {
        let mut kernel = Netlink::open()?;
        kernel.set_up("lo", &Interface::default())?;
        // Without ARP: all hosts are behind the same port.
        let interface = Interface {
            ethernet_address: Some(self.ethernet_address()),
            mtu: Some(self.mtu),
            without_arp: true,
        };
        kernel.set_up(name, &interface)?;
        let index = kernel.device(name)?.index;
        for address in self.addresses {
            kernel.add_address(index, address)?;
        }
        for &to in &self.reaches {
            kernel.add_route(index, to)?;
        }
        if self.reaches.is_empty() {
            kernel.add_default_route(index, Ipv4Addr::UNSPECIFIED.into())?;
            kernel.add_default_route(index, Ipv6Addr::UNSPECIFIED.into())?;
        }
        Ok(())
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

/// Waits until an interface whose peer has been set up is up. The kernel notices the peer only
/// after a while, and drops what is sent before that.
fn wait_until_up(name: &str) -> io::Result<()> {
    let mut kernel = Netlink::open()?;
    for _ in 0..MOST_QUESTIONS {
        if kernel.device(name)?.is_up {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(1));
    }
    Err(io::ErrorKind::TimedOut.into())
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
