//! What becomes of voice: each frame is in time, late or lost.

use bytes::Bytes;
use skywave_units::{Duration, Instant};
use skywave_wire::Payload;

use crate::scenario::{STAMP, VoiceSpec};

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
    /// A datagram of `size` bytes that begins with the stamp.
    pub(crate) fn datagram(self, size: u32) -> Payload {
        let mut bytes = vec![0; (size as usize).max(STAMP as usize)];
        bytes[..8].copy_from_slice(&self.made.as_nanos().to_be_bytes());
        bytes[8..10].copy_from_slice(&self.frames.to_be_bytes());
        bytes[10..12].copy_from_slice(&self.mode.to_be_bytes());
        Payload::from(Bytes::from(bytes))
    }

    /// The stamp of a datagram, where there is one.
    fn read(datagram: &Payload) -> Option<Self> {
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

/// Frames on their way, counted by the time at which they were made.
#[derive(Clone, Debug)]
pub(crate) struct VoiceLog {
    interval: Duration,
    deadline: Duration,
    probe_interval: Duration,
    pub(crate) counts: Vec<VoiceCount>,
}

/// What became of the frames made in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct VoiceCount {
    /// Those that left the sender.
    pub(crate) sent: u64,
    /// Those that links lost.
    pub(crate) lost: u64,
    /// Those that arrived after their deadline.
    pub(crate) late: u64,
    /// Those that arrived in time.
    pub(crate) played: u64,
    /// The modes of those in time, summed up.
    pub(crate) modes: u64,
    /// From making to sending, of those that were sent.
    pub(crate) waits: Duration,
    /// From making to arrival, of those that arrived.
    pub(crate) delays: Duration,
}

impl VoiceCount {
    /// Mean mode of the frames that were played.
    pub(crate) fn mode_mean(&self) -> Option<f64> {
        (self.played > 0).then(|| self.modes as f64 / self.played as f64)
    }

    /// Mean time that frames waited in their sender.
    pub(crate) fn wait_mean(&self) -> Option<Duration> {
        (self.sent > 0).then(|| self.waits / self.sent)
    }

    /// Mean time from making to arrival.
    pub(crate) fn delay_mean(&self) -> Option<Duration> {
        let arrived = self.played + self.late;
        (arrived > 0).then(|| self.delays / arrived)
    }
}

impl VoiceLog {
    /// A log of the calls of this source. Frames are counted by intervals of `probe_interval`.
    pub(crate) const fn new(spec: &VoiceSpec, probe_interval: Duration) -> Self {
        Self {
            interval: spec.interval,
            deadline: spec.deadline,
            probe_interval,
            counts: Vec::new(),
        }
    }

    /// A datagram has left its sender.
    pub(crate) fn sent(&mut self, now: Instant, datagram: &Payload) {
        self.each_frame(datagram, |count, made, _| {
            count.sent += 1;
            count.waits += now - made;
        });
    }

    /// A link has lost a datagram.
    pub(crate) fn lost(&mut self, datagram: &Payload) {
        self.each_frame(datagram, |count, _, _| count.lost += 1);
    }

    /// A datagram has arrived.
    pub(crate) fn arrived(&mut self, now: Instant, datagram: &Payload) {
        let deadline = self.deadline;
        self.each_frame(datagram, |count, made, mode| {
            let delay = now - made;
            count.delays += delay;
            if delay <= deadline {
                count.played += 1;
                count.modes += u64::from(mode);
            } else {
                count.late += 1;
            }
        });
    }

    /// The count of the interval in which each frame was made.
    fn each_frame(
        &mut self,
        datagram: &Payload,
        mut add: impl FnMut(&mut VoiceCount, Instant, u16),
    ) {
        let Some(stamp) = Stamp::read(datagram) else {
            return;
        };
        for frame in 0..stamp.frames {
            let made = stamp.made + self.interval * u64::from(frame);
            let index = (made.as_nanos() / self.probe_interval.as_nanos()) as usize;
            if index >= self.counts.len() {
                self.counts.resize(index + 1, VoiceCount::default());
            }
            add(&mut self.counts[index], made, stamp.mode);
        }
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
