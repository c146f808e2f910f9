//! A network between hosts, as it runs.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::{io, mem};

use crate::clock::Clock;
use crate::device::Edge;
use crate::driver::{Driver, State, report};
use crate::{EmulateError, Namespace, Network, Report};

/// The most hosts, as their addresses have room for.
pub const MOST_HOSTS: usize = 65_000;

/// A network between hosts, as it runs on a thread of its own.
#[derive(Debug)]
pub struct Emulation {
    state: Arc<Mutex<State>>,
    clock: Clock,
    stop: Arc<AtomicBool>,
    driver: Option<JoinHandle<io::Result<()>>>,
    _hub: Namespace,
}

/// Returns the addresses of a host: IPv4 addresses that are for such uses (RFC 6598), and unique
/// local ones of IPv6 (RFC 4193).
pub fn addresses(host: u32) -> [IpAddr; 2] {
    let [.., a, b] = (host + 1).to_be_bytes();
    let v6 = Ipv6Addr::new(0xfd53, 0x6b79, 0x7761, 0x7665, 0, 0, 0, (host + 1) as u16);
    [Ipv4Addr::new(100, 64, a, b).into(), v6.into()]
}

impl Emulation {
    /// Starts a network between these hosts, in the order in which the network knows them. Each
    /// gets an interface in its namespace with [its addresses](addresses), and a default route over
    /// it; `sharing` hosts, which have other interfaces too, get routes to the other hosts only.
    ///
    /// With `spins` the driver does not sleep for the last 200 us before a packet is due: it is more
    /// exact, and takes a processor.
    ///
    /// # Errors
    /// [`EmulateError`] if the system refuses it.
    ///
    /// # Panics
    /// If there are more than [`MOST_HOSTS`] hosts.
    pub fn start(
        network: Network,
        hosts: &[&Namespace],
        sharing: &[usize],
        spins: bool,
    ) -> Result<Self, EmulateError> {
        assert!(hosts.len() <= MOST_HOSTS, "addresses are unique");
        let hub = Namespace::new()?;
        let all: Vec<[IpAddr; 2]> = (0..).zip(hosts).map(|(host, _)| addresses(host)).collect();
        let mut ports = Vec::new();
        for (index, host) in hosts.iter().enumerate() {
            let others = all.iter().enumerate().filter(|&(other, _)| other != index);
            let others = others.flat_map(|(_, addresses)| *addresses);
            let edge = Edge {
                index: index as u32,
                addresses: all[index],
                reaches: if sharing.contains(&index) {
                    others.collect()
                } else {
                    Vec::new()
                },
            };
            ports.push(edge.connect(&hub, host)?);
        }
        let by_address: BTreeMap<_, _> = (0..)
            .zip(&all)
            .flat_map(|(host, addresses)| addresses.map(|address| (address, host)))
            .collect();
        let clock = Clock::start();
        let driver = Driver::new(ports, by_address, clock, spins);
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
            _hub: hub,
        })
    }

    /// What has happened so far.
    pub fn report(&self) -> Report {
        report(&self.state, self.clock)
    }

    /// Stops it. Packets on their way are lost. Returns what has happened.
    ///
    /// # Errors
    /// The error of a device, if one has ended it before.
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
