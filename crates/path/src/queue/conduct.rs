//! What a discipline says of itself.

use skywave_wire::Ecn;

use super::Limit;

/// What a queue discipline may do, declared beside its code.
///
/// Whoever judges a run holds a queue to it and looks no further: the physics verifier of the
/// simulator, and [`contract`](crate::contract).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conduct {
    /// Packets that it holds at most.
    pub most_packets: Option<u64>,
    /// Bytes that it holds at most.
    pub most_bytes: Option<u64>,
    /// Whether it is one limit for all that it holds, so that it is full only where that is reached.
    pub one_limit: bool,
    /// Whether what leaves leaves in the order in which it came.
    pub fifo: bool,
    /// Whether it drops what would fit.
    pub drops_early: bool,
    /// Whether it drops what it has taken in.
    pub drops_inside: bool,
    /// What it writes into the ECN field.
    pub writes: Writes,
    /// Whose language the codes that it writes are, where they are not RFC 3168's.
    pub dialect: Option<Dialect>,
}

impl Conduct {
    /// First in, first out, dropped only on arrival and only where it does not fit, nothing written.
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
        }
    }

    /// Whether a packet of `size` bytes fits beside the packets and bytes that wait.
    pub fn has_room_for(&self, size: u32, packets: u64, bytes: u64) -> bool {
        self.most_packets.is_none_or(|most| packets < most)
            && self
                .most_bytes
                .is_none_or(|most| bytes + u64::from(size) <= most)
    }

    /// What several sub-queues on one link may do together, of which each serves a class.
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
        }
    }
}

/// What a queue may write into the ECN field of packets that are not 00; each includes those before
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Writes {
    /// Nothing.
    Nothing,
    /// Congestion Experienced (RFC 3168).
    Marks,
    /// A larger code than the one that is there.
    LargerCodes,
    /// Any code but 00.
    AnyCode,
}

impl Writes {
    /// Marks where the discipline has been told to, or else nothing.
    pub const fn marks_if(ecn: bool) -> Self {
        if ecn { Self::Marks } else { Self::Nothing }
    }

    /// Whether `before` may have become `after`.
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

/// A language of codes in the ECN field other than RFC 3168's, which flows must understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dialect {
    /// Its name.
    pub name: &'static str,
    /// Which of several, as the name defines.
    pub variant: u32,
}
