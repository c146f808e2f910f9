//! The window counter in data packets: a clock of quarter round-trip times, modulo 16 (RFC 4342
//! section 8.1).

use skywave_units::{Duration, Instant};

/// The maximum advance of a sender's counter between two packets.
const MAX_ADVANCE: u64 = 5;

/// Quarters in a round-trip time.
const QUARTERS: u64 = 4;

/// The number of counters.
const MODULUS: u64 = 16;

/// The sender's side.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowCounter {
    /// last_WC, and last_WC_time.
    last: Option<(u8, Instant)>,
    /// The minimum of later counters, set by the latest acknowledgement.
    least: Option<u8>,
}

impl WindowCounter {
    /// Returns the counter of a data packet that leaves at `now` with a round-trip time of `rtt`.
    pub fn on_send(&mut self, now: Instant, rtt: Duration) -> u8 {
        let (counter, since) = *self.last.get_or_insert((0, now));
        let quarters = (now - since).as_nanos() / (rtt / QUARTERS).as_nanos().max(1);
        // At most four ahead, because the acknowledged packet is not after the last one.
        let asked_for = self.least.take().map_or(0, |least| {
            Some(u64::from(least.wrapping_sub(counter) & 0xf))
                .filter(|&ahead| ahead <= QUARTERS)
                .unwrap_or(0)
        });
        let advance = quarters.min(MAX_ADVANCE).max(asked_for);
        if advance == 0 {
            return counter;
        }
        let counter = (counter + advance as u8) & 0xf;
        self.last = Some((counter, now));
        counter
    }

    /// Handles an acknowledgement of a packet with counter `acked`: later counters must be at least
    /// four higher.
    pub const fn on_ack(&mut self, acked: u8) {
        self.least = Some((acked + QUARTERS as u8) & 0xf);
    }
}

/// The receiver's side: unwraps the counter, and measures the round-trip time between packets whose
/// counters differ by four.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CounterClock {
    /// Counts since the first packet, and the newest packet's counter.
    last: Option<(u64, u8)>,
    /// When the first packet of each of the latest five counts arrived, by count modulo 5.
    firsts: [Option<(u64, Instant)>; 5],
    /// The average of the samples.
    rtt: Option<Duration>,
}

/// Returns whether the counters of two data packets may differ by more than they show modulo 16:
/// enough packets between them are lost for the counter to have wrapped, and they arrived more than
/// a round-trip time apart. `distance` is the difference of their sequence numbers, `time` that of
/// their arrivals.
///
/// Samples come only "from packet pairs whose CCVals differ by at most 4" (RFC 4342 section 8.1).
/// After an outage, a pair that only seems to satisfy this would give a sample of minutes.
pub(super) fn may_have_wrapped(distance: u64, time: Duration, rtt: Duration) -> bool {
    distance.saturating_mul(MAX_ADVANCE) > MODULUS && time > rtt
}

/// q (RFC 5348 section 4.3), for samples from counters.
const WEIGHT: f64 = 0.9;

impl CounterClock {
    /// Handles a data packet newer than all before it. `may_have_wrapped` says whether the counter may
    /// have advanced by more than the difference shows; see [`may_have_wrapped`].
    pub(super) fn on_arrival(&mut self, now: Instant, counter: u8, may_have_wrapped: bool) {
        let Some((count, last)) = self.last else {
            self.last = Some((0, counter));
            self.firsts[0] = Some((0, now));
            return;
        };
        let mut advance = u64::from(counter.wrapping_sub(last) & 0xf);
        if may_have_wrapped && advance < MAX_ADVANCE {
            advance += MODULUS;
        }
        if advance == 0 {
            return;
        }
        let count = count + advance;
        self.last = Some((count, counter));
        if advance >= MAX_ADVANCE {
            // The pause may have been arbitrarily long.
            self.firsts = [None; 5];
        }
        self.firsts[(count % 5) as usize] = Some((count, now));
        self.sample(now, count);
    }

    fn sample(&mut self, now: Instant, count: u64) {
        let first_of = |count: u64| {
            self.firsts[(count % 5) as usize]
                .filter(|&(known, _)| known == count)
                .map(|(_, at)| at)
        };
        let over = |distance: u64| {
            let at = first_of(count.checked_sub(distance)?)?;
            Some((now - at) * QUARTERS / distance)
        };
        // "Values of D = 4 SHOULD be preferred": use others only while there is no such sample.
        let sample = match (over(4), self.rtt) {
            (None, None) => over(3).or_else(|| over(2)),
            (sample, _) => sample,
        };
        let Some(sample) = sample else {
            return;
        };
        self.rtt = Some(match self.rtt {
            None => sample,
            Some(rtt) => Duration::from_secs_f64(
                WEIGHT * rtt.as_secs_f64() + (1.0 - WEIGHT) * sample.as_secs_f64(),
            ),
        });
    }

