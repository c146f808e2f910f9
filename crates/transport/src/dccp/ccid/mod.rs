//! The interface between a connection and its congestion control (RFC 4340 section 10).
//!
//! Each half-connection (data in one direction and the acknowledgements it causes) has its own
//! CCID. The connection owns sequence numbers, features, the Ack Vector buffer and packet encoding.
//! A CCID decides *when* data may leave ([`HcSender`]) and *when* an acknowledgement is due
//! ([`HcReceiver`]), and adds its own options.
//!
//! Every half-connection starts with CCID 2. Feature negotiation may change that; the sender holds
//! its data until its CCID is settled.
//!
//! Everything else a connection needs to know about a CCID is in its [`Row`]; no code compares CCID
//! numbers. [`mechanism`](super::mechanism) holds the table of CCIDs that an endpoint supports.

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
    /// CCID 251: CCID 2's acknowledgements with a congestion control chosen by the sender. This
    /// project's own, from the experimental range.
    pub const SENDERS_CHOICE: Self = Self(251);

    /// The CCID with which every half-connection starts (RFC 4340 section 10).
    pub const INITIAL: Self = Self::TCP_LIKE;
}

impl fmt::Display for Ccid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
