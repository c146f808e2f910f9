//! HyStart as in Linux 6.12.
//!
//! Sources: facts of the kernel's `tcp_cubic` and its default parameters. The algorithm is that of Ha and
//! Rhee, "Taming the elephants: New TCP slow start" (2011), which was not at hand.

use skywave_units::{Duration, Instant};

use crate::Ack;

/// The least cwnd, in packets, from which the end of slow start is looked for.
const LOW_WINDOW: f64 = 16.0;
/// Acknowledgements at most this far apart belong to one train.
const ACK_DELTA: Duration = Duration::from_millis(2);
/// What a receiver may delay acknowledgements by. The kernel's is less above 2 Gbps.
const ACK_DELAY: Duration = Duration::from_millis(1);
const MIN_SAMPLES: u32 = 8;
const MIN_DELAY_THRESHOLD: Duration = Duration::from_millis(4);
const MAX_DELAY_THRESHOLD: Duration = Duration::from_millis(16);

/// Finds the end of slow start before the first loss: if a train of acknowledgements lasts for half of
/// the shortest round-trip time, or if round-trip times grow.
///
/// A round lasts until more than the packets in flight at its start are acknowledged.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinuxHyStart {
    /// The shortest round-trip time.
    delay_min: Option<Duration>,
    /// Packets to be acknowledged in the round.
    left: u32,
    round_start: Instant,
    /// The last acknowledgement of the train that began with the round.
    last_ack: Instant,
    /// The shortest round-trip time of the round.
    round_min: Option<Duration>,
    samples: u32,
}

impl LinuxHyStart {
    /// Handles an acknowledgement before `cwnd` grows. Returns whether slow start ends.
    pub(crate) fn on_ack(&mut self, cwnd: f64, ack: &Ack) -> bool {
        let begins_round = ack.newly_acked > self.left;
        self.left = if begins_round {
            ack.in_flight
        } else {
            self.left - ack.newly_acked
        };
        if begins_round {
            (self.round_start, self.last_ack) = (ack.now, ack.now);
            (self.round_min, self.samples) = (None, 0);
        }
        let Some(rtt) = ack.rtt else {
            return false;
        };
        let delay_min = self.delay_min.map_or(rtt, |least| least.min(rtt));
        self.delay_min = Some(delay_min);
        if cwnd < LOW_WINDOW {
            return false;
        }
        let ends_by_train = self.is_long_train(ack.now, delay_min);
        ends_by_train || self.has_grown(rtt, delay_min)
    }

    fn is_long_train(&mut self, now: Instant, delay_min: Duration) -> bool {
        if now - self.last_ack > ACK_DELTA {
            return false;
        }
        self.last_ack = now;
        now - self.round_start > (delay_min + ACK_DELAY) / 2
    }

    fn has_grown(&mut self, rtt: Duration, delay_min: Duration) -> bool {
        let round_min = self.round_min.map_or(rtt, |least| least.min(rtt));
        self.round_min = Some(round_min);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        let threshold = (delay_min / 8).clamp(MIN_DELAY_THRESHOLD, MAX_DELAY_THRESHOLD);
        round_min > delay_min + threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(micros)
    }

    /// A round of `count` acknowledgements, `apart` microseconds from each other, of one packet each.
    /// Returns after how many of them slow start ends.
    fn round(
        hystart: &mut LinuxHyStart,
        start_us: u64,
        count: u32,
        apart: u64,
        rtt_us: u64,
    ) -> Option<u32> {
        (0..count).find(|&index| {
            // The first one is beyond the round before.
            let in_flight = if index == 0 { count - 1 } else { count };
            let mut ack = Ack::new(at(start_us + u64::from(index) * apart), 1, in_flight);
            ack.rtt = Some(Duration::from_micros(rtt_us));
            hystart.on_ack(32.0, &ack)
        })
    }

    /// Half of 40 ms and the delay of acknowledgements, 20.5 ms, are over with the 22nd.
    #[test]
    fn a_train_of_half_a_round_trip_time_ends_slow_start() {
        let mut hystart = LinuxHyStart::default();
        assert_eq!(round(&mut hystart, 0, 20, 1000, 40_000), None);
        assert_eq!(round(&mut hystart, 40_000, 30, 1000, 40_000), Some(21));
        let mut hystart = LinuxHyStart::default();
        assert_eq!(round(&mut hystart, 0, 20, 1000, 40_000), None);
        assert_eq!(round(&mut hystart, 40_000, 30, 2100, 40_000), None, "gaps");
    }

    /// An eighth of the shortest round-trip time, from 4 to 16 ms, and with the ninth sample.
    #[test]
    fn longer_round_trip_times_end_slow_start() {
        for (base, threshold) in [(8_000, 4_000), (80_000, 10_000), (400_000, 16_000)] {
            for (extra, ends) in [(threshold, None), (threshold + 1, Some(8))] {
                let mut hystart = LinuxHyStart::default();
                assert_eq!(round(&mut hystart, 0, 12, 0, base), None);
                let after = round(&mut hystart, base, 12, 0, base + extra);
                assert_eq!(after, ends, "{base} + {extra} us");
            }
        }
    }

    /// Rounds begin with the first acknowledgement, below the low window too. So each contains the head
    /// of a train of packets, which waits for no other, as on a path of 600 ms and 5 Mbps.
    #[test]
    fn queues_within_a_train_do_not_end_slow_start() {
        let mut hystart = LinuxHyStart::default();
        let mut cwnd = 10;
        for train in 0..5 {
            let packets = cwnd;
            for index in 0..packets {
                let now = at(600_000 * train + 2400 * u64::from(index));
                let mut ack = Ack::new(now, 1, cwnd - 1);
                ack.rtt = Some(Duration::from_micros(600_000 + 1200 * u64::from(index)));
                assert!(!hystart.on_ack(cwnd.into(), &ack), "{train} {index}");
                cwnd += 1;
            }
        }
    }

    #[test]
    fn a_small_window_stays_in_slow_start() {
        let mut hystart = LinuxHyStart::default();
        for index in 0..40 {
            let mut ack = Ack::new(at(1000 * index), 1, 40);
            ack.rtt = Some(Duration::from_millis(20 + index));
            assert!(!hystart.on_ack(15.0, &ack));
        }
    }
}
