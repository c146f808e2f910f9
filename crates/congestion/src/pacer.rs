//! Pacing: spreading packets over time.

use skywave_units::{Duration, Instant, Rate};

/// The speed at which data may leave: `quantum` bytes per `interval`.
///
/// The rate is quantum / interval, for packets of any size: a smaller packet takes a proportionally
/// smaller part of the interval. Bytes are those of application data, as in
/// [`Sent::bytes`](crate::Sent::bytes). The quantum is also the amount of data that may leave back
/// to back, for example in one system call; a quantum of one full packet spreads packets most
/// evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// The time from one quantum to the next, at most an hour.
    pub interval: Duration,
    /// The number of bytes that may leave together, at least 1. A larger packet leaves alone.
    pub quantum: u32,
}

impl Pacing {
    /// The longest interval; with a longer one, a connection would practically stop.
    const LONGEST: Duration = Duration::from_secs(3600);

    /// Creates pacing at `rate`, in quanta of `quantum` bytes.
    pub fn at_rate(rate: Rate, quantum: u32) -> Self {
        let quantum = quantum.max(1);
        Self {
            interval: rate.transmission_time(quantum.into()).min(Self::LONGEST),
            quantum,
        }
    }

    /// Creates pacing of `packets` packets of `size` bytes each per `interval`. It suits controls
    /// that count in packets and do not know their size: pass the largest
    /// [`Sent::bytes`](crate::Sent::bytes) so far as `size`.
    pub fn of_packets(interval: Duration, packets: u32, size: u32) -> Self {
        Self {
            interval: interval.min(Self::LONGEST),
            quantum: packets.max(1).saturating_mul(size.max(1)),
        }
    }

    /// Creates the pacing of a window: `cwnd` packets of `size` bytes each per `srtt`, and a
    /// quarter more, so that variations of the round-trip time do not leave part of the window
    /// unused (RFC 9002 section 7.7).
    pub fn of_window(cwnd: f64, size: u32, srtt: Duration) -> Self {
        const GAIN: f64 = 1.25;
        let interval = srtt.as_secs_f64() / (GAIN * cwnd.max(1.0));
        Self::of_packets(Duration::from_secs_f64(interval), 1, size)
    }
}

/// Enforces a control's [`Pacing`]. A transport consults it before sending a packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pacer {
    /// When the next packet may leave; `None` for now.
    release: Option<Instant>,
    /// Bytes of the current quantum that have left, and the size of the quantum; zero without
    /// pacing.
    left: u32,
    quantum: u32,
}

impl Pacer {
    /// Reports that a packet with `bytes` bytes of data left at `now`, and the control's current
    /// pacing.
    #[inline(always)]
    pub fn on_sent(&mut self, now: Instant, bytes: u32, pacing: Option<Pacing>) {
        match pacing {
            None if self.quantum == 0 => {}
            pacing => self.count(now, bytes, pacing),
        }
    }

    #[cold]
    fn count(&mut self, now: Instant, bytes: u32, pacing: Option<Pacing>) {
        let Some(Pacing { interval, quantum }) = pacing else {
            *self = Self::default();
            return;
        };
        self.quantum = quantum.max(1);
        // Even packets without data must not leave in unlimited numbers.
        let bytes = bytes.max(1);
        self.left = self.left.saturating_add(bytes);
        // A packet that leaves too early does not shorten the wait of those after it.
        let held_until = self.release.filter(|&at| at > now);
        self.release = held_until;
        // Whether another packet of this size would exceed the quantum.
        if self.left.saturating_add(bytes) > self.quantum {
            let wait = interval_of(self.left, interval, self.quantum);
            self.left = 0;
            self.release = Some(held_until.unwrap_or(now) + wait);
        }
    }

    /// Returns the earliest time at which the next packet may leave, or `None` for now.
    #[inline(always)]
    pub const fn earliest_departure(&self) -> Option<Instant> {
        self.release
    }

    /// Returns the number of packets with `bytes` bytes of data that may leave back to back at
    /// `now` after one of that size, or `None` for any number.
    #[inline(always)]
    pub fn burst(&self, now: Instant, bytes: u32) -> Option<u32> {
        if self.quantum == 0 {
            return None;
        }
        if self.release.is_some_and(|at| at > now) {
            return Some(0);
        }
        let rest = self.quantum.saturating_sub(self.left);
        Some((rest / bytes.max(1)).max(1))
    }
}

