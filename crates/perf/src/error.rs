//! Errors of a measurement.

use skywave_net::{ConnectError, ConnectionError, ListenError, OpenError, SendError};
use thiserror::Error;

/// The reason why a measurement could not be completed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PerfError {
    /// An endpoint could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The server could not listen on the port.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The connection could not be established.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The connection ended.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// A datagram was not accepted.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The datagram size is invalid.
    #[error("datagram: {size} bytes is out of range; give 1 to {largest} bytes")]
    Datagram {
        /// The requested size in bytes.
        size: usize,
        /// The maximum size in bytes.
        largest: usize,
    },
    /// A system call failed.
    #[error("a system call failed: {0}")]
    System(#[from] std::io::Error),
    /// quinn returned an error.
    #[cfg(feature = "quinn")]
    #[error("quinn: {0}")]
    Quinn(String),
    /// The progress callback asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// Nothing arrived.
    #[error("nothing arrived; run it again on an idle machine, or with a longer duration")]
    Silent,
    /// One end stopped before the other.
    #[error("one end of the measurement stopped early; run it again on an idle machine")]
    Stopped,
}
