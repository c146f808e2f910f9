//! The AccECN option (draft-ietf-tcpm-accurate-ecn-34 section 3.2.3, which became RFC 9768).

use arrayvec::ArrayVec;

/// The option kinds (section 3.2.3).
const ACCECN0: u8 = 172;
const ACCECN1: u8 = 174;
/// Bytes of a counter.
const FIELD: usize = 3;

/// How many bytes of data have arrived with each ECN code point: counters modulo 2^24.
///
/// The tail of the counters may be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccurateEcn {
    /// Which counter comes first.
    pub order: AccurateEcnOrder,
    /// The counters, in this order. Only their low 24 bits are sent.
    pub counters: ArrayVec<u32, 3>,
}

/// The order of the counters; CE is always the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccurateEcnOrder {
    /// EE0B, ECEB, EE1B: order 0, option AccECN0.
    Ect0First,
    /// EE1B, ECEB, EE0B: order 1, option AccECN1.
    Ect1First,
}

impl AccurateEcn {
    /// Counters modulo this are sent.
    pub const MODULUS: u32 = 1 << 24;

    /// Returns ECEB, the counter of CE, if present.
    pub fn ce(&self) -> Option<u32> {
        self.counters.get(1).copied()
    }

    /// Returns EE0B, the counter of ECT(0), if present.
    pub fn ect0(&self) -> Option<u32> {
        self.counter(AccurateEcnOrder::Ect0First)
    }

    /// Returns EE1B, the counter of ECT(1), if present.
    pub fn ect1(&self) -> Option<u32> {
        self.counter(AccurateEcnOrder::Ect1First)
    }

    fn counter(&self, first: AccurateEcnOrder) -> Option<u32> {
        let place = if self.order == first { 0 } else { 2 };
        self.counters.get(place).copied()
    }

    /// Returns the encoded length in bytes, without padding: 2, 5, 8 or 11.
    pub fn encoded_len(&self) -> usize {
        2 + FIELD * self.counters.len()
    }

    /// Appends the encoded option to `space`, which must have room for it.
    pub(super) fn emit<const N: usize>(&self, space: &mut ArrayVec<u8, N>) {
        space.push(match self.order {
            AccurateEcnOrder::Ect0First => ACCECN0,
            AccurateEcnOrder::Ect1First => ACCECN1,
        });
        space.push(self.encoded_len() as u8);
        for counter in &self.counters {
            space.extend(counter.to_be_bytes().into_iter().skip(1));
        }
    }

    /// Returns whether this is the kind of such an option.
    pub(super) const fn is_kind(kind: u8) -> bool {
        matches!(kind, ACCECN0 | ACCECN1)
    }

    /// Decodes an option of `kind` with this content; `None` for another kind. An option of another
    /// length has as many counters as fit.
    pub(super) fn parse(kind: u8, content: &[u8]) -> Option<Self> {
        let order = match kind {
            ACCECN0 => AccurateEcnOrder::Ect0First,
            ACCECN1 => AccurateEcnOrder::Ect1First,
            _ => return None,
        };
        let counters = content.chunks_exact(FIELD).take(3);
        Some(Self {
            order,
            counters: counters
                .map(|field| u32::from_be_bytes([0, field[0], field[1], field[2]]))
                .collect(),
        })
    }
}
