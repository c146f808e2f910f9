//! How much a queue holds.

use skywave_registry::ParameterError;
use skywave_units::Bytes;

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
    /// The limit that the parameters `packets` and `bytes` give, of which one must be there.
    ///
    /// # Errors
    /// [`ParameterError`] where neither or both are there, or one is zero.
    pub fn from_parameters(
        packets: Option<u32>,
        bytes: Option<Bytes>,
    ) -> Result<Self, ParameterError> {
        match (packets, bytes) {
            (Some(0), None) => Err(ParameterError::new(
                "packets",
                "a queue of 0 packets holds nothing: use 1 or more, or leave the queue out",
            )),
            (None, Some(bytes)) if bytes.get() == 0 => Err(ParameterError::new(
                "bytes",
                "a queue of 0 B holds nothing: give more, or leave the queue out",
            )),
            (Some(packets), None) => Ok(Self::Packets(packets)),
            (None, Some(bytes)) => Ok(Self::Bytes(bytes.get())),
            (None, None) | (Some(_), Some(_)) => {
                Err(ParameterError::new("", "give either `packets` or `bytes`"))
            }
        }
    }
}

/// A [`Limit`] as it is looked at: in both units, one of which never binds. Links of different kinds
/// take turns, so that nobody could predict a branch on the kind.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    packets: usize,
    bytes: u64,
}

impl From<Limit> for Room {
    fn from(limit: Limit) -> Self {
        let endless = Self {
            packets: usize::MAX,
            bytes: u64::MAX,
        };
        match limit {
            Limit::Packets(packets) => Self {
                packets: packets as usize,
                ..endless
            },
            Limit::Bytes(bytes) => Self { bytes, ..endless },
            Limit::Unlimited => endless,
        }
    }
}

impl Room {
    /// Whether a packet of `size` bytes fits beside the packets and bytes that wait.
    #[inline(always)]
    pub fn fits(self, size: u32, packets: usize, bytes: u64) -> bool {
        (packets < self.packets) & (bytes + u64::from(size) <= self.bytes)
    }
}
