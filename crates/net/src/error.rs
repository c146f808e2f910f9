//! Errors, whose messages say what to do.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use skywave_congestion::MemberFailure;
use skywave_transport::dccp::ConfigError;
use skywave_transport::session::Cause;
use skywave_wire::dccp::ResetCode;
use thiserror::Error;

/// The reason why an [`Endpoint`](crate::Endpoint) could not be opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no tokio runtime with I/O.
    #[error("an endpoint needs a tokio runtime with I/O enabled; open it inside one")]
    NoRuntime,
    /// The address cannot be bound.
    #[error("cannot bind {address}: {source}; {}", udp_advice(.address))]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The address cannot be bound by a raw socket, which has no port.
    #[error("cannot bind {}: {source}; {}", host(.address), raw_advice(.address))]
    BindRaw {
        /// The address. The port is 0.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// Raw sockets require privileges.
    #[error(
        "no permission to open a raw socket for IP protocol 33 on {address}: run as root, or give \
         the program the capability (setcap cap_net_raw+ep PROGRAM), or use UDP encapsulation, \
         which needs no privilege"
    )]
    Permission {
        /// The address.
        address: IpAddr,
    },
    /// More sockets were requested than an endpoint may have.
    #[error("{shards} shards are too many; ask for at most {limit}, or for 0: one per processor")]
    TooManyShards {
        /// The number requested.
        shards: usize,
        /// The maximum allowed.
        limit: usize,
    },
    /// The limit of this name is zero, which would forbid everything.
    #[error("{0} is 0; give at least 1")]
    ZeroLimit(&'static str),
    /// The system provided no random numbers for the secret behind Init Cookies.
    #[error("the system's random number generator failed: {0}; try again")]
    Random(io::Error),
    /// The directory for qlog files cannot be used.
    #[error("cannot write qlog files in {}: {source}; choose another directory", .directory.display())]
    Qlog {
        /// The directory.
        directory: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Another system call failed.
    #[error("cannot set up the socket: {0}")]
    Socket(#[from] io::Error),
}

/// The reason why an endpoint could not listen.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The configuration asks for Quick-Start, whose requests are options of the IP header (RFC 4782
    /// section 3.1). A socket cannot write these, and there are no IP options behind a UDP header.
    #[error("a socket cannot send Quick-Start requests: leave tfrc.quick_start out")]
    QuickStart,
    /// The port already has a listener.
    #[error("DCCP port {0} is in use at this endpoint; drop its listener or choose another port")]
    PortInUse(u16),
    /// DCCP port zero.
    #[error("cannot listen on DCCP port 0; choose a port from 1 to 65535")]
    PortZero,
    /// The endpoint is shutting down.
    #[error("the endpoint has been shut down; open another one")]
    EndpointClosed,
}

/// The reason why a connection was not established.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The configuration asks for Quick-Start, whose requests are options of the IP header (RFC 4782
    /// section 3.1). A socket cannot write these, and there are no IP options behind a UDP header.
    #[error("a socket cannot send Quick-Start requests: leave tfrc.quick_start out")]
    QuickStart,
    /// DCCP port zero.
    #[error("cannot connect to DCCP port 0; choose a port from 1 to 65535")]
    PortZero,
    /// UDP port zero, at an endpoint over UDP.
    #[error("cannot connect to UDP port 0; give the peer's, 6511 by default")]
    UdpPortZero,
    /// The peer's address is not that of one host.
    #[error("cannot connect to {peer}; give the address of one host, since DCCP is unicast")]
    NotUnicast {
        /// The peer.
        peer: SocketAddr,
    },
    /// The peer's address has an IP version that the endpoint's socket cannot reach.
    #[error(
        "this endpoint's socket cannot reach the IP version of {peer}; open an endpoint for that version"
    )]
    AddressFamily {
        /// The peer.
        peer: SocketAddr,
    },
    /// The system has no route to the peer.
    #[error("no route from {} to {peer}: {source}; {}", from(.local), routing_advice(*.local, .peer))]
    NoRoute {
        /// The address to which the endpoint is bound, if it is bound to one.
        local: Option<IpAddr>,
        /// The peer.
        peer: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// Every ephemeral DCCP port is in use towards that peer.
    #[error("no DCCP port is free towards {peer}; close connections or open another endpoint")]
    NoPort {
        /// The peer.
        peer: SocketAddr,
    },
    /// The endpoint has as many connections as its configuration allows.
    #[error(
        "the endpoint has its limit of {limit} connections; close some, or raise max_connections"
    )]
    TooManyConnections {
        /// [`EndpointConfig::max_connections`](crate::EndpointConfig::max_connections).
        limit: usize,
    },
    /// The system provided no random numbers for the initial sequence number.
    #[error("the system's random number generator failed: {0}; try again")]
    Random(io::Error),
    /// There is no address to connect to.
    #[error("the host has no address; check its name")]
    NoAddress,
    /// The system provided no timer.
    #[error("cannot set a timer: {0}; close files or connections")]
    Timer(io::Error),
    /// The connection ended during its handshake.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
}

