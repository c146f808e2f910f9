//! ECN for TCP: how congestion marks return to the sender.
//!
//! [`SenderEcn`] and [`ReceiverEcn`] are the two ends. The feedback is RFC 3168's echo, DCTCP's
//! (RFC 8257 section 3.2), or [Accurate ECN](accurate_sender) (draft-ietf-tcpm-accurate-ecn-34,
//! which became RFC 9768).

mod accurate_receiver;
mod accurate_sender;
mod ace;
mod dctcp_echo;
mod echo;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

use skywave_congestion::Ect;
use skywave_wire::tcp::Flags;

pub(super) use echo::Echo;
pub(super) use receiver::ReceiverEcn;
pub(super) use sender::{SenderEcn, Sending};

const ECE_CWR: Flags = Flags::ECE.union(Flags::CWR);

/// How a connection uses the two ECN bits of its packets. Both ends must agree in their SYNs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnUse {
    /// Not at all: packets cannot be marked.
    #[default]
    Off,
    /// RFC 3168: data is sent with ECT(0), the receiver echoes a mark until it is answered, and a
    /// mark is a congestion event.
    Rfc3168,
    /// As RFC 3168, but the receiver's echo tells which packets were marked (RFC 8257 section 3.2).
    /// Nothing in the handshake tells the two apart, so both ends must be configured alike.
    Dctcp,
    /// Accurate ECN: data is sent with this code point, and the receiver reports the number of
    /// marked packets and bytes. A peer that only knows RFC 3168 is answered by its rules if the
    /// code point is ECT(0); ECT(1) is then not used, since its marks could not be counted (RFC 9331
    /// section 4.1).
    Accurate(Ect),
}
