//! Spurious losses: packets that arrive after they were inferred lost.

use arrayvec::ArrayVec;
use skywave_units::Instant;
use skywave_wire::dccp::{OptionList, SeqNo};

use crate::dccp::ackvec::{VectorKind, vectors};

/// The most packets remembered per congestion event. Reordering causes few false inferences; an
/// event with more is a real loss.
const MOST: usize = 8;

/// Packets inferred lost.
#[derive(Clone, Debug, Default)]
pub(crate) struct LostPackets {
    /// The first of them.
    packets: ArrayVec<SeqNo, MOST>,
    count: u32,
}

impl LostPackets {
    pub(crate) fn push(&mut self, seq: SeqNo) {
        // Packets beyond the capacity are only counted.
        let _ = self.packets.try_push(seq);
        self.count += 1;
    }

    pub(crate) const fn count(&self) -> u32 {
        self.count
    }

    fn are_few(&self) -> bool {
        self.packets.len() == self.count as usize
    }
}

/// Packets inferred lost at the last congestion event that have not arrived since. There are none
/// if the event involved marks or a timeout, because it cannot be undone then.
#[derive(Clone, Debug)]
pub(crate) struct Suspects {
    lost: LostPackets,
    /// Packets that have not arrived by then were really lost.
    until: Instant,
}

/// The result of checking suspects against an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Some have not arrived yet.
    Open,
    /// All have arrived: the congestion event was spurious.
    AllArrived,
    /// The congestion was real: one arrived marked, or one did not arrive in time.
    Congestion,
}

impl Suspects {
    /// Creates suspects from `lost`; `None` if there are too many to remember.
    pub(crate) fn new(until: Instant, lost: LostPackets) -> Option<Self> {
        lost.are_few().then_some(Self { lost, until })
    }

    /// Adds further losses of the same event; `None` if there are too many to remember.
    pub(crate) fn and(mut self, more: &LostPackets) -> Option<Self> {
        let room = self.lost.packets.try_extend_from_slice(&more.packets);
        (room.is_ok() && more.are_few()).then_some(Self {
            lost: LostPackets {
                count: self.lost.count + more.count,
                ..self.lost
            },
            ..self
        })
    }

    /// Processes the report of an acknowledgement of `ack`.
    pub(crate) fn take_in(
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
