//! The sender's side: what an acknowledgement tells.

use skywave_wire::Ecn;
use skywave_wire::dccp::{AckVectorCell, DccpOption, OptionList, SeqNo};

use super::VectorKind;

/// One byte of a received vector: packets in a row of which it tells the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The newest of them.
    pub(crate) newest: SeqNo,
    /// How many, 1 to 64.
    pub(crate) len: u64,
    /// The code that they came with, as far as the vector tells; `None` where they have not come.
    pub(crate) code: Option<Ecn>,
}

impl Run {
    /// The oldest of them.
    pub(crate) const fn oldest(self) -> SeqNo {
        self.newest.sub(self.len - 1)
    }
}

/// One option of a received vector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vector<'a> {
    kind: VectorKind,
    /// The packet that it starts with.
    start: SeqNo,
    /// An Ack Vector's Nonce Echo.
    pub(crate) nonce: bool,
    cells: &'a [u8],
}

impl<'a> Vector<'a> {
    /// Its runs, newest first.
    pub(crate) fn runs(self) -> impl Iterator<Item = Run> + use<'a> {
        self.cells.iter().scan(self.start, move |next, &byte| {
            let run = Run {
                newest: *next,
                len: AckVectorCell::from_byte(byte).packets().into(),
                code: self.kind.read(byte),
            };
            *next = next.sub(run.len);
            Some(run)
        })
    }
}

/// The vectors of this kind in a packet whose acknowledgement number is `ack`. Each option begins
/// where the one before left off.
pub(crate) fn vectors(
    kind: VectorKind,
    ack: SeqNo,
    options: &OptionList,
) -> impl Iterator<Item = Vector<'_>> {
    options
        .iter()
        .filter_map(move |option| match (kind, option) {
            (VectorKind::Ack, DccpOption::AckVector { nonce, cells }) => {
                Some((*nonce, cells.as_slice()))
            }
            (VectorKind::Load, DccpOption::LoadVector(cells)) => Some((false, cells.as_slice())),
            _ => None,
        })
        .scan(ack, move |next, (nonce, cells)| {
            let start = *next;
            let covered = |byte: &u8| u64::from(AckVectorCell::from_byte(*byte).packets());
            *next = next.sub(cells.iter().map(covered).sum());
            Some(Vector {
                kind,
                start,
                nonce,
                cells,
            })
        })
}

#[cfg(test)]
mod tests;
