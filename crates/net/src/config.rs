//! Configuration of an endpoint.

use std::net::SocketAddr;
#[cfg(feature = "qlog")]
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_units::Bytes;

use crate::error::OpenError;

/// The maximum number of shards of an endpoint.
pub(crate) const MAX_SHARDS: usize = 256;

/// The options of an endpoint. Those of its connections are in `Config` (Rust: `dccp::Config`).
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EndpointConfig {
    /// Requested size of the socket's send buffer; `None` keeps the system default. The system may
    /// grant less. Default: 4 MB.
    pub send_buffer: Option<Bytes>,
    /// Requested size of the socket's receive buffer; `None` keeps the system default. The system
    /// may grant less (Linux: up to `net.core.rmem_max`). Default: 4 MB.
    pub receive_buffer: Option<Bytes>,
    /// Whether several packets may be passed to the system as one (GSO). Default: yes.
    pub send_offload: bool,
    /// Whether the system may deliver several packets as one (GRO). It only joins packets with the
    /// same ECN marks. Default: yes.
    pub receive_offload: bool,
    /// The number of sockets over UDP, each with a task of its own that receives packets and runs
    /// timers, so that a busy endpoint uses several processors; 0 is one for each processor. The
    /// connections are distributed by their DCCP ports. It has no effect over IP. Default: 1.
    pub shards: usize,
    /// The most connections per listener that are in their handshake or waiting to be accepted;
    /// further Requests are answered with a Reset, "Too Busy". At least 1. Default: 1024.
    pub backlog: usize,
    /// The most half-open handshakes that a listener stores. Beyond that it drops the oldest if
    /// that has had 4 s to complete, because an honest client takes far less. Otherwise it stores
    /// nothing for a Request and answers with an Init Cookie, whose return creates the connection
    /// (RFC 4340 section 8.1.4). A flood of Requests therefore takes no memory, and does not lock
    /// out clients that return cookies. Default: 256.
    pub half_open: usize,
    /// The most connections at a time, those in their handshake and those that are closing
    /// included. Beyond it, Requests are answered with a Reset, "Too Busy", and
    /// [`connect`](crate::Endpoint::connect) fails. At least 1. Default: 65,536.
    pub max_connections: usize,
    /// The most connections accepted from one IPv4 address, or from one IPv6 /64, which one host
    /// may own. Further Requests are answered with a Reset, "Too Busy". At least 1. Default: 8,192.
    pub max_per_address: usize,
    /// The most connections accepted from one IPv4 /24 or IPv6 /48; otherwise like
    /// [`max_per_address`](Self::max_per_address). At least 1. Default: 16,384.
    pub max_per_prefix: usize,
    /// The most connections that their application has closed or dropped and whose peer has not
    /// confirmed it. Beyond it, the one that has been closing longest is reset. Default: 4,096.
    pub max_closing: usize,
    /// The most ended connections whose ports rest (TIMEWAIT). Beyond it, the oldest rest ends
    /// early; a delayed packet of that connection could then meet a new one on the same ports,
    /// whose sequence numbers most probably reject it. Default: 16,384.
    pub max_time_waits: usize,
    /// The most data that waits in the queues of all connections, to be sent or to be read.
    /// Beyond it, each queue takes a datagram only if it is empty: sending waits, and received data
    /// is dropped and reported to the peer with Drop Code 2. The queues of a connection are limited
    /// by [`dccp::Config`](skywave_transport::dccp::Config). Default: 256 MB.
    pub max_queued_bytes: Bytes,
    /// Whether packets that belong to no connection are answered with a Reset (RFC 4340 section
    /// 8.3.1). Turn it off if another program on this host uses DCCP over IP on addresses for which
    /// this endpoint also receives. Default: yes.
    pub reset_strays: bool,
    /// The most Resets sent per second outside a connection (RFC 4340 section 8.1.3). Default:
    /// 1024.
    pub resets_per_second: u32,
    /// The directory in which each connection gets a qlog file of its packets and its congestion
    /// control, for qvis (`NUMBER-client.sqlog` or `NUMBER-server.sqlog`); it is created if need be.
    /// A connection that a peer opens gets its file once the handshake is complete. Traffic never
    /// waits for the disk: events for which it is too slow, or full, are missing in the files, which
    /// say so, and are counted in [`qlog_dropped`](EndpointStats::qlog_dropped). Default: none.
    #[cfg(feature = "qlog")]
    #[schemars(extend("format" = "path"))]
    pub qlog: Option<PathBuf>,
}

