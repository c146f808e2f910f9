//! A socket and its connections.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, TryLockError};

use nix::errno::Errno;
use rand::Rng as _;
use skywave_transport::dccp;
use skywave_transport::session::Session;

use crate::config::{EndpointConfig, EndpointStats, Peer};
use crate::driver::Driver;
use crate::error::{ConnectError, ConnectionError, ListenError, OpenError};
use crate::flow::{Flow, Mailbox, Shared};
use crate::handles::connection::Connection;
use crate::handles::handle::Handle;
use crate::handles::listener::Listener;
use crate::handles::snapshot::Connections;
use crate::path::{Encapsulation, Key, Path, route};
use crate::shared::random_generator;
use crate::shared::shard::{self, Shard};
use crate::shared::table::Opened;
use crate::sync::{AtomicBool, locked};
use crate::system::clock::Clock;
use crate::system::socket::Socket;

/// A UDP or raw socket that can open and accept thousands of DCCP connections.
///
/// It can be cloned. Dropping it does not end connections: the socket stays open until the last
/// connection is over and the last listener is dropped.
#[derive(Clone, Debug)]
pub struct Endpoint(Arc<Handle>);

impl Endpoint {
    /// Opens DCCP over UDP (RFC 6773) at `address`. The IPv6 address `::` also accepts IPv4. A
    /// host-wide server listens on UDP port [`DCCP_PORT`](skywave_wire::udp::DCCP_PORT), others on
    /// a port of their choice; with port 0 the system chooses one.
    ///
    /// # Errors
    ///
    /// See [`OpenError`]. Call it within a tokio runtime, which then drives the endpoint.
    pub fn udp(address: SocketAddr, config: EndpointConfig) -> Result<Self, OpenError> {
        Self::over(config, |config| shard::udp_sockets(address, config))
    }

    /// Opens DCCP over UDP at all addresses: of IPv6 and IPv4, or of IPv4 alone where the system has
    /// no IPv6. See [`udp`](Self::udp).
    ///
    /// # Errors
    ///
    /// See [`OpenError`].
    pub fn udp_any(port: u16, config: EndpointConfig) -> Result<Self, OpenError> {
        match Self::udp((Ipv6Addr::UNSPECIFIED, port).into(), config.clone()) {
            Err(OpenError::Socket(source) | OpenError::Bind { source, .. })
                if has_no_ipv6(&source) =>
            {
                Self::udp((Ipv4Addr::UNSPECIFIED, port).into(), config)
            }
            opened => opened,
        }
    }

    /// Opens DCCP as IP protocol 33 at `address`, which determines the IP version. Its port is
    /// ignored, because IP has none. Requires permission to open raw sockets.
    ///
    /// # Errors
    ///
    /// See [`udp`](Self::udp), [`OpenError::BindRaw`] and [`OpenError::Permission`].
    pub fn raw(address: SocketAddr, config: EndpointConfig) -> Result<Self, OpenError> {
        Self::over(config, |config| Ok(vec![Socket::raw(address, config)?]))
    }