/// Returns the time that `bytes` take if `quantum` of them take an `interval`.
fn interval_of(bytes: u32, interval: Duration, quantum: u32) -> Duration {
    let nanos = u128::from(interval.as_nanos()) * u128::from(bytes) / u128::from(quantum);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn a_quantum_leaves_together_and_the_next_an_interval_later() {
        let pacing = Some(Pacing::at_rate(Rate::from_bps(2_400_000), 3000));
        let mut pacer = Pacer::default();
        assert_eq!(pacer.burst(ms(0), 1000), None);
        pacer.on_sent(ms(0), 1000, pacing);
        assert_eq!(
            (pacer.earliest_departure(), pacer.burst(ms(0), 1000)),
            (None, Some(2))
        );
        pacer.on_sent(ms(0), 1000, pacing);
        pacer.on_sent(ms(0), 1000, pacing);
        assert_eq!(pacer.earliest_departure(), Some(ms(10)));
        assert_eq!(
            (pacer.burst(ms(9), 1000), pacer.burst(ms(10), 1000)),
            (Some(0), Some(3))
        );
        pacer.on_sent(ms(10), 1000, None);
        assert_eq!(
            (pacer.earliest_departure(), pacer.burst(ms(10), 1000)),
            (None, None)
        );
    }

    #[test]
    fn what_leaves_too_early_is_made_up_for() {
        let pacing = Some(Pacing::of_packets(ms(10) - ms(0), 2, 1000));
        let mut pacer = Pacer::default();
        pacer.on_sent(ms(0), 1000, pacing);
        pacer.on_sent(ms(0), 1000, pacing);
        assert_eq!(pacer.earliest_departure(), Some(ms(10)));
        pacer.on_sent(ms(1), 1000, pacing);
        assert_eq!(
            (pacer.earliest_departure(), pacer.burst(ms(1), 1000)),
            (Some(ms(10)), Some(0))
        );
        pacer.on_sent(ms(2), 1000, pacing);
        assert_eq!(pacer.earliest_departure(), Some(ms(20)));
    }

    /// A packet takes its share of the interval. As many packets leave together as fit into a
    /// quantum, but at least one.
    #[test]
    fn a_packet_waits_in_proportion_to_its_size() {
        let pacing = Some(Pacing::of_packets(ms(10) - ms(0), 1, 1000));
        let release = |sizes: &[u32]| {
            let mut pacer = Pacer::default();
            for &bytes in sizes {
                assert_eq!(pacer.earliest_departure(), None, "{sizes:?}");
                pacer.on_sent(ms(0), bytes, pacing);
            }
            pacer.earliest_departure()
        };
        assert_eq!(release(&[600]), Some(ms(6)));
        assert_eq!(release(&[1500]), Some(ms(15)));
        assert_eq!(release(&[300]), None);
        assert_eq!(release(&[300, 300, 300]), Some(ms(9)));
        assert_eq!(release(&[100, 1000]), Some(ms(11)));
        assert_eq!(release(&[0]), None);
        assert_eq!(
            Pacer {
                quantum: 1000,
                ..Pacer::default()
            }
            .burst(ms(0), 300),
            Some(3)
        );
    }

    #[test]
    fn a_window_takes_four_fifths_of_a_round_trip() {
        let srtt = Duration::from_millis(100);
        let pacing = Pacing::of_window(8.0, 1000, srtt);
        assert_eq!(
            pacing,
            Pacing::of_packets(Duration::from_millis(10), 1, 1000)
        );
        let least = Pacing::of_packets(Duration::from_millis(80), 1, 1000);
        assert_eq!(Pacing::of_window(0.5, 1000, srtt), least);
    }

    #[test]
    fn a_rate_that_is_none_is_the_slowest() {
        let slowest = Duration::from_secs(3600);
        for (bps, quantum) in [(0, 0), (0, 1000), (1, 1000)] {
            let pacing = Pacing::at_rate(Rate::from_bps(bps), quantum);
            assert_eq!(pacing.interval, slowest, "{bps}");
        }
        let fastest = Pacing::at_rate(Rate::from_bps(u64::MAX), 1);
        assert_eq!(fastest.interval, Duration::ZERO);
    }
}