/// The reason why a connection is over.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// Nobody listens on the peer's DCCP port (Reset Code 7; Linux sends 3).
    #[error("connection refused: nobody listens on that DCCP port; check the port and the server")]
    Refused,
    /// The peer's port does not offer that service (Reset Code 8).
    #[error("the port does not offer this service code; use the server's")]
    BadServiceCode,
    /// The server has too many connections (Reset Code 9).
    #[error("the server is too busy; try again later")]
    TooBusy,
    /// The peer ended the connection with another Reset Code.
    #[error("the peer reset the connection: {code} (Reset Code {number}): {advice}", number = .code.0, advice = advice(*.code))]
    Reset {
        /// The code (RFC 4340 section 5.6).
        code: ResetCode,
    },
    /// The peer violated the protocol, and this end reset the connection.
    #[error("this end reset the connection: {code} (Reset Code {number}); the peer broke the protocol", number = .code.0)]
    Violation {
        /// The code (RFC 4340 section 5.6).
        code: ResetCode,
    },
    /// The peer did not answer during the handshake.
    #[error("the peer does not answer; check its address, and that no filter drops the packets")]
    TimedOut,
    /// The peer stopped answering: data, a close or a keepalive had no answer in time
    /// ([`Config::silence_timeout`](skywave_transport::dccp::Config::silence_timeout)).
    #[error("the peer stopped answering; its host or its network may be down: connect again later")]
    PeerGone,
    /// The connection carried no data for
    /// [`Config::idle_timeout`](skywave_transport::dccp::Config::idle_timeout).
    #[error(
        "the connection carried no data for its idle timeout; connect again when there is some"
    )]
    Idle,
    /// This end had more closing connections than
    /// [`max_closing`](crate::EndpointConfig::max_closing), and this one had waited longest.
    #[error("too many connections were closing at once; what was still queued may be lost")]
    TooManyClosing,
    /// The network reported that the peer cannot be reached (ICMP), during the handshake or while
    /// this end was closing. Such a report does not end a connection that carries data.
    #[error(
        "the network reports that the peer cannot be reached; check the address, the UDP port and that the peer is running"
    )]
    Unreachable,
    /// This end aborted the connection.
    #[error("the connection was aborted by this end")]
    Aborted,
    /// The congestion control could no longer decide, and this end reset the connection.
    #[error("this end reset the connection, because its congestion control failed: {0}")]
    ControlFailed(MemberFailure),
    /// The layer above the connection, such as DTLS, failed, and this end closed the connection.
    #[error("this end closed the connection, because its layer failed: {reason}")]
    LayerFailed {
        /// The reason, as the layer states it.
        reason: Arc<str>,
    },
    /// The connection was closed normally.
    #[error("the connection is closed; open another one")]
    Closed,
    /// The connection was closed normally, but queued datagrams were not sent: the time to
    /// [`linger`](skywave_transport::dccp::Config::linger) was too short, or the peer closed first.
    #[error(
        "the connection is closed, and {datagrams} queued datagrams were discarded: raise linger, or \
         wait with flush"
    )]
    Discarded {
        /// The number of discarded datagrams.
        datagrams: u64,
    },
    /// The listener was closed.
    #[error("the listener has been closed; listen again")]
    ListenerClosed,
    /// The endpoint, or its runtime, was shut down.
    #[error("the endpoint has been shut down; open another one")]
    EndpointClosed,
}

