//! The capacity of a queue.

use skywave_registry::ParameterError;
use skywave_units::Bytes;

/// The capacity of a queue, not counting the packet in transmission.
///
/// ns-2's drop-tail queue counts the packet in transmission, so its `queue-limit` of L is
/// `Packets(L - 1)` here. ns-2's RED does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// This many packets of any size.
    Packets(u32),
    /// This many bytes.
    Bytes(u64),
    /// No limit, for access links that are never the bottleneck.
    Unlimited,
}

impl Limit {
    /// Returns the limit given by the parameters `packets` and `bytes`, exactly one of which must
    /// be present.
    ///
    /// # Errors
    /// [`ParameterError`] if neither or both are present, or if one is zero.
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

/// A [`Limit`] in both units, one of which never binds. Links with different kinds of limit
/// alternate, so a branch on the kind would be unpredictable.
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
    /// Returns whether a packet of `size` bytes fits in addition to the waiting packets and bytes.
    #[inline(always)]
    pub fn fits(self, size: u32, packets: usize, bytes: u64) -> bool {
        (packets < self.packets) & (bytes + u64::from(size) <= self.bytes)
    }
}
