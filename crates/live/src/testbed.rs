//! The testbed of a run: its nodes, and the kernel's connections between them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use skywave_emulate::{Clock, EmulateError, Lateness, Namespace, TunQueue};
use skywave_sim::live::{Encapsulation, EndKind, LiveEnd, Outside, PreparedRun};
use skywave_sim::{EndStats, FlowId, HostId, RunError, Supply};
use skywave_units::Instant;
use skywave_wire::ip::IpPacket;
use skywave_wire::udp;
use socket2::Socket;

use crate::error::LiveError;
use crate::kernel::{KernelConnection, SocketError, listener};
use crate::node::Node;

/// The testbed of a run.
pub(crate) struct Testbed {
    pub(crate) clock: Clock,
    pub(crate) nodes: BTreeMap<u32, Node>,
    pub(crate) connections: BTreeMap<FlowId, KernelConnection>,
    listeners: BTreeMap<FlowId, Socket>,
    /// The connections that have been opened but are not watched yet.
    pub(crate) opened: Vec<FlowId>,
    pub(crate) lateness: Lateness,
    pub(crate) undelivered: u64,
    pub(crate) unsent: u64,
    /// The first connection that failed.
    pub(crate) failure: Option<(FlowId, io::Error)>,
    /// The kernel's queues, by their links.
    pub(crate) queues: Vec<(u32, OwnedFd)>,
    _hub: Namespace,
    _queues: Option<Namespace>,
}

impl Testbed {
    /// Creates the nodes of these ends, and opens their sockets. `name` gives the name of a flow;
    /// `progress` is called with the fraction done, and returns whether to continue.
    pub(crate) fn new(
        ends: &[LiveEnd],
        encapsulation: Encapsulation,
        name: &dyn Fn(FlowId) -> String,
        progress: &mut impl FnMut(f64) -> bool,
    ) -> Result<Self, LiveError> {
        let hub = Namespace::new()?;
        let mut testbed = Self {
            clock: Clock::start(),
            nodes: BTreeMap::new(),
            connections: BTreeMap::new(),
            listeners: BTreeMap::new(),
            opened: Vec::new(),
            lateness: Lateness::new(),
            undelivered: 0,
            unsent: 0,
            failure: None,
            queues: Vec::new(),
            _hub: hub,
            _queues: None,
        };
        for (index, end) in ends.iter().enumerate() {
            if !progress(index as f64 / ends.len() as f64) {
                return Err(RunError::Interrupted.into());
            }
            testbed.add(end, encapsulation, name)?;
        }
        Ok(testbed)
    }

    /// Opens the kernel's queues that a run needs.
    pub(crate) fn open_queues(&mut self, run: &mut PreparedRun) -> Result<(), LiveError> {
        let queues = run.queues().to_vec();
        if queues.is_empty() {
            return Ok(());
        }
        let place = Namespace::new()?;
        for queue in queues {
            let (link, rate, discipline) = (queue.link, queue.rate, queue.discipline.clone());
            let open = move || {
                let opened = TunQueue::open(&format!("queue{link}"), rate, &discipline)?;
                let descriptor = opened.descriptor();
                let descriptor = descriptor
                    .map_err(|error| EmulateError::system("cannot watch a TUN device", error))?;
                Ok((opened, descriptor))
            };
            let (opened, descriptor) = place.run(open).map_err(|source| LiveError::Queue {
                link: queue.name.clone(),
                source,
            })?;
            self.queues.push((link, descriptor));
            run.set_queue(&queue, Box::new(opened));
        }
        self._queues = Some(place);
        Ok(())
    }