    /// Opens an endpoint over the sockets that `open` opens.
    pub(crate) fn over(
        config: EndpointConfig,
        open: impl FnOnce(&EndpointConfig) -> Result<Vec<Socket>, OpenError>,
    ) -> Result<Self, OpenError> {
        config.check()?;
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| OpenError::NoRuntime)?;
        let sockets = open(&config)?;
        let clock = Clock::new();
        let local = sockets[0].local;
        let shards: Result<_, _> = sockets
            .into_iter()
            .map(|socket| Shard::new(socket, clock))
            .collect();
        let shared = Arc::new(Shared::new(clock, local, shards?, config)?);
        for number in 0..shared.shards.len() {
            runtime.spawn(Driver::new(&shared, number, &runtime).run());
        }
        Ok(Self(Arc::new(Handle { shared })))
    }

    /// Listens on a DCCP port for the Service Codes in `config`.
    ///
    /// # Errors
    ///
    /// See [`ListenError`].
    pub fn listen(
        &self,
        port: u16,
        config: impl Into<Arc<dccp::Config>>,
    ) -> Result<Listener, ListenError> {
        let config = config.into();
        config.check()?;
        if config.tfrc.quick_start.is_some() {
            return Err(ListenError::QuickStart);
        }
        if port == 0 {
            return Err(ListenError::PortZero);
        }
        let mailbox = Arc::new(Mailbox::new(config));
        let mut table = locked(&self.0.shared.table);
        if table.is_closing() {
            return Err(ListenError::EndpointClosed);
        }
        if !table.listen(port, &mailbox) {
            return Err(ListenError::PortInUse(port));
        }
        drop(table);
        // This cannot fail: the port was free.
        let _ = locked(&self.0.shared.door).offer(port, Arc::clone(&mailbox.config));
        Ok(Listener {
            handle: Arc::clone(&self.0),
            mailbox,
            port,
            is_closed: AtomicBool::new(false),
        })
    }

    /// Connects to `peer` with the first Service Code of `config`, and waits until the handshake is
    /// complete. Cancelling aborts the handshake.
    ///
    /// # Errors
    ///
    /// See [`ConnectError`].
    pub async fn connect(
        &self,
        peer: Peer,
        config: impl Into<Arc<dccp::Config>>,
    ) -> Result<Connection, ConnectError> {
        let connection = self.start_connecting(peer, config.into())?;
        connection.established().await?;
        Ok(connection)
    }

    fn start_connecting(
        &self,
        peer: Peer,
        config: Arc<dccp::Config>,
    ) -> Result<Connection, ConnectError> {
        config.check()?;
        if config.tfrc.quick_start.is_some() {
            return Err(ConnectError::QuickStart);
        }
        if peer.port == 0 {
            return Err(ConnectError::PortZero);
        }
        let shared = &self.0.shared;
        let address = self.reachable(peer.address)?;
        let local = shared.local.bound();
        let route = route(&shared.local, address).map_err(|source| ConnectError::NoRoute {
            local,
            peer: peer.address,
            source,
        })?;
        let path = Path {
            local: local.unwrap_or(route.source),
            peer: address,
        };
        let mut rng = random_generator().map_err(ConnectError::Random)?;
        let random = rng.next_u64();
        let now = shared.clock.now();

        let mut table = locked(&shared.table);
        if table.is_closing() {
            return Err(ConnectionError::EndpointClosed.into());
        }
        table.expire(now);
        if !table.has_room(path.peer.ip(), Opened::Here) {
            let limit = shared.config.max_connections;
            return Err(ConnectError::TooManyConnections { limit });
        }
        let local_port = table
            .free_port(path, peer.port, random)
            .ok_or(ConnectError::NoPort { peer: peer.address })?;
        let key = Key {
            path,
            local_port,
            remote_port: peer.port,
        };
        let client = dccp::Connection::client(config, local_port, peer.port, now, rng);
        let flow = Flow::new(shared, key, None, Session::new(client), Some(route.mtu));
        // The port was free, so this replaces no connection.
        let _ = table.insert(key, Arc::clone(&flow), Opened::Here);
        drop(table);

        flow.flush(now);
        Ok(Connection::new(flow))
    }

    /// Converts a peer's address to the socket's address family.
    fn reachable(&self, peer: SocketAddr) -> Result<SocketAddr, ConnectError> {
        let local = &self.0.shared.local;
        let ip = peer.ip().to_canonical();
        let is_broadcast = matches!(ip, IpAddr::V4(ip) if ip.is_broadcast());
        if ip.is_multicast() || ip.is_unspecified() || is_broadcast {
            return Err(ConnectError::NotUnicast { peer });
        }
        let mut address = match peer {
            SocketAddr::V4(v4) if local.is_dual => {
                SocketAddr::new(v4.ip().to_ipv6_mapped().into(), v4.port())
            }
            other => other,
        };
        if address.is_ipv4() != local.address.is_ipv4() {
            return Err(ConnectError::AddressFamily { peer });
        }
        match local.encapsulation {
            Encapsulation::Ip => address.set_port(0),
            Encapsulation::Udp if address.port() == 0 => return Err(ConnectError::UdpPortZero),
            Encapsulation::Udp => {}
        }
        Ok(address)
    }

    /// Closes all connections and waits until the last one is over. Listeners accept no more
    /// connections.
    ///
    /// Takes as long as the peers need to answer; if one does not, up to [`dccp::Config::linger`]
    /// plus [`dccp::Config::silence_timeout`]. If cancelled, closing continues in the background.
    pub async fn shutdown(&self) {
        let shared = &self.0.shared;
        for flow in shared.close() {
            flow.close();
        }
        loop {
            let fewer = shared.fewer.notified();
            if locked(&shared.table).live() == 0 {
                break;
            }
            fewer.await;
        }
        if let Some(logs) = &shared.logs {
            logs.flush().await;
        }
    }

    /// Ends all connections immediately with Resets, "Aborted".
    pub fn abort(&self) {
        for flow in self.0.shared.close() {
            flow.abort(ConnectionError::Aborted);
        }
    }

    /// Returns the address of the socket; the port is 0 over IP.
    pub fn local_address(&self) -> SocketAddr {
        self.0.shared.local.address
    }

    /// Returns the endpoint's own counters.
    pub fn stats(&self) -> EndpointStats {
        self.0.shared.stats()
    }

    /// Returns the endpoint's connections, including those in their handshake and those that are
    /// closing, and the totals of those that are over.
    ///
    /// Iterating over the result visits connections one by one, and holds no lock for longer than
    /// one visit, so traffic continues meanwhile, however many there are.
    pub fn connections(&self) -> Connections {
        Connections::of(&self.0.shared)
    }

    /// Returns whether a thread is using one of the connections, or the list of them, at this
    /// moment.
    pub fn is_busy(&self) -> bool {
        let table = self.0.shared.table.try_lock();
        let flows = match table {
            Ok(table) => table.flows(),
            Err(TryLockError::Poisoned(table)) => table.into_inner().flows(),
            Err(TryLockError::WouldBlock) => return true,
        };
        flows.iter().any(|flow| flow.is_busy())
    }
}

/// Returns whether opening an IPv6 socket failed because the system has no IPv6.
fn has_no_ipv6(error: &io::Error) -> bool {
    let number = error.raw_os_error().map(Errno::from_raw);
    matches!(number, Some(Errno::EAFNOSUPPORT | Errno::EADDRNOTAVAIL))
}
