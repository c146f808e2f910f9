//! What can be chosen about an endpoint.

use std::net::SocketAddr;

/// Options of an [`Endpoint`](crate::Endpoint); those of a connection are
/// [`dccp::Config`](skywave_transport::dccp::Config).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointConfig {
    /// Size of the socket's send buffer in bytes, as far as the system grants it; `None` leaves the
    /// system's. Default: 4 MiB.
    pub send_buffer: Option<usize>,
    /// Size of the socket's receive buffer in bytes, as far as the system grants it (on Linux up to
    /// `net.core.rmem_max`); `None` leaves the system's. Default: 4 MiB.
    pub receive_buffer: Option<usize>,
    /// Whether several packets may be handed to the system as one (GSO). Default: yes.
    pub send_offload: bool,
    /// Whether the system may hand over several packets as one (GRO). It joins packets of the same
    /// ECN marks only. Default: yes.
    pub receive_offload: bool,
    /// Connections of each listener that may wait for the end of their handshake or to be accepted;
    /// further Requests are answered with a Reset, "Too Busy". Default: 1024.
    pub backlog: usize,
    /// How many of these a listener remembers from the Request on. While more wait, it remembers
    /// nothing of a Request, and answers with an Init Cookie that makes the connection when it
    /// comes back (RFC 4340 section 8.1.4): a flood of Requests takes no memory and shuts nobody
    /// out. Default: 256.
    pub half_open: usize,
    /// Whether packets that belong to no connection are answered with a Reset (RFC 4340 section
    /// 8.3.1). Say no where another program on this host speaks DCCP over IP through addresses that
    /// this endpoint receives for, too. Default: yes.
    pub reset_strays: bool,
    /// The most Resets without a connection that are sent per second (RFC 4340 section 8.1.3).
    /// Default: 1024.
    pub resets_per_second: u32,
}

impl Default for EndpointConfig {
    fn default() -> Self {
        Self {
            send_buffer: Some(4 << 20),
            receive_buffer: Some(4 << 20),
            send_offload: true,
            receive_offload: true,
            backlog: 1024,
            half_open: 256,
            reset_strays: true,
            resets_per_second: 1024,
        }
    }
}

/// Whom to connect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer {
    /// IP address and UDP port; over IP the port is not used.
    pub address: SocketAddr,
    /// DCCP port.
    pub port: u16,
}

/// What an endpoint has done beside its connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointStats {
    /// Connections in the table, handshakes included.
    pub connections: usize,
    /// Ended connections whose ports are not used again yet (TIMEWAIT).
    pub time_waits: usize,
    /// Packets handed to the system.
    pub packets_sent: u64,
    /// System calls that sent them.
    pub send_calls: u64,
    /// Packets received, of whatever use.
    pub packets_received: u64,
    /// Packets that are no DCCP packets, and were dropped (RFC 4340 section 8.5, step 1).
    pub malformed: u64,
    /// Packets that belong to no connection.
    pub strays: u64,
    /// Requests that found the backlog full.
    pub too_busy: u64,
    /// Requests of which nothing was remembered: they were answered with an Init Cookie.
    pub cookies_sent: u64,
    /// Packets that the system refused to send: the network is down or unreachable, a packet is too
    /// large for the interface, a filter forbids it. To a connection they are lost.
    pub send_errors: u64,
    /// Errors that the network reported (ICMP).
    pub network_errors: u64,
}
