//! Ack Vectors (RFC 4340 section 11.4 and appendix A): the receiver's record of arrivals and the
//! sender's reading of acknowledgements. Load Vectors differ only in the contents of their cells.

mod buffer;
mod received;

use skywave_wire::Ecn;
use skywave_wire::dccp::{AckState, AckVectorCell, LoadVectorCell};

pub(crate) use self::buffer::AckVectorBuffer;
pub(crate) use self::received::{Run, Vector, vectors};

/// What a vector's cells report about a packet's ECN field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VectorKind {
    /// An Ack Vector reports whether a packet was marked. [`Ecn::NotEct`] stands for any unmarked
    /// packet.
    #[default]
    Ack,
    /// A Load Vector reports the code point with which a packet arrived, for CCIDs whose routers
    /// write their own codes. It is this project's own option and needs no negotiation.
    Load,
}

impl VectorKind {
    /// Returns the code to record for a packet that arrived with `ecn`.
    const fn code(self, ecn: Ecn) -> Ecn {
        match self {
            Self::Ack if !ecn.is_ce() => Ecn::NotEct,
            Self::Ack | Self::Load => ecn,
        }
    }

    /// Encodes a run of `len` packets that arrived with `code`, or that did not arrive if `code` is
    /// `None`.
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

    /// Decodes the code of a run; `None` if the packets did not arrive.
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

/// Returns the ECN nonce of a code point (RFC 4340 section 12.2).
///
/// That section calls code point 10 "the nonce". RFC 3540, to which RFC 4341 section 7 refers for
/// the computation, gives ECT(0), 10, the nonce 0 and ECT(1), 01, the nonce 1. Under RFC 8311 DCCP
/// sends ECT(0) only, so every echo is 0, as in Linux.
pub(crate) const fn nonce_of(ecn: Ecn) -> bool {
    matches!(ecn, Ecn::Ect1)
}
