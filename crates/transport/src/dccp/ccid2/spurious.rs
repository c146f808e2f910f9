//! Losses that were none: packets that arrive after they were taken for lost.

use arrayvec::ArrayVec;
use skywave_units::Instant;
use skywave_wire::dccp::{OptionList, SeqNo};

use crate::dccp::ackvec::{VectorKind, vectors};

/// The packets of one congestion event that are remembered: reordering takes few for lost, and
/// what takes more is a loss.
const MOST: usize = 8;

/// Packets that were taken for lost.
#[derive(Clone, Debug, Default)]
pub(super) struct LostPackets {
    /// The first ones.
    packets: ArrayVec<SeqNo, MOST>,
    count: u32,
}

impl LostPackets {
    pub(super) fn push(&mut self, seq: SeqNo) {
        // Only the count tells of what there is no room for.
        let _ = self.packets.try_push(seq);
        self.count += 1;
    }

    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    fn are_few(&self) -> bool {
        self.packets.len() == self.count as usize
    }
}

/// What was taken for lost at the last congestion event and has not arrived since. There is none where
/// the event was more than such losses, so that nothing can make it undone.
#[derive(Clone, Debug)]
pub(super) struct Suspects {
    lost: LostPackets,
    /// What has not arrived by then was lost.
    until: Instant,
}

/// What an acknowledgement makes of suspects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Some have not arrived.
    Open,
    /// All have arrived: the event was none.
    AllArrived,
    /// There was congestion: one arrived marked, or none came in time.
    Congestion,
}

impl Suspects {
    /// `lost` was taken for lost. `None` where that is more than can be remembered.
    pub(super) fn new(until: Instant, lost: LostPackets) -> Option<Self> {
        lost.are_few().then_some(Self { lost, until })
    }

    /// The same event took more packets. `None` where that is more than can be remembered.
    pub(super) fn and(mut self, more: &LostPackets) -> Option<Self> {
        let room = self.lost.packets.try_extend_from_slice(&more.packets);
        (room.is_ok() && more.are_few()).then_some(Self {
            lost: LostPackets {
                count: self.lost.count + more.count,
                ..self.lost
            },
            ..self
        })
    }

    /// Takes in what an acknowledgement of `ack` reports.
    pub(super) fn take_in(
        &mut self,
        now: Instant,
        ack: SeqNo,
        kind: VectorKind,
        options: &OptionList,
    ) -> Verdict {
        if now > self.until {
            return Verdict::Congestion;
        }
        let mut is_marked = false;
        for run in vectors(kind, ack, options).flat_map(|vector| vector.runs()) {
            let Some(code) = run.code else { continue };
            self.lost.packets.retain(|seq| {
                let is_told = !seq.is_after(run.newest) && !seq.is_before(run.oldest());
                is_marked |= is_told && kind == VectorKind::Ack && code.is_ce();
                !is_told
            });
        }
        self.lost.count = self.lost.packets.len() as u32;
        if is_marked {
            Verdict::Congestion
        } else if self.lost.packets.is_empty() {
            Verdict::AllArrived
        } else {
            Verdict::Open
        }
    }
}
