//! The events of a connection, in the application's terms.

use std::sync::Arc;

use skywave_congestion::MemberFailure;
use skywave_wire::dccp::ResetCode;

#[cfg(doc)]
use crate::dccp::SendError;
use crate::dccp::{self, Connection, Origin};

/// The reason why a session is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The connection was closed normally.
    Closed,
    /// Nobody listens on the peer's port.
    Refused,
    /// The peer's port does not offer the service.
    BadServiceCode,
    /// The peer has too many connections.
    TooBusy,
    /// The peer ended the connection with another Reset Code.
    Reset {
        /// The code (RFC 4340 section 5.6).
        code: ResetCode,
    },
    /// The peer violated the protocol, and this end reset the connection.
    Violation {
        /// The code (RFC 4340 section 5.6).
        code: ResetCode,
    },
    /// The peer did not answer during the handshake.
    TimedOut,
    /// The peer stopped answering.
    PeerGone,
    /// The connection carried no data for [`Config::idle_timeout`](dccp::Config::idle_timeout).
    Idle,
    /// This end aborted the connection.
    Aborted,
    /// The congestion control could no longer decide.
    ControlFailed(MemberFailure),
    /// The [layer](super::Layer) failed, and this end closed the connection.
    LayerFailed {
        /// The reason, as the layer states it.
        reason: Arc<str>,
    },
}

/// A change that an application may want to know about.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The handshake is complete, and so is that of the layer, if there is one.
    Connected,
    /// The send queue has room again after a [`SendError::QueueFull`].
    Writable,
    /// The peer's application has stopped reading; nothing more will be sent.
    PeerNotListening,
    /// The path's packet size limit has changed.
    PathMtu {
        /// The new maximum size of a datagram, in bytes.
        mps: u32,
        /// How many queued datagrams were discarded because they are now too large.
        discarded: usize,
    },
    /// The session is over.
    Closed {
        /// The code of the Reset.
        code: ResetCode,
        /// Who ended it.
        origin: Origin,
        /// The reason in the application's terms.
        cause: Cause,
    },
}

/// The history of a connection, from which the cause of its end follows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct History {
    /// Whether the connection's handshake is complete.
    pub(super) is_connected: bool,
    /// Whether this end has closed it.
    pub(super) is_closing: bool,
    /// Whether this end has aborted it.
    pub(super) is_aborted: bool,
}

impl History {
    /// Returns the connection's next event, translated.
    #[inline]
    pub(super) fn next_event(&mut self, connection: &mut Connection) -> Option<Event> {
        Some(match connection.event()? {
            dccp::Event::Connected => {
                self.is_connected = true;
                Event::Connected
            }
            dccp::Event::Writable => Event::Writable,
            dccp::Event::PeerNotListening => Event::PeerNotListening,
            dccp::Event::PathMtu { mps, discarded } => Event::PathMtu { mps, discarded },
            dccp::Event::Closed { code, origin } => Event::Closed {
                code,
                origin,
                cause: self.cause(connection, code, origin),
            },
        })
    }

    /// Returns why the connection is over.
    fn cause(self, connection: &Connection, code: ResetCode, origin: Origin) -> Cause {
        match (origin, code) {
            (Origin::Local, ResetCode::ABORTED) => self.cause_here(connection),
            (_, ResetCode::CLOSED) => Cause::Closed,
            (Origin::Local, code) => Cause::Violation { code },
            // Linux answers with this code if nobody listens.
            (Origin::Remote, ResetCode::NO_CONNECTION) if !self.is_connected => Cause::Refused,
            // The Reset that ended the connection was lost, and the peer has since forgotten it.
            (Origin::Remote, ResetCode::NO_CONNECTION) if self.is_closing => Cause::Closed,
            (Origin::Remote, ResetCode::CONNECTION_REFUSED) => Cause::Refused,
            (Origin::Remote, ResetCode::BAD_SERVICE_CODE) => Cause::BadServiceCode,
            (Origin::Remote, ResetCode::TOO_BUSY) => Cause::TooBusy,
            (Origin::Remote, code) => Cause::Reset { code },
        }
    }

    /// Returns why this end gave up the connection.
    fn cause_here(self, connection: &Connection) -> Cause {
        if let Some(failure) = connection.control_failure() {
            Cause::ControlFailed(failure)
        } else if connection.ended_idle() {
            Cause::Idle
        } else if self.is_aborted {
            Cause::Aborted
        } else if self.is_connected {
            Cause::PeerGone
        } else {
            Cause::TimedOut
        }
    }
}