    fn add(
        &mut self,
        end: &LiveEnd,
        encapsulation: Encapsulation,
        name: &dyn Fn(FlowId) -> String,
    ) -> Result<(), LiveError> {
        let Self { nodes, _hub, .. } = self;
        let node = match nodes.entry(end.node) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(Node::new(end.node, end.node_address, _hub)?),
        };
        let flow = end.host.flow();
        let failed = |error| match error {
            SocketError::Control(control) => LiveError::Control {
                flow: name(flow),
                control,
                available: available(),
            },
            SocketError::Ccid(ccid) => LiveError::Ccid {
                flow: name(flow),
                ccid,
            },
            SocketError::System(source) => LiveError::Connection {
                flow: name(flow),
                source,
            },
        };
        match (&end.kind, encapsulation) {
            (EndKind::Tcp, _) => node.open_user_space()?,
            (EndKind::Dccp, Encapsulation::Raw) => node.open_raw()?,
            (EndKind::Dccp, Encapsulation::Udp) => {
                node.open_udp(SocketAddrV4::new(*end.local.ip(), udp::DCCP_PORT))?;
            }
            (EndKind::Udp, _) => node.open_udp(end.local)?,
            (EndKind::Kernel(transport), _) if end.host.is_sender() => {
                let made = KernelConnection::new(&node.namespace, transport, end.local, end.peer);
                self.connections.insert(flow, made.map_err(failed)?);
            }
            (EndKind::Kernel(transport), _) => {
                let made = listener(&node.namespace, transport, end.local);
                self.listeners.insert(flow, made.map_err(failed)?);
            }
        }
        Ok(())
    }

    /// Returns the sockets that wait for the kernel's connections, by their flows.
    pub(crate) fn listeners(&self) -> impl Iterator<Item = (FlowId, BorrowedFd<'_>)> {
        let listeners = self.listeners.iter();
        listeners.map(|(&flow, socket)| (flow, socket.as_fd()))
    }

    /// Accepts the kernel's connection of a flow. Returns whether there is one.
    pub(crate) fn accept(&mut self, flow: FlowId) -> io::Result<bool> {
        let (socket, _) = match self.listeners[&flow].accept() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            accepted => accepted?,
        };
        socket.set_nonblocking(true)?;
        self.with_connection(flow, |connection| {
            connection.accept(socket);
            Ok(())
        });
        Ok(true)
    }

    /// Applies an operation to one of the kernel's connections, and remembers the first connection
    /// that fails.
    pub(crate) fn with_connection(
        &mut self,
        flow: FlowId,
        act: impl FnOnce(&mut KernelConnection) -> io::Result<()>,
    ) {
        if let Some(connection) = self.connections.get_mut(&flow)
            && let Err(error) = act(connection)
        {
            self.failure.get_or_insert((flow, error));
        }
    }
}

impl Outside for Testbed {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn send(&mut self, from: &LiveEnd, packet: &IpPacket) {
        if self.nodes[&from.node].send(packet).is_err() {
            self.unsent += 1;
        }
    }

    fn deliver(&mut self, to: &LiveEnd, at: Instant, packet: &[u8]) {
        let is_for_dccp = matches!(to.kind, EndKind::Dccp);
        let delivered = self.nodes[&to.node].deliver(packet, is_for_dccp);
        if delivered.is_err() {
            self.undelivered += 1;
        }
        self.lateness.record(at, self.clock.now());
    }

    fn supply(&mut self, host: HostId, supply: Supply) {
        let flow = host.flow();
        if self
            .connections
            .get(&flow)
            .is_some_and(|connection| connection.sender().is_none())
        {
            self.opened.push(flow);
        }
        self.with_connection(flow, |connection| connection.supply(supply));
    }

    fn sent(&mut self, host: HostId) {
        self.with_connection(host.flow(), KernelConnection::sent);
    }

    fn stats(&mut self, host: HostId) -> EndStats {
        let connection = &self.connections[&host.flow()];
        let stats = if host.is_sender() {
            connection.sender_stats()
        } else {
            connection.receiver_stats()
        };
        stats.unwrap_or_default()
    }
}

/// Returns the controls that the kernel has, as a list.
fn available() -> String {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let names = std::fs::read_to_string(path).unwrap_or_default();
    names.split_whitespace().collect::<Vec<_>>().join(", ")
}
