//! What can go wrong in a measurement.

use skywave_net::{ConnectError, ConnectionError, ListenError, OpenError, SendError};
use thiserror::Error;

/// Why a measurement did not come to its end.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PerfError {
    /// An endpoint could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The port could not be listened on.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// There was no connection.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The connection ended.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// A datagram was not taken.
    #[error(transparent)]
    Send(#[from] SendError),
    /// No datagram has this size.
    #[error("datagram: {size} bytes; a datagram can have 1 to {largest}")]
    Datagram {
        /// Bytes that were asked for.
        size: usize,
        /// The most that there can be.
        largest: usize,
    },
    /// The system refused something.
    #[error("the system refused a socket, a thread or an answer: {0}")]
    System(#[from] std::io::Error),
    /// quinn refused something.
    #[cfg(feature = "quinn")]
    #[error("quinn: {0}")]
    Quinn(String),
    /// The one who watches the progress said so.
    #[error("interrupted")]
    Interrupted,
    /// Nothing arrived.
    #[error("nothing arrived; run it again on an idle machine, or with a longer duration")]
    Silent,
    /// One end stopped before the other.
    #[error("one end of the measurement stopped early; run it again on an idle machine")]
    Stopped,
}
