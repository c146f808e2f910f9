//! What can go wrong, and what to do about it.

use std::io;
use std::net::{IpAddr, SocketAddr};

use skywave_transport::dccp::ConfigError;
use skywave_wire::dccp::ResetCode;
use thiserror::Error;

/// Why an [`Endpoint`](crate::Endpoint) could not be opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no tokio runtime.
    #[error("an endpoint needs a tokio runtime with I/O enabled; open it inside of one")]
    NoRuntime,
    /// The address cannot be bound.
    #[error("cannot bind {address}: {source}; choose a free UDP port on an address of this host")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// Raw sockets are for privileged processes.
    #[error(
        "no permission to open a raw socket for IP protocol 33 on {address}: run as root, or give \
         the program the capability (setcap cap_net_raw+ep PROGRAM), or use UDP encapsulation, \
         which needs no privilege"
    )]
    Permission {
        /// The address.
        address: IpAddr,
    },
    /// No random numbers for the secret behind Init Cookies.
    #[error("the system gives no random numbers: {0}")]
    Random(getrandom::Error),
    /// The system refuses something else.
    #[error("cannot set up the socket: {0}")]
    Socket(#[from] io::Error),
}

/// Why an endpoint does not listen.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The configuration is not allowed.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Somebody listens on that port already.
    #[error("DCCP port {0} is taken at this endpoint; drop its listener or choose another port")]
    PortInUse(u16),
    /// DCCP port zero.
    #[error("DCCP port 0 cannot be listened on; choose a port from 1 to 65535")]
    PortZero,
    /// The endpoint is shutting down.
    #[error("the endpoint is shutting down; open another one")]
    EndpointClosed,
}

/// Why a connection was not established.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The configuration is not allowed.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The endpoint's socket cannot reach addresses of that IP version.
    #[error("{peer} is of another IP version than this endpoint's socket; open one for it")]
    AddressFamily {
        /// The peer.
        peer: SocketAddr,
    },
    /// The system knows no way to the peer.
    #[error("no route to {peer}: {source}; check the address and the network")]
    NoRoute {
        /// The peer.
        peer: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// Every ephemeral DCCP port is in use towards that peer.
    #[error("no DCCP port is left towards {peer}; close connections or open another endpoint")]
    NoPort {
        /// The peer.
        peer: SocketAddr,
    },
    /// No random numbers for the initial sequence number.
    #[error("the system gives no random numbers: {0}")]
    Random(getrandom::Error),
    /// The connection ended in its handshake.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
}

/// Why a connection is over.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// Nobody listens on the peer's DCCP port (Reset Code 7; Linux sends 3).
    #[error("connection refused: nobody listens on that DCCP port; check the port and the server")]
    Refused,
    /// The peer's port does not offer that service (Reset Code 8).
    #[error("the port does not offer this service code; use the one that the server announces")]
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
    /// This end found the peer in breach of the protocol and reset the connection.
    #[error("this end reset the connection: {code} (Reset Code {number}); the peer broke the protocol", number = .code.0)]
    Violation {
        /// The code (RFC 4340 section 5.6).
        code: ResetCode,
    },
    /// The peer has not answered for so long that the handshake or the close was given up.
    #[error("the peer does not answer; check its address, and that nothing filters the packets")]
    TimedOut,
    /// The network says that the peer cannot be reached (ICMP), in the handshake or while this end
    /// closes; a connection that carries data does not end by that.
    #[error(
        "the network reports that the peer cannot be reached; check the address, the UDP port and that the peer runs"
    )]
    Unreachable,
    /// This end aborted the connection.
    #[error("the connection was aborted by this end")]
    Aborted,
    /// The connection was closed in the normal way.
    #[error("the connection is closed; open another one")]
    Closed,
    /// The endpoint, or its runtime, has been shut down.
    #[error("the endpoint has been shut down; open another one")]
    EndpointClosed,
}

/// What a Reset Code asks of the application.
fn advice(code: ResetCode) -> &'static str {
    match code {
        ResetCode::ABORTED => "its application or a timer gave up; connect again if it matters",
        ResetCode::NO_CONNECTION => "it knows nothing of this connection, it may have restarted",
        ResetCode::PACKET_ERROR | ResetCode::OPTION_ERROR | ResetCode::MANDATORY_ERROR => {
            "it did not accept what was sent; compare the options of both ends"
        }
        ResetCode::BAD_INIT_COOKIE => "its cookie was too old or damaged; connect again",
        ResetCode::AGGRESSION_PENALTY => "it thinks that congestion control was ignored",
        ResetCode::ENCAPSULATED_PORT_REUSE => "connect again from another UDP port",
        _ => "connect again if it matters",
    }
}

/// Why a datagram was not taken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SendError {
    /// Larger than the path or the configuration takes.
    #[error(
        "a datagram of {size} bytes does not fit the path, which takes {maximum}; split it, see max_datagram_size"
    )]
    TooLarge {
        /// Bytes of the datagram.
        size: usize,
        /// The most that fits, in bytes.
        maximum: usize,
    },
    /// The peer's application reads no more data (Drop Code 1).
    #[error("the peer's application no longer listens; close the connection")]
    PeerNotListening,
    /// The connection is over, or closing.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
}

/// Why [`Connection::try_send`](crate::Connection::try_send) has not taken a datagram.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TrySendError {
    /// The send queue is full.
    #[error("the send queue is full; wait with send, or drop the datagram")]
    Full,
    /// It will never be taken.
    #[error(transparent)]
    Failed(#[from] SendError),
}