impl Default for EndpointConfig {
    fn default() -> Self {
        Self {
            send_buffer: Some(Bytes::new(4_000_000)),
            receive_buffer: Some(Bytes::new(4_000_000)),
            send_offload: true,
            receive_offload: true,
            shards: 1,
            backlog: 1024,
            half_open: 256,
            max_connections: 65_536,
            max_per_address: 8_192,
            max_per_prefix: 16_384,
            max_closing: 4_096,
            max_time_waits: 16_384,
            max_queued_bytes: Bytes::new(256_000_000),
            reset_strays: true,
            resets_per_second: 1024,
            #[cfg(feature = "qlog")]
            qlog: None,
        }
    }
}

impl EndpointConfig {
    /// Checks the limits.
    ///
    /// # Errors
    ///
    /// [`OpenError::TooManyShards`], or [`OpenError::ZeroLimit`] with the first limit that would
    /// forbid everything.
    pub fn check(&self) -> Result<(), OpenError> {
        let shards = self.shards;
        if shards > MAX_SHARDS {
            let limit = MAX_SHARDS;
            return Err(OpenError::TooManyShards { shards, limit });
        }
        for (name, limit) in [
            ("backlog", self.backlog),
            ("max_connections", self.max_connections),
            ("max_per_address", self.max_per_address),
            ("max_per_prefix", self.max_per_prefix),
        ] {
            if limit == 0 {
                return Err(OpenError::ZeroLimit(name));
            }
        }
        Ok(())
    }
}

/// The address of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer {
    /// IP address and UDP port; the port is ignored over IP.
    pub address: SocketAddr,
    /// DCCP port.
    pub port: u16,
}

/// Counters of an endpoint, apart from those of its connections.
///
/// They count since the endpoint was opened, except for those that say "at present".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
#[non_exhaustive]
pub struct EndpointStats {
    /// Connections at present, including handshakes and those that are closing.
    pub connections: usize,
    /// Ended connections whose ports may not be reused at present (TIMEWAIT).
    pub time_waits: usize,
    /// Packets passed to the system.
    pub packets_sent: u64,
    /// System calls that sent packets.
    pub send_calls: u64,
    /// Packets received, valid or not.
    pub packets_received: u64,
    /// Packets dropped because they are not valid DCCP packets (RFC 4340 section 8.5, step 1).
    pub malformed: u64,
    /// Packets that belong to no connection.
    pub strays: u64,
    /// Connections that are closed at present, but whose peer has not confirmed it.
    pub closing: usize,
    /// Bytes of data at present in the queues of all connections.
    pub queued_bytes: usize,
    /// Requests refused because the backlog was full, or because of a limit on connections.
    pub too_busy: u64,
    /// Half-open handshakes dropped to make room for others.
    pub half_open_dropped: u64,
    /// Connections reset because too many were closing.
    pub closing_dropped: u64,
    /// Requests answered with an Init Cookie, without storing anything.
    pub cookies_sent: u64,
    /// Packets that the system refused to send, for example because the network is down or
    /// unreachable, the packet is too large for the interface, or a filter forbids it. A connection
    /// sees them as lost.
    pub send_errors: u64,
    /// Errors reported by the network (ICMP).
    pub network_errors: u64,
    /// Events that are missing in qlog files.
    pub qlog_dropped: u64,
}
