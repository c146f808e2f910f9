//! HyStart++ (draft-ietf-tcpm-hystartplusplus-04, January 2022, which became RFC 9406).

use skywave_units::Duration;

use crate::Ack;

/// The constants of section 4.3.
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;

/// Finds the end of slow start before the first loss: if the shortest round-trip time of a round
/// exceeds that of the round before, the bottleneck's queue is filling. Names are the draft's.
///
/// A round lasts until the packets in flight at its start are acknowledged.
#[derive(Clone, Debug, Default)]
pub(crate) struct HyStart {
    /// Packets to be acknowledged until windowEnd; `None` before the first round.
    left: Option<u32>,
    last_round_min_rtt: Option<Duration>,
    current_round_min_rtt: Option<Duration>,
    rtt_sample_count: u32,
    css: Option<ConservativeSlowStart>,
}

#[derive(Clone, Copy, Debug)]
struct ConservativeSlowStart {
    /// cssBaselineMinRtt.
    baseline_min_rtt: Duration,
    rounds: u32,
}

impl HyStart {
    /// Returns by how much the growth of slow start is divided.
    pub(crate) const fn growth_divisor(&self) -> f64 {
        if self.css.is_some() {
            CSS_GROWTH_DIVISOR
        } else {
            1.0
        }
    }

    /// Handles an acknowledgement in slow start, after cwnd has grown. Returns whether slow start
    /// ends (section 4.2).
    pub(crate) fn on_ack(&mut self, ack: &Ack) -> bool {
        let left = self.left.get_or_insert(ack.in_flight + ack.newly_acked);
        let ends_round = *left <= ack.newly_acked;
        *left = left.saturating_sub(ack.newly_acked);
        if let Some(rtt) = ack.rtt {
            let least = self.current_round_min_rtt.map_or(rtt, |min| min.min(rtt));
            self.current_round_min_rtt = Some(least);
            self.rtt_sample_count += 1;
            self.judge(least);
        }
        ends_round && self.end_round(ack.in_flight)
    }

    fn judge(&mut self, current: Duration) {
        if self.rtt_sample_count < N_RTT_SAMPLE {
            return;
        }
        if let Some(css) = self.css {
            if current < css.baseline_min_rtt {
                self.css = None;
            }
        } else if let Some(last) = self.last_round_min_rtt {
            let threshold = (last / 8).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
            self.css = (current >= last + threshold).then_some(ConservativeSlowStart {
                baseline_min_rtt: current,
                rounds: 0,
            });
        }
    }

    /// Begins a round with `in_flight` packets. Returns whether conservative slow start is over.
    fn end_round(&mut self, in_flight: u32) -> bool {
        self.left = Some(in_flight);
        self.last_round_min_rtt = self.current_round_min_rtt.take();
        self.rtt_sample_count = 0;
        self.css.as_mut().is_some_and(|css| {
            css.rounds += 1;
            css.rounds >= CSS_ROUNDS
        })
    }
}

#[cfg(test)]
mod tests {
    use skywave_units::Instant;

    use super::*;

    /// A round of `count` acknowledgements, each of one packet with this round-trip time. Returns
    /// whether slow start ends.
    fn round(hystart: &mut HyStart, count: u32, rtt_ms: u64) -> bool {
        let mut ends = false;
        for _ in 0..count {
            let mut ack = Ack::new(Instant::ZERO, 1, count - 1);
            ack.rtt = Some(Duration::from_millis(rtt_ms));
            ends |= hystart.on_ack(&ack);
        }
        ends
    }

    /// Section 4.2: the threshold is an eighth of the last round's minimum, from 4 to 16 ms.
    #[test]
    fn the_threshold_is_between_4_and_16_ms() {
        for (base, threshold) in [(8, 4), (80, 10), (400, 16)] {
            for (extra, slows) in [(threshold - 1, false), (threshold, true)] {
                let mut hystart = HyStart::default();
                round(&mut hystart, 10, base);
                round(&mut hystart, 10, base + extra);
                assert_eq!(hystart.growth_divisor() > 1.0, slows, "{base} + {extra} ms");
            }
        }
    }

    #[test]
    fn fewer_than_eight_samples_decide_nothing() {
        let mut hystart = HyStart::default();
        round(&mut hystart, 10, 40);
        round(&mut hystart, 7, 90);
        assert_eq!(hystart.growth_divisor(), 1.0);
    }

    #[test]
    fn slow_start_ends_after_five_rounds_of_conservative_slow_start() {
        let mut hystart = HyStart::default();
        round(&mut hystart, 10, 40);
        // The round in which it begins counts.
        let ends: Vec<_> = (0..5).map(|_| round(&mut hystart, 10, 50)).collect();
        assert_eq!(ends, [false, false, false, false, true]);
    }

    #[test]
    fn a_shorter_round_trip_time_resumes_slow_start() {
        let mut hystart = HyStart::default();
        round(&mut hystart, 10, 40);
        round(&mut hystart, 10, 50);
        assert_eq!(hystart.growth_divisor(), 4.0);
        round(&mut hystart, 10, 49);
        assert_eq!(hystart.growth_divisor(), 1.0);
        assert!((0..9).all(|_| !round(&mut hystart, 10, 49)));
    }
}
