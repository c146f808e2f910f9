//! s, the size of the sender's packets (RFC 5348 section 4.1).

use super::config;

/// The number of loss intervals over which the size is averaged.
const LOSS_INTERVALS: usize = 4;

/// The sizes of data packets sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentSizes {
    fixed: Option<u32>,
    /// Bytes and packets in each of the latest loss intervals, current one first.
    sums: [(u64, u64); LOSS_INTERVALS],
    largest: u32,
}

impl SegmentSizes {
    pub(super) const fn new(rule: config::SegmentSize) -> Self {
        Self {
            fixed: match rule {
                config::SegmentSize::Fixed(bytes) => Some(bytes),
                config::SegmentSize::Mean => None,
            },
            sums: [(0, 0); LOSS_INTERVALS],
            largest: 0,
        }
    }

    /// Records an outgoing packet with this many bytes of data.
    pub(super) fn on_sent(&mut self, bytes: u32) {
        self.sums[0].0 += u64::from(bytes);
        self.sums[0].1 += 1;
        self.largest = self.largest.max(bytes);
    }

    /// Starts a new loss interval.
    pub(super) fn on_loss_event(&mut self) {
        if self.sums[0].1 > 0 {
            self.sums.rotate_right(1);
            self.sums[0] = (0, 0);
        }
    }

    /// Returns the data sent in the current loss interval, in bytes of packets of size s.
    pub(super) fn sent(&self) -> f64 {
        self.sums[0].1 as f64 * self.mean()
    }

    /// Returns s in bytes; at least 1, and 1 before anything was sent.
    pub(super) fn mean(&self) -> f64 {
        if let Some(bytes) = self.fixed {
            return f64::from(bytes.max(1));
        }
        let bytes: u64 = self.sums.iter().map(|sum| sum.0).sum();
        let packets: u64 = self.sums.iter().map(|sum| sum.1).sum();
        (bytes as f64 / packets.max(1) as f64).max(1.0)
    }

    /// Returns the largest packet so far, for the initial window (section 4.2).
    pub(super) fn largest(&self) -> f64 {
        f64::from(self.fixed.unwrap_or(self.largest).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T-3: the mean over four loss intervals.
    #[test]
    fn t_3_mean_over_four_loss_intervals() {
        let mut sizes = SegmentSizes::new(config::SegmentSize::Mean);
        for (size, mean) in [(100, 100.0), (300, 200.0), (500, 300.0), (700, 400.0)] {
            sizes.on_loss_event();
            sizes.on_sent(size);
            assert_eq!(sizes.mean(), mean);
        }
        sizes.on_loss_event();
        sizes.on_loss_event();
        sizes.on_sent(900);
        assert_eq!(sizes.mean(), 600.0, "100 bytes are forgotten");
        assert_eq!(sizes.largest(), 900.0);
        let mut fixed = SegmentSizes::new(config::SegmentSize::Fixed(1_000));
        fixed.on_sent(10);
        assert_eq!((fixed.mean(), fixed.largest()), (1_000.0, 1_000.0));
    }
}
