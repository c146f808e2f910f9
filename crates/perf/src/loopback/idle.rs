//! What idle connections cost.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use skywave_net::{Connection, Endpoint, EndpointConfig, Listener};
use skywave_transport::Driven;
use skywave_transport::dccp::{self, Config};
use skywave_units::Random;
use skywave_units::rand_core::SeedableRng;
use skywave_wire::dccp::Packet;
use skywave_wire::{Checksum, Ecn, Payload};
use tokio::net::UdpSocket;
use tokio::time::{sleep, timeout};

use super::dccp::{PORT, endpoint, peer};
use super::ends::{PATIENCE, cpu_s, join, on_thread, resident};
use super::report::Idle;
use crate::PerfError;

/// Connections of a client's socket, which has 16,384 ephemeral DCCP ports.
const PER_CLIENT: usize = 16_000;
/// Keepalives of each connection during which processor time is counted.
const KEEPALIVES: u32 = 2;
/// The time for the last timers of a handshake.
const REST: Duration = Duration::from_secs(1);

/// Measures idle connections: first the memory of servers' ends, whose peers are stand-ins without
/// any, then that of both ends.
pub(super) fn measure(connections: usize, keepalive: Duration) -> Result<Idle, PerfError> {
    join(on_thread(move || async move {
        let before = resident()?;
        let server = Server::open(connections, None)?;
        let servers_ends = server.meet_stand_ins(connections).await?;
        let servers_bytes = resident()?.saturating_sub(before);

        // The first ends are kept. Otherwise the memory that they give back would not be counted
        // when it is used again.
        let before = resident()?;
        let server = Server::open(connections, Some(keepalive))?;
        let both_ends = server.meet_clients(connections).await?;
        let bytes = resident()?.saturating_sub(before);

        let cpu = cpu_s()?;
        sleep(KEEPALIVES * keepalive).await;
        let cpu_us = (cpu_s()? - cpu) * 1e6;
        drop((servers_ends, both_ends));
        let each = |bytes: u64| bytes / connections as u64;
        Ok(Idle {
            connections,
            bytes,
            server_bytes: each(servers_bytes),
            client_bytes: each(bytes.saturating_sub(servers_bytes)),
            keepalive_us: cpu_us / f64::from(KEEPALIVES) / connections as f64,
        })
    }))
}

/// Returns settings without limits on connections.
fn unlimited(connections: usize) -> EndpointConfig {
    EndpointConfig {
        backlog: 2 * connections,
        max_connections: usize::MAX,
        max_per_address: usize::MAX,
        max_per_prefix: usize::MAX,
        ..EndpointConfig::default()
    }
}

struct Server {
    endpoint: Endpoint,
    listener: Listener,
    config: Arc<Config>,
}

impl Server {
    fn open(connections: usize, keepalive: Option<Duration>) -> Result<Self, PerfError> {
        let nanos = |time: Duration| skywave_units::Duration::from_nanos(time.as_nanos() as u64);
        let config = Config {
            keepalive: keepalive.map(nanos),
            ..Config::default()
        };
        let config = Arc::new(config);
        let endpoint = endpoint(unlimited(connections))?;
        let listener = endpoint.listen(PORT, Arc::clone(&config))?;
        Ok(Self {
            endpoint,
            listener,
            config,
        })
    }

    /// Accepts a connection and reads its first datagram.
    async fn accept(&self) -> Result<Connection, PerfError> {
        let connection = self.listener.accept().await?;
        connection.recv().await?;
        Ok(connection)
    }

    async fn meet_stand_ins(self, connections: usize) -> Result<Held<Connection>, PerfError> {
        let mut ends = Vec::with_capacity(connections);
        let mut socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let to = self.endpoint.local_address();
        for number in 0..connections {
            let port = 1 + (number % usize::from(u16::MAX)) as u16;
            if number > 0 && port == 1 {
                socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            }
            let greet = timeout(PATIENCE, stand_in(&socket, to, port));
            let greeted = async { greet.await.map_err(|_| PerfError::Stopped)? };
            let ((), end) = tokio::try_join!(greeted, self.accept())?;
            ends.push(end);
        }
        sleep(REST).await;
        Ok(Held::new(vec![self.endpoint], ends))
    }

    async fn meet_clients(
        self,
        connections: usize,
    ) -> Result<Held<(Connection, Connection)>, PerfError> {
        let mut ends = Vec::with_capacity(connections);
        let mut clients = Vec::new();
        let peer = peer(self.endpoint.local_address());
        for number in 0..connections {
            if number % PER_CLIENT == 0 {
                clients.push(endpoint(unlimited(PER_CLIENT))?);
            }
            let client = &clients[number / PER_CLIENT];
            let connected = async {
                let connection = client.connect(peer, Arc::clone(&self.config)).await?;
                connection.send("hello").await?;
                Ok::<_, PerfError>(connection)
            };
            ends.push(tokio::try_join!(connected, self.accept())?);
        }
        sleep(REST).await;
        clients.push(self.endpoint);
        Ok(Held::new(clients, ends))
    }
}

/// Connections that stay open.
struct Held<T> {
    endpoints: Vec<Endpoint>,
    _ends: Vec<T>,
}

impl<T> Held<T> {
    const fn new(endpoints: Vec<Endpoint>, ends: Vec<T>) -> Self {
        Self {
            endpoints,
            _ends: ends,
        }
    }
}

impl<T> Drop for Held<T> {
    fn drop(&mut self) {
        // Otherwise each connection would be closed as it is dropped.
        self.endpoints.iter().for_each(Endpoint::abort);
    }
}

/// Opens a connection, sends a datagram, and forgets everything.
async fn stand_in(socket: &UdpSocket, to: SocketAddr, port: u16) -> Result<(), PerfError> {
    let start = Instant::now();
    let now = || {
        let elapsed = skywave_units::Duration::from_nanos(start.elapsed().as_nanos() as u64);
        skywave_units::Instant::ZERO + elapsed
    };
    let rng = Random::seed_from_u64(port.into());
    let client = dccp::Connection::client(Config::default(), port, PORT, now(), rng);
    let mut client = Driven::new(client);
    let hello = Payload::Bytes("hello".into());
    client.apply(
        now(),
        |client| client.send(hello).is_ok(),
        |drain| drain.postpone(),
    );
    let mut buffer = [0; 2_000];
    loop {
        let packets = client.drain(now(), |mut drain| {
            let mut packets = Vec::new();
            while let Some(transmit) = drain.transmit() {
                packets.push(transmit.packet);
            }
            drain.finish().map(|_| packets)
        });
        for packet in packets {
            let bytes = packet
                .to_bytes(Checksum::Ignored)
                .map_err(std::io::Error::other)?;
            socket.send_to(&bytes, to).await?;
        }
        if client.get().stats().counters.data_packets_sent > 0 {
            return Ok(());
        }
        let length = socket.recv(&mut buffer).await?;
        // Answers to earlier ones do not concern it.
        let packet = Packet::parse(&buffer[..length].to_vec().into(), Checksum::Ignored);
        if let Ok(packet) = packet
            && packet.destination_port == port
        {
            client.receive(now(), Ecn::NotEct, packet, |drain| drain.postpone());
        }
    }
}