    /// Returns the number of counts since the first packet.
    pub(super) fn count(&self) -> u64 {
        self.last.map_or(0, |(count, _)| count)
    }

    /// Returns the round-trip time, or `None` before the first sample.
    pub(super) const fn rtt(&self) -> Option<Duration> {
        self.rtt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(millis: u64) -> Instant {
        Instant::ZERO + MS * millis
    }

    /// C3-10: starts at 0 and advances by one per quarter of a round-trip time, by at most five
    /// between packets, modulo 16.
    #[test]
    fn c3_10_counts_quarters_of_a_round_trip() {
        let mut counter = WindowCounter::default();
        let rtt = MS * 100;
        let mut sent = Vec::new();
        for millis in [7, 31, 32, 56, 57, 107, 257, 657, 1_000, 1_400] {
            sent.push(counter.on_send(at(millis), rtt));
        }
        // 24 ms after the first packet is less than a quarter. At 57 ms only 25 ms have passed
        // since the counter moved at 32 ms. At 1000 and 1400 ms it advances by five and wraps.
        assert_eq!(sent, [0, 0, 1, 1, 2, 4, 9, 14, 3, 8]);
    }

    /// C3-10: after an acknowledgement of a packet with counter WC, it is at least WC + 4, and
    /// never moves back.
    #[test]
    fn c3_10_moves_on_with_acknowledgements() {
        let mut counter = WindowCounter::default();
        let rtt = MS * 100;
        assert_eq!(counter.on_send(at(0), rtt), 0);
        counter.on_ack(0);
        assert_eq!(counter.on_send(at(20), rtt), 4);
        counter.on_ack(0);
        assert_eq!(counter.on_send(at(21), rtt), 4);
        counter.on_ack(3);
        assert_eq!(counter.on_send(at(22), rtt), 7);
        for quarter in 1..=9 {
            counter.on_send(at(22 + 25 * quarter), rtt);
        }
        counter.on_ack(15);
        assert_eq!(counter.on_send(at(250), rtt), 3, "16 + 3");
        // Both reasons at once: five, not nine.
        counter.on_ack(3);
        assert_eq!(counter.on_send(at(900), rtt), 8);
    }

    /// C3-11: the example of RFC 4342 section 8.1: T7 - T3, from counters K to K + 4, and not
    /// from packets that are five apart.
    #[test]
    fn c3_11_round_trip_time_from_counters_four_apart() {
        let mut clock = CounterClock::default();
        let k = 14;
        let micros = |clock: &CounterClock| clock.rtt().map(Duration::as_micros);
        for (millis, counter) in [(1, k - 1), (5, k - 1), (9, k), (11, k)] {
            clock.on_arrival(at(millis), counter & 0xf, false);
        }
        assert_eq!(clock.rtt(), None);
        // Until a pair with D = 4 exists, D = 2 serves: (16 - 1) * 4 / 2.
        clock.on_arrival(at(16), (k + 1) & 0xf, false);
        assert_eq!(micros(&clock), Some(30_000));
        // From K - 1 to K + 3: 28 ms, with a weight of a tenth.
        clock.on_arrival(at(29), (k + 3) & 0xf, false);
        assert_eq!(micros(&clock), Some(29_800));
        // T7 - T3 = 23 ms: 0.9 * 29.8 + 0.1 * 23.
        clock.on_arrival(at(32), (k + 4) & 0xf, false);
        assert_eq!(micros(&clock), Some(29_120));
        assert_eq!(clock.count(), 5);

        let before = clock.rtt();
        for step in 1..20u64 {
            let counter = (k + 4 + 5 * step as u8) & 0xf;
            clock.on_arrival(at(100 + 1_000 * step), counter, false);
        }
        assert_eq!(clock.rtt(), before);
    }

    /// C3-11: a pair of packets around an outage is no sample, whatever their counters, and counts as
    /// more than a round-trip time.
    #[test]
    fn c3_11_no_sample_over_an_outage() {
        let rtt = MS * 100;
        for counter in 0..16u8 {
            let mut clock = CounterClock::default();
            for quarter in 0..=4u8 {
                clock.on_arrival(at(25 * u64::from(quarter)), quarter, false);
            }
            assert_eq!(clock.rtt(), Some(rtt));
            clock.on_arrival(at(600_000), (4 + counter) & 0xf, true);
            assert_eq!(clock.rtt(), Some(rtt), "{counter}");
            assert!(clock.count() >= 4 + QUARTERS, "{counter}");
        }
        // Three lost packets in a row advance the counter by up to 20.
        assert!(may_have_wrapped(4, MS * 101, rtt));
        assert!(!may_have_wrapped(3, MS * 101, rtt));
        assert!(!may_have_wrapped(4, MS * 100, rtt), "a burst of losses");
    }
}
