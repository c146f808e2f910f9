//! The sender's side of Ack Vectors: what an acknowledgement reports.

use skywave_wire::Ecn;
use skywave_wire::dccp::{AckVectorCell, DccpOption, OptionList, SeqNo};

use super::VectorKind;

/// One byte of a received vector: consecutive packets with the same report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The newest packet.
    pub(crate) newest: SeqNo,
    /// The number of packets, 1 to 64.
    pub(crate) len: u64,
    /// The reported code; `None` if the packets were not received.
    pub(crate) code: Option<Ecn>,
}

impl Run {
    /// Returns the oldest packet.
    pub(crate) const fn oldest(self) -> SeqNo {
        self.newest.sub(self.len - 1)
    }
}

/// One vector option of a received packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vector<'a> {
    kind: VectorKind,
    /// The packet at which the vector starts.
    start: SeqNo,
    /// The Nonce Echo of an Ack Vector.
    pub(crate) nonce: bool,
    cells: &'a [u8],
}

impl<'a> Vector<'a> {
    /// Returns the runs, newest first.
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

/// Returns the vectors of this kind in a packet with acknowledgement number `ack`. Each option
/// starts where the previous one ended.
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
