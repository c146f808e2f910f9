//! The congestion control mechanisms of an endpoint, by CCID (RFC 4340 section 10).
//!
//! - [`Mechanism`] is a CCID: a [`Row`] of facts and a factory for halves.
//! - [`Ccids`] is the table of CCIDs. Add your own with [`Ccids::enter`], as the built-in ones are
//!   added, one file each. [`CcidKinds`] creates those whose parameters come from a file.

mod any;
mod kinds;
mod senders_choice;
mod table;
mod tcp_like;
mod tfrc;
mod tfrc_sp;

pub use any::{ReceiverHalf, SenderHalf};
pub use kinds::CcidKinds;
pub use senders_choice::SendersChoice;
pub use table::Ccids;
pub(super) use tcp_like::TcpLike;
#[cfg(test)]
pub(super) use tfrc_sp::profile as tfrc_sp_profile;

use core::fmt;

use skywave_congestion::{Wants, tfrc as rate_control};
use skywave_wire::dccp::Packet;

use super::ccid::Row;
use super::ccid2;

/// What a mechanism may know about the connection for which it creates a half.
#[derive(Clone, Copy, Debug)]
pub struct HalfContext<'a> {
    /// Parameters of CCID 2, for mechanisms that share its acknowledgements.
    pub ccid2: &'a ccid2::Config,
    /// Parameters of TFRC, for mechanisms that share its rate control.
    pub tfrc: &'a rate_control::Config,
    /// Whether data packets may have 24-bit sequence numbers.
    pub allow_short_seqnos: bool,
    /// The most data that a packet to the peer may carry, in bytes.
    pub mps: u32,
    /// The initial Ack Ratio of the data-sending half, here or at the peer, in data packets per
    /// acknowledgement.
    pub ack_ratio: u16,
}

/// A congestion control mechanism, with its parameters.
pub trait Mechanism: fmt::Debug + Send + Sync {
    /// Returns its facts, always the same row.
    fn row(&self) -> &'static Row;

    /// Returns what its control asks of the connection.
    fn wants(&self) -> Wants {
        Wants::default()
    }

    /// Creates the data-sending half of a connection.
    fn sender(&self, context: &HalfContext<'_>) -> SenderHalf;

    /// Creates the data-receiving half of a connection.
    fn receiver(&self, context: &HalfContext<'_>) -> ReceiverHalf;

    /// Returns whether connections, or the two ends of one, share state, such as a global variable
    /// or a learned model. A simulation then calls all members that do in order of time; it
    /// executes other parts of a network one after the other. Runs on other threads are not
    /// ordered.
    fn shares_state(&self) -> bool {
        false
    }

    /// Returns up to three bits that routers on the path read from a data sender's packet, or zero
    /// if the mechanism uses no such routers.
    fn tag(&self, packet: &Packet) -> u8 {
        let _ = packet;
        0
    }

    /// Returns whether [`Mechanism::tag`] ever returns anything but zero.
    fn has_tags(&self) -> bool {
        false
    }

    /// Checks that the sender works with the routers on its path that write their own codes into
    /// the ECN field. `codes` lists the name and variant of each router's codes.
    ///
    /// # Errors
    /// What is wrong and what to do.
    fn check_routers(&self, codes: &[(&'static str, u32)]) -> Result<(), String> {
        let _ = codes;
        Ok(())
    }
}
