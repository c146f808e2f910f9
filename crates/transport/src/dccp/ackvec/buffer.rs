//! The receiver's side of Ack Vectors: which packets arrived.

use std::collections::VecDeque;

use skywave_wire::Ecn;
use skywave_wire::dccp::{AckVectorCell, DccpOption, OptionBytes, OptionList, SeqNo};

use super::{VectorKind, nonce_of};

/// Packets that one cell can describe.
const CELL_MAX: u64 = AckVectorCell::MAX_PACKETS as u64;

/// Cells that fit one option (RFC 4340 section 5.8).
const OPTION_MAX: usize = 253;

/// The most cells kept: three options' worth. More would leave no room for anything else in the
/// 1020 bytes of a packet header. Only a peer that never acknowledges acknowledgements lets the
/// vector grow this long.
const CELLS_MAX: usize = 3 * OPTION_MAX;

/// The most records kept of acknowledgements sent: enough for that many acknowledgements per
/// round-trip time.
const RECORDS_MAX: usize = 1 << 16;

/// A run of consecutive packets in the same state, newest first: one byte of an Ack Vector, plus
/// the packets' nonces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    /// The code recorded for the packets; `None` if they have not arrived.
    code: Option<Ecn>,
    /// 1 to 64.
    len: u64,
    /// The packets' ECN nonces, newest in the lowest bit; zero for packets that are missing or
    /// marked.
    nonces: u64,
}

impl Cell {
    /// Returns the newest `len` packets of the cell.
    const fn newest(self, len: u64) -> Self {
        let mask = if len >= 64 { u64::MAX } else { (1 << len) - 1 };
        Self {
            len,
            nonces: self.nonces & mask,
            ..self
        }
    }

    /// Returns the cell without its newest `skip` packets. `skip` must be less than `len`.
    const fn without_newest(self, skip: u64) -> Self {
        Self {
            len: self.len - skip,
            nonces: self.nonces >> skip,
            ..self
        }
    }

    /// Joins `self` with the older cell `older`, if one cell can hold both.
    fn joined(self, older: Self) -> Option<Self> {
        (self.code == older.code && self.len + older.len <= CELL_MAX).then(|| Self {
            code: self.code,
            len: self.len + older.len,
            nonces: self.nonces | older.nonces << self.len,
        })
    }
}

/// An acknowledgement that was sent and is not yet acknowledged.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// The sequence number of the packet that carried it.
    own_seq: SeqNo,
    /// Once this record is acknowledged, the peer knows the state of all packets up to this one.
    covers: SeqNo,
}

/// A packet that arrived late, after acknowledgements that report it as missing.
#[derive(Clone, Copy, Debug)]
struct Withheld {
    /// The last record before its arrival.
    own_seq: SeqNo,
    seq: SeqNo,
}

/// The receiver's record of which packets arrived (RFC 4340 appendix A).
///
/// Each cell keeps its packets' nonces, so a cell can be cut anywhere and the Nonce Echo is always
/// the parity of the rest. Appendix A's bookkeeping of nonce sums is therefore not needed.
#[derive(Debug, Default)]
pub(crate) struct AckVectorBuffer {
    /// Newest first.
    cells: VecDeque<Cell>,
    /// The packet at the start of the first cell.
    newest: SeqNo,
    /// The number of packets in all cells.
    span: u32,
    kind: VectorKind,
    /// Oldest first.
    records: VecDeque<Record>,
    /// The late arrivals that older records must not clear, in order of arrival. One that is
    /// followed by an older packet is left out, so their numbers increase.
    withheld: VecDeque<Withheld>,
}

impl AckVectorBuffer {
    /// Creates an empty buffer.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Sets the kind of vector to send from now on. Packets already recorded are kept.
    pub(crate) const fn set_kind(&mut self, kind: VectorKind) {
        self.kind = kind;
    }

    /// Returns the kind of vector being sent.
    pub(crate) const fn kind(&self) -> VectorKind {
        self.kind
    }

