//! The declared behaviour of a discipline.

use skywave_wire::Ecn;

use super::{DropReason, Limit};

/// The permitted behaviour of a queue discipline, declared next to its code.
///
/// The simulator's physics verifier and [`contract`](crate::contract) check a queue against this
/// declaration alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conduct {
    /// The maximum number of packets that it holds.
    pub most_packets: Option<u64>,
    /// The maximum number of bytes that it holds.
    pub most_bytes: Option<u64>,
    /// Whether a single limit applies to everything it holds, so that it is full only when that is
    /// reached.
    pub one_limit: bool,
    /// Whether packets leave in order of arrival.
    pub fifo: bool,
    /// Whether it drops packets to slow down their senders, on arrival or inside.
    pub drops_early: bool,
    /// Whether it drops packets it has accepted.
    pub drops_inside: bool,
    /// The codes that it may write into the ECN field.
    pub writes: Writes,
    /// The meaning of the codes it writes, if not RFC 3168's.
    pub dialect: Option<Dialect>,
    /// Whether it treats classes of traffic differently.
    pub has_classes: bool,
}

impl Conduct {
    /// Creates a FIFO that drops only on arrival and only when full, and writes nothing.
    pub const fn fifo(limit: Limit) -> Self {
        let (most_packets, most_bytes) = match limit {
            Limit::Packets(packets) => (Some(packets as u64), None),
            Limit::Bytes(bytes) => (None, Some(bytes)),
            Limit::Unlimited => (None, None),
        };
        Self {
            most_packets,
            most_bytes,
            one_limit: true,
            fifo: true,
            drops_early: false,
            drops_inside: false,
            writes: Writes::Nothing,
            dialect: None,
            has_classes: false,
        }
    }

    /// Returns whether the queue may drop a packet that it has accepted, for this reason.
    pub const fn permits_drop_inside(&self, reason: DropReason) -> bool {
        match reason {
            DropReason::Full => self.drops_inside,
            DropReason::Early => self.drops_inside && self.drops_early,
            DropReason::Loss | DropReason::Nat => false,
        }
    }

    /// Returns whether a packet of `size` bytes fits in addition to the waiting packets and bytes.
    pub fn has_room_for(&self, size: u32, packets: u64, bytes: u64) -> bool {
        self.most_packets.is_none_or(|most| packets < most)
            && self
                .most_bytes
                .is_none_or(|most| bytes + u64::from(size) <= most)
    }

    /// Returns the combined behaviour of several sub-queues on one link, one per class.
    pub fn of_sub_queues(parts: &[Self]) -> Self {
        let (first, is_one) = (parts.first(), parts.len() == 1);
        Self {
            most_packets: parts.iter().map(|part| part.most_packets).sum(),
            most_bytes: parts.iter().map(|part| part.most_bytes).sum(),
            one_limit: is_one && first.is_some_and(|part| part.one_limit),
            fifo: is_one && first.is_some_and(|part| part.fifo),
            drops_early: parts.iter().any(|part| part.drops_early),
            drops_inside: parts.iter().any(|part| part.drops_inside),
            writes: parts
                .iter()
                .map(|part| part.writes)
                .max()
                .unwrap_or(Writes::Nothing),
            dialect: first
                .and_then(|part| part.dialect)
                .filter(|dialect| parts.iter().all(|part| part.dialect == Some(*dialect))),
            has_classes: !is_one,
        }
    }
}

/// The codes that a queue may write into the ECN field of packets that do not carry 00. Each
/// variant includes the previous ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Writes {
    /// Nothing.
    Nothing,
    /// Congestion Experienced (RFC 3168).
    Marks,
    /// A code larger than the current one.
    LargerCodes,
    /// Any code but 00.
    AnyCode,
}

impl Writes {
    /// Returns `Marks` if `ecn` is set, otherwise `Nothing`.
    pub const fn marks_if(ecn: bool) -> Self {
        if ecn { Self::Marks } else { Self::Nothing }
    }

    /// Returns whether the queue may change `before` to `after`.
    pub fn allows(self, before: Ecn, after: Ecn) -> bool {
        let is_raised = before.is_capable() && after.bits() > before.bits();
        match self {
            Self::Nothing => before == after,
            Self::Marks => before == after || (is_raised && after.is_ce()),
            Self::LargerCodes => before == after || is_raised,
            Self::AnyCode => before.is_capable() == after.is_capable(),
        }
    }
}

/// A set of ECN codes other than RFC 3168's, which flows must understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dialect {
    /// Its name.
    pub name: &'static str,
    /// The variant, with a meaning that depends on the name.
    pub variant: u32,
}
