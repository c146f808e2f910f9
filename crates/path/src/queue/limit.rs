//! How much a queue holds.

/// How much a queue holds, not counting the packet in transmission.
///
/// An ns-2 drop-tail queue counts the packet in transmission, so its `queue-limit` of L is
/// `Packets(L - 1)` here; ns-2's RED does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many packets of whatever size.
    Packets(u32),
    /// So many bytes.
    Bytes(u64),
    /// No limit: for access links that are never the bottleneck.
    Unlimited,
}

impl Limit {
    /// Whether a packet of `size` bytes fits beside the packets and bytes that wait.
    #[inline(always)]
    pub(super) fn has_room_for(
        self,
        size: u32,
        packets: impl Fn() -> usize,
        bytes: impl Fn() -> u64,
    ) -> bool {
        match self {
            Self::Packets(limit) => packets() < limit as usize,
            Self::Bytes(limit) => bytes() + u64::from(size) <= limit,
            Self::Unlimited => true,
        }
    }
}