    /// Records an arrival. Returns whether the packet is new; a duplicate, or a packet too old to
    /// be remembered, is not.
    ///
    /// An ECN-incapable endpoint records every packet as [`Ecn::NotEct`] (RFC 4340 section 12.2).
    pub(crate) fn record(&mut self, seq: SeqNo, ecn: Ecn) -> bool {
        let cell = Cell {
            code: Some(self.kind.code(ecn)),
            len: 1,
            nonces: nonce_of(ecn).into(),
        };
        if self.cells.is_empty() {
            self.push(cell);
            self.newest = seq;
            return true;
        }
        match seq.distance_from(self.newest) {
            ahead @ 1.. => {
                self.push_missing(ahead as u64 - 1);
                self.push(cell);
                self.newest = seq;
                self.bound();
                true
            }
            behind => {
                let replaced = self.replace(behind.unsigned_abs(), cell);
                if replaced.is_some() {
                    self.withhold(seq);
                }
                self.bound();
                replaced == Some(None)
            }
        }
    }

    /// Records `count` consecutive packets starting at `first`. All must be new and in order.
    pub(crate) fn record_train(&mut self, first: SeqNo, count: u64, ecn: Ecn) {
        self.record(first, ecn);
        let nonces = if nonce_of(ecn) { u64::MAX } else { 0 };
        self.push_run(Some(self.kind.code(ecn)), nonces, count - 1);
        self.newest = first.add(count - 1);
        self.bound();
    }

    /// Adds the vector to a packet whose acknowledgement number is [`AckVectorBuffer::ack_number`].
    /// A long vector takes several options.
    pub(crate) fn options(&self, out: &mut OptionList) {
        let mut cells = self.cells.iter();
        while cells.len() > 0 {
            let mut parity = 0;
            let bytes: OptionBytes = cells
                .by_ref()
                .take(OPTION_MAX)
                .map(|cell| {
                    parity ^= cell.nonces;
                    self.kind.byte(cell.code, cell.len as u8)
                })
                .collect();
            out.push(match self.kind {
                VectorKind::Ack => DccpOption::AckVector {
                    nonce: parity.count_ones() % 2 == 1,
                    cells: bytes,
                },
                VectorKind::Load => DccpOption::LoadVector(bytes),
            });
        }
    }

    /// Returns the newest packet that arrived, at which the vector starts; `None` before the first
    /// arrival.
    pub(crate) fn ack_number(&self) -> Option<SeqNo> {
        (!self.cells.is_empty()).then_some(self.newest)
    }

    /// Records that a packet carrying the Ack Vector left with our sequence number `own_seq`.
    pub(crate) fn sent(&mut self, own_seq: SeqNo) {
        if self.cells.is_empty() {
            return;
        }
        if self.records.len() == RECORDS_MAX {
            self.records.pop_front();
            self.forget_withheld();
        }
        self.records.push_back(Record {
            own_seq,
            covers: self.newest,
        });
    }

    /// Handles an acknowledgement of our packet `own_seq`: if that packet carried the Ack Vector,
    /// forgets the state that the peer now knows.
    pub(crate) fn acked(&mut self, own_seq: SeqNo) {
        let newer = self
            .records
            .partition_point(|record| !record.own_seq.is_after(own_seq));
        let Some(record) = newer.checked_sub(1).and_then(|last| self.records.get(last)) else {
            return;
        };
        // A packet without a vector says nothing about earlier vectors: they may be lost.
        if record.own_seq != own_seq {
            return;
        }
        let covers = self.covered_by(*record);
        self.records.drain(..newer);
        self.forget_withheld();
        // Keep the newest packet as the reference point for the next arrival.
        let kept = self.newest.distance_from(covers).max(1) as u64;
        self.truncate(kept);
    }

    /// Returns the number of cells, each of which takes one byte on the wire.
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Forgets the oldest packets until the vector has at most `cells` cells, but keeps the newest.
    pub(crate) fn keep_newest(&mut self, cells: usize) {
        while self.cells.len() > cells.max(1)
            && let Some(oldest) = self.cells.pop_back()
        {
            self.span -= oldest.len as u32;
        }
    }

    /// Adds a cell of packets at the newest end.
    fn push(&mut self, cell: Cell) {
        self.span += cell.len as u32;
        if let Some(front) = self.cells.front_mut()
            && let Some(joined) = cell.joined(*front)
        {
            *front = joined;
        } else {
            self.cells.push_front(cell);
        }
    }

    fn push_missing(&mut self, mut count: u64) {
        // A hole this large pushes everything out; do not walk over it.
        let most = CELLS_MAX as u64 * CELL_MAX;
        if count > most {
            self.cells.clear();
            self.span = 0;
            self.records.clear();
            self.withheld.clear();
            count = 0;
        }
        self.push_run(None, 0, count);
    }

