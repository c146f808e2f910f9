//! A network between hosts, as it runs.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::{io, mem};

use nix::ifaddrs::getifaddrs;

use crate::capture::Capture;
use crate::clock::Clock;
use crate::device::{ETHERNET_MTU, Edge, Outbox};
use crate::driver::{Driver, State, lock};
use crate::{EmulateError, Namespace, Network, Report};

/// The most hosts: as many as there are addresses for.
pub const MOST_HOSTS: usize = 65_000;

/// How an emulation runs.
#[derive(Default)]
pub struct Options {
    /// Whether the driver stays awake for the last 200 us before a packet is due, which is more
    /// exact but occupies a processor.
    pub spins: bool,
    /// Where to write what arrives at hosts, as pcapng. Each packet takes many small writes, so wrap
    /// a file in a [`BufWriter`](io::BufWriter).
    pub capture: Option<Box<dyn io::Write + Send>>,
}

/// A network between hosts, as it runs on a thread of its own.
#[derive(Debug)]
pub struct Emulation {
    state: Arc<Mutex<State>>,
    clock: Clock,
    stop: Arc<AtomicBool>,
    driver: Option<JoinHandle<io::Result<()>>>,
    hosts: Vec<Namespace>,
    addresses: Vec<[IpAddr; 2]>,
    _hub: Namespace,
}

/// Blocks of addresses, for emulations that run in each other's hosts.
const BLOCKS: u8 = 64;

/// Returns the addresses of a host, IPv4 first. They come from ranges reserved for such uses: the
/// shared address space (RFC 6598) and unique local addresses (RFC 4193).
fn addresses(block: u8, host: u16) -> [IpAddr; 2] {
    let [a, b] = (host + 1).to_be_bytes();
    let v4 = Ipv4Addr::new(100, 64 + block, a, b);
    let [subnet, host] = [block.into(), host + 1];
    let v6 = Ipv6Addr::new(0xfd53, 0x6b79, 0x7761, 0x7665, subnet, 0, 0, host);
    [v4.into(), v6.into()]
}

/// Returns the blocks that interfaces of the calling thread's namespace have addresses from.
fn blocks_in_use() -> Vec<u8> {
    let interfaces = getifaddrs().into_iter().flatten();
    interfaces
        .filter_map(|interface| {
            let [first, second, ..] = interface.address?.as_sockaddr_in()?.ip().octets();
            (first == 100).then_some(second)?.checked_sub(64)
        })
        .collect()
}

impl Emulation {
    /// Starts a network between these hosts, which are in the network's order. Each gets an
    /// interface with its own [addresses](Emulation::addresses), and a default route over it. Hosts
    /// whose index is in `sharing` have other interfaces too: they get routes to the other hosts
    /// only.
    ///
    /// # Errors
    /// [`EmulateError`] if the system refuses it.
    ///
    /// # Panics
    /// If there are more than [`MOST_HOSTS`] hosts.
    pub fn start(
        network: Network,
        hosts: Vec<Namespace>,
        sharing: &[usize],
        options: Options,
    ) -> Result<Self, EmulateError> {
        assert!(hosts.len() <= MOST_HOSTS, "addresses are unique");
        let taken: Vec<u8> = sharing
            .iter()
            .flat_map(|&host| hosts[host].run(blocks_in_use))
            .collect();
        let block = (0..BLOCKS).find(|block| !taken.contains(block));
        let block = block.unwrap_or(BLOCKS - 1);
        let hub = Namespace::new()?;
        let all: Vec<_> = (0..)
            .zip(&hosts)
            .map(|(host, _)| addresses(block, host))
            .collect();
        let mut ports = Vec::new();
        for (index, host) in hosts.iter().enumerate() {
            let others = all.iter().enumerate().filter(|&(other, _)| other != index);
            let others = others.flat_map(|(_, addresses)| *addresses);
            let edge = Edge {
                index: index as u32,
                addresses: all[index],
                mtu: ETHERNET_MTU,
                reaches: if sharing.contains(&index) {
                    others.collect()
                } else {
                    Vec::new()
                },
            };
            ports.push(edge.connect(&hub, host)?.port);
        }
        let by_address: BTreeMap<_, _> = (0..)
            .zip(&all)
            .flat_map(|(host, addresses)| addresses.map(|address| (address, host)))
            .collect();
        let names = network.hosts().iter().map(String::as_str);
        let begin = |file| Capture::new(file, names);
        let capture = options.capture.map(begin).transpose();
        let capture =
            capture.map_err(|error| EmulateError::system("cannot write the capture", error))?;
        let clock = Clock::start();
        let outgoing = hub.run(Outbox::open);
        let driver = Driver {
            ports,
            outgoing: outgoing
                .map_err(|error| EmulateError::system("cannot send packets", error))?,
            hosts: by_address,
            clock,
            spins: options.spins,
            capture,
        };
        let state = Arc::new(Mutex::new(State::new(network)));
        let stop = Arc::new(AtomicBool::new(false));
        let (shared, stopped) = (Arc::clone(&state), Arc::clone(&stop));
        let driver = thread::Builder::new()
            .name("skywave-emulate".to_owned())
            .spawn(move || driver.run(&shared, &stopped))
            .map_err(|error| EmulateError::system("cannot start a thread", error))?;
        Ok(Self {
            state,
            clock,
            stop,
            driver: Some(driver),
            hosts,
            addresses: all,
            _hub: hub,
        })
    }

    /// Returns the namespaces of the hosts.
    pub fn hosts(&self) -> &[Namespace] {
        &self.hosts
    }

    /// Returns the addresses of each host, IPv4 first.
    pub fn addresses(&self) -> &[[IpAddr; 2]] {
        &self.addresses
    }

    /// Returns what has happened so far.
    pub fn report(&self) -> Report {
        lock(&self.state).report(self.clock.now())
    }

    /// Returns whether an error has ended it, which [`Emulation::stop`] returns.
    pub fn has_ended(&self) -> bool {
        self.driver.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Stops the emulation, and returns what has happened. Packets in flight are lost.
    ///
    /// # Errors
    /// The error of a device, or the [failure](Network::failure) of a queue or a loss model, if one
    /// ended it earlier.
    pub fn stop(mut self) -> io::Result<Report> {
        self.join()?;
        Ok(self.report())
    }

    fn join(&mut self) -> io::Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        match mem::take(&mut self.driver).map(JoinHandle::join) {
            Some(Ok(ended)) => ended,
            Some(Err(_)) => Err(io::Error::other("the driver has panicked")),
            None => Ok(()),
        }
    }
}

impl Drop for Emulation {
    fn drop(&mut self) {
        let _ = self.join();
    }
}
