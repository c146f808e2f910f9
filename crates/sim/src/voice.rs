//! What a datagram of voice says of the frames in it.

use bytes::Bytes;
use skywave_units::Instant;
use skywave_wire::Payload;

/// What a datagram of voice tells its receiver: RTP's sequence number and timestamp in a form that a
/// simulation can read without knowing the codec. Integers are big-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// When its first frame was made; the others follow at the codec's interval.
    pub(crate) made: Instant,
    /// How many there are.
    pub(crate) frames: u16,
    /// The codec's mode, from 0 for the best.
    pub(crate) mode: u16,
}

impl Stamp {
    /// Bytes that it takes.
    pub(crate) const SIZE: u64 = skywave_scenario::STAMP;

    /// A datagram of `size` bytes that begins with the stamp.
    pub(crate) fn datagram(self, size: u32) -> Payload {
        let mut bytes = vec![0; (size as usize).max(Self::SIZE as usize)];
        bytes[..8].copy_from_slice(&self.made.as_nanos().to_be_bytes());
        bytes[8..10].copy_from_slice(&self.frames.to_be_bytes());
        bytes[10..12].copy_from_slice(&self.mode.to_be_bytes());
        Payload::from(Bytes::from(bytes))
    }

    /// The stamp of a datagram, where there is one.
    pub(crate) fn read(datagram: &Payload) -> Option<Self> {
        let Payload::Bytes(bytes) = datagram else {
            return None;
        };
        let (made, rest) = bytes.split_first_chunk()?;
        let (frames, rest) = rest.split_first_chunk()?;
        let (mode, _) = rest.split_first_chunk()?;
        Some(Self {
            made: Instant::from_nanos(u64::from_be_bytes(*made)),
            frames: u16::from_be_bytes(*frames),
            mode: u16::from_be_bytes(*mode),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_as_it_was_written() {
        let stamp = Stamp {
            made: Instant::from_nanos(u64::MAX - 1),
            frames: 700,
            mode: 3,
        };
        let datagram = stamp.datagram(80);
        assert_eq!(datagram.len(), 80);
        assert_eq!(Stamp::read(&datagram), Some(stamp));
        assert_eq!(Stamp::read(&Payload::Synthetic(80)), None);
        assert_eq!(Stamp::read(&vec![0; 11].into()), None);
    }
}
