//! The line between a connection and its congestion control (RFC 4340 section 10).
//!
//! Each half-connection, the data in one direction with the acknowledgements that it causes, has a
//! CCID of its own. The connection owns sequence numbers, features, the Ack Vector buffer and the
//! encoding of packets. A CCID decides *when* data may leave ([`HcSender`]) and *when* an
//! acknowledgement is due ([`HcReceiver`]), and attaches options of its own.
//!
//! All that a connection must know of a CCID stands in its [`Row`]; nothing compares CCID numbers.
//! The table of those that an endpoint knows is [`mechanism`](super::mechanism).

mod half;
mod packet;
mod row;

pub use half::{HcReceiver, HcSender};
pub use packet::{Permit, ReceivedPacket, ReceivedTrain, SentPacket, SentTrain};
pub use row::{Features, Row};

use core::fmt;

/// The number of a congestion control mechanism (RFC 4340 section 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ccid(pub u8);

impl Ccid {
    /// CCID 2, TCP-like (RFC 4341).
    pub const TCP_LIKE: Self = Self(2);
    /// CCID 3, TCP-Friendly Rate Control (RFC 4342).
    pub const TFRC: Self = Self(3);
    /// CCID 4, TCP-Friendly Rate Control for small packets (RFC 5622).
    pub const TFRC_SP: Self = Self(4);
    /// CCID 251, the acknowledgements of CCID 2 with a control of the sender's choice: this project's
    /// own, among the numbers for experiments.
    pub const SENDERS_CHOICE: Self = Self(251);

    /// The one with which every half-connection begins (RFC 4340 section 10).
    pub const INITIAL: Self = Self::TCP_LIKE;
}

impl fmt::Display for Ccid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
