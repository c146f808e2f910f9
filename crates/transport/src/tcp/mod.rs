//! A TCP for simulation: one direction of data between two sans-IO endpoints.
//!
//! [`Sender`] opens the connection and sends; [`Receiver`] accepts it, reassembles and
//! acknowledges. Both use real segments ([`skywave_wire::tcp::Segment`]): a handshake, 32-bit
//! sequence numbers that wrap, cumulative acknowledgements, a scaled window.
//!
//! Responsibilities:
//!
//! - *Policy*, the size of the window, belongs to a [`skywave_congestion::Control`]. The caller
//!   passes the control to the sender, so TCP runs with any control. A control that writes into
//!   TCP's header is a [`SenderExtension`], with a [`ReceiverExtension`] at the other end.
//! - *Recovery*, what to retransmit and when, is a [`RecoveryAlgorithm`].
//! - The *sender* owns sequence numbers, the two windows and the retransmission timer.
//!
//! The defaults follow RFC 2018, 3168, 5681, 6298, 6582 and 9293. ns-2's TCP, used in much of the
//! literature, differs in a few named settings: see [`SenderConfig::ns2`]. Linux adds mechanisms
//! that find losses sooner: see [`SenderConfig::linux`].
//!
//! Omissions, because data flows one way: the receiver never sends data or a FIN, so a connection
//! ends half-closed once the sender's FIN is acknowledged. The receiver has no timer for its
//! SYN-ACK: a repeated SYN triggers another one.

mod algorithm;
mod config;
mod ecn;
mod extension;
mod kind;
mod limited;
mod loss;
mod ns2;
mod reassembly;
mod receive_window;
mod receiver;
mod sender;
mod sent_log;
mod sequence;
mod timer;
mod timestamps;
mod window_validation;

pub use algorithm::{RecoveryAlgorithm, RecoveryExit};
pub use config::{LimitedTransmit, Ports, ReceiverConfig, ReducedWindow, SenderConfig};
pub use ecn::EcnUse;
pub use extension::{Header, ReceiverExtension, SenderExtension};
pub use kind::{
    AnyTransport, TcpControlKind, TcpControls, built_in_tcp_controls, register_tcp_control,
};
pub use receive_window::ReceiveWindow;
pub use receiver::{Receiver, ReceiverStats};
pub use sender::{Event, Sender, SenderControl, SenderStats, WriteAfterClose};