    /// Adds `count` packets of one kind at the newest end, all with the same nonce: first fills up
    /// the first cell, then starts new ones.
    fn push_run(&mut self, code: Option<Ecn>, nonces: u64, mut count: u64) {
        while count > 0 {
            let room = match self.cells.front() {
                Some(front) if front.code == code => CELL_MAX - front.len,
                _ => 0,
            };
            let len = count.min(if room > 0 { room } else { CELL_MAX });
            let whole = Cell {
                code,
                len: CELL_MAX,
                nonces,
            };
            self.push(whole.newest(len));
            count -= len;
        }
    }

    /// Merges a packet that is `age` older than the newest, following the table in RFC 4340 section
    /// 11.4.1. Returns the previous state if that changed. A packet that arrived both marked and
    /// unmarked counts as marked, in either order; of two codes the larger one is kept.
    fn replace(&mut self, age: u64, packet: Cell) -> Option<Option<Ecn>> {
        if age >= self.span.into() {
            return None;
        }
        let mut skip = age;
        let mut index = 0;
        while let Some(cell) = self.cells.get(index)
            && skip >= cell.len
        {
            skip -= cell.len;
            index += 1;
        }
        let cell = *self.cells.get(index)?;
        if packet.code <= cell.code {
            return None;
        }
        let newer = (skip > 0).then(|| cell.newest(skip));
        let older = (skip + 1 < cell.len).then(|| cell.without_newest(skip + 1));
        self.cells[index] = packet;
        if let Some(older) = older {
            self.cells.insert(index + 1, older);
        }
        if let Some(newer) = newer {
            self.cells.insert(index, newer);
            index += 1;
        }
        self.join_with_next(index);
        if index > 0 {
            self.join_with_next(index - 1);
        }
        Some(cell.code)
    }

    fn join_with_next(&mut self, index: usize) {
        if let (Some(&cell), Some(&older)) = (self.cells.get(index), self.cells.get(index + 1))
            && let Some(joined) = cell.joined(older)
        {
            self.cells[index] = joined;
            self.cells.remove(index + 1);
        }
    }

    /// Protects the late arrival `seq` from being forgotten: acknowledgements already sent report
    /// it as missing, so their acknowledgement must not clear it (RFC 4340 appendix A.3).
    fn withhold(&mut self, seq: SeqNo) {
        let Some(&Record { own_seq, .. }) = self.records.back() else {
            return;
        };
        while self
            .withheld
            .back()
            .is_some_and(|last| !last.seq.is_before(seq))
        {
            self.withheld.pop_back();
        }
        self.withheld.push_back(Withheld { own_seq, seq });
    }

    /// Returns the newest packet whose state, like that of all before it, the peer knows once
    /// `record` is acknowledged. Of the packets that arrived late after it, the oldest is the first
    /// withheld.
    fn covered_by(&self, record: Record) -> SeqNo {
        let earlier = |late: &Withheld| late.own_seq.is_before(record.own_seq);
        let first = self.withheld.partition_point(earlier);
        let oldest = self.withheld.get(first).map(|late| late.seq.previous());
        match oldest {
            Some(limit) if limit.is_before(record.covers) => limit,
            _ => record.covers,
        }
    }

    /// Forgets late arrivals that no longer concern any record.
    fn forget_withheld(&mut self) {
        let Some(&Record { own_seq, .. }) = self.records.front() else {
            return self.withheld.clear();
        };
        while self
            .withheld
            .front()
            .is_some_and(|late| late.own_seq.is_before(own_seq))
        {
            self.withheld.pop_front();
        }
    }

    /// Keeps the newest `count` packets, at least one.
    fn truncate(&mut self, count: u64) {
        while u64::from(self.span) > count {
            let excess = u64::from(self.span) - count;
            let Some(oldest) = self.cells.back_mut() else {
                return;
            };
            if oldest.len > excess {
                *oldest = oldest.newest(oldest.len - excess);
                self.span -= excess as u32;
            } else {
                self.span -= oldest.len as u32;
                self.cells.pop_back();
            }
        }
    }

    /// Forgets the oldest packets if there are too many cells.
    fn bound(&mut self) {
        self.keep_newest(CELLS_MAX);
    }
}

#[cfg(test)]
mod tests;
