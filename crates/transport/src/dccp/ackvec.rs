//! Ack Vectors (RFC 4340 section 11.4 and appendix A): what a receiver remembers of the packets
//! that came, and what a sender reads out of an acknowledgement. Load Vectors are the same with
//! other cells.

mod buffer;
mod received;

use skywave_wire::Ecn;
use skywave_wire::dccp::{AckState, AckVectorCell, LoadVectorCell};

pub(crate) use self::buffer::AckVectorBuffer;
pub(crate) use self::received::{Run, Vector, vectors};

/// What the cells of a vector tell of a packet's ECN field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VectorKind {
    /// An Ack Vector: whether it was marked. [`Ecn::NotEct`] stands for any packet that was not.
    #[default]
    Ack,
    /// A Load Vector: the code point that it came with, for CCIDs whose routers write codes of their
    /// own. This project's own option; it takes no negotiation.
    Load,
}

impl VectorKind {
    /// What is remembered of a packet that came with `ecn`.
    const fn code(self, ecn: Ecn) -> Ecn {
        match self {
            Self::Ack if !ecn.is_ce() => Ecn::NotEct,
            Self::Ack | Self::Load => ecn,
        }
    }

    /// The byte of `len` packets that came with `code`, or have not come.
    fn byte(self, code: Option<Ecn>, len: u8) -> u8 {
        let byte = match self {
            Self::Load => LoadVectorCell::new(code, len).map(LoadVectorCell::byte),
            Self::Ack => {
                let state = match code {
                    None => AckState::NotYetReceived,
                    Some(Ecn::Ce) => AckState::ReceivedEcnMarked,
                    Some(_) => AckState::Received,
                };
                AckVectorCell::new(state, len).map(AckVectorCell::byte)
            }
        };
        byte.unwrap_or_default()
    }

    /// What a byte says: the code that packets came with, or that they have not come.
    const fn read(self, byte: u8) -> Option<Ecn> {
        match self {
            Self::Load => LoadVectorCell::from_byte(byte).code(),
            Self::Ack => match AckVectorCell::from_byte(byte).state() {
                AckState::Received => Some(Ecn::NotEct),
                AckState::ReceivedEcnMarked => Some(Ecn::Ce),
                AckState::Reserved | AckState::NotYetReceived => None,
            },
        }
    }
}

/// The ECN nonce of a code point (RFC 4340 section 12.2).
///
/// That section calls code point 10 "the nonce"; RFC 3540, which RFC 4341 section 7 names as the
/// rule to compute by, gives ECT(0), 10, the nonce 0 and ECT(1), 01, the nonce 1. With RFC 8311,
/// by which DCCP sends ECT(0) only, every echo is then 0, as in Linux.
pub(crate) const fn nonce_of(ecn: Ecn) -> bool {
    matches!(ecn, Ecn::Ect1)
}
