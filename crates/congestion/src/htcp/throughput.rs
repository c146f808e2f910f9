//! The throughput that H-TCP achieves between congestion events.

use skywave_units::{Duration, Instant};

/// The weight of earlier samples in the average.
const MEMORY: f64 = 0.75;
/// By how much the maximum may change from event to event, as a fraction of the previous one.
const CHANGE: f64 = 0.2;

/// Measures the throughput once per window of data, in packets per second, as Linux 6.12 does.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Throughput {
    /// When the current sample began, and the packets acknowledged in it.
    began: Option<Instant>,
    acked: u32,
    average: f64,
    /// The largest average since the last congestion event.
    max: f64,
    /// The maximum before that event.
    previous_max: f64,
}

impl Throughput {
    /// Begins a sample.
    pub(super) const fn restart(&mut self, now: Instant) {
        self.began = Some(now);
        self.acked = 0;
    }

    /// Notes packets acknowledged. A sample has `window` packets and takes at least `min_rtt`. If it
    /// `is_fresh`, within a few round trips after congestion, it replaces earlier ones.
    pub(super) fn on_ack(
        &mut self,
        now: Instant,
        packets: u32,
        window: f64,
        min_rtt: Duration,
        is_fresh: bool,
    ) {
        let began = *self.began.get_or_insert(now);
        self.acked += packets;
        let time = now - began;
        if f64::from(self.acked) < window || time < min_rtt || time.is_zero() {
            return;
        }
        let sample = f64::from(self.acked) / time.as_secs_f64();
        if is_fresh {
            self.average = sample;
            self.max = sample;
        } else {
            self.average = MEMORY * self.average + (1.0 - MEMORY) * sample;
            self.max = self.max.max(self.average);
        }
        self.restart(now);
    }

    /// Sets the maximum since the last congestion event.
    #[cfg(test)]
    pub(super) const fn set_max(&mut self, max: f64) {
        self.max = max;
    }

    /// Notes a congestion event. Returns whether the maximum is within a fifth of the one before the
    /// last event.
    pub(super) fn on_congestion(&mut self) -> bool {
        let previous = core::mem::replace(&mut self.previous_max, self.max);
        (self.max - previous).abs() <= CHANGE * previous
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    /// Samples of 20 packets in 100 ms times `times`.
    fn sample(throughput: &mut Throughput, now: &mut Instant, times: u64, is_fresh: bool) {
        *now += RTT * times;
        throughput.on_ack(*now, 20, 19.0, RTT, is_fresh);
    }

    fn begun() -> (Throughput, Instant) {
        let mut throughput = Throughput::default();
        throughput.restart(Instant::ZERO);
        (throughput, Instant::ZERO)
    }

    #[test]
    fn a_sample_has_a_window_and_takes_a_round_trip() {
        let (mut throughput, _) = begun();
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        throughput.on_ack(at(50), 30, 20.0, RTT, true);
        assert_eq!(throughput.max, 0.0, "too short");
        throughput.on_ack(at(150), 15, 60.0, RTT, true);
        assert_eq!(throughput.max, 0.0, "too few");
        throughput.on_ack(at(150), 15, 60.0, RTT, true);
        assert_eq!(throughput.max, 400.0);
    }

    /// A quarter of the average is the latest sample; the maximum is that of the averages.
    #[test]
    fn samples_are_averaged_except_just_after_congestion() {
        let (mut throughput, mut now) = begun();
        sample(&mut throughput, &mut now, 1, true);
        assert_eq!((throughput.average, throughput.max), (200.0, 200.0));
        sample(&mut throughput, &mut now, 2, false);
        assert_eq!((throughput.average, throughput.max), (175.0, 200.0));
        sample(&mut throughput, &mut now, 2, true);
        assert_eq!((throughput.average, throughput.max), (100.0, 100.0));
    }

    #[test]
    fn a_change_by_more_than_a_fifth_is_noticed() {
        for (before, after, is_steady) in [
            (100.0, 120.0, true),
            (100.0, 121.0, false),
            (100.0, 80.0, true),
            (100.0, 79.0, false),
            (0.0, 0.0, true),
        ] {
            let mut throughput = Throughput {
                max: before,
                ..Throughput::default()
            };
            throughput.on_congestion();
            throughput.max = after;
            assert_eq!(throughput.on_congestion(), is_steady, "{before} to {after}");
        }
    }
}
