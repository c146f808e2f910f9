//! TCP for a laboratory: one direction of data between two sans-IO endpoints.
//!
//! [`Sender`] opens the connection and sends; [`Receiver`] accepts it, reassembles and
//! acknowledges. Both speak true segments ([`skywave_wire::tcp::Segment`]): a handshake, 32-bit
//! sequence numbers that wrap, cumulative acknowledgements, a scaled window.
//!
//! Who decides what:
//!
//! - *Policy*, how large the window is, belongs to a [`skywave_congestion::Control`]. It is handed to
//!   the sender, so TCP runs with every control. One that writes into TCP's header is a
//!   [`SenderExtension`], with a [`ReceiverExtension`] at the other end.
//! - *Recovery*, what is retransmitted and when, is [`RecoveryAlgorithm`].
//! - The *sender* owns sequence numbers, the two windows and the retransmission timer.
//!
//! The defaults follow RFC 2018, 3168, 5681, 6298, 6582 and 9293. ns-2's TCP, with which much of the
//! literature was written, differs from them in a few named settings: see [`SenderConfig::ns2`].
//!
//! Left out, since data flow one way: the receiver never sends data or FIN, so a connection ends
//! half-closed, when the sender's FIN has been acknowledged. The receiver has no timer for its
//! SYN-ACK: the sender's repeated SYN brings another one.

mod config;
mod ecn;
mod extension;
mod kind;
mod reassembly;
mod receiver;
mod recovery;
mod sender;
mod sent_log;
mod sequence;
mod timer;

pub use config::{LimitedTransmit, Ports, ReceiverConfig, ReducedWindow, SenderConfig};
pub use ecn::EcnUse;
pub use extension::{Header, ReceiverExtension, SenderExtension};
pub use kind::{
    AnyTransport, TcpControlKind, TcpControls, built_in_tcp_controls, register_tcp_control,
};
pub use receiver::{Receiver, ReceiverStats};
pub use recovery::{RecoveryAlgorithm, RecoveryExit};
pub use sender::{Event, Sender, SenderControl, SenderStats, WriteAfterClose};
