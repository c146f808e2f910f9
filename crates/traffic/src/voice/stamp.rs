//! How a voice datagram describes its frames.

use bytes::Bytes;
use skywave_units::Instant;
use skywave_wire::Payload;

/// The description of frames in a voice datagram: RTP's sequence number and timestamp in a form
/// that a simulation can read without knowing the codec. Integers are big-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// When its first frame was made. The others follow at the codec's interval.
    pub made: Instant,
    /// The number of frames.
    pub frames: u16,
    /// The codec's mode; 0 is the best.
    pub mode: u16,
}

impl Stamp {
    /// Its size in bytes. It takes the place of RTP's header (RFC 3550 section 5.1).
    pub const SIZE: u64 = 12;

    /// Returns a datagram of `size` bytes that starts with the stamp.
    pub fn datagram(self, size: u32) -> Payload {
        let mut bytes = vec![0; (size as usize).max(Self::SIZE as usize)];
        bytes[..8].copy_from_slice(&self.made.as_nanos().to_be_bytes());
        bytes[8..10].copy_from_slice(&self.frames.to_be_bytes());
        bytes[10..12].copy_from_slice(&self.mode.to_be_bytes());
        Payload::from(Bytes::from(bytes))
    }

    /// Returns the stamp of a datagram, if it has one.
    pub fn read(datagram: &Payload) -> Option<Self> {
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
