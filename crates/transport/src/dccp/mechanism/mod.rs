//! The congestion control mechanisms of an endpoint, each under its CCID (RFC 4340 section 10).
//!
//! - [`Mechanism`] is a CCID: a [`Row`] of facts and a maker of halves.
//! - [`Ccids`] is the table. A CCID of one's own is entered by [`Ccids::enter`], as the built-in
//!   ones are: a file each here. [`CcidKinds`] finds those whose parameters come from a file.

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

use skywave_congestion::tfrc as rate_control;
use skywave_wire::dccp::Packet;

use super::ccid::Row;
use super::ccid2;

/// What a mechanism may know of the connection for which it makes a half.
#[derive(Clone, Copy, Debug)]
pub struct HalfContext<'a> {
    /// Parameters of CCID 2, for those that share its acknowledgements.
    pub ccid2: &'a ccid2::Config,
    /// Parameters of TFRC, for those that share its rate control.
    pub tfrc: &'a rate_control::Config,
    /// Whether data packets may have 24-bit sequence numbers.
    pub allow_short_seqnos: bool,
    /// The most data that a packet to the peer may carry, in bytes.
    pub mps: u32,
    /// The Ack Ratio with which the data-sending half begins, here or at the peer, in data packets per
    /// acknowledgement.
    pub ack_ratio: u16,
}

/// A congestion control mechanism, with its parameters.
pub trait Mechanism: fmt::Debug + Send + Sync {
    /// Its facts; always the same.
    fn row(&self) -> &'static Row;

    /// The data-sending half of a connection.
    fn sender(&self, context: &HalfContext<'_>) -> SenderHalf;

    /// The data-receiving half of a connection.
    fn receiver(&self, context: &HalfContext<'_>) -> ReceiverHalf;

    /// Up to three bits that routers on the way read out of a packet of its sender's, where it has
    /// such routers; zero where it has none.
    fn tag(&self, packet: &Packet) -> u8 {
        let _ = packet;
        0
    }

    /// Whether [`Mechanism::tag`] ever tells anything.
    fn has_tags(&self) -> bool {
        false
    }

    /// Whether its sender gets along with the routers on its way that write codes of their own into
    /// the ECN field: the name and the variant of each one's codes.
    ///
    /// # Errors
    /// What is wrong and what to do.
    fn check_routers(&self, codes: &[(&'static str, u32)]) -> Result<(), String> {
        let _ = codes;
        Ok(())
    }
}