impl From<Cause> for ConnectionError {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Closed => Self::Closed,
            Cause::Refused => Self::Refused,
            Cause::BadServiceCode => Self::BadServiceCode,
            Cause::TooBusy => Self::TooBusy,
            Cause::Reset { code } => Self::Reset { code },
            Cause::Violation { code } => Self::Violation { code },
            Cause::TimedOut => Self::TimedOut,
            Cause::PeerGone => Self::PeerGone,
            Cause::Idle => Self::Idle,
            Cause::Aborted => Self::Aborted,
            Cause::ControlFailed(failure) => Self::ControlFailed(failure),
            Cause::LayerFailed { reason } => Self::LayerFailed { reason },
        }
    }
}

fn from(local: &Option<IpAddr>) -> String {
    local.map_or_else(|| "this host".to_owned(), |address| address.to_string())
}

/// Returns an address without its port, but with its interface.
fn host(address: &SocketAddr) -> String {
    match address {
        SocketAddr::V6(v6) if v6.scope_id() != 0 => format!("{}%{}", v6.ip(), v6.scope_id()),
        _ => address.ip().to_string(),
    }
}

const NAME_THE_INTERFACE: &str = "name the interface of a link-local address, as in fe80::1%eth0";

fn lacks_interface(address: &SocketAddr) -> bool {
    matches!(address, SocketAddr::V6(v6) if v6.ip().is_unicast_link_local() && v6.scope_id() == 0)
}

/// Returns advice for an application that cannot bind a UDP socket.
fn udp_advice(address: &SocketAddr) -> &'static str {
    if lacks_interface(address) {
        NAME_THE_INTERFACE
    } else {
        "choose a free UDP port on an address of this host"
    }
}

/// Returns advice for an application that cannot bind a raw socket.
fn raw_advice(address: &SocketAddr) -> &'static str {
    if lacks_interface(address) {
        NAME_THE_INTERFACE
    } else {
        "choose an address of this host"
    }
}

/// Returns advice for an application that has no route.
fn routing_advice(local: Option<IpAddr>, peer: &SocketAddr) -> &'static str {
    match peer {
        _ if lacks_interface(peer) => NAME_THE_INTERFACE,
        _ if local.is_some_and(|local| local.to_canonical().is_loopback()) => {
            "the endpoint is bound to loopback, which reaches only this host: open it at another \
             address"
        }
        _ if local.is_some() => {
            "check the address and the network, and to which address the endpoint is bound"
        }
        _ => "check the address and the network",
    }
}

/// Returns advice for an application whose connection was reset with `code`.
fn advice(code: ResetCode) -> &'static str {
    match code {
        ResetCode::ABORTED => "its application or a timer gave up; connect again if it matters",
        ResetCode::NO_CONNECTION => "it does not know this connection; it may have restarted",
        ResetCode::PACKET_ERROR | ResetCode::OPTION_ERROR | ResetCode::MANDATORY_ERROR => {
            "it did not accept what was sent; compare the options of both ends"
        }
        ResetCode::BAD_INIT_COOKIE => "its cookie was too old or damaged; connect again",
        ResetCode::AGGRESSION_PENALTY => "it believes that congestion control was ignored",
        ResetCode::ENCAPSULATED_PORT_REUSE => "connect again from another UDP port",
        _ => "connect again if it matters",
    }
}

/// The reason why a datagram was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SendError {
    /// Larger than the path or the configuration permits.
    #[error(
        "a datagram of {size} bytes exceeds the maximum of {maximum} bytes for this path; split it (see max_datagram_size)"
    )]
    TooLarge {
        /// Bytes of the datagram.
        size: usize,
        /// The maximum size, in bytes.
        maximum: usize,
    },
    /// The peer's application has stopped reading (Drop Code 1).
    #[error("the peer's application no longer listens; close the connection")]
    PeerNotListening,
    /// The connection is over, or closing.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
}

/// The reason why [`Connection::try_send`](crate::Connection::try_send) did not accept a datagram.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TrySendError {
    /// The send queue is full.
    #[error("the send queue is full; wait with send, or drop the datagram")]
    Full,
    /// The datagram can never be accepted.
    #[error(transparent)]
    Failed(#[from] SendError),
}
